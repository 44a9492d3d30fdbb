#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Refusals in the error log: at most one line a second for each limit and worker, with a count and a sample; every refusal is in some
# count, also those of a worker that stops; bytes from clients cannot forge lines.
import re, sys, time; sys.path[:0] = ["tests/lib", "tests/doors"]
from gatelib import *

POLICY = """
limits:
  login: {match: /login/**, key: ip, rate: 1/hour, burst: 1}
  other: {match: /other/**, rate: 0/s, respond: {body: text}}
  trial: {match: /trial/**, rate: 0/s, mode: shadow}
clients: {deny: [{ip: 127.0.0.66}, {ip: 127.0.0.67, close: yes}]}
"""
site = Site(policy=POLICY, workers=2, http="access_log off; keepalive_requests 10000000;", locations="location / { return 200 'x'; }")


def lines(name):
    return [l for l in site.errors().splitlines() if f'limit "{name}"' in l or name == "deny" and "deny list" in l]


def total(name):
    return sum(int(re.search(r"refused (\d+) request", l).group(1)) for l in lines(name))


is_([site.post("/login/x?api_key=SECRET&a=?b").status for _ in range(4)], [200, 429, 429, 429], "one login, three refusals")
ok(wait_until(lambda: total("login") == 3), "are told")
like(lines("login")[-1], ', last: client 127.0.0.1 "POST /login/x", refusal ', "with the last of them")
ok("SECRET" not in site.errors(), "... and nothing of its query, where a key may be")
like(lines("login")[-1], "[warn]", "as a warning")
like(lines("login")[-1], ' in the last second', "by the second")

FLOOD = int(os.environ.get("WEIR_FLOOD", 20_000))  # a million: WEIR_FLOOD=1000000
made, runs, began = 0, 0, time.monotonic()
while made < FLOOD:
    out = run("wrk", "-t1", "-c32", "-d2s", f"http://127.0.0.1:{site.port}/other/", timeout=60).stdout
    count = int(re.search(r"(\d+) requests in", out).group(1))
    is_(int(re.search(r"Non-2xx or 3xx responses: (\d+)", out).group(1)), count, f"a flood of {count} is refused")
    made, runs = made + count, runs + 1
ok(wait_until(lambda: total("other") >= made), "all of it is counted in the log")
within(total("other"), made, made + 32 * runs, "no more than was sent")
within(len(lines("other")), 1, 2 * (time.monotonic() - began + 2), "in no more than one line a second and worker")
ok(len(lines("other")) < 1000, f"{made} refusals are {len(lines('other'))} lines")

Wire(site.port).get("/other/\"\\\xff" + 300 * "a")
site.get("/trial/")
site.get("/", source="127.0.0.66")
ok(wait_until(lambda: total("trial") == 1 and total("deny") == 1), "a shadow limit and the deny list have lines of their own")
like(lines("trial")[-1], 'weir: limit "trial" would have refused 1 request in the last second, last: client 127.0.0.1 "GET /trial/"', "of a shadow limit")
like(lines("deny")[-1], 'weir: the deny list refused 1 request in the last second, last: client 127.0.0.66 "GET /"', "of the deny list")
hostile = [l for l in lines("other") if "\\x22" in l]
is_(len(hostile), 1, "hostile bytes are written as numbers")
like(hostile[0], r'"GET /other/', "in their place")
ok(all(32 <= ord(c) < 127 for c in hostile[0]), "and nothing but printable ASCII is in the line")
ok(len(hostile[0]) < 700, "a long target is cut")
Wire(site.port, source="127.0.0.67").send("GET / HTTP/1.1\r\nHost: a\r\n\r\n").ended()
ok(wait_until(lambda: total("deny") == 2), "a closed connection is a refusal too")

before = total("other")
is_([site.get("/other/").status for _ in range(5)], 5 * [429], "five more")
site.stop()
is_(total("other"), before + 5, "a worker that stops tells what it has not told yet")
site.check_no_alerts()

site = Site(policy=POLICY, http="weir_log_level info;", log_level="notice", locations="location / { return 200 'x'; }")
site.get("/other/")
site.stop()
is_(lines("other"), [], "weir_log_level info below the log's level: no lines")
site = Site(policy=POLICY, http="weir_log_level error; error_log $LOG error;", locations="location / { return 200 'x'; }", start_now=False)
log = os.path.join(site.dir, "http.log")
write(site.conf, site.conf_text.replace("$LOG", log))
site.start()
site.get("/other/")
site.stop()
like(open(log).read(), '[error]', "weir_log_level error, into the error_log of http{}")
like(open(log).read(), 'weir: limit "other" refused 1 request', "the line")
site.check_no_alerts()

# more limits than have statistics of their own: no count under a name that it is not of
site = Site(policy="limits:\n" + "".join(f"  l{i}: {{match: /l{i}/**, rate: 0/s}}\n" for i in range(300)), locations="location / { return 200 'x'; }")
site.get("/l290/")
ok(wait_until(lambda: lines("l290")), "one beyond the 255")
like(lines("l290")[-1], 'weir: limit "l290" refused 1 request in the last second', "alone in its second: by its name")
got = [site.get(f"/l{i}/") for i in (290, 291, 291, 7)]
is_([a.status for a in got], 4 * [429], "several in one second")
site.stop()
shared = [l for l in site.errors().splitlines() if '"l29' in l][1:]
if got[-1].ended - got[0].began < 0.9:
    like("\n".join(shared), 'weir: limits without statistics of their own, the last "l291", refused 3 requests in the last second, last: client 127.0.0.1 "GET /l291/"', "one line for all of them, which says so")
else:
    is_(sum(int(re.search(r"refused (\d+) request", l).group(1)) for l in shared), 3, "a slow machine: lines for all of them")
like(site.errors(), 'weir: limit "l7" refused 1 request in the last second', "those that have them are counted apart")
site.check_no_alerts()
done()
