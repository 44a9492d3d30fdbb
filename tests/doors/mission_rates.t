#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# The mission's experiments C1, C4, C9, C13: what a rate and a burst mean, through a real nginx.
import sys, time; sys.path.insert(0, "tests/lib")
from weirtest import *

C1 = "limits: {per-ip: {rate: 2/s, burst: 1}}\nrespond: {status: 503}\n"

site = Site(policy=C1)
Bucket(2, 1, refused=503).check(6, lambda: site.get("/"), "C1: 2/s without a burst: six in a row are one 200 and five 503")
time.sleep(1)
spaced = []
for _ in range(6):
    spaced.append(site.get("/").status)
    time.sleep(0.6)
is_(spaced, 6 * [200], "C1: six spaced 0.6 s apart all pass")
site.check_no_alerts()
site.stop()

site = Site(policy=C1, locations="location / { return 200 'pong\\n'; }")
Bucket(2, 1, refused=503).check(6, lambda: site.get("/"), "C9: a location that answers with `return` is limited as C1")
site.stop()

site = Site(policy="limits: {per-ip: {rate: 2/s, burst: 6}}\n")
bucket = Bucket(2, 6)
bucket.check_at_once(10, lambda: site.get("/"), "C4: 2/s with burst 6: ten at once are 6x200 and 4x429")
bucket.check(1, lambda: site.get("/"), "C4: one right after is refused")
time.sleep(1.0)
bucket.check(3, lambda: site.get("/"), "C4: a second later two more pass, a third does not")
site.check_no_alerts()
site.stop()

site = Site(policy="limits: {per-ip: {rate: 1/s, burst: 4}}\n")
Bucket(1, 4).check_at_once(6, lambda: site.get("/"), "C13: 1/s with burst 4: six at once are 4x200 and 2x429")
site.check_no_alerts()
done()
