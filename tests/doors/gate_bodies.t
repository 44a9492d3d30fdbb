#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# What a refused client reads, in the form it asked for; and that the connection goes on after it, whatever the request carried.
import gzip, json, sys; sys.path[:0] = ["tests/lib", "tests/doors"]
from gatelib import *

NONE = "{rate: 1/hour, burst: 1}"
d = folder()
write(os.path.join(d, "429.fa.html"), "<h1>آهسته‌تر</h1>\n")
backend = Backend()
site = Site(policy=f"""
limits:
  plain: {{match: /json/**, rate: 0/s}}
  problem: {{match: /problem/**, rate: 0/s, respond: {{body: problem}}}}
  text: {{match: /text/**, rate: 0/s, respond: {{body: text, status: 503}}}}
  page: {{match: /page/**, rate: 0/s, respond: {{body: {{file: {d}/429.fa.html}}}}}}
  timed: {{match: /timed/**, rate: 1/hour, burst: 1}}
  keyed: {{match: /keyed/**, key: header.x-key, missing: deny, rate: 10/s}}
clients: {{deny: [{{ip: 127.0.0.66, reason: scraper}}, {{ip: 127.0.0.67, close: yes}}]}}
""", backend=backend.port, server="keepalive_timeout 60s; client_max_body_size 100m; lingering_timeout 2s;")

a = site.get("/json/x")
is_(a.status, 429, "429 by default")
is_(a["Content-Type"], "application/json", "JSON by default")
is_(json.loads(a.text)["limit"], "plain", "it names the limit")
is_((a["Server"] or "").startswith("nginx"), True, "as an answer of this server")
site.get("/timed/x")
a = site.get("/timed/x")
is_(json.loads(a.text)["retryAfter"], int(a["Retry-After"]), "retryAfter is Retry-After")
a = site.get("/problem/x")
is_((a["Content-Type"], json.loads(a.text)["status"]), ("application/problem+json", 429), "problem+json")
a = site.get("/text/x")
is_((a.status, a["Content-Type"]), (503, "text/plain; charset=utf-8"), "text, with a status of its own")
a = site.get("/page/x")
is_((a["Content-Type"], a.text), ("text/html; charset=utf-8", "<h1>آهسته‌تر</h1>\n"), "a page of one's own, in any language")
a = site.get("/json/x", headers={"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"})
like(a["Content-Type"], "text/html", "a browser gets HTML")
a = site.get("/page/x", headers={"Accept": "application/json"})
is_(a["Content-Type"], "application/json", "a program gets JSON where a page is configured")
a = site.get("/keyed/x")
is_((a.status, json.loads(a.text)["error"]), (403, "missing_key"), "without the key: 403")
without_rate(a, "which has no rate headers")
a = site.get("/", source="127.0.0.66")
is_((a.status, json.loads(a.text)["error"]), (403, "denied"), "the deny list: 403")
ok("scraper" not in a.text, "that keeps its reason to itself")
w = Wire(site.port, source="127.0.0.67")
ok(w.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n").ended(), "close: the connection closes without a byte")
is_(backend.count, 1, "the backend saw only what passed")

w = Wire(site.port)
a = w.get("/json/x", method="HEAD")
is_((a.status, int(a["Content-Length"]) > 20), (429, True), "HEAD: the same length")
is_(w.get("/json/x").status, 429, "and no body: the connection goes on")
is_(w.get("/").status, 200, "and on to what is allowed")
w.send("GET /json/1 HTTP/1.1\r\nHost: a\r\n\r\nGET /json/2 HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n")
is_([w.read().status for _ in range(3)], [429, 429, 200], "three in one packet are three answers")

body = b"x" * 300_000
for size, what in (10, "a small body"), (300_000, "a large one"):
    w.send(f"POST /json/x HTTP/1.1\r\nHost: a\r\nContent-Length: {size}\r\n\r\n".encode() + body[:size])
    is_(w.read().status, 429, f"POST with {what} is refused")
    is_(w.get("/").status, 200, "and the connection goes on")
w.send(b"POST /json/x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n")
is_(w.read().status, 429, "a chunked body that has only begun is refused")
w.send(b"400\r\n" + b"y" * 1024 + b"\r\n0\r\n\r\n")
is_(w.get("/").status, 200, "the rest of it is discarded")
w.send(b"POST /json/x HTTP/1.1\r\nHost: a\r\nContent-Length: 20\r\nExpect: 100-continue\r\n\r\n")
a = w.read()
is_(a.status, 429, "Expect: 100-continue: refused at once, the body is not asked for")
w.close()
w = Wire(site.port)
w.send("GET /json/x HTTP/1.0\r\n\r\n")
is_((w.read().status, w.ended()), (429, True), "HTTP/1.0: answered and closed")
w = Wire(site.port)
w.send("GET /json/x\r\n")
ok(b"rate_limited" in w.f.read(), "HTTP/0.9: the body alone")
site.check_no_alerts()
site.stop()

# refusals pass the same filters as any other answer
site = Site(policy="limits: {none: {match: /x/**, rate: 0/s, respond: {status: 403}}}\n",
            server="gzip on; gzip_min_length 1; gzip_types application/json; add_header X-Always 1 always; add_header X-Ok 1; expires 1h;")
a = site.get("/x/", headers={"Accept-Encoding": "gzip"})
is_(json.loads(gzip.decompress(a.body))["limit"], "none", "gzip compresses a refusal (nginx compresses 200, 403 and 404)")
is_((a["X-Always"], a["X-Ok"], a["Expires"]), ("1", None, None), "add_header … always is on it, what is for successes is not")
a = site.get("/f1.txt")
is_((a["X-Always"], a["X-Ok"]), ("1", "1"), "an allowed one has both")
site.check_no_alerts()
done()
