#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Slow clients and a few reloads took every process slot of the table: each old worker kept its own until its last response was sent, and new
# workers let everything pass undecided. Workers that are told to exit give the slot back at once, and still decide what reaches them.
import json, os, socket, sys, threading, time; sys.path[:0] = ["tests/lib", "tests/doors"]
from gatelib import *

WORKERS, RELOADS = 2, 4


class Stream:
    """A backend whose answers never end until told to."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=500)
        self.port = self.listener.getsockname()[1]
        self.open = []
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            s, _ = self.listener.accept()
            s.recv(4096)
            s.sendall(b"HTTP/1.0 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: hi\n\n")
            self.open.append(s)

    def end(self):
        for s in self.open:
            s.close()


stream = Stream()
policy = lambda burst: f"limits: {{per-ip: {{rate: 1/hour, burst: {burst}}}, slow: {{match: /slow, key: site, rate: 1/2s, " \
    "algorithm: leaky-bucket, queue: 5}}\n"
site = Site(policy=policy(2), workers=WORKERS, listen="reuseport",
            locations=f"location /events {{ proxy_pass http://127.0.0.1:{stream.port}; proxy_buffering off; proxy_read_timeout 1h; }}"
                      " location / { root /nonexistent; try_files /no =204; }")
info = lambda: json.loads(weir("table", "info", "--json", "--table", site.table).stdout)


def hold(n):
    """Responses that go on, on every worker: with reuseport the kernel chooses, so several."""
    return [Wire(site.port, source=f"127.0.{n + 1}.{i + 1}").send("GET /events HTTP/1.1\r\nHost: a\r\n\r\n") for i in range(16)]


def next_generation():
    before = set(site.workers())
    site.reload()
    ok(wait_until(lambda: len(set(site.workers()) - before) == WORKERS), "new workers")


held, half = [], []
for n in range(RELOADS):
    began = len(stream.open)
    write(site.policy, policy(2) + f"# {n}\n")
    held += hold(n)
    ok(wait_until(lambda: len(stream.open) == began + 16), "sixteen responses go on")
    # these have sent half a request, and go on in a worker that is to exit
    half += [[Wire(site.port, source=f"127.0.20.{n + 1}").send("GET /a HTTP/1.1\r\nHost: a\r\n") for _ in range(3)]]
    accepted(site.port, *held[-16:], *half[-1])
    next_generation()
within(len(site.workers()), WORKERS * 3, WORKERS * (RELOADS + 1), "old workers are still there")
ok(wait_until(lambda: info()["processes"] == WORKERS), "they have given their slots back")
is_(info()["processes"], WORKERS, "a slot for each new worker, none for the old")
is_(site.statuses(3, source="127.0.0.9"), [204, 204, 429], "the new ones decide")

# what reaches an old worker is decided, in the same counters and under the policy that is in force now
for n, three in enumerate(half):
    answers = [w.send("\r\n").read() for w in three]
    is_(sorted(a.status for a in answers), [204, 204, 429], "three requests in old workers: two are allowed")
    is_({a["x-ratelimit-limit"] for a in answers}, {"2"}, "with what is left")
ok(wait_until(lambda: info()["processes"] == WORKERS), "and the slots they took for it are free again")

# one that goes on there keeps no slot either; a new policy in force meanwhile is the one that counts
late = [Wire(site.port, source=f"127.0.30.{i + 1}").send("GET /events HTTP/1.1\r\nHost: a\r\n") for i in range(16)]
accepted(site.port, *late)
next_generation()
is_(site.publish(policy(7)).returncode, 0, "a new policy is published")
began = len(stream.open)
for w in late:
    w.send("\r\n")
ok(wait_until(lambda: len(stream.open) == began + 16), "sixteen responses begin in old workers")
ok(wait_until(lambda: info()["processes"] == WORKERS), "and take no slot for longer than the decision")
heads = [w.f.readline() + b"".join(iter(w.f.readline, b"\r\n")) for w in late]
is_({b"X-RateLimit-Limit: 7\r\n" in h for h in heads}, {True}, "the policy in force now decided them")

# a request that waits its turn is let go on by its old worker
result = []
waiting = [threading.Thread(target=lambda: result.append(site.get("/slow", source="127.0.0.77").status)) for _ in range(3)]
[t.start() for t in waiting]
decided = lambda: sum(l["allowed"] for l in json.loads(weir("show", "--json", "--table", site.table).stdout)["limits"] if l["name"] == "slow")
ok(wait_until(lambda: decided() == 3), "three are admitted")
next_generation()
[t.join() for t in waiting]
is_(result, [204] * 3, "three that waited their turn through a reload passed")
ok(wait_until(lambda: len(logged(site, "DELAYED")) == 2), "two of them after their wait")

stream.end()
for w in held:
    w.f.read()
    w.close()
ok(wait_until(lambda: len(site.workers()) == WORKERS), "the old workers end with their last response")
lines = logged(site, "/events")
is_(len(lines), 16 * (RELOADS + 1), "each is in the access log")
is_({tuple(l.split()[:3]) for l in lines}, {("200", "PASSED", "per-ip")}, "with what was decided when it began")
is_({l.split()[3] for l in lines}, {"1", "6"}, "and what was left then")
is_(weir("table", "check", "--table", site.table).returncode, 0, "the table is sound")
is_([l for l in site.errors().splitlines() if "[crit]" in l], [], "nothing passed undecided")
site.check_no_alerts()
is_(site.stop(), 0, "nginx ends")
site.check_no_alerts()
done()
