#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Retry-After is true through HTTP, to the second, for every algorithm: a second before it the request is refused, after exactly
# that long it is admitted. (To the nanosecond it is shown in tests/algo/truth.c and tests/flow/retry.c.)
import sys, time; sys.path.insert(0, "tests/lib")
from weirtest import *

site = Site(policy="""
limits:
  token: {match: /token, rate: 1/3s, burst: 1}
  leaky: {match: /leaky, algorithm: leaky-bucket, rate: 1/3s, queue: 0}
  window: {match: /window, algorithm: fixed-window, rate: 2/3s}
  clock: {match: /clock, algorithm: fixed-window, align: clock, rate: 1/4s}
  cost: {match: /cost, rate: 2/3s, burst: 4, cost: 4}
  several: {match: /several, rate: [1/2s, 1/4s]}
  never: {match: /never, rate: 0/s}
""", locations="location / { return 200 'ok'; }")


def story(path):
    a = site.get(path)
    while a.status == 200:
        a = site.get(path)
    wait = int(a["Retry-After"])
    early = None
    if wait > 1:
        time.sleep(max(0, a.ended + wait - 1.2 - time.monotonic()))
        b = site.get(path)
        if b.ended > a.began + wait - 1:  # the machine stood still: who knows whether it came too early
            return story(path)
        early = b.status
    time.sleep(max(0, a.ended + wait - time.monotonic()))
    return a.status, wait, early, site.get(path).status


names = ["token", "leaky", "window", "clock", "cost", "several"]
results = dict(zip(names, at_once(len(names), lambda i: story("/" + names[i]))))
for name, result in results.items():
    if isinstance(result, Exception):
        ok(False, f"{name}: {result!r}")
        continue
    status, wait, early, late = result
    is_(status, 429, f"{name}: refused")
    ok(1 <= wait <= 6, f"{name}: Retry-After: {wait} is a whole number of seconds, at least 1")
    if early is not None:
        is_(early, 429, f"{name}: more than a second before it, still refused")
    is_(late, 200, f"{name}: after exactly Retry-After it is admitted")
a = site.get("/never")
is_((a.status, a["Retry-After"]), (429, None), "what can never fit is refused without Retry-After")
site.check_no_alerts()
done()
