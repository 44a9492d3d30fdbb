#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# The mission's experiments C5, C7, C15: a strict login beside a lenient site, exempt clients and dry runs, keys and the keyless.
import re, sys, time; sys.path.insert(0, "tests/lib")
from weirtest import *

backend = Backend(lambda method, path, headers, body: (401, {}, b"wrong password\n") if method == "POST" else (200, {}, b"hello\n"))

site = Site(backend=backend.port, policy="""
limits:
  login: {match: POST /login, key: ip, rate: 5/min, burst: 5}
  site: {key: ip, rate: 10/s, burst: 21}
""")
is_([site.post("/login").status for _ in range(7)], 5 * [401] + 2 * [429], "C5: five guesses, then refused")
is_(site.get("/").status, 200, "C5: the rest of the site goes on")
is_(site.post("/login", source="127.0.0.5").status, 401, "C5: another address may log in")
is_(backend.count, 7, "C5: the backend saw only what was admitted")
time.sleep(13)
is_([site.post("/login").status for _ in range(2)], [401, 429], "C5: thirteen seconds later one more guess, then refused")
site.check_no_alerts()
site.stop()

site = Site(policy="""
clients: {exempt: [{ip: 127.0.0.9, reason: office}]}
limits:
  strict: {match: {not: {path: /dry/*}}, rate: 1/s, burst: 1}
  trial: {match: /dry/*, rate: 1/s, burst: 1, mode: shadow}
""")
Bucket(1, 1).check(4, lambda: site.get("/"), "C7: a normal address at 1/s: one of four")
is_(site.statuses(4, source="127.0.0.9"), 4 * [200], "C7: an exempt one")
dry = [site.get("/dry/x") for _ in range(4)]
is_([a.status for a in dry], 4 * [200], "C7: the dry run lets everything pass")
lines = lambda: [l for l in site.errors().splitlines() if '"trial"' in l and "would have refused" in l]
ok(wait_until(lines), "C7: the dry run is logged")
time.sleep(1.5)
took = dry[-1].ended - dry[0].began
within(len(lines()), 1, 1 + int(took + 0.2), "C7: in one line")
within(sum(int(re.search(r"would have refused (\d+) request", l).group(1)) for l in lines()), 3 - int(took), 3, "C7: that counts three")
site.check_no_alerts()
site.stop()

site = Site(policy="""
limits:
  keyed: {key: header.x-api-key, missing: skip, rate: 2/s, burst: 3}
  keyless: {match: {not: {header.x-api-key: "*"}}, key: ip, rate: 1/min, burst: 1}
""")
for key in "A", "B":
    Bucket(2, 3).check(5, lambda: site.get("/", headers={"X-Api-Key": key}), f"C15: key {key} has its own three at once, of five")
is_(site.statuses(5), [200] + 4 * [429], "C15: without a key one a minute")
site.check_no_alerts()
done()
