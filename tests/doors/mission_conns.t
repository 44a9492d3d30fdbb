#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# The mission's experiments C6 and C15: downloads at the same time and their speed; keys, the keyless, and three at a time.
import sys, threading; sys.path.insert(0, "tests/lib")
from weirtest import *

site = Site(policy="""
limits:
  conns: {match: /big.bin, key: ip, concurrent: 2, bandwidth: 1MiB/s}
""")
write(os.path.join(site.root, "big.bin"), "x" * 2097152)
got = at_once(4, lambda i: site.get("/big.bin"))
is_(sorted(a.status for a in got), [200, 200, 429, 429], "C6: two of four downloads at once")
is_([len(a.body) for a in got if a.status == 200], [2097152, 2097152], "C6: both whole")
for a in got:
    if a.status == 200:
        # one second's worth goes at once, as nginx's limit_rate has it: the other follows within a second, to the second
        within(a.seconds, 0.9, 6.0, "C6: in about a second")
    else:
        within(a.seconds, 0.0, 2.0, "C6: refused at once")
        is_(a["retry-after"], "1", "C6: with a hint when to come back")
lines = wait_until(lambda: [l for l in site.errors().splitlines() if '"conns"' in l and "refused" in l])
ok(lines, "C6: the log names the limit")
is_(site.get("/big.bin", headers={"Range": "bytes=0-9"}).status, 206, "C6: and when they are over there is room again")
site.check_no_alerts()
site.stop()

# C15 whole: the backend holds what has /slow in it until it is told
let_go = threading.Event()


def answer(method, path, headers, body):
    if "/slow" in path:
        let_go.wait(20)
    return 200, {}, b"ok\n"


backend = Backend(answer)
site = Site(backend=backend.port, policy="""
limits:
  keyed: {key: header.x-api-key, missing: skip, rate: 2/s, burst: 3}
  keyless: {match: {not: {header.x-api-key: "*"}}, key: ip, rate: 1/min, burst: 1}
  inflight: {key: ip, concurrent: 3}
""")
for key in "A", "B":
    Bucket(2, 3).check(5, lambda: site.get("/", headers={"X-Api-Key": key}), f"C15: key {key} has its own three at once")
is_(site.statuses(5), [200] + 4 * [429], "C15: without a key one a minute")

results = []
threads = [threading.Thread(target=lambda k=k: results.append(site.get("/slow", headers={"X-Api-Key": k}, source="127.0.0.8").status))
           for k in "CDE"]
[t.start() for t in threads]
ok(wait_until(lambda: sum(p == "/slow" for _, p in backend.seen) == 3), "C15: three in flight from one address")
is_(site.get("/", headers={"X-Api-Key": "F"}, source="127.0.0.8").status, 429, "C15: a fourth is refused")
is_(site.get("/", headers={"X-Api-Key": "F"}, source="127.0.0.7").status, 200, "C15: not one from another address")
let_go.set()
[t.join() for t in threads]
is_(results, [200, 200, 200], "C15: the three were answered")
is_(site.get("/", headers={"X-Api-Key": "F"}, source="127.0.0.8").status, 200, "C15: then there is room")
site.check_no_alerts()
done()
