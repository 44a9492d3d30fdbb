#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# What limit_req and limit_conn do better here than in nginx, each shown beside stock nginx: where that fails, and that ours does not.
import sys, threading; sys.path[:0] = ["tests/lib", "tests/doors"]
from takelib import *


def end(site):
    site.check_no_alerts()
    site.stop()


def pair(http, server, **kw):
    """Stock nginx first, then ours; the same configuration."""
    for stock in True, False:
        yield stock, Native(http, server, stock=stock, **kw)


# ---- a key of any length is limited (nginx: over 255 bytes connections, over 65,535 requests are not) -------------------
let_go = threading.Event()


def answer(method, path, headers, body):
    if "/slow" in path:
        let_go.wait(20)
    return 200, {}, b"ok\n"


backend = Backend(answer)
for stock, site in pair("limit_conn_zone $http_x_api_key zone=conns:1m;", "limit_conn conns 1;", backend=backend.port):
    let_go.clear()
    key = {"X-Api-Key": "k" * 300}
    before = len(backend.seen)
    held = threading.Thread(target=lambda: site.get("/slow", headers=key))
    held.start()
    wait_until(lambda: len(backend.seen) > before)
    is_(site.get("/", headers=key).status, 200 if stock else 503, f"a key of 300 bytes, one in flight: {'stock lets a second pass' if stock else 'ours does not'}")
    is_(site.get("/", headers={"X-Api-Key": "k" * 299}).status, 200, "another key has its own")
    let_go.set()
    held.join()
    site.stop()
long_key = "large_client_header_buffers 4 128k; limit_req_zone $http_x_a$http_x_b zone=keys:1m rate=1r/m;"
for stock, site in pair(long_key, "limit_req zone=keys;"):
    key = {"X-A": "a" * 60000, "X-B": "b" * 60000}
    is_([site.get("/", headers=key).status for _ in range(3)], 3 * [200] if stock else [200, 503, 503],
        f"a key of 120,000 bytes: {'stock does not limit it, and logs an error' if stock else 'ours limits it'}")
    site.stop()

# ---- keys of different lengths share one table (nginx: a zone full of short ones has no page for a long one, 503) ---------
many = 400
for stock, site in pair("limit_req_zone $arg_k zone=mixed:32k rate=1r/m;", "limit_req zone=mixed burst=5 nodelay;"):
    wire = Wire(site.port)
    for i in range(many):
        wire.get(f"/?k={i}")
    wire.close()
    got = [site.get(f"/?k={i}{'x' * 100}").status for i in range(5)]
    is_(got, 5 * [503] if stock else 5 * [200], f"long keys after {many} short ones: {'stock has no memory' if stock else 'ours has room'}")
    if not stock:
        site.check_no_alerts()
    site.stop()

# ---- a flood of new keys forgets nobody who is limited (nginx: the oldest is thrown out, whatever it owes) ---------------
for stock, site in pair("limit_req_zone $arg_k zone=flood:64k rate=1r/m;", "limit_req zone=flood;"):
    is_(site.statuses(2, "/?k=victim"), [200, 503], "a client at its limit")
    wire = Wire(site.port)
    for i in range(2500):
        wire.get(f"/?k={i}")
        if i % 500 == 499:
            wire.close()
            wire = Wire(site.port)
    wire.close()
    is_(site.get("/?k=victim").status, 200 if stock else 503, f"after 2,500 other keys: {'stock has forgotten it' if stock else 'ours has not'}")
    if not stock:
        site.check_no_alerts()
    site.stop()

# ---- a worker that is killed leaks nothing (nginx: its places are taken for ever) ---------------------------------------
for stock, site in pair("limit_conn_zone $binary_remote_addr zone=conns:1m;", "limit_conn conns 1;", backend=backend.port):
    let_go.clear()
    before = len(backend.seen)

    def lost():
        try:
            site.get("/slow")
        except Exception:
            pass    # its worker is killed
    held = threading.Thread(target=lost)
    held.start()
    wait_until(lambda: len(backend.seen) > before)
    is_(site.get("/").status, 503, "one is in flight")
    old = site.workers()
    os.kill(old[0], signal.SIGKILL)
    wait_until(lambda: site.workers() and site.workers() != old)
    held.join()
    let_go.set()
    if stock:
        time.sleep(2.5)
        is_(site.get("/").status, 503, "its worker was killed: stock counts it still")
    else:
        ok(wait_until(lambda: site.get("/").status == 200, 10), "its worker was killed: ours is free again")
    site.stop()

# ---- several limits: all are charged or none, also when workers race (nginx charges without looking again) ---------------
site = Native("limit_req_zone $arg_a zone=a:1m rate=1r/m; limit_req_zone $arg_b zone=b:1m rate=1r/m;",
              "limit_req zone=a burst=9 nodelay; limit_req zone=b burst=9 nodelay;", workers=4)
for round in range(5):
    got = at_once(40, lambda i: site.get(f"/?a={round}&b={round}").status)
    is_((got.count(200), got.count(503)), (10, 30), "forty at once in four workers, two limits of ten each: ten pass")
is_(site.get("/?a=0").status, 503, "the first limit was charged ten times")
is_(site.get("/?b=0").status, 503, "and so was the second")
got = at_once(40, lambda i: site.get(f"/?a=new{i}&b=0").status)
is_(got, 40 * [503], "where the second refuses")
is_([site.get(f"/?a=new{i}").status for i in range(0, 40, 8)], 5 * [200], "the first is not charged")
end(site)

# ---- a rate over 1,000 r/s without a burst is delivered (nginx: one a millisecond, at most) ------------------------------
for stock, site in pair("limit_req_zone $binary_remote_addr zone=fast:1m rate=5000r/s;", "limit_req zone=fast; keepalive_requests 100000000;"):
    # as fast as one connection goes: a pipeline of fifties
    wire, passed, began = Wire(site.port), 0, time.monotonic()
    while time.monotonic() - began < 2:
        wire.send("GET /f1.txt HTTP/1.1\r\nHost: a\r\n\r\n" * 50)
        passed += sum(wire.read().status == 200 for _ in range(50))
    took = time.monotonic() - began
    wire.close()
    if stock:
        ok(passed <= 1000 * took + 2, "5000r/s: of a fast client stock lets a thousand a second pass")
    else:
        ok(passed <= 5000 * took + 1, "5000r/s: ours never more than five thousand")
        note(f"5000r/s: {passed / took:.0f} a second passed")
    rate = passed / took
    site.stop()
    if stock:
        slow = rate
ok(rate > 1.2 * slow, "and it delivers more than stock does")

# ---- a table without room for a place in flight lets pass (nginx refuses, without its line) -------------------------------
for stock, site in pair("limit_conn_zone $arg_k zone=conns:32k;", "limit_conn conns 1;", backend=backend.port):
    let_go.clear()
    before = len(backend.seen)
    wires = [Wire(site.port) for _ in range(600)]
    for i, wire in enumerate(wires):
        wire.send(f"GET /slow?k={i} HTTP/1.1\r\nHost: a\r\n\r\n")
    wait_until(lambda: len(backend.seen) - before >= (400 if stock else 600))
    time.sleep(0.2)
    refused = 0
    let_go.set()
    for wire in wires:
        refused += wire.read().status == 503
        wire.close()
    if stock:
        ok(refused > 0, f"600 keys in flight in 32k: stock refuses {refused} of them, for nothing")
    else:
        is_(refused, 0, "600 keys in flight in 32k: ours has room for them")
        site.check_no_alerts()
    site.stop()
done()
