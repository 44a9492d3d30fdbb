#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# The downloads of examples/downloads.yaml: how many at the same time, how fast each and all together, and who takes everything.
import sys; sys.path.insert(0, "tests/examples")
from starterlib import *

site = Starter("examples/downloads.yaml", [("192.0.2.0/24", "127.0.9.0/24")])
os.mkdir(f"{site.root}/files")
MIB = 1 << 20
for name, size in ("small", 1000), ("tiny", 200_000), ("large", 3 * MIB), ("movie", 8 * MIB), ("larger", 30 * MIB):
    write(f"{site.root}/files/{name}", "x" * size)


def slowly(source, n):
    """n downloads that are being read slowly."""
    wires = [Wire(site.port, source) for _ in range(n)]
    for w in wires:
        w.s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        w.send("GET /files/larger HTTP/1.1\r\nHost: a\r\n\r\n")
    return wires


# ---- at the same time ----
wires = slowly("127.0.1.1", 3)
is_([w.f.readline()[9:12] for w in wires], 3 * [b"200"], "three files at the same time")
fourth = Wire(site.port, "127.0.1.1").send("GET /files/small HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
waiting = [Wire(site.port, "127.0.1.1").send("GET /files/small HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n") for _ in range(9)]
accepted(site.port, fourth, *waiting)
a = site.get("/files/small", source="127.0.1.1")
is_((a.status, a["retry-after"]), (429, "1"), "ten more wait, the next one is refused")
is_((site.get("/files/small", source="127.0.1.2").status, site.get("/", source="127.0.1.1").status), (200, 200), "others, and pages, are not held up")
wires[0].close()
is_([w.read().status for w in [fourth, *waiting]], 10 * [200], "one file has come: those who wait are served")
[w.close() for w in wires[1:]]

# ---- how fast ----
a = site.get("/files/tiny", source="127.0.2.1")
within(a.seconds, 0, 1.5, "a small file comes at once")
a = site.get("/files/movie", source="127.0.2.1")
is_(len(a.body), 8 * MIB, "a large one comes whole")
within(a.seconds, 1.4, 20, "... its first MiB and a second's worth at once, five at 2 MiB/s, but for what is left of that second")
began = time.monotonic()
got = at_once(3, lambda i: site.get("/files/large", source="127.0.2.2"))
is_([len(a.body) for a in got], 3 * [3 * MIB], "three at the same time")
within(time.monotonic() - began, 1.2, 30, "... share 4 MiB/s: nine of them, of which four at once")

# ---- everything ----
for pause in 0, 1.9:
    time.sleep(pause)
    is_(statuses(many(site.port, 90, "/files/small", "127.0.3.1")), {200: 90}, "ninety files")
time.sleep(0.5)
is_(statuses(many(site.port, 20, "/files/small", "127.0.3.1")), {200: 20}, "and twenty more: a day's two hundred")
a = site.get("/files/tiny", source="127.0.3.1")
is_((a.status, len(a.body)), (200, 200_000), "the next one is not refused")
within(a.seconds, 0.9, 20, "... but slow")
like(site.access(), "200 SLOWED", "... as the log says")
is_(statuses(many(site.port, 250, "/files/small", "127.0.9.1")), {200: 250}, "a mirror may have all of it")
site.check_no_alerts()
site.stop()
done()
