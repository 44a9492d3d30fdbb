#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Only failures are counted: a right password is free, a wrong one is not, and neither parallel guesses, nor successes held open,
# nor hanging up, nor a page of the operator's, nor a killed worker give anyone a guess more.
import base64, hashlib, socket, sys, threading, time; sys.path[:0] = ["tests/lib", "tests/doors"]
from gatelib import *

hold = threading.Event()
LIMIT = "limits: {login: {match: POST /login, key: ip, rate: 5/hour, count: failures%s}}\n"


def answer(method, path, headers, body):
    """What the password asks for: `200`, `401`; slow: only when told; after: in so many seconds."""
    word, _, how = body.decode().partition(" ")
    if how == "hold":
        hold.wait(30)
    elif how:
        time.sleep(float(how))
    if word == "big":
        return 200, {}, b"x" * 4000000
    return int(word or 200), {"Location": "/home"} if word == "302" else {}, b"answer\n"


backend = Backend(answer)


def site_of(policy, **kw):
    return Site(backend=backend.port, policy=policy, **kw)


def guess(site, body, n=1, **kw):
    return [site.post("/login", body=body.encode(), **kw).status for _ in range(n)]


# ---- what counts ----
site = site_of(LIMIT % "")
is_(guess(site, "200", 12), 12 * [200], "right passwords cost nothing")
is_(guess(site, "503", 8), 8 * [503], "an outage locks nobody out")
is_(guess(site, "302", 8), 8 * [302], "nor does a redirect")
is_(guess(site, "401", 4) + guess(site, "422") + guess(site, "401", 2), 4 * [401] + [422] + 2 * [429], "five wrong ones, of any 4xx, then refused")
is_(guess(site, "200"), [429], "now the right one too: it would tell which is right")
is_(guess(site, "401", source="127.0.0.4"), [401], "another address may guess")
a = site.post("/login", body=b"200", source="127.0.0.5")
is_((a["x-ratelimit-remaining"], a["x-ratelimit-limit"]), ("5", "5"), "a right one's answer says that nothing was used up")
is_([site.post("/login", body=b, source="127.0.0.5")["x-ratelimit-remaining"] for b in (b"401", b"503", b"200")], ["4", "4", "4"],
    "a wrong one's that one was, and later ones that it still is")
site.stop()

site = site_of(LIMIT % ", failure: [200]")
is_(guess(site, "302", 8) + guess(site, "200", 6), 8 * [302] + 5 * [200] + [429], "a site that answers a wrong password with 200 and a right one with 302")
site.stop()
site = site_of(LIMIT % ", failure: [422]")
is_(guess(site, "401", 7) + guess(site, "422", 6), 7 * [401] + 5 * [422] + [429], "a site that says 422")
site.stop()
site = site_of("limits: {made: {match: POST /login, key: ip, rate: 3/hour, count: successes}}\n")
is_(guess(site, "401", 6) + guess(site, "200", 4), 6 * [401] + 3 * [200] + [429], "count: successes")
site.stop()

# ---- in parallel ----
site = site_of(LIMIT % "", workers=2)
got = at_once(200, lambda i: site.post("/login", body=b"401 0.3").status)
is_((got.count(401), got.count(429)), (5, 195), "200 wrong passwords at once: exactly five were tried")
site.check_no_alerts()
site.stop()

# ---- successes held open bank no guesses ----
site = site_of(LIMIT % "", workers=2)
held = [threading.Thread(target=lambda: guess(site, "200 hold")) for _ in range(4)]
[t.start() for t in held]
before = len(backend.seen)
wait_until(lambda: site.post("/login", body=b"200", source="127.0.0.1")["x-ratelimit-remaining"] == "0")
got = at_once(40, lambda i: site.post("/login", body=b"401").status)
ok(got.count(401) <= 5, "four successes are held open: of forty guesses at once no more than the five were tried")
hold.set()
[t.join() for t in held]
got += guess(site, "401", 10)
is_(got.count(401), 5, "and when they are let go, five in all")
hold.clear()
site.check_no_alerts()
site.stop()

# ---- a slow reader cannot hold it ----
site = site_of(LIMIT % "")
wires = []
for i in range(5):
    w = Wire(site.port)
    w.s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    w.send("POST /login HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nbig")
    wires.append(w)
for w in wires:
    w.f.readline()    # the status line is here, the body is not
ok(wait_until(lambda: guess(site, "401") == [401]), "five large successes are being read slowly: they are settled already")
[w.close() for w in wires]
site.stop()

# ---- hanging up ----
site = site_of(LIMIT % "")
for i in range(5):
    w = Wire(site.port)
    seen = len(backend.seen)
    w.send("POST /login HTTP/1.1\r\nHost: a\r\nContent-Length: 7\r\n\r\n401 0.5")
    wait_until(lambda: len(backend.seen) > seen or site.access().count("\n") > i)
    w.close()
    wait_until(lambda: site.access().count(" 499 ") + site.access().count("499 ") > i)
is_(guess(site, "401"), [429], "who hangs up before the answer has guessed all the same")
site.check_no_alerts()
site.stop()

# ---- a killed worker ----
site = site_of(LIMIT % "", main="worker_shutdown_timeout 5s;")
wires = [Wire(site.port) for i in range(5)]
[w.send("POST /login HTTP/1.1\r\nHost: a\r\nContent-Length: 8\r\n\r\n401 hold") for w in wires]
ok(wait_until(lambda: guess(site, "401") == [429]), "five guesses are in flight: no sixth")
os.kill(site.workers()[0], signal.SIGKILL)
killed = time.monotonic()


def free():
    try:
        return guess(site, "200") == [200]
    except (OSError, http.client.HTTPException):
        return False


ok(wait_until(free, 20), "their worker is killed: they are free again")
within(time.monotonic() - killed, 0, 6, "within two seconds, and what a busy machine takes to start a worker")
hold.set()
[w.close() for w in wires]
hold.clear()
site.stop()

# ---- the operator's page, a cached answer, a redirect inside, an upgrade ----
d = folder()
site = site_of(LIMIT % "", server="proxy_intercept_errors on; error_page 401 =200 /sorry.html; location = /sorry.html { internal; root %s; }" % d)
write(os.path.join(d, "sorry.html"), "sorry\n")
os.chmod(d, 0o755)
is_(guess(site, "401", 6), 5 * [200] + [429], "a page that shows a wrong password as 200 hides nothing")
site.check_no_alerts()
site.stop()

site = Site(backend=backend.port, http="proxy_cache_path %s/cache keys_zone=c:1m;" % d,
            policy="limits: {probe: {match: /account/*, key: ip, rate: 3/hour, count: failures}}\n",
            locations="location / { proxy_cache c; proxy_cache_valid any 1m; proxy_set_body 404; proxy_method POST; proxy_pass http://127.0.0.1:%d; }" % backend.port)
count = backend.count
is_(site.statuses(4, "/account/7"), 3 * [404] + [429], "an answer from the cache counts as one from the backend")
is_(backend.count - count, 1, "(it was from the cache)")
site.stop()

locations, UPGRADE = websockets()
site = Site(policy="limits: {sockets: {match: /ws, key: ip, rate: 2/hour, count: failures}}\n", locations=locations)
wires = [Wire(site.port) for i in range(4)]
is_([w.get("/ws", UPGRADE).status for w in wires], 4 * [101], "an upgraded connection is a success, at once")
[w.close() for w in wires]
site.check_no_alerts()
done()
