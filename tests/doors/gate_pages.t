#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# error_page of the operator wins over the policy's body, in every form; and requests that wander inside nginx (error pages, try_files,
# index, X-Accel-Redirect, rewrites, named locations, auth_request, SSI, mirror) are counted once.
import json, sys; sys.path[:0] = ["tests/lib", "tests/doors"]
from gatelib import *

backend = Backend(lambda method, path, headers, body: (200, {"X-Accel-Redirect": "/inside/f2.txt"}, b"") if path == "/accel" else
                  (200, {}, f"backend {path}\n".encode()))
up = f"proxy_pass http://127.0.0.1:{backend.port}"

site = Site(policy="limits: {x: {match: /x/**, rate: 0/s}, y: {match: /y/**, rate: 0/s, respond: {status: 503}}}\n", start_now=False,
            server="error_page 429 /429.html;", locations=f"""
    location /x/ {{ root $W; }}
    location = /429.html {{ root $W; }}
    location /x/named {{ error_page 429 @slow; }}
    location @slow {{ {up}; }}
    location /x/backend {{ error_page 429 /page; }}
    location = /page {{ {up}; }}
    location /x/two {{ error_page 429 =200 /429.html; }}
    location /x/away {{ error_page 429 https://example.org/slow; }}
    location /x/none {{ error_page 404 /429.html; }}
    location /x/return {{ return 200 'no'; }}
    location /x/empty {{ return 404; }}
    location /x/moved {{ return 301 /elsewhere; }}
    location /x/named-return {{ error_page 429 @slow; return 200 'no'; }}
    location /x/away-return {{ error_page 429 https://example.org/slow; return 200 'no'; }}
    location /x/lost {{ error_page 404 = /x/found; return 404; }}
    location /x/found {{ error_page 429 /429.html; root $W; }}
    location /y/ {{ root $W; }}
""")
write(site.conf, site.conf_text.replace("$W", site.root))
write(os.path.join(site.root, "429.html"), "slower!\n")
site.start()


def page(path, status, text, what, **kw):
    a = site.get(path, **kw)
    is_((a.status, a.text), (status, text), what)
    once(a, what + ": with the headers")
    return a


page("/x/1", 429, "slower!\n", "error_page 429 with a file")
page("/x/named", 429, "backend /x/named\n", "with a named location that proxies")
page("/x/backend", 429, "backend /page\n", "with a page of the backend")
page("/x/two", 200, "slower!\n", "with another status")
a = site.get("/x/away")
is_((a.status, a["Location"]), (302, "https://example.org/slow"), "with a redirect")
once(a, "that has the headers")
like(site.get("/x/none").text, "rate_limited", "a page for another status is not for this one")
like(site.get("/y/1").text, "rate_limited", "a 503 is not a 429")
page("/x/return", 429, "slower!\n", "what `return` would have answered: the page too")
page("/x/empty", 429, "slower!\n", "what `return 404` would have")
page("/x/moved", 429, "slower!\n", "what a redirect would have")
page("/x/named-return", 429, "backend /x/named-return\n", "what `return` would have: a named location that proxies")
is_(site.get("/x/away-return")["Location"], "https://example.org/slow", "or a redirect")
page("/x/lost", 429, "slower!\n", "after the page for another status")
w = Wire(site.port)
for path in "/x/1", "/x/return", "/x/empty", "/x/named-return":
    a = w.get(path, method="HEAD")
    is_(a.status, 429, f"HEAD {path}")
    w.send(f"POST {path} HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello")
    is_(w.read().status, 429, f"POST {path} with a body")
is_(w.get("/429.html").text, "slower!\n", "and the connection goes on")
site.check_no_alerts()
site.stop()

# where the way to the page leads back to the answer that was refused
p = [port() for _ in range(4)]
site = Site(policy="limits: {all: {rate: 0/s}}\n", http=f"""
    server {{ listen 127.0.0.1:{p[0]}; error_page 429 =200 /429.html; return 200 'secret'; }}
    server {{ listen 127.0.0.1:{p[1]}; error_page 429 =200 @slow; return 200 'secret'; location @slow {{ return 200 'named'; }} }}
    server {{ listen 127.0.0.1:{p[2]}; error_page 429 https://example.org/slow; return 200 'secret'; }}
    server {{ listen 127.0.0.1:{p[3]}; error_page 429 =200 /429.html; location / {{ return 200 'secret'; }} }}
""")
a = request(p[0])
is_((a.status, json.loads(a.text)["limit"]), (429, "all"), "a page behind a server-level return: weir answers")
a = request(p[3])
is_((a.status, json.loads(a.text)["limit"]), (429, "all"), "and behind a location that answers everything so")
is_(request(p[1]).text, "named", "a named location is reached")
is_(request(p[2]).status, 302, "so is another server")
site.check_no_alerts()
site.stop()

# ---- counted once ----------------------------------------------------------------------------------
site = Site(policy="limits: {all: {key: ip, rate: 1/hour, burst: 1000}}\n", start_now=False, server="error_page 404 /lost;", locations=f"""
    root $W;
    location / {{ try_files $uri $uri/ @app; }}
    location @app {{ {up}; }}
    location = /lost {{ return 404 'lost'; }}
    location /inside/ {{ internal; alias $W/; }}
    location /accel {{ {up}; }}
    location /old/ {{ rewrite ^/old/(.*)$ /new/$1 last; }}
    location /new/ {{ alias $W/; }}
    location /broken {{ proxy_pass http://127.0.0.1:1; error_page 502 = @app; }}
    location /auth {{ auth_request /ask; alias $W/f1.txt; }}
    location = /ask {{ {up}/ask; }}
    location /no {{ auth_request /deny; root $W; }}
    location = /deny {{ return 401; }}
    location /ssi {{ ssi on; default_type text/html; alias $W/ssi.html; }}
    location /mirrored {{ mirror /copy; {up}/m; }}
    location = /copy {{ internal; {up}/copy; }}
    location /addition {{ return 200 'x'; }}
""")
write(site.conf, site.conf_text.replace("$W", site.root))
write(os.path.join(site.root, "ssi.html"), '<!--# include virtual="/f1.txt" --><!--# include virtual="/accel" --><!--# include virtual="/old/f3.txt" -->\n')
site.start()
left = 1000
for path, status, text in [("/", 200, "hello\n"), ("/f1.txt", 200, "file 1\n"), ("/app/1", 200, "backend /app/1\n"), ("/accel", 200, "file 2\n"),
                           ("/old/f3.txt", 200, "file 3\n"), ("/new/zzz", 404, "lost"), ("/inside/f1.txt", 404, "lost"), ("/broken", 200, "backend /broken\n"),
                           ("/auth", 200, "file 1\n"), ("/ssi", 200, "file 1\nfile 2\nfile 3\n\n"), ("/mirrored", 200, "backend /m\n"),
                           ("/addition", 200, "x"), ("/lost", 404, "lost")]:
    a = site.get(path)
    left -= 1
    is_((a.status, a.text, a["X-RateLimit-Remaining"]), (status, text, str(left)), f"{path} is counted once")
    once(a, f"{path} has the headers once")
a = site.get("/no")
is_((a.status, a["X-RateLimit-Remaining"]), (401, str(left - 1)), "an auth_request that says no: once")
wait_until(lambda: ("GET", "/copy") in backend.seen)
is_([backend.seen.count(("GET", p)) for p in ("/ask", "/copy", "/m")], [1, 1, 1], "subrequests went out, and are not limited")
site.check_no_alerts()
done()
