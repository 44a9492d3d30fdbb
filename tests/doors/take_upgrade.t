#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# nginx is upgraded by USR2: a second master from the files on disk, both serving for a while, then the first ends. Every counter goes
# on, what the old workers have in flight counts in the new ones, and no request is lost.
import json, sys, threading; sys.path[:0] = ["tests/lib", "tests/doors"]
from daemon import *
from gatelib import *

ROUNDS = 3
site = Site(workers=2, start_now=False, http="access_log off;", policy="""limits:
  hourly: {match: /index.html, rate: 1/hour, burst: 40}
  log: {match: /f1.txt, rate: 20/hour, algorithm: sliding-log}
  held: {match: /held.bin, key: site, concurrent: 2}
""")
write(os.path.join(site.root, "held.bin"), "x" * 20000000)
daemon = Daemon(site)


def slow():
    """A download that is not read."""
    w = Wire(site.port)
    w.s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    w.send("GET /held.bin HTTP/1.1\r\nHost: a\r\n\r\n")
    return w, int(w.f.readline().split()[1])


running, answers, lost = True, [], []


def load(i):
    while running:
        try:
            answers.append(site.get("/f2.txt", source=f"127.0.7.{i}").status)
        except Exception as e:
            lost.append(repr(e))
        time.sleep(0.005)


threads = [threading.Thread(target=load, args=(i,), daemon=True) for i in (1, 2)]
[t.start() for t in threads]

spent, logged = 0, 0
for n in range(ROUNDS):
    old = daemon.pid()
    is_((site.statuses(5, "/index.html"), site.statuses(3, "/f1.txt")), (5 * [200], 3 * [200]), f"round {n}: some requests")
    spent, logged = spent + 5, logged + 3
    held, status = slow()
    is_(status, 200, "and one in flight")
    new = daemon.upgrade()
    ok(new not in (0, old) and alive(old), "USR2: two masters")
    a, b = site.get("/index.html"), site.get("/f1.txt")
    spent, logged = spent + 1, logged + 1
    is_((a["X-RateLimit-Remaining"], b["X-RateLimit-Remaining"]), (str(40 - spent), str(20 - logged)), "whoever answers knows every request before")
    os.kill(old, signal.SIGQUIT)
    ok(wait_until(lambda: len(daemon.workers(old)) == 1), "QUIT: of the old ones there is the worker with the download")
    a = site.get("/index.html")
    spent += 1
    is_(a["X-RateLimit-Remaining"], str(40 - spent), "the new ones go on counting")
    other, status = slow()
    third = slow()[1]
    is_((status, third), (200, 429), "and count what the old worker has in flight")
    held.close()
    other.close()
    ok(wait_until(lambda: not alive(old)), "the old master ends with it")
    first = wait_until(lambda: slow()[1] == 200)
    ok(first, "its place is free")
    d = json.loads(weir("table", "info", "--json", "--table", site.table).stdout)
    is_(d["generation"], 1, "the same policy: nothing was published anew")

is_(site.statuses(40 - spent + 1, "/index.html")[-2:], [200, 429], "after all of them the limit is where it would have been")
is_(site.statuses(20 - logged + 1, "/f1.txt")[-2:], [200, 429], "the exact log too")
running = False
[t.join() for t in threads]
is_((lost, set(answers)), ([], {200}), f"none of {len(answers)} requests was lost")
ok(wait_until(lambda: json.loads(weir("table", "info", "--json", "--table", site.table).stdout)["processes"] == 2), "old workers have left their slots")
ok(daemon.end(daemon.pid()), "the last ends")
site.check_no_alerts()
done()
