#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# The mission's experiments C3 and C8: excess waits its turn, evenly spaced; a full queue refuses at once.
import sys, time; sys.path.insert(0, "tests/lib")
from weirtest import *

site = Site(policy="limits: {per-ip: {algorithm: leaky-bucket, rate: 2/s, queue: 5}}\n")
answers = at_once(10, lambda i: site.get("/"))
passed = sorted(a.seconds for a in answers if a.status == 200)
refused = sorted(a.seconds for a in answers if a.status == 429)
is_(len(passed), 6, "C3: of ten at once six pass")
is_(len(refused), 4, "C3: four are refused")
within(max(refused), 0, 0.4, "C3: those at once")
for i, seconds in enumerate(passed):
    within(seconds, max(0, 0.5 * i - 0.02), 0.5 * i + 0.4, f"C3: number {i + 1} is answered after about {0.5 * i} s")
site.check_no_alerts()
site.stop()

site = Site(policy="limits: {per-ip: {algorithm: leaky-bucket, rate: 2/s, queue: 2}}\n")
began = time.monotonic()


def one(i):
    time.sleep(max(0, began + 0.3 + 0.05 * i - time.monotonic()))
    return site.get("/")


answers = at_once(5, one)
is_([a.status for a in answers], [200, 200, 200, 429, 429], "C8: five, 50 ms apart, 2/s with a queue of two")
for i, expected in enumerate([0, 0.45, 0.9]):
    within(answers[i].seconds, max(0, expected - 0.03), expected + 0.35, f"C8: number {i + 1} waits about {expected} s")
site.check_no_alerts()
done()
