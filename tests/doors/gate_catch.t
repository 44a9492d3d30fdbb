#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Nothing gets around the gate: whatever nginx answers before the phase in which weir decides (return, redirects, 413, rewrites) is decided
# when its header is about to go out; where weir is off, and requests that nginx could not read, are left alone.
import json, sys; sys.path[:0] = ["tests/lib", "tests/doors"]
from gatelib import *

backend = Backend()
site = Site(policy="limits: {all: {match: {not: {path: /free/*}}, key: ip, rate: 1/hour, burst: 2}}\n", start_now=False, server="lingering_timeout 3s;",
            http="server { listen 127.0.0.1:$P1; return 200 'server'; }\n server { listen 127.0.0.1:$P2; return 301 https://$host$request_uri; }\n"
                 "server { listen 127.0.0.1:$P3; weir off; return 200 'off'; location /on { weir on; } }",
            locations=f"""
    location /return {{ return 200 'text'; }}
    location /empty {{ return 204; }}
    location /404 {{ return 404; }}
    location /moved {{ return 301 /x; }}
    location /redirect {{ rewrite ^ /elsewhere redirect; }}
    location /if {{ if ($arg_a) {{ return 403; }} return 200 'if'; }}
    location /dir {{ root $W; }}
    location /small {{ client_max_body_size 10; proxy_pass http://127.0.0.1:{backend.port}; }}
    location /off {{ weir off; return 200 'off'; }}
    location /off/file {{ weir off; root $W; try_files /f1.txt =404; }}
    location /off/error {{ weir off; root $W; error_page 404 /return; }}
    location /off/on {{ weir on; return 200 'on'; }}
    location /444 {{ return 444; }}
    location /free/ {{ return 200 'free'; }}
""")
P = {f"$P{i}": port() for i in (1, 2, 3)}
text = site.conf_text.replace("$W", site.root)
for k, v in P.items():
    text = text.replace(k, str(v))
write(site.conf, text)
os.mkdir(os.path.join(site.root, "dir"))
site.start()
source = iter(f"127.0.1.{i}" for i in range(1, 250))


def three(path, status, what, p=site.port, method="GET", extra="", body=""):
    """Two are answered as nginx does, the third, on the same connection, is refused."""
    w = Wire(p, source=next(source))
    got = [w.send(f"{method} {path} HTTP/1.1\r\nHost: a\r\n{extra}\r\n{body}").read(head=method == "HEAD") for _ in range(3)]
    is_([a.status if a else None for a in got], [status, status, 429], what)
    if got[2]:
        once(got[2], f"{what}: with the headers")
        is_([a["Location"] for a in got][2], None, f"{what}: and nothing of the answer that it replaced")
        if method != "HEAD":
            is_(json.loads(got[2].text)["limit"], "all", f"{what}: as JSON")
        is_(got[0]["X-RateLimit-Remaining"], "1", f"{what}: the first has them too")
    is_(w.get("/free/").text, "free", f"{what}: the connection goes on")
    w.close()


three("/return", 200, "return with a text")
three("/return", 200, "HEAD of it", method="HEAD")
three("/return", 200, "POST to it", method="POST", extra="Content-Length: 4\r\n", body="body")
three("/empty", 204, "return 204")
three("/404", 404, "return 404")
three("/moved", 301, "a redirect")
three("/redirect", 302, "rewrite … redirect")
three("/if?a=1", 403, "return inside if")
three("/dir", 301, "the slash that nginx adds to a folder")

for n, (p, status) in enumerate([(P["$P1"], 200), (P["$P2"], 301)]):
    s = f"127.0.2.{n + 1}"
    is_([request(p, "GET", "/any", source=s).status for _ in range(3)], [status, status, 429], f"server-level return {status}")

w = Wire(site.port, source="127.0.3.1")
for status in 413, 413, 429:
    w = Wire(site.port, source="127.0.3.1")
    is_(w.send("POST /small HTTP/1.1\r\nHost: a\r\nContent-Length: 20\r\n\r\n" + 20 * "x").read().status, status, f"too large a body: {status}")
is_(backend.count, 0, "of that the backend saw nothing")
big = b"POST /return HTTP/1.1\r\nHost: a\r\nContent-Length: 900000\r\n\r\n" + 900_000 * b"x"
w = Wire(site.port, source="127.0.3.2")
is_([w.send(big).read().status for _ in range(3)], [200, 200, 429], "a large body to a `return` is read to its end")
is_(w.get("/free/").status, 200, "and the connection goes on")

for path, text in ("/off", "off"), ("/off/file", "file 1\n"):
    got = [site.get(path, source="127.0.3.3") for _ in range(5)]
    is_([a.text for a in got], 5 * [text], f"weir off: {path} is left alone")
    without_rate(got[4], "and has no headers")
is_(logged(site)[-1].split()[:2], ["200", "-"], "nor a status in the log")
is_([site.get("/off/on", source="127.0.3.4").status for _ in range(3)], [200, 200, 429], "weir on below it is on")
is_([site.get("/off/error", source="127.0.3.5").text for _ in range(4)], 4 * ["text"], "off stays off through an error page to a place where it is on")
is_([request(P["$P3"], "GET", "/", source="127.0.3.6").status for _ in range(4)], 4 * [200], "weir off for a server")

w = Wire(site.port, source="127.0.3.7")
ok(w.send("GET /444 HTTP/1.1\r\nHost: a\r\n\r\n").ended(), "return 444 closes, as it should")
for line in "\x16\x03\x01\r\n\r\n", "GET\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", "GET / HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\nbad header\x00: x\r\n\r\n", \
        "GET /" + 40_000 * "a" + " HTTP/1.1\r\nHost: a\r\n\r\n":
    statuses = set()
    for _ in range(3):
        w = Wire(site.port, source="127.0.3.8")
        try:
            a = w.send(line).read()
            statuses.add(a.status if a else None)
        except (ConnectionError, IndexError):
            statuses.add(None)
    ok(429 not in statuses, f"what nginx cannot read is nginx's: {statuses}")
is_(site.get("/return", source="127.0.3.8")["X-RateLimit-Remaining"], "1", "and is not counted")
site.check_no_alerts()
site.stop()

# a delay that comes too late to wait passes at once; a deny with `close` closes
site = Site(policy="limits: {q: {key: ip, algorithm: leaky-bucket, rate: 1/20s, queue: 2}}\nclients: {deny: [{ip: 127.0.0.9, close: yes}]}\n",
            locations="location / { return 200 'x'; }")
got = [site.get("/") for _ in range(4)]
is_([a.status for a in got], [200, 200, 200, 429], "a queue before `return`: its places pass")
ok(max(a.seconds for a in got) < 10, "at once")
ok(Wire(site.port, source="127.0.0.9").send("GET / HTTP/1.1\r\nHost: a\r\n\r\n").ended(), "close closes")
like("\n".join(logged(site, "DENIED")), "444 DENIED - - GET /", "and is a 444 in the log")
site.check_no_alerts()
done()
