#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Downloads under limit_conn keep the process slots of the workers that reloads left behind, until new workers find none: then the old
# ones give theirs up, and the new ones decide.
import fcntl, struct, sys; sys.path[:0] = ["tests/lib", "tests/doors"]
from takelib import *

F_OFD_SETLK = 37
SIZE = 24000000
site = Native("limit_req_zone $arg_k zone=z:1m rate=1r/m; limit_conn_zone $arg_c zone=c:1m;",
              "limit_req zone=z; limit_conn c 100; add_header X-Pid $pid always;", workers=2)
write(os.path.join(site.root, "big.bin"), "x" * SIZE)
wires, holds = [], open(site.table, "r+b")


def download():
    """One that is not read yet; which worker sends it."""
    w = Wire(site.port)
    w.send("GET /big.bin?c=1 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
    head = b"".join(iter(w.f.readline, b"\r\n"))
    wires.append(w)
    return int(re.search(rb"X-Pid: (\d+)", head)[1])


def downloads():
    """At each worker."""
    left = set(site.workers()) - gone
    return wait_until(lambda: left.discard(download()) or not left, 20)


def take_all():
    """Of the process slots that are free: the first byte of each 64 behind the first page."""
    n = 0
    for i in range(256):
        try:
            fcntl.fcntl(holds, F_OFD_SETLK, struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, 4096 + 64 * i, 1, 0))
            n += 1
        except BlockingIOError:
            pass
    return n


gone = set()
YIELD = "new workers find no process slot"
ok(take_all() >= 254, "others have all slots but two")
for reload in range(3):
    ok(downloads(), "a download at each worker keeps its slot")
    gone |= set(site.workers())
    os.kill(site.process.pid, signal.SIGHUP)
    ok(wait_until(lambda: len(set(site.workers()) - gone) == 2, 20), "a reload: two more workers")
    began = time.monotonic()
    is_(site.statuses(8, f"/f1.txt?k={reload}"), [200] + 7 * [503], "which decide at once")
    ok(wait_until(lambda: site.errors().count(YIELD) == 2 * (reload + 1), 20), "the two before gave their slots up, and say so")
    ok(time.monotonic() - began < 10, "soon")
is_(len(re.findall(r"its \d+ places of requests in flight are not counted any more", site.errors())), 6, "and how many requests that concerns")
ok("passes undecided" not in site.errors() and "pass undecided" not in site.errors(), "nothing passed undecided")
is_([len(w.f.read()) for w in wires], [SIZE] * len(wires), "each download comes whole")
ok(wait_until(lambda: len(site.workers()) == 2, 20), "and then they end")
site.check_no_alerts()
done()
