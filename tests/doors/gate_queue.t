#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Who waits, decides later: in a worker that was told to exit, and under a policy that has been edited since, with the same limits as
# everybody else.
import json, sys, threading, time; sys.path[:0] = ["tests/lib", "tests/doors"]
from gatelib import *

hold = threading.Event()
lock = threading.Lock()
inside = {"now": 0, "most": 0}


def answer(method, path, headers, body):
    with lock:
        inside["now"] += 1
        inside["most"] = max(inside["most"], inside["now"])
    if "hold" in path:
        hold.wait(60)
    time.sleep(0.02)
    with lock:
        inside["now"] -= 1
    return int(headers.get("X-Want") or 200), {}, b"ok\n"


backend = Backend(answer)


def waiting(site, n, path, extra="", method="GET"):
    wires = [Wire(site.port).send(f"{method} {path} HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n{extra}\r\n") for _ in range(n)]
    time.sleep(0.5)
    return wires


def parked(site):
    hold.clear()
    seen = len(backend.seen)
    wire = Wire(site.port).send("GET /hold HTTP/1.1\r\nHost: a\r\n\r\n")
    wait_until(lambda: len(backend.seen) > seen)
    return wire


def reload(site):
    old = site.workers()
    site.reload()
    ok(wait_until(lambda: set(site.workers()) - set(old), 20), "a reload")
    time.sleep(1)
    ok(all(alive(p) for p in old), "the old worker stays for those who wait")
    return old


# ---- the queue itself ----
site = Site(backend=backend.port, policy="limits: {reports: {key: site, concurrent: 1, queue: 20, wait: 50s}}\n")
first = parked(site)
wires = waiting(site, 15, "/r")
old = reload(site)
is_(inside["now"], 1, "the reload lets none of the fifteen through")
wires += waiting(site, 3, "/r")
hold.set()
is_([w.read().status for w in [first] + wires], 19 * [200], "all of them, and three who came to the new worker, are answered")
is_(inside["most"], 1, "one at a time")
[w.close() for w in [first] + wires]
ok(wait_until(lambda: not any(alive(p) for p in old), 20), "the old worker ends")
site.check_no_alerts()
site.stop()

# ---- beside a limit of failures ----
site = Site(backend=backend.port, policy="""limits:
  one: {match: [/hold, /login], key: ip, concurrent: 1, queue: 50, wait: 50s}
  wrong: {match: /login, key: ip, rate: 2/day, count: failures}
""")
first = parked(site)
wires = waiting(site, 12, "/login", "X-Want: 401\r\n", "POST")
old = reload(site)
hold.set()
got = [w.read().status for w in wires]
is_((got.count(401), got.count(429)), (2, 10), "twelve wrong passwords waited over the reload: two are tried")
is_([site.post("/login", headers={"X-Want": "401"}).status for _ in range(3)], 3 * [429], "and none in the new worker")
[w.close() for w in [first] + wires]
ok(wait_until(lambda: not any(alive(p) for p in old), 20), "the old worker ends")
site.check_no_alerts()
site.stop()

# ---- a turn in a leaky bucket ----
site = Site(backend=backend.port, policy="limits: {slow: {key: ip, rate: 1/s, algorithm: leaky-bucket, queue: 3}}\n")
began = time.monotonic()
wires = waiting(site, 4, "/r")
old = reload(site)
is_([w.read().status for w in wires], 4 * [200], "four in a leaky bucket over a reload: all are answered")
ok(time.monotonic() - began >= 2.9, "in their turn")
[w.close() for w in wires]
site.check_no_alerts()
site.stop()


# ---- under a policy that is edited meanwhile ----
def policy(rate, base):
    """400 limits, whose rates are others each time: as many new rows in the ledger."""
    return ("limits:\n  one: {match: [/hold, /w], key: site, concurrent: 1, queue: 30, wait: 50s}\n"
            f"  few: {{match: /w, key: ip, rate: {rate}}}\n"
            + "".join(f"  z{i}: {{match: /z{i}, key: ip, rate: {base + i}/s}}\n" for i in range(400)))


def behind():
    return json.loads(weir("table", "info", "--json", "--table", site.table).stdout)["newest_generation_lag"]


site = Site(backend=backend.port, policy=policy("2/hour", 1000))
first = parked(site)
wires = waiting(site, 12, "/w")
for i in range(6):
    site.publish(policy("2/hour", 2000 + 1000 * i))
    site.get("/")
is_(behind(), 6, "the worker holds the oldest policy that one of them may decide by")
hold.set()
got = [w.read().status for w in wires]
is_((got.count(200), got.count(429)), (2, 10), "twelve waited while 2400 rows came and went: two pass, as the policy said")
is_(site.get("/w").status, 429, "and no third")
is_(weir("table", "check", "--table", site.table).returncode, 0, "the table is sound")
[w.close() for w in [first] + wires]
site.publish(policy("2/hour", 9000))
site.get("/")
ok(wait_until(lambda: behind() == 0), "when they have gone it holds no old one")
site.check_no_alerts()
done()
