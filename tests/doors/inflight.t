#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Requests in flight: counted one by one, HTTP/2 streams too, and freed however they end: an answer, an error, a client that
# vanishes, a closed websocket, a killed worker; not by a reload while their answer is still being sent.
import socket, sys, threading, time; sys.path[:0] = ["tests/lib", "tests/doors"]
from gatelib import *

hold = threading.Event()


def answer(method, path, headers, body):
    if "/hold" in path:
        hold.wait(30)
    if path.startswith("/sleep/"):
        time.sleep(float(path[7:]))
    return int(headers.get("X-Want") or 200), {}, b"ok\n"


backend = Backend(answer)
POLICY = "limits: {downloads: {key: ip, concurrent: %s}}\n"


def free(site, n, path="/", **kw):
    """Until n places are free: n at once get in."""
    def n_pass():
        return [a.status for a in at_once(n, lambda i: site.get(path, **kw)) if isinstance(a, Answer)] == n * [200]
    return wait_until(n_pass, 20)


def parked(site, n, path="/hold"):
    """n requests that wait for their answer."""
    before = sum(p == path for _, p in backend.seen)
    wires = [Wire(site.port) for _ in range(n)]
    [w.send(f"GET {path} HTTP/1.1\r\nHost: a\r\n\r\n") for w in wires]
    ok(wait_until(lambda: sum(p == path for _, p in backend.seen) == before + n), f"{n} in flight")
    return wires


site = Site(backend=backend.port, policy=POLICY % 3, workers=2)
wires = parked(site, 3)
a = site.get("/")
is_((a.status, a["retry-after"]), (429, "1"), "a fourth is refused; when a place is free nobody can know: a hint of a second")
like(a.text, "downloads", "and told by what")
hold.set()
is_([w.read().status for w in wires], 3 * [200], "the three are answered")
ok(free(site, 3), "and their places free, though the connections are kept open")
[w.close() for w in wires]
hold.clear()

wires = parked(site, 3)
[w.close() for w in wires]
ok(free(site, 3), "three clients vanish: their places are free")
is_([site.get("/", headers={"X-Want": "500"}).status for _ in range(7)], 7 * [500], "an error frees its place")
hold.set()
hold.clear()
site.check_no_alerts()
site.stop()

# ---- HTTP/2: each stream ----
h2port = port()
site = Site(backend=backend.port, policy=POLICY % 3, server=f"listen 127.0.0.1:{h2port} http2;")
h2 = H2(h2port)
streams = [h2.begin("GET", "/hold") for _ in range(3)]
wait_until(lambda: [p for _, p in backend.seen].count("/hold") >= 9)
is_(h2.answer(h2.begin("GET", "/"))[0], 429, "HTTP/2: a fourth stream of one connection is refused")
h2.reset(streams[0])
ok(wait_until(lambda: h2.answer(h2.begin("GET", "/"))[0] == 200), "a stream that is reset frees its place")
hold.set()
h2.s.close()
hold.clear()
site.check_no_alerts()
site.stop()

# ---- a killed worker ----
site = Site(backend=backend.port, policy=POLICY % 2)
wires = parked(site, 2)
is_(site.get("/").status, 429, "full")
os.kill(site.workers()[0], signal.SIGKILL)
killed = time.monotonic()


def passes():
    try:
        return site.get("/").status == 200
    except (OSError, http.client.HTTPException):
        return False


ok(wait_until(passes, 20), "their worker is killed: the places are free")
within(time.monotonic() - killed, 0, 6, "within two seconds, and what a busy machine takes to start a worker")
hold.set()
[w.close() for w in wires]
hold.clear()
site.stop()

# ---- a reload while an answer is being read slowly ----
site = Site(policy="limits: {downloads: {match: /big.bin, key: ip, concurrent: 1}}\n")
write(os.path.join(site.root, "big.bin"), "x" * 20000000)
w = Wire(site.port)
w.s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
w.send("GET /big.bin HTTP/1.1\r\nHost: a\r\n\r\n")
w.f.readline()
is_(site.get("/big.bin").status, 429, "a large file is being read slowly")
old = site.workers()
site.reload()
ok(wait_until(lambda: set(site.workers()) - set(old)), "a reload: new workers come")
time.sleep(2.5)
ok(all(alive(p) for p in old), "the old one goes on sending")
is_(site.get("/big.bin").status, 429, "and its place is taken still, long after")
w.close()
ok(wait_until(lambda: site.get("/big.bin", headers={"Range": "bytes=0-1"}).status == 206, 20), "when its reader goes, it is free")
ok(wait_until(lambda: not any(alive(p) for p in old), 20), "and the old worker ends")
site.check_no_alerts()
site.stop()

# ---- a websocket holds its place while it is open ----
locations, UPGRADE = websockets()
site = Site(policy=POLICY % 2, locations=locations)
wires = [Wire(site.port) for _ in range(2)]
is_([w.get("/", UPGRADE).status for w in wires], [101, 101], "two websockets are opened")
third = Wire(site.port)
is_(third.get("/", UPGRADE).status, 429, "not a third")
third.close()
wires[0].close()


def another():
    w = Wire(site.port)
    status = w.get("/", UPGRADE).status
    w.close()
    return status == 101


ok(wait_until(another), "one closes: another may open")
[w.close() for w in wires]
site.check_no_alerts()
site.stop()

# ---- a queue ----
site = Site(backend=backend.port, policy="limits: {reports: {key: site, concurrent: 1, queue: 2, wait: 20s}}\n")
got = at_once(4, lambda i: site.get("/sleep/0.5"))
is_(sorted(a.status for a in got), [200, 200, 200, 429], "one at a time, two wait, the fourth is refused")
passed = sorted((a for a in got if a.status == 200), key=lambda a: a.ended)
for i, a in enumerate(passed):
    ok(a.ended - min(x.began for x in got) >= 0.5 * (i + 1) - 0.02, f"number {i + 1} after the ones before it")
wires = parked(site, 1)
waiting = Wire(site.port).send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
waiting.close()
hold.set()
ok(free(site, 1), "one that vanishes from the queue leaves no trace")
hold.clear()
[w.close() for w in wires]
site.check_no_alerts()
site.stop()

site = Site(backend=backend.port, policy="limits: {reports: {key: site, concurrent: 1, queue: 5, wait: 400ms}}\n")
wires = parked(site, 1)
a = site.get("/")
is_(a.status, 429, "who has waited long enough is refused")
ok(a.seconds >= 0.4, "not before")
hold.set()
[w.close() for w in wires]
site.stop()

# ---- the largest ----
site = Site(backend=backend.port, policy=POLICY % 65535)
a = site.get("/")
is_((a.status, a["x-ratelimit-limit"], a["x-ratelimit-remaining"]), (200, "65535", "65534"), "concurrent: 65535")
site.check_no_alerts()
done()
