#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# A worker that leaves keeps its process slot for what still counts, and for nothing else; when slots run short the log says so.
import fcntl, json, struct, sys; sys.path[:0] = ["tests/lib", "tests/doors"]
from gatelib import *

F_OFD_SETLK = 37
site = Site(workers=2, policy="""limits:
  held: {match: /held.bin, key: ip, concurrent: 5}
  rate: {match: [/sent.bin, /index.html], key: ip, rate: 4/hour}
""")
for name in "held", "sent":
    write(os.path.join(site.root, name + ".bin"), "x" * 20000000)


def taken():
    d = json.loads(weir("table", "info", "--json", "--table", site.table).stdout)
    return d["processes"], d["process_slots"]


def slow(path):
    w = Wire(site.port)
    w.s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    w.send(f"GET {path} HTTP/1.1\r\nHost: a\r\n\r\n").f.readline()
    return w


def reload():
    old = set(site.workers())
    site.reload()
    return wait_until(lambda: len(set(site.workers()) - old) == 2, 20)


is_(taken(), (2, 256), "two workers, of 256 process slots")
wire = slow("/sent.bin")
reload()
ok(wait_until(lambda: len(site.workers()) == 3), "an old worker goes on sending")
ok(wait_until(lambda: taken()[0] == 2), "it needs no slot for that")
wires = [slow("/held.bin")]
reload()
ok(wait_until(lambda: len(site.workers()) == 4), "and another")
ok(wait_until(lambda: taken()[0] == 3), "which keeps its own: what it sends is in flight")
wires[0].close()
ok(wait_until(lambda: taken()[0] == 2), "until that has ended")
wire.close()

WARNING = "process slots of the table are taken"
is_(site.errors().count(WARNING), 0, "there is room")
# a slot is taken by whoever has the lock on its byte: the first of each 64 behind the first page
with open(site.table, "r+b") as f:
    for i in range(2, 256 - 8):
        try:
            fcntl.fcntl(f, F_OFD_SETLK, struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, 4096 + 64 * i, 1, 0))
        except BlockingIOError:
            pass    # of a worker that is
    reload()
    wait_until(lambda: len(site.workers()) == 2)
    is_(site.errors().count(WARNING), 1, "others take nearly all: a warning, once for each configuration")
    like(site.errors(), " of 256 " + WARNING + "; without one a worker passes everything undecided. Old workers keep theirs until their "
         "last response has gone, or until none is left: then it is not counted any more. worker_shutdown_timeout ends them", "with what is to be done")
    is_(site.statuses(4, "/index.html"), 3 * [200] + [429], "and requests are decided (the fourth was the file that was sent)")
site.check_no_alerts()
done()
