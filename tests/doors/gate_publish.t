#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Who publishes: one worker of a started configuration; if that is killed on the way, the one in its place; and nobody afterwards, or a
# worker that replaces a dead one would undo what has been published since.
import fcntl, os, signal, sys, time; sys.path[:0] = ["tests/lib", "tests/doors"]
from gatelib import *

policy = lambda burst: f"limits: {{per-ip: {{key: ip, rate: 1/hour, burst: {burst}}}}}\n"
site = Site(policy=policy(3))


def limit_is(n, what):
    ok(wait_until(lambda: site.get("/")["X-RateLimit-Limit"] == str(n)), what)


def replaced(worker):
    """Killed, and another one in its place."""
    os.kill(worker, signal.SIGKILL)
    return wait_until(lambda: [w for w in site.workers() if w > 0 and w != worker])


limit_is(3, "the first configuration's policy")

# the lock that publishers take: whoever is at it waits
ledger = os.open(site.table + ".ledger", os.O_RDWR)
fcntl.flock(ledger, fcntl.LOCK_EX)
old = set(site.workers())
write(site.policy, policy(4))
site.reload()
fresh = wait_until(lambda: set(site.workers()) - old)
ok(fresh, "a reload starts a worker")
claimant = fresh.pop()


def waits():
    fds = f"/proc/{claimant}/fd"
    return any(os.path.realpath(f"{fds}/{n}") == site.table + ".ledger" for n in os.listdir(fds))


ok(wait_until(waits), "which waits for its turn to publish")
os.kill(claimant, signal.SIGKILL)
ok(wait_until(lambda: set(site.workers()) - old - {claimant}), "it is killed, and replaced")
os.close(ledger)
limit_is(4, "the one in its place publishes")
ok(wait_until(lambda: "weir: published generation 2" in site.errors()), "and says so")
is_(site.errors().count("weir: published generation 2"), 1, "once")

# afterwards
is_(site.publish(policy(5)).returncode, 0, "an edit is published")
limit_is(5, "and in force")
write(site.policy, policy(4))
ok(replaced(site.workers()[0]), "a worker is killed")
limit_is(5, "the one in its place publishes nothing")
site.reload()
limit_is(4, "a reload does")
before = site.errors()

# (a worker stood for five seconds) a publisher that is stopped (^Z, a debugger) holds its lock: a worker at a request does not wait for it
ledger = os.open(site.table + ".ledger", os.O_RDWR)
fcntl.flock(ledger, fcntl.LOCK_EX)
os.unlink(site.table)  # so that a worker must publish, at a request
slowest, answers = 0.0, set()


def told():
    global slowest
    begun = time.monotonic()
    answers.add(site.get("/").status)
    slowest = max(slowest, time.monotonic() - begun)
    return "another publisher has held the lock" in site.errors()


ok(wait_until(told), "while it is stopped a worker gives up")
ok(slowest < 4, f"and holds no request up ({slowest:.3f} s at most)")
is_(answers - {200, 429}, set(), "each is answered, out of the old table")
os.close(ledger)
ok(wait_until(lambda: os.path.exists(site.table) and site.get("/").status and "generation 1 of" in site.errors()[len(before):]), "and it publishes when it can")
is_([l for l in before.splitlines() if ("[alert]" in l or "[emerg]" in l or "[crit]" in l) and "exited on signal 9" not in l], [], "no alert but those about the killed")
done()
