#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Totals where nginx knows no limit_rate: responses that are not buffered, upgraded connections, a reload; small ones beside many large ones.
import hashlib, random, socket, sys, threading, time; sys.path[:0] = ["tests/lib", "tests/doors"]
from gatelib import *

random.seed(11)
DATA = random.randbytes(400 * 1024)


def answer(method, path, headers, body):
    size = int(path.split("/")[-1])
    return 200, {"X-Accel-Buffering": "no"} if path.startswith("/accel/") else {}, DATA[:size]


def server(talk):
    """A backend of raw sockets: talk(connection) after the request has been read. The port."""
    s = socket.create_server(("127.0.0.1", 0))

    def serve(c):
        try:
            c.recv(4096)
            talk(c)
        except OSError:
            pass
        c.close()

    def accept():
        while True:
            c, _ = s.accept()
            threading.Thread(target=serve, args=(c,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    return s.getsockname()[1]


def events(c):
    c.sendall(b"HTTP/1.1 200 OK\r\nX-Accel-Buffering: no\r\nContent-Type: text/event-stream\r\n\r\n")
    for i in range(10):
        c.sendall(b"data: %d\n\n" % i)
        time.sleep(0.1)


def echo(c):
    c.sendall(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n")
    while data := c.recv(4096):
        c.sendall(data)


backend, sse, ws = Backend(answer).port, server(events), server(echo)
h2port = port()
LOCATIONS = f"""
    location / {{ root ROOT; }}
    location /buffered/ {{ proxy_pass http://127.0.0.1:{backend}; }}
    location /accel/ {{ proxy_pass http://127.0.0.1:{backend}; }}
    location /off/ {{ proxy_buffering off; proxy_pass http://127.0.0.1:{backend}; }}
    location /wide/ {{ proxy_buffering off; proxy_buffer_size 64k; proxy_buffers 8 64k; proxy_busy_buffers_size 64k; proxy_pass http://127.0.0.1:{backend}; }}
    location /sse {{ proxy_pass http://127.0.0.1:{sse}; }}
    location /ws {{ proxy_http_version 1.1; proxy_set_header Upgrade $http_upgrade; proxy_set_header Connection upgrade; proxy_pass http://127.0.0.1:{ws}; }}
    location /page.html {{ ssi on; root ROOT; }}
"""


def site_of(total, key="ip", **kw):
    site = Site(policy=f"limits: {{all: {{key: {key}, total: {total}}}}}\n", locations=LOCATIONS, server=f"listen 127.0.0.1:{h2port} http2;",
                start_now=False, **kw)
    site.conf_text = site.conf_text.replace("ROOT", site.root)
    write(site.conf, site.conf_text)
    for name, size in ("all", len(DATA)), ("one", 1):
        with open(os.path.join(site.root, name), "wb") as f:
            f.write(DATA[:size])
    write(os.path.join(site.root, "page.html"), '<!--#include virtual="/all" -->|<!--#include virtual="/off/100000" -->|')
    site.start()
    return site


def h2(path, source):
    return curl(f"http://127.0.0.1:{h2port}{path}", "--http2-prior-knowledge", "--interface", source)


# ---- not buffered: 20 KiB/s gives 64 at once, 1 MiB/s a MiB; and a buffer more may be sent, here 64 KiB ----
for total, size, least in ("20KiB/s", 200 * 1024, 3.2), ("1MiB/s", 400 * 1024, 0.0):
    site = site_of(total)
    ways = [(way, name, path) for name, way in (("HTTP/1.1", lambda p, s: site.get(p, source=s)), ("HTTP/2", h2)) for path in ("/buffered/", "/accel/", "/off/", "/wide/")]
    got = at_once(len(ways), lambda i: ways[i][0](f"{ways[i][2]}{size}", f"127.0.0.{10 + i}"))
    for (_, name, path), a in zip(ways, got):
        is_(isinstance(a, Answer) and (a.status, a.body == DATA[:size]), (200, True), f"{total}, {name}, {path}: whole")
        within(getattr(a, "seconds", 99), least, least + 10, f"{total}, {name}, {path}: in its time")
    for name, a in ("HTTP/1.1", site.get("/sse", source="127.0.0.30")), ("HTTP/2", h2("/sse", "127.0.0.31")):
        is_(a.body, b"".join(b"data: %d\n\n" % i for i in range(10)), f"{total}, {name}: events as they come")
        within(a.seconds, 0.8, 8, f"{total}, {name}: ... at their own pace")
    site.check_no_alerts()
    site.stop()

site = site_of("200KiB/s")
a = site.get("/page.html")
ok(a.body == DATA + b"|" + DATA[:100000] + b"|", "a page of buffered and unbuffered parts")
within(a.seconds, 1.0, 15, "... all of them paced")

# ---- what was sent is paid, be the answers ever so small ----
began = time.monotonic()
is_([site.get("/buffered/20000", source="127.0.0.40").status for _ in range(35)], 35 * [200], "small answers one after the other")
took = time.monotonic() - began
# 684 KiB: 200 are there, 200 lent at most
within(took, 1.2, 20, "... are counted")

began = time.monotonic()
is_([site.get("/wide/60000", source="127.0.0.41").status for _ in range(12)], 12 * [200], "... unbuffered ones of one buffer")
within(time.monotonic() - began, 1.2, 20, "... too")

# ---- an upgraded connection ----
stop = threading.Event()
sockets = []


def hog(site, source, path="/all"):
    while not stop.is_set():
        try:
            w = Wire(site.port, source=source, timeout=60)
            sockets.append(w)
            w.get(path)
            w.close()
        except (OSError, ValueError):
            return


def hogs(n, site, source):
    threads = [threading.Thread(target=hog, args=(site, source), daemon=True) for _ in range(n)]
    for t in threads:
        t.start()
    time.sleep(2)
    return threads


hogs(60, site, "127.0.0.50")
for _ in range(2):
    w = Wire(site.port, source="127.0.0.50")
    began = time.monotonic()
    is_(w.get("/ws", "Upgrade: websocket\r\nConnection: Upgrade\r\n").status, 101, "a websocket of a key that has nothing left")
    w.send("ping")
    is_(w.s.recv(100), b"ping", "... talks")
    within(time.monotonic() - began, 0, 3, "... at once")
    w.close()

# ---- a small answer beside sixty downloads of its key ----
for path, what in ("/one", "a byte"), ("/buffered/5000", "five KB of a backend"), ("/off/5000", "... unbuffered"):
    got = [site.get(path, source="127.0.0.50").seconds for _ in range(3)]
    within(max(got), 0, 4, f"{what} beside sixty downloads")
stop.set()
site.check_no_alerts()
site.stop(signal.SIGTERM)

# ---- each of many gets its turn ----
site = site_of("200KiB/s")
got = 30 * [0]


def read(i, path="/all", source="127.0.0.60"):
    try:
        w = Wire(site.port, source=source, timeout=60)
        w.send(f"GET {path} HTTP/1.1\r\nHost: a\r\n\r\n")
        while data := w.s.recv(65536):
            got[i] += len(data)
    except OSError:
        pass


threads = [threading.Thread(target=read, args=(i,), daemon=True) for i in range(30)]
for t in threads:
    t.start()
time.sleep(10)
note("KiB of thirty in ten seconds:", *[n // 1024 for n in sorted(got)])
within(sum(got) // 1024, 1000, 2400 + 60, "thirty downloads share 200 KiB/s, what is there and what is lent")
ok(min(got) > 16 * 1024, "... and none goes without")
site.stop(signal.SIGTERM)

# ---- a reload ----
site = site_of("200KiB/s", workers=2)
with open(os.path.join(site.root, "big"), "wb") as f:
    f.truncate(20 << 20)
got = 4 * [0]
threads = [threading.Thread(target=read, args=(i, "/big"), daemon=True) for i in range(4)]
for t in threads:
    t.start()
time.sleep(3)
workers = site.workers()
site.reload()
ok(wait_until(lambda: len(set(site.workers()) - set(workers)) >= 2), "new workers are there")
time.sleep(1)
first, began = sum(got), time.monotonic()
time.sleep(5)
rate = (sum(got) - first) / 1024 / (time.monotonic() - began)
ok(all(os.path.exists(f"/proc/{pid}") for pid in workers if pid in site.workers()) and set(workers) & set(site.workers()), "the old ones still send")
within(rate, 100, 300, "four downloads of one key after a reload: 200 KiB/s")
a = site.get("/one", source="127.0.0.60")
is_(a.status, 200, "the new workers answer")
before = sum(got)
threading.Thread(target=read, args=(0, "/big"), daemon=True).start()
time.sleep(4)
within((sum(got) - before) / 1024 / 4, 100, 300, "... and share with the old ones")
site.check_no_alerts()
site.stop(signal.SIGTERM)
done()
