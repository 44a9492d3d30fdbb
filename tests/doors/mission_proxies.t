#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# The mission's experiment C16: clients behind a load balancer, not trusted and trusted; and that nobody outside the trusted
# list can choose an address (B10).
import sys, time; sys.path.insert(0, "tests/lib")
from weirtest import *

LIMIT = "limits: {per-ip: {rate: 1/min, burst: 2}}\n"
via = lambda client, **kw: dict(headers={"X-Forwarded-For": client}, **kw)

site = Site(policy=LIMIT)
is_([site.get("/", **via("192.0.2.1")).status, site.get("/", **via("192.0.2.2")).status, site.get("/", **via("192.0.2.3")).status],
    [200, 200, 429], "C16: a balancer that is not trusted: its clients share one bucket")
hint = lambda: [l for l in site.errors().splitlines() if "127.0.0.1" in l and "trusted" in l]
ok(wait_until(hint), "C16: the log says which address to trust")
show = weir("show", "--table", site.table)
like(show.stdout, "127.0.0.1", "C16: so does weir show")
like(show.stdout, "trusted", "C16: with the word to write")
site.check_no_alerts()
site.stop()

site = Site(policy=LIMIT + "clients: {address: {from: x-forwarded-for, trusted: [127.0.0.1]}}\n")
for client in "192.0.2.1", "192.0.2.2":
    is_([site.get("/", **via(client)).status for _ in range(3)], [200, 200, 429], f"C16: behind a trusted one {client} has its own bucket")
is_([site.get("/", **via(f"10.9.8.{i}, 192.0.2.1")).status for i in range(3)], 3 * [429], "a client that invents entries on the left gains nothing")
is_([site.get("/", **via(f"198.51.100.{i}", source="127.0.0.7")).status for i in range(4)], [200, 200, 429, 429],
    "nor does a peer that is not on the list")
is_([site.get("/", **via(f"::ffff:192.0.2.1")).status for i in range(1)], [429], "::ffff:192.0.2.1 is 192.0.2.1")
v6 = [site.get("/", **via(f"2001:db8:0:1:{i:x}::{i:x}")).status for i in range(40)]
is_(v6, [200, 200] + 38 * [429], "addresses of one IPv6 /64 are one client")
is_(site.get("/", **via("2001:db8:0:2::1")).status, 200, "the next /64 is another")
site.check_no_alerts()
done()
