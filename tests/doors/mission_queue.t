#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# The mission's experiments C3 and C8: excess waits its turn, evenly spaced; a full queue refuses at once.
import sys, time; sys.path.insert(0, "tests/lib")
from weirtest import *

for algorithm in ("leaky-bucket", "nginx"):
    site = Site(policy=f"limits: {{per-ip: {{algorithm: {algorithm}, rate: 2/s, queue: 5}}}}\n")
    answers = at_once(10, lambda i: site.get("/"))
    passed = [a for a in answers if a.status == 200]
    refused = [a for a in answers if a.status == 429]
    # one more for each half second between the first and the last decision
    more = int(2 * (max(a.ended for a in refused) - min(a.began for a in answers))) if refused else 4
    within(len(passed), 6, 6 + more, f"C3, {algorithm}: of ten at once six pass")
    is_(len(refused), 10 - len(passed), f"C3, {algorithm}: four are refused")
    within(max((a.seconds for a in refused), default=0), 0, 2, f"C3, {algorithm}: those at once")
    in_turn(passed, 0.5, f"C3, {algorithm}: those that pass are answered in turn")
    site.check_no_alerts()
    site.stop()

site = Site(policy="limits: {per-ip: {algorithm: leaky-bucket, rate: 2/s, queue: 2}}\n")
began = time.monotonic()


def one(i):
    time.sleep(max(0, began + 0.3 + 0.05 * i - time.monotonic()))
    return site.get("/")


answers = at_once(5, one)
passed = [a for a in answers if a.status == 200]
if max((a.ended for a in answers if a.status == 429), default=9e9) - answers[0].began < 0.45:  # before a place was free again
    is_(sorted(a.status for a in answers), [200, 200, 200, 429, 429], "C8: five, 50 ms apart, 2/s with a queue of two")
else:
    within(len(passed), 3, 5, "C8: five, on a machine that stood still meanwhile")
in_turn(passed, 0.5, "C8: those that pass are answered in turn")
site.check_no_alerts()
done()
