#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Bandwidth: of each response, after a free part; and of all responses of a key together. Bodies arrive whole, small ones at once.
import hashlib, random, sys, threading, time; sys.path[:0] = ["tests/lib", "tests/doors"]
from gatelib import *

random.seed(7)
DATA = random.randbytes(300 * 1024)
backend = Backend(lambda method, path, headers, body: (200, {}, DATA[:int(path.split("/")[-1] or 0)] if path[-1] != "l" else DATA))


def site_of(policy, **kw):
    site = Site(policy=policy, **kw)
    for name, size in ("all", len(DATA)), ("one", 1), ("none", 0), ("k20", 20 * 1024):
        with open(os.path.join(site.root, name), "wb") as f:
            f.write(DATA[:size])
    return site


def whole(a, size=len(DATA)):
    return (a.status, hashlib.sha256(a.body).digest() == hashlib.sha256(DATA[:size]).digest())


# 300 KiB, 100 of them free, at 50 KiB/s: nginx gives the first second's worth at once, so 3 s; it counts in whole seconds,
# and the request may come at the end of one.
SLOW = "limits: {slow: {match: [/all, /p/*, /one, /none, /k20], key: ip, bandwidth: 50KiB/s after 100KiB}}\n"
h2port, tls, h2tls = port(), port(), port()
cert = certificate(folder())
for sendfile in "on", "off":
    site = site_of(SLOW, server=f"{cert} listen 127.0.0.1:{h2port} http2; listen 127.0.0.1:{tls} ssl; listen 127.0.0.1:{h2tls} ssl http2; sendfile {sendfile};",
                   locations=None)
    ways = {"HTTP/1.1": lambda: site.get("/all"), "TLS": lambda: request(tls, path="/all", tls=True),
            "HTTP/2": lambda: curl(f"http://127.0.0.1:{h2port}/all", "--http2-prior-knowledge"),
            "HTTP/2 over TLS": lambda: curl(f"https://127.0.0.1:{h2tls}/all", "--http2")}
    names = list(ways)
    got = at_once(len(names), lambda i: ways[names[i]]())
    for name, a in zip(names, got):
        is_(whole(a) if isinstance(a, Answer) else a, (200, True), f"{name}, sendfile {sendfile}: the body is whole")
        ok(isinstance(a, Answer) and 1.9 <= a.seconds <= 15, f"{name}, sendfile {sendfile}: and takes its time ({getattr(a, 'seconds', 0):.2f} s)")
    for name, size in ("one", 1), ("none", 0), ("k20", 20480):
        a = site.get("/" + name)
        is_(whole(a, size), (200, True), f"{size} bytes, sendfile {sendfile}")
        within(a.seconds, 0, 1.5, "at once")
    is_(site.get("/index.html").status, 200, "what does not match is not slowed")
    site.check_no_alerts()
    site.stop()

site = site_of(SLOW, locations="location /p/ { proxy_pass http://127.0.0.1:%d; }" % backend.port)
a = site.get("/p/all")
is_(whole(a), (200, True), "from a backend: whole")
ok(a.seconds >= 1.9, "and slow")
site.stop()

site = site_of(SLOW, locations="location / { root %s; limit_rate 10m; } location /p/ { limit_rate 20k; proxy_pass http://127.0.0.1:%d; }"
               % ("$document_root", backend.port), start_now=False)
write(site.conf, site.conf_text.replace("root $document_root", "root " + site.root))
site.start()
ok(site.get("/all").seconds >= 1.9, "a larger limit_rate of the configuration does not lift it")
got = at_once(2, lambda i: site.get("/p/61440"))
ok(all(a.seconds >= 0.9 for a in got), "a smaller one stays in force (60 KiB at 20k)")
site.stop()

# ---- all responses of a key ----
TOTAL = "limits: {all: {match: [/all, /p/*, /one], key: ip, total: 100KiB/s}}\n"
for name, kw in ("files", {}), ("a backend", dict(locations="location / { proxy_pass http://127.0.0.1:%d; }" % backend.port)):
    site = site_of(TOTAL, workers=2, **kw)
    path = "/all" if name == "files" else "/p/all"
    began = time.monotonic()
    got = at_once(3, lambda i: site.get(path))
    took = time.monotonic() - began
    is_([whole(a) for a in got], 3 * [(200, True)], f"{name}: three bodies, whole")
    # 900 KiB at 100 KiB/s, a second's worth at once, and each may be granted a piece too early
    ok(took >= 6.5, f"{name}: 900 KiB of one key take eight seconds together ({took:.1f} s)")
    within(took, 6.5, 25, f"{name}: and not much longer")
    site.check_no_alerts()
    site.stop()
site = site_of(TOTAL)
got = at_once(2, lambda i: site.get("/all", source=f"127.0.0.{3 + i}"))
ok(all(1.5 <= a.seconds <= 8 for a in got), "two keys do not share: three seconds less one")
a = site.get("/one", source="127.0.0.9")
is_(whole(a, 1), (200, True), "a byte")
within(a.seconds, 0, 1.5, "at once")
w = Wire(site.port, source="127.0.0.6").send("GET /all HTTP/1.1\r\nHost: a\r\n\r\n")
time.sleep(0.5)
w.close()
h2a = site.get("/one", source="127.0.0.6")
is_(h2a.status, 200, "a client that vanishes gives back what it was granted")
site.check_no_alerts()
done()
