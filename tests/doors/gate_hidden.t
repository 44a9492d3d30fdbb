#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# A failure is one, whoever made it and whatever error_page shows instead: and error_page goes on as nginx has it.
import base64, sys; sys.path[:0] = ["tests/lib", "tests/doors"]
from gatelib import *

d = folder()
os.chmod(d, 0o755)
write(d + "/users", "u:{PLAIN}secret\n")
backend = Backend(lambda method, path, headers, body: (int(headers.get("X-Want") or 200), {}, b"backend\n"))
site = Site(backend=backend.port, start_now=False, http=f"proxy_cache_path {d}/cache keys_zone=c:1m;", locations=f"""
    root {d};
    auth_basic_user_file {d}/users;
    location /page/ {{ auth_basic x; error_page 401 =200 /sorry.html; alias {d}/; }}
    location /named/ {{ auth_basic x; error_page 401 = @login; alias {d}/; }}
    location /away/ {{ auth_basic x; error_page 401 https://login.example/?from=us; alias {d}/; }}
    location /args/ {{ auth_basic x; error_page 401 =200 /echo?a=b%20c; alias {d}/; }}
    location /vars/ {{ auth_basic x; error_page 401 =200 /echo?a=$arg_q; alias {d}/; }}
    location /chain/ {{ auth_basic x; recursive_error_pages on; error_page 401 = /chain404; alias {d}/; }}
    location = /chain404 {{ internal; recursive_error_pages on; error_page 404 =200 /sorry.html; root {d}/none; }}
    location /spa/ {{ error_page 404 =200 /sorry.html; }}
    location /try/ {{ error_page 404 = @login; try_files $uri =404; }}
    location /returned/ {{ error_page 403 =200 /sorry.html; return 403; }}
    location /asked/ {{ auth_request /auth; error_page 401 = @login; alias {d}/; }}
    location /asked403/ {{ auth_request /auth; error_page 403 =200 /sorry.html; alias {d}/; }}
    location /either/ {{ satisfy any; allow all; auth_request /auth; error_page 401 = @login; alias {d}/; }}
    location /hidden-in-part/ {{ ssi on; ssi_types *; alias {d}/; }}
    location /mirrored/ {{ mirror /auth; alias {d}/; }}
    location /cached/ {{ proxy_cache c; proxy_cache_valid any 1m; proxy_intercept_errors on; error_page 404 =200 @sorry;
                         proxy_pass http://127.0.0.1:{backend.port}; }}
    location /if/ {{ if ($arg_x) {{ error_page 404 =200 /sorry.html; }} }}
    location /outage/ {{ error_page 503 =200 /sorry.html; return 503; }}
    location = /auth {{ internal; proxy_pass http://127.0.0.1:{backend.port}; proxy_pass_request_body off; proxy_set_header Content-Length ""; }}
    location = /echo {{ return 200 "a is $arg_a, $request_method"; }}
    location = /sorry.html {{ }}
    location @login {{ return 302 /login; }}
    location @sorry {{ return 200 "cached"; }}
""", policy="limits: {tries: {key: ip, rate: 3/hour, count: failures}}\n")
write(d + "/sorry.html", "sorry\n")
write(d + "/part.html", '<!--# include virtual="/spa/none" -->whole\n')
site.start()
GOOD, BAD = ({"Authorization": "Basic " + base64.b64encode(b"u:" + p).decode()} for p in (b"secret", b"wrong"))
client = [1]


def counted(path, shown, what, headers=BAD, free=None):
    """Three of them are shown as `shown`, the fourth is refused; with the headers `free` it costs nothing."""
    client[0] += 1
    kw = {"source": "127.0.0.%d" % client[0]}
    if free is not None:
        is_(site.statuses(5, path, headers=free, **kw), 5 * [200], what + ": a right one costs nothing")
    is_(site.statuses(4, path, headers=headers, **kw), 3 * [shown] + [429], what)


def free(path, shown, what, headers={}):
    client[0] += 1
    is_(site.statuses(5, path, headers=headers, source="127.0.0.%d" % client[0]), 5 * [shown], what)


counted("/page/sorry.html", 200, "a wrong password shown as 200", free=GOOD)
counted("/named/sorry.html", 302, "one that leads to a named location", free=GOOD)
counted("/away/sorry.html", 302, "to another site", free=GOOD)
counted("/chain/sorry.html", 200, "to a page that is missing, and that to another", free=GOOD)
counted("/spa/none", 200, "a file that is missing, shown as the site's one page", {})
counted("/try/none", 302, "try_files, in vain", {})
counted("/returned/", 200, "return 403, before there is a decision", {})
counted("/if/none?x=1", 200, "an error_page in an if", {})
counted("/asked/sorry.html", 302, "auth_request says 401", {"X-Want": "401"}, free={})
counted("/asked403/sorry.html", 200, "auth_request says 403", {"X-Want": "403"}, free={})
counted("/cached/none", 200, "a 404 from the cache that a page takes the place of", {"X-Want": "404"})
is_(sum(p == "/cached/none" for _, p in backend.seen), 1, "(it was from the cache)")

free("/either/sorry.html", 200, "auth_request says 401, and another check lets the request in", {"X-Want": "401"})
free("/hidden-in-part/part.html", 200, "a part of a page has an error, and a page for it")
free("/mirrored/sorry.html", 200, "a mirror says 401", {"X-Want": "401"})
free("/outage/", 200, "an outage is nobody's failure, hidden or not")

# ---- the address itself ----
a = site.get("/args/x", headers=BAD, source="127.0.1.1")
is_((a.status, a.text), (200, "a is b%20c, GET"), "an address with arguments")
a = site.post("/vars/x?q=7", headers=BAD, source="127.0.1.1")
is_((a.status, a.text), (200, "a is 7, GET"), "one with variables")
is_(site.get("/away/x", headers=BAD, source="127.0.1.2")["location"], "https://login.example/?from=us", "one elsewhere")
is_(site.get("/page/x", headers=BAD, source="127.0.1.2").text, "sorry\n", "a file")
site.check_no_alerts()
done()
