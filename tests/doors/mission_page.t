#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# The mission's experiment C17: a page with 30 files, fetched over six connections as a browser does, loads whole under a
# sensible limit and not under C1's, about which `weir check` had warned.
import sys, threading, http.client; sys.path.insert(0, "tests/lib")
from weirtest import *


def load_page(p):
    """index.html, then 30 files over six keep-alive connections at once; the statuses."""
    statuses, lock, names = [], threading.Lock(), [f"/f{i}.txt" for i in range(30)]
    c = http.client.HTTPConnection("127.0.0.1", p, timeout=30)
    c.request("GET", "/")
    statuses.append(c.getresponse().status)
    c.close()

    def connection(_):
        c = http.client.HTTPConnection("127.0.0.1", p, timeout=30)
        while True:
            with lock:
                if not names:
                    break
                name = names.pop()
            c.request("GET", name)
            r = c.getresponse()
            r.read()
            with lock:
                statuses.append(r.status)
        c.close()
    at_once(6, connection)
    return statuses


good = "limits: {per-ip: {rate: 50/s, burst: 100}}\n"
bad = "limits: {per-ip: {rate: 2/s, burst: 1}}\n"

site = Site(policy=good)
is_(load_page(site.port), 31 * [200], "C17: 50/s with burst 100: the page loads whole")
site.check_no_alerts()
site.stop()
site = Site(policy=bad)
began = time.monotonic()
statuses = load_page(site.port)
is_(statuses[0], 200, "C17: under 2/s without a burst the page itself comes")
within(statuses.count(200), 1, 2 + int(2 * (time.monotonic() - began)), "C17: and nearly nothing else")
is_(len(statuses), 31, "C17: all 31 were answered")
site.stop()

check = weir("check", "-", input=good)
is_(check.returncode, 0, "C17: weir check finds nothing to say about the good policy")
ok("30" not in check.stdout + check.stderr or "warning" not in check.stdout + check.stderr, "C17: and does not warn")
check = weir("check", "-", input=bad)
like(check.stdout + check.stderr, "warning", "C17: weir check had warned of the other")
like(check.stdout + check.stderr, "30", "C17: of a page with 30 files")
done()
