#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Zones share a table, and a client who chooses the keys of one of them does not get rid of the limits of another: neither by a flood of
# new keys, nor by places in flight under keys of his own. Stock nginx, whose zones are apart, beside it.
import sys, threading; sys.path[:0] = ["tests/lib", "tests/doors"]
from takelib import *

ROUNDS, REQUESTS, PLACES, STREAMS = 6, 8000, 3000, 120


def flood(site, path, keys, touches):
    """A pipeline of requests under new keys, each asked for so many times; how many were answered."""
    with socket.create_connection(("127.0.0.1", site.port), 60) as s:
        got = []

        def read():
            tail = b""
            while (more := s.recv(1 << 16)):
                got.append((tail + more).count(b"HTTP/1.1 "))
                tail = (tail + more)[-8:]
        reader = threading.Thread(target=read)
        reader.start()
        for k in keys:
            s.sendall(f"GET {path} HTTP/1.1\r\nHost: a\r\nX-K: {k}\r\n\r\n".encode() * touches)
        s.shutdown(socket.SHUT_WR)
        reader.join(60)
        return sum(got)


# ---- a flood of one zone's keys forgets nobody of another zone ----------------------------------------------------------
http = ("keepalive_requests 1000000; limit_req_zone $http_x_k zone=api:32k rate=1r/m; "
        "limit_req_zone $binary_remote_addr zone=login:32k rate=1r/m;")
for burst, touches in (0, 1), (9, 10):
    places = (f"location /login {{ limit_req zone=login burst=4 nodelay; try_files /f1.txt =404; }}"
              f"location /f {{ limit_req zone=api {f'burst={burst} nodelay' if burst else ''}; try_files /f1.txt =404; }}")
    for stock in True, False:
        who = "stock" if stock else "ours"
        site = Native(http, locations="", stock=stock, log_level="crit", start_now=False)
        write(site.conf, site.conf_text.replace("server {", f"server {{ root {site.root}; {places}"))
        site.start()
        began = time.monotonic()
        is_(site.statuses(6, "/login"), 5 * [200] + [503], f"{who}: five logins, and no sixth")
        passed = answered = 0
        for round in range(ROUNDS):
            keys = (f"{round}-{i}" for i in range(REQUESTS // touches))
            answered += flood(site, "/f", keys, touches)
            passed += site.statuses(2, "/login").count(200)
        is_(answered, ROUNDS * REQUESTS, f"{who}: {answered} requests under keys that are asked for {touches} times")
        ok(passed <= (time.monotonic() - began) // 60, f"{who}: nobody logs in for it")
        if not stock:
            site.check_no_alerts()
        site.stop()


# ---- places in flight leave room for what is counted ---------------------------------------------------------------------
def settle(wire):
    """The server has seen all that was sent: statuses of the streams that have begun to answer."""
    wire.frame(6, 0, 0, b"are here")
    statuses = []
    while True:
        head = wire._exactly(9)
        size, kind, flags = int.from_bytes(head[:3], "big"), head[3], head[4]
        payload = wire._exactly(size)
        if kind == 6 and flags & 1:
            return statuses
        if kind == 1:
            while payload[0] & 0xe0 == 0x20:
                payload = payload[1:]
            statuses.append(200 if payload[0] == 0x88 else int(payload[2:5]))


def ask(site, query):
    wire = H2(site.port)
    status, _ = wire.answer(wire.begin("GET", f"/f1.txt?{query}"))
    wire.s.close()
    return status


http = "limit_req_zone $arg_k zone=counted:32k rate=1r/m; limit_conn_zone $arg_c zone=places:32k;"
for stock in True, False:
    who = "stock" if stock else "ours"
    site = Native(http, "limit_req zone=counted; limit_conn places 1;", stock=stock, log_level="crit", listen="http2")
    write(os.path.join(site.root, "big"), "x" * 200000)
    wires, begun = [], []
    for i in range(0, PLACES, STREAMS):
        wires.append(H2(site.port))
        for k in range(i, i + STREAMS):
            wires[-1].begin("GET", f"/big?c={k}")
        begun += settle(wires[-1])
    is_(len(begun), PLACES, f"{who}: {PLACES} places under as many keys are asked for, and nobody reads the answers")
    if not stock:
        is_(begun.count(200), PLACES, "ours: none is refused")
    got = [[ask(site, f"k={k}") for _ in range(3)] for k in range(60)]
    is_([g for g in got if g != [200, 503, 503]], [], f"{who}: whoever is counted is limited meanwhile")
    if not stock:
        refused = sum(ask(site, f"c={k}") == 503 for k in range(0, PLACES, 10))
        ok(refused > PLACES // 20, f"ours: of {PLACES // 10} of those keys {refused} are held")
        site.check_no_alerts()
    for wire in wires:
        wire.s.close()
    site.stop()
done()
