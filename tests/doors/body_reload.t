#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# A body that is being read while nginx reloads or ends, or whose client goes away: it is counted once, or not at all.
import sys; sys.path[:0] = ["tests/lib", "tests/doors"]
from gatelib import *

FORM = "application/x-www-form-urlencoded"
backend = Backend()
site = Site(policy="""
limits:
  login: {match: POST /login, key: body.username, missing: deny, rate: 2/hour}
  work: {match: /work, key: body.username, missing: deny, concurrent: 1}
""", backend=backend.port, server="lingering_timeout 1s;")


def begun(path):
    """A request whose body has only begun."""
    w = Wire(site.port)
    w.send(f"POST {path} HTTP/1.1\r\nHost: a\r\nContent-Type: {FORM}\r\nContent-Length: 13\r\n\r\nuser")
    accepted(site.port, w)
    return w


def login():
    return site.post("/login", body=b"username=carl", headers={"Content-Type": FORM}).status


w, old = begun("/login"), set(site.workers())
site.reload()
ok(wait_until(lambda: set(site.workers()) - old), "a new worker")
w.send("name=carl")
is_(w.read().status, 200, "the old one reads on, and decides")
ok(wait_until(lambda: not set(site.workers()) & old), "... and ends")
is_([login(), login()], [200, 429], "what it decided is counted for the new one")

for _ in range(5):
    begun("/work").close()
is_(site.post("/work", body=b"username=carl", headers={"Content-Type": FORM}).status, 200, "who goes away holds no place")
begun("/login")
site.check_no_alerts()
is_(site.stop(signal.SIGTERM), 0, "it ends in the middle of a body")
done()
