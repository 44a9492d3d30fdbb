#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# The rate headers stand once on every answer that was decided: allowed, refused, 404, 412, 416, redirects inside, proxied; and say the
# truth. Variables show the same in the access log.
import sys, time; sys.path[:0] = ["tests/lib", "tests/doors"]
from gatelib import *


def answer(method, path, headers, body):
    if path.startswith("/own"):
        return 200, {"X-RateLimit-Limit": "7", "x-ratelimit-remaining": "6", "RateLimit": "other", "Retry-After": "99", "X-RateLimit-Used": "1"}, b"own\n"
    if path == "/401":
        return 401, {}, b"no\n"
    return 200, {}, b"ok\n"


backend = Backend(answer)
site = Site(policy="""
limits:
  site-wide: {match: /**, key: ip, rate: 100/hour, burst: 50}
  few: {match: /few/*, key: ip, rate: 1/hour, burst: 1}
""", server="error_page 404 /404.html; recursive_error_pages on;", locations=f"""
    root $DIR/www;
    location / {{ }}
    location /few/ {{ proxy_pass http://127.0.0.1:{backend.port}; }}
    location /proxied/ {{ proxy_pass http://127.0.0.1:{backend.port}/; }}
    location /own {{ proxy_pass http://127.0.0.1:{backend.port}; }}
    location /accel {{ add_header X-Accel-Redirect /f1.txt; proxy_pass http://127.0.0.1:{backend.port}/; }}
    location /plus/ {{ add_header X-Plus yes always; add_header Retry-After 5; proxy_pass http://127.0.0.1:{backend.port}/; }}
""", start_now=False)
write(site.conf, site.conf_text.replace("$DIR", site.dir))
write(os.path.join(site.root, "404.html"), "lost\n")
site.start()

a = site.get("/")
once(a, "a static file carries them once")
is_(a["X-RateLimit-Limit"], "50", "the limit is the burst")
is_(a["X-RateLimit-Remaining"], "49", "one is used")
within(int(a["X-RateLimit-Reset"]) - time.time(), 30, 40, "whole again in 36 s, as an epoch")
is_(a["RateLimit-Policy"], '"site-wide";q=50;w=1800', "RateLimit-Policy: 50 in the half hour that refills them")
like(a["RateLimit"], '"site-wide";r=49;t=', "RateLimit: 49 are left")
is_(a["Retry-After"], None, "an allowed answer has no Retry-After")

a = site.get("/missing")
is_(a.status, 404, "a 404 with an error_page")
once(a, "carries them once")
is_(a["X-RateLimit-Remaining"], "48", "and was counted once")
etag = site.get("/")["ETag"]
a = site.get("/", headers={"If-Match": '"other"'})
is_(a.status, 412, "a 412")
once(a, "carries them once, although a filter replaced the response")
a = site.get("/", headers={"If-None-Match": etag})
is_(a.status, 304, "a 304")
once(a, "carries them once")
a = site.get("/", headers={"Range": "bytes=1000-"})
is_(a.status, 416, "a 416")
once(a, "carries them once, although it passes the filters twice")
a = site.get("/", headers={"Range": "bytes=0-2"})
is_((a.status, a.text), (206, "hel"), "a 206")
once(a, "carries them once")
a = site.get("/proxied/401")
is_(a.status, 401, "a 401 of the backend")
once(a, "carries them once")
a = site.get("/accel")
is_((a.status, a.text), (200, "ok\n"), "a header added here is not the backend's X-Accel-Redirect")
once(a, "carries them once")

before = int(site.get("/")["X-RateLimit-Remaining"])
a = site.get("/own")
once(a, "the backend's own headers of these names are replaced")
is_((a["X-RateLimit-Limit"], a["X-RateLimit-Remaining"]), ("50", str(before - 1)), "by the truth")
is_((a["Retry-After"], a["X-RateLimit-Used"]), ("99", "1"), "its Retry-After and names that we do not send are left alone")
a = site.get("/plus/")
is_((a["X-Plus"], a["Retry-After"]), ("yes", "5"), "add_header goes on working")

first, second = site.get("/few/x"), site.get("/few/x")
is_((first.status, second.status), (200, 429), "a refused answer")
once(second, "carries them once")
is_((first["X-RateLimit-Limit"], first["X-RateLimit-Remaining"]), ("1", "0"), "of two limits the answer describes the tighter")
is_(second["X-RateLimit-Remaining"], "0", "refused: nothing is left")
within(int(second["Retry-After"]), 3595, 3600, "and says when to come back")
like(second["RateLimit-Policy"], '"few";q=1;w=3600', "its policy stands first")
like(second["RateLimit-Policy"], '"site-wide";q=50', "the other one follows")
is_(site.get("/")["X-RateLimit-Remaining"], str(before - 4), "the refused request was not charged to the other limit")

lines = logged(site)
is_(lines[0], f"200 PASSED site-wide 49 GET / HTTP/1.1", "the access log has status, limit, what is left")
like("\n".join(lines), "429 REJECTED few 0 GET /few/x", "of a refusal too")
like("\n".join(lines), "404 PASSED site-wide 48 GET /missing", "and after an internal redirect")
site.check_no_alerts()
site.stop()

site = Site(policy="limits: {login: {match: /login, key: ip, rate: 5/min}}\nrespond: {headers: none}\n",
            http="map $weir_status $who { PASSED me; default other; }", locations="location / { return 200 '$weir_status $weir_limit $weir_remaining $weir_key_hash $who'; }")
a = site.get("/else")
without_rate(a, "no limit, no headers")
is_(a.text, "    other", "the text of `return` is made before the header filter decides: variables are empty in it")
is_(logged(site, "/else")[-1], "200 UNLIMITED - - GET /else HTTP/1.1", "no limit matched: UNLIMITED")
without_rate(site.get("/login"), "headers: none sends none")
is_(logged(site, "/login")[-1], "200 PASSED login 4 GET /login HTTP/1.1", "but the log has the numbers")
site.check_no_alerts()
site.stop()

site = Site(policy="limits: {login: {key: ip, rate: 5/min}}\n", server="add_header X-Hash $weir_key_hash always; add_header X-Status $weir_status always;")
hashes = [site.get("/", source=f"127.0.0.{i}")["X-Hash"] for i in (1, 1, 2)]
ok(re.fullmatch("[0-9a-f]{16}", hashes[0]), "$weir_key_hash is 16 hex digits")
ok(hashes[0] == hashes[1] != hashes[2], "the same for the same key, another for another")
is_([site.get("/", source="127.0.0.3")["X-Status"] for _ in range(6)], 5 * ["PASSED"] + ["REJECTED"], "$weir_status in add_header")
site.check_no_alerts()
done()
