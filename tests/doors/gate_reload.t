#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# A hundred reloads and fifty killed workers under load: no request is lost but those in the killed worker, no counter is lost, no alert is
# logged but nginx's own about the killed, and old workers are soon gone.
import os, random, re, signal, socket, sys, threading, time; sys.path[:0] = ["tests/lib", "tests/doors"]
from gatelib import *

RELOADS, KILLS, CLIENTS = 100, 50, 4
policy = lambda burst: f"limits: {{per-ip: {{rate: 1/hour, burst: {burst}}}, all: {{key: site, rate: 1000000/s, burst: 1000000}}}}\n"
site = Site(policy=policy(100), workers=2, locations="location / { return 200 'x'; }", http="access_log off;", table_size="1m")
running, answers, lost = True, {}, []


def load(i):
    """One request a connection: nothing may be lost, whatever nginx does with its idle ones."""
    source = (f"127.0.5.{i + 1}", 0)
    while running:
        try:
            with socket.create_connection(("127.0.0.1", site.port), 10, source) as s:
                s.sendall(b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
                line = s.makefile("rb").readline()
            status = int(line.split()[1])
            answers[i, status] = answers.get((i, status), 0) + 1
        except Exception as e:
            lost.append(repr(e))
        time.sleep(0.001)


threads = [threading.Thread(target=load, args=(i,), daemon=True) for i in range(CLIENTS)]
[t.start() for t in threads]


def workers():
    with open(f"/proc/{site.process.pid}/task/{site.process.pid}/children") as f:
        return [int(x) for x in f.read().split()]



time.sleep(0.3)
for n in range(RELOADS):
    if n % 10 == 0:
        write(site.policy, policy(100 + n // 10))
    before = set(workers())
    site.reload()
    wait_until(lambda: len(set(workers()) - before) >= 2, 5, 0.005)
ok(wait_until(lambda: len(workers()) == 2), "old workers are gone")
is_(site.errors().count("gracefully shutting down") >= 2 * RELOADS, True, f"{RELOADS} reloads happened")
is_(lost, [], "no request was lost in them")
is_(site.get("/", source="127.0.5.99")["X-RateLimit-Limit"], "109", "the last policy is in force")

# an old worker with a request of its own is gone soon after it
conf = open(site.conf).read()
slow = Backend(lambda *a: (time.sleep(1.5), (200, {}, b"slow\n"))[1])
write(site.conf, conf.replace("location / {", f"location /slow {{ proxy_pass http://127.0.0.1:{slow.port}; }} location / {{"))
site.reload()
result = []
t = threading.Thread(target=lambda: result.append(wait_until(lambda: site.get("/slow", source="127.0.5.98").text == "slow\n")))
time.sleep(0.5)
old = set(workers())
t.start()
time.sleep(0.3)
site.reload()
t.join()
ended = time.monotonic()
is_(result, [True], "a request that was under way is finished by its old worker")
ok(wait_until(lambda: not old & set(workers())), "which then ends")
within(time.monotonic() - ended, 0, 4, "soon")
is_(lost, [], "still nothing is lost")

for n in range(KILLS):
    before = wait_until(lambda: len(workers()) == 2 and workers(), 5, 0.005)
    os.kill(random.choice(before), signal.SIGKILL)
    wait_until(lambda: len(workers()) == 2 and set(workers()) != set(before), 5, 0.005)
    time.sleep(0.01)
time.sleep(0.3)
running = False
[t.join() for t in threads]
note(f"{sum(answers.values())} requests, {len(lost)} lost to {KILLS} killed workers")
ok(len(lost) <= KILLS * CLIENTS, "what is lost was in a killed worker")
ok({status for _, status in answers} == {200, 429}, "every other one was answered")
passed = [sum(c for (i, status), c in answers.items() if (i, status) == (client, 200)) for client in range(CLIENTS)]
ok(all(100 <= p <= 110 for p in passed), f"no client passed its limit, through all of it: {passed}")
a = site.get("/", source="127.0.5.1")
is_((a.status, a["X-RateLimit-Limit"]), (429, "109"), "counters and policy are there")
published = [int(x) for x in re.findall(r"weir: published generation (\d+)", site.errors())]
is_(len(published), 10, "ten different policies were published, once each")
is_(published, sorted(published), "in order")
check = weir("table", "check", "--table", site.table)
is_(check.returncode, 0, "the table is sound")
alerts = [l for l in site.errors().splitlines() if "[alert]" in l or "[emerg]" in l or "[crit]" in l]
is_([l for l in alerts if "exited on signal 9" not in l], [], "no alert but those about the killed")
done()
