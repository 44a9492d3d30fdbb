#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Four workers, one key, 200,000 requests: what is admitted is never above burst + rate x time, and at least 99 % of it.
import re, sys; sys.path.insert(0, "tests/lib")
from weirtest import *

RATE, BURST, WANTED = 1000, 500, 200_000
site = Site(policy=f"limits: {{all: {{key: site, rate: {RATE}/s, burst: {BURST}}}}}\n", workers=4, locations="location / { return 200 'ok'; }",
            http="log_format when '$msec $status'; access_log off;", server="access_log when.log when buffer=256k;")
log = os.path.join(site.dir, "when.log")
total, began = 0, time.monotonic()
while total < WANTED:
    out = run("wrk", "-t2", "-c64", "-d3s", f"http://127.0.0.1:{site.port}/", timeout=60).stdout
    total += int(re.search(r"(\d+) requests in", out).group(1))
site.stop()
elapsed = time.monotonic() - began
lines = [line.split() for line in open(log)]
admitted = sum(status == "200" for _, status in lines)
# What could be had: nobody asked while wrk began, nor while the machine stood still, and a bucket that is full gains nothing then. The
# log's clock is cached per turn of a worker's loop and has milliseconds: good enough for this, but not to bound what was admitted.
times = sorted(float(at) for at, _ in lines)
tokens, offered, before = float(BURST), 0, times[0]
for at in times:
    tokens, before = min(BURST, tokens + RATE * (at - before)), at
    if tokens >= 1:
        tokens, offered = tokens - 1, offered + 1
note(f"{len(lines)} requests in {times[-1] - times[0]:.3f} s, {admitted} admitted, {offered} could be, bound {BURST + RATE * elapsed:.0f}")
ok(len(lines) >= WANTED, "at least 200,000 requests were made")
ok(admitted <= BURST + RATE * elapsed, "never more than burst + rate x time")
ok(admitted >= 0.99 * offered, "and at least 99 % of it")
site.check_no_alerts()
done()
