#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Instead of refusing: a stored answer, be it stale, and not one request more for the backend; slowly; a challenge; nothing at all.
import json, os, socket, sys, time; sys.path[:0] = ["tests/lib", "tests/doors"]
from gatelib import *

asked = []


def answer(method, path, headers, body):
    asked.append(path)
    return 200, {"Cache-Control": "max-age=1"}, f"{path} number {len(asked)}\n".encode() + b"x" * (300000 if "big" in path else 0)


backend = Backend(answer)
POLICY = """
limits:
  writes: {match: /writes/**, key: ip, rate: 1/hour, instead: cached}
  news: {match: /news/*, key: ip, rate: 2/hour, instead: cached}
  files: {match: /big, key: ip, rate: 1/hour, instead: slow 100KB/s}
  account: {match: /account, key: ip, rate: 1/hour, instead: challenge /verify}
  scrape: {match: /scrape, key: ip, rate: 1/hour, instead: close}
  edge: {match: /both, key: ip, rate: 1/hour}
  soft: {match: /both, key: ip, rate: 1/hour, instead: challenge /verify}
"""


def site_of(**kw):
    cache = folder()
    global written
    written = folder()
    os.chmod(written, 0o777)
    return Site(policy=POLICY, http=f"proxy_cache_path {cache} keys_zone=c:1m; upstream behind {{ server 127.0.0.1:{backend.port}; }}",
                locations=f"""
    location / {{ proxy_pass http://behind; }}
    location /news/ {{ proxy_cache c; proxy_cache_valid 502 10m; proxy_cache_valid any 10m; proxy_pass http://behind; add_header X-Cache $upstream_cache_status always; }}
    location /news/locked {{ proxy_cache c; proxy_cache_lock on; proxy_pass http://127.0.0.1:{backend.port}; add_header X-Cache $upstream_cache_status always; }}
    location /writes/dav/ {{ alias {written}/; dav_methods PUT DELETE MKCOL; }}
    location /writes/var {{ set $to 127.0.0.1:{backend.port}; proxy_cache c; proxy_pass http://$to; }}
    location /writes/api {{ proxy_cache c; proxy_pass http://behind; }}
    location /writes/nocache {{ proxy_pass http://behind; }}
    location /writes/inside {{ proxy_cache c; proxy_pass http://behind; location /writes/inside/none {{ }} }}
    location /writes/first {{ try_files /none @later; proxy_cache c; proxy_cache_key $host; proxy_pass http://behind; }}
    location @later {{ root {written}; dav_methods PUT; }}
    location /writes/gif {{ empty_gif; }}
    location /news/static {{ alias {cache}/; }}""", **kw)


site = site_of()
# ---- cached ----
a = [site.get("/news/a"), site.get("/news/a")]
is_([(x.status, x["x-cache"]) for x in a], [(200, "MISS"), (200, "HIT")], "two pass")
a = site.get("/news/a")
is_((a.status, a.body.split(b"x")[0], a["x-cache"]), (200, b"/news/a number 1\n", "HIT"), "the third has the stored answer")
time.sleep(2.2)
n = len(asked)
a = [site.get("/news/a") for _ in range(5)]
is_([(x.status, x.body, x["x-cache"]) for x in a], 5 * [(200, b"/news/a number 1\n", "STALE")], "a stale one too, and it is no news to the backend")
is_(len(asked), n, "... which is not asked")
b = [site.get("/news/b") for _ in range(3)]
is_([(x.status, x["weir-refusal"] is not None) for x in b], 3 * [(429, True)], "what was never stored is refused")
is_(len(asked), n, "... without asking")
ok(json.loads(b[0].body)["error"] == "rate_limited" and int(b[0]["retry-after"]) > 0, "... as every refusal is")
is_(site.get("/news/b", source="127.0.0.5").status, 200, "... and not stored: another client gets an answer")
is_(site.get("/news/locked").status, 429, "with a lock, too")
is_(site.get("/news/static").status, 429, "a file is no stored answer")

# What has no stored answer is refused before it can do anything.
client = "127.0.0.9"
is_(site.get("/writes/gif", source=client).status, 200, "one passes")
w = Wire(site.port, source=client)
a = []
for line in ("PUT /writes/dav/f", "MKCOL /writes/dav/d/", "DELETE /writes/dav/kept", "PUT /writes/first"):
    if "kept" in line:
        open(f"{written}/kept", "w").close()
        os.chmod(written, 0o777)
    w.send(f"{line} HTTP/1.1\r\nHost: a\r\nContent-Length: {2 if 'PUT' in line else 0}\r\n\r\n{'hi' if 'PUT' in line else ''}")
    a.append(w.read())
is_([(x.status, x["weir-refusal"] is not None) for x in a], 4 * [(429, True)], "over the limit nothing is written, made or deleted, on one connection")
is_(os.listdir(written), ["kept"], "... really")
w.close()
n = len(asked)
a = [site.get(path, source=client) for path in ("/writes/var", "/writes/nocache", "/writes/inside/none", "/writes/first", "/writes/gif")]
is_([(x.status, json.loads(x.body)["error"]) for x in a], 5 * [(429, "rate_limited")], "a variable for a backend, nothing stored, another place's backend, a GIF: refused")
is_(site.post("/writes/api", body=b"x", source=client).status, 429, "a POST has no stored answer")
is_(len(asked), n, "... and no backend was asked")
ok("no live upstreams" not in site.errors(), "and nothing of this is an error to write down")

# ---- slow ----
is_(site.get("/big").status, 200, "one at full speed")
a = site.get("/big")
is_((a.status, len(a.body) > 300000), (200, True), "the next passes, whole")
within(a.seconds, 1.5, 20, "... at 100 KB/s")
ok(wait_until(lambda: "200 SLOWED" in site.access(), 10), "... and the log says so")

# ---- challenge ----
is_(site.get("/account").status, 200, "one passes")
a = site.get("/account")
is_((a.status, a["location"], a["retry-after"] is not None), (303, "/verify", True), "then the way to the challenge")
is_(site.post("/account", body=b"x").status, 303, "... for a POST, too: 303 makes a GET of it")
a = [site.get("/both") for _ in range(2)]
is_([x.status for x in a], [200, 429], "where another limit refuses plainly, that holds")

# ---- close ----
is_(site.get("/scrape").status, 200, "one passes")
w = Wire(site.port).send("GET /scrape HTTP/1.1\r\nHost: a\r\n\r\n")
ok(w.ended(), "then the connection is closed without a byte")
w.close()
site.check_no_alerts()
site.stop()
done()
