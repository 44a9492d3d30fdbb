#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# B14: however the path is spelled, it is the same bucket and the same rule.
import sys, socket; sys.path.insert(0, "tests/lib")
from weirtest import *

site = Site(policy="limits:\n  login: {match: /login, rate: 1/hour, burst: 1}\n", locations="location / { return 200 'ok\\n'; }")


def raw(target, method="GET"):
    """A request line as written: no client library tidies it."""
    with socket.create_connection(("127.0.0.1", site.port), 10) as s:
        s.sendall(f"{method} {target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n".encode())
        return int(s.makefile("rb").readline().split()[1])


is_(raw("/other"), 200, "another path is not limited")
is_(raw("/login"), 200, "the first login passes")
for target in ["/login", "//login", "/LOGIN", "/login/", "/%6Cogin", "/%6c%6F%67in", "/login;x", "/login;jsessionid=1", "/a/../login", "/./login",
               "/login?x", "/login?", "/%2e/login", "/a/%2E%2e/login", "///login//", "/login/.", "/login;a/..;/login", "http://a/login", "/login#x",
               "/Login;v=1?next=/", "/a%5Cb/../login", "/a\\b/../login", "/;/../login", "/%3b/../login", "//a/b/../..//login"]:
    is_(raw(target), 429, f"GET {target} is refused")
    if target == "/login":
        is_(raw(target, "HEAD"), 429, "HEAD counts as GET")
for target in ["/loginx", "/logi", "/a/login", "/login/x", "/"]:
    is_(raw(target), 200, f"GET {target} is something else")
site.stop()

site = Site(policy="limits:\n  login: {match: GET /login, rate: 1/hour, burst: 1}\n", locations="location / { return 200 'ok\\n'; }")
is_([raw("/login", "HEAD"), raw("/login", "GET"), raw("/login", "POST")], [200, 429, 200], "a rule for GET holds for HEAD, and for nothing else")
site.stop()

# What a `..` takes back depends on who reads: nginx routes these to /api/login, weir must find the limit there.
site = Site(policy="limits:\n  api: {match: POST /api/login, rate: 1/hour, burst: 1}\n  otp: {match: \"POST /users/{id}/otp\", rate: 1/hour, burst: 1}\n",
            locations="merge_slashes off; location / { return 404; } location = /api/login { return 200 'in\\n'; } location /users/ { return 200 'in\\n'; }")
is_(raw("/api/login", "POST"), 200, "POST /api/login passes once")
for target in ["/api/;/../login", "/api/%5C/../login", "/api/.;/../login", "/api//../login", "/api/..;/../login", "/x%5Cy/../api/login"]:
    is_(raw(target, "POST"), 429, f"POST {target} is refused")
is_(raw("/users/7/otp", "POST"), 200, "a code for user 7 once")
is_(raw("/users/" + "0" * 3000 + "7/otp", "POST"), 429, "an identity of 3,000 bytes pushes no limit out of sight")
site.stop()

site = Site(policy="clients: {exempt: [{match: GET /static/*}]}\nlimits:\n  search: {match: /search, rate: 1/hour, burst: 1}\n",
            locations="location / { return 200 'in\\n'; }")
is_([raw("/search"), raw("/search"), raw("/static/a%5Cb/../../search"), raw("/static/x")], [200, 429, 429, 200], "what is exempt must be so however it is read")
site.stop()

site = Site(policy="limits:\n  shop: {match: {host: shop.example.com}, key: ip, rate: 1/hour, burst: 1}\n", locations="location / { return 200 'in\\n'; }",
            server="server_name shop.example.com;")


def lines(text):
    with socket.create_connection(("127.0.0.1", site.port), 10) as s:
        s.sendall(text.encode())
        return int(s.makefile("rb").readline().split()[1])


is_(lines("GET / HTTP/1.1\r\nHost: SHOP.example.com.:80\r\nConnection: close\r\n\r\n"), 200, "a host, however it is spelled")
is_(lines("GET / HTTP/1.1\r\nHost: shop.example.com\r\nConnection: close\r\n\r\n"), 429, "is one host")
is_(lines("GET http://shop.example.com/ HTTP/1.1\r\nHost: other\r\nConnection: close\r\n\r\n"), 429, "the authority of an absolute target wins, as in nginx")
is_(lines("GET / HTTP/1.0\r\n\r\n"), 429, "and without any it is the server's name, as in nginx")
site.check_no_alerts()
done()
