#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Four workers, one key, 200,000 requests: what is admitted is never above burst + rate x time, and at least 99 % of it.
import re, sys; sys.path.insert(0, "tests/lib")
from weirtest import *

RATE, BURST, WANTED = 1000, 500, 200_000
site = Site(policy=f"limits: {{all: {{key: site, rate: {RATE}/s, burst: {BURST}}}}}\n", workers=4, locations="location / { return 200 'ok'; }",
            http="log_format when '$msec $status'; access_log off;", server="access_log when.log when buffer=256k;")
log = os.path.join(site.dir, "when.log")
total = 0
while total < WANTED:
    out = run("wrk", "-t2", "-c64", "-d3s", f"http://127.0.0.1:{site.port}/", timeout=60).stdout
    total += int(re.search(r"(\d+) requests in", out).group(1))
site.stop()
admitted, count, first, last = 0, 0, float("inf"), 0.0
for line in open(log):
    at, status = line.split()
    at = float(at)
    first, last, count = min(first, at), max(last, at), count + 1
    admitted += status == "200"
elapsed = last - first
most = BURST + RATE * (elapsed + 0.004)  # the log's clock is cached per turn of the loop and has milliseconds
note(f"{count} requests in {elapsed:.3f} s, {admitted} admitted, bound {BURST + RATE * elapsed:.0f}")
ok(count >= WANTED, "at least 200,000 requests were made")
ok(admitted <= most, "never more than burst + rate x time")
ok(admitted >= 0.99 * (BURST + RATE * elapsed), "and at least 99 % of it")
site.check_no_alerts()
done()
