#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# An edit under load: no failed request, no lost counter, no counter above its limit; a broken edit changes nothing and is
# reported everywhere.
import http.client, json, sys, threading, time; sys.path.insert(0, "tests/lib")
from weirtest import *

policy = lambda burst, extra="": f"limits:\n  per-ip: {{rate: 1/hour, burst: {burst}}}\n{extra}"
site = Site(policy=policy(100), workers=2, locations="location / { return 200 'ok'; }", http="keepalive_requests 1000000;")
control = start([WEIR, "control", site.policy, "--table", site.table], stderr=open(os.path.join(site.dir, "control.log"), "w"), env=san_env())
said = lambda: open(os.path.join(site.dir, "control.log"), errors="replace").read()
generation = lambda: json.loads(weir("show", "--json", "--table", site.table, "--policy", site.policy).stdout)["policy"]["generation"]

is_(site.statuses(50), 50 * [200], "half of a hundred an hour is used")
running, failures, counts = True, [], {}


def load(i):
    c = http.client.HTTPConnection("127.0.0.1", site.port, timeout=10, source_address=(f"127.0.0.{20 + i}", 0))
    while running:
        try:
            c.request("GET", "/")
            r = c.getresponse()
            r.read()
            counts[i, r.status] = counts.get((i, r.status), 0) + 1
            if r.status not in (200, 429):
                failures.append(r.status)
        except Exception as e:
            failures.append(repr(e))
            c.close()


threads = [threading.Thread(target=load, args=(i,)) for i in range(4)]
[t.start() for t in threads]
before = generation()
for n, burst in enumerate([200, 300, 60, 200]):
    write(site.policy, policy(burst))
    ok(wait_until(lambda: generation() == before + n + 1), f"edit {n + 1} is published")
passed = lambda: [sum(c for (i, status), c in list(counts.items()) if i == client and status == 200) for client in range(4)]
wait_until(lambda: min(passed()) >= 100)
time.sleep(0.3)
running = False
[t.join() for t in threads]
is_(failures, [], "no request failed during four edits")
ok(all(100 <= p <= 300 for p in passed()), f"each client passed at least its first limit and never more than the largest: {passed()}")
got = site.get("/")
is_(got["X-RateLimit-Limit"], "200", "the new number holds at the next request")
within(int(got["X-RateLimit-Remaining"]), 98, 99, "half used stayed half used, through every edit")

current = generation()
write(site.policy, policy(5, "  other: {rat: 5/s}\n"))
ok(wait_until(lambda: "unknown word 'rat'" in said()), "a broken edit is reported by control")
ok(wait_until(lambda: "did you mean 'rate'" in said()), "with what was meant")
check = weir("check", site.policy)
ok(check.returncode != 0, "by weir check")
is_(generation(), current, "it is not published")
is_(site.get("/")["X-RateLimit-Limit"], "200", "the running policy stays")
show = weir("show", "--table", site.table, "--policy", site.policy)
like(show.stdout + show.stderr, "error", "weir show says that the file on disk is broken")
doctor = weir("doctor", "--table", site.table, "--policy", site.policy)
ok(doctor.returncode != 0, "weir doctor finds it")
like(doctor.stdout + doctor.stderr, "line 3: unknown word 'rat'", "and names the place")
write(site.policy, policy(400))
ok(wait_until(lambda: generation() == current + 1), "the mended file is published")
is_(site.get("/")["X-RateLimit-Limit"], "400", "and holds")
is_(stop(control), 0, "control stops cleanly")
site.check_no_alerts()
done()
