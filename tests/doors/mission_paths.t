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
               "/Login;v=1?next=/"]:
    is_(raw(target), 429, f"GET {target} is refused")
    if target == "/login":
        is_(raw(target, "HEAD"), 429, "HEAD counts as GET")
for target in ["/loginx", "/logi", "/a/login", "/login/x", "/"]:
    is_(raw(target), 200, f"GET {target} is something else")
site.stop()

site = Site(policy="limits:\n  login: {match: GET /login, rate: 1/hour, burst: 1}\n", locations="location / { return 200 'ok\\n'; }")
is_([raw("/login", "HEAD"), raw("/login", "GET"), raw("/login", "POST")], [200, 429, 200], "a rule for GET holds for HEAD, and for nothing else")
site.check_no_alerts()
done()
