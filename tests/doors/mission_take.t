#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# The mission's experiments C1 to C9 and C13 to C15 with nginx's own directives, as an nginx user writes them, unchanged: codes, times, log.
import sys, threading; sys.path[:0] = ["tests/lib", "tests/doors"]
from takelib import *

ZONE = "limit_req_zone $binary_remote_addr zone=perip:10m rate={};\n"


def native(rate, server, **kw):
    return Native(ZONE.format(rate), server, **kw)


def end(site):
    site.check_no_alerts()
    site.stop()


site = native("2r/s", "limit_req zone=perip;")
Bucket(2, 1, refused=503).check(6, lambda: site.get("/"), "C1: 2r/s without a burst: six in a row are one 200 and five 503")
time.sleep(1)
spaced = []
for _ in range(6):
    spaced.append(site.get("/").status)
    time.sleep(0.6)
is_(spaced, 6 * [200], "C1: six spaced 0.6 s apart all pass")
end(site)

site = native("2r/s", "limit_req zone=perip; limit_req_status 429;")
bucket = Bucket(2, 1)
bucket.check(3, lambda: site.get("/"), "C2: limit_req_status 429: 200 429 429")
lines = site.lines("limiting requests")
ok(lines, "C2: there are lines")
bad = [l for l in lines if not re.search(r'^\d{4}/\d\d/\d\d \d\d:\d\d:\d\d \[error\] \d+#\d+: \*\d+ limiting requests, excess: (?:0\.\d{3}|1\.000) by zone "perip", client: 127\.0\.0\.1, '
                                         r'server: , request: "GET / HTTP/1\.1", host: "127\.0\.0\.1:\d+"$', l)]
is_(bad, [], "C2: word for word nginx's")
is_([l for l in site.access().splitlines()][:2], ["200 PASSED - GET / HTTP/1.1", "429 REJECTED - GET / HTTP/1.1"], "C2: $limit_req_status says ours")
end(site)

site = native("2r/s", "limit_req zone=perip burst=5; limit_req_status 429;")
answers = at_once(10, lambda i: site.get("/"))
passed = [a for a in answers if a.status == 200]
refused = [a for a in answers if a.status == 429]
more = int(2 * (max(a.ended for a in refused) - min(a.began for a in answers))) if refused else 4
within(len(passed), 6, 6 + more, "C3: of ten at once six pass")
is_(len(refused), 10 - len(passed), "C3: the others are refused")
within(max((a.seconds for a in refused), default=0), 0, 2, "C3: those at once")
in_turn(passed, 0.5, "C3: those that pass are answered in turn")
is_(sum("DELAYED" in l for l in site.access().splitlines()), len(passed) - 1, "C3: $limit_req_status of those that waited is DELAYED")
is_(len(site.lines(r'\[warn\].*delaying request, excess: \d\.\d{3}, by zone "perip"')), len(passed) - 1, "C3: and nginx's line, one level lower")
end(site)

site = native("2r/s", "limit_req zone=perip burst=5 nodelay; limit_req_status 429;")
bucket = Bucket(2, 6)
bucket.check_at_once(10, lambda: site.get("/"), "C4: burst=5 nodelay: ten at once are 6x200 and 4x429")
bucket.check(1, lambda: site.get("/"), "C4: one right after is refused")
time.sleep(1.0)
bucket.check(3, lambda: site.get("/"), "C4: a second later two more pass, a third does not")
end(site)

backend = Backend(lambda method, path, headers, body: (401 if method == "POST" else 200, {}, b"no\n"))
LOGIN = """
    limit_req_zone $binary_remote_addr zone=login:10m rate=5r/m;
    limit_req_zone $binary_remote_addr zone=site:10m rate=10r/s;
"""
SERVER = """
        limit_req_status 429;
        {}
        location / {{ limit_req zone=site burst=20 nodelay; proxy_pass http://127.0.0.1:{}; }}
        location = /login {{ limit_req zone=login burst=4 nodelay; proxy_pass http://127.0.0.1:{}; }}
"""
site = Native(LOGIN, locations=SERVER.format("", backend.port, backend.port))
bucket = Bucket(5 / 60, 5, passed=401)
bucket.check(7, lambda: site.post("/login"), "C5: 401 five times, then 429 twice")
is_(site.get("/").status, 200, "C5: the site is another zone")
is_(site.post("/login", source="127.0.0.9").status, 401, "C5: another address has its own")
time.sleep(13)
bucket.check(2, lambda: site.post("/login"), "C5: 13 s later one more, not two")
end(site)

site = Native("limit_conn_zone $binary_remote_addr zone=conns:10m;", "limit_conn conns 2; limit_conn_status 429; limit_rate 1m;")
write(os.path.join(site.root, "big.bin"), "x" * 2097152)
got = at_once(4, lambda i: site.get("/big.bin"))
is_(sorted(a.status for a in got), [200, 200, 429, 429], "C6: two of four downloads at once")
is_([len(a.body) for a in got if a.status == 200], [2097152, 2097152], "C6: both whole")
for a in got:
    if a.status == 200:
        within(a.seconds, 0.9, 6.0, "C6: in about a second")
is_(len(site.lines(r'\[error\] \d+#\d+: \*\d+ limiting connections by zone "conns", client: 127\.0\.0\.1, server: , request: "GET /big\.bin HTTP/1\.1"')), 2,
    "C6: nginx's line for each")
is_(site.get("/f1.txt").status, 200, "C6: and when they are over there is room again")
wait_until(lambda: len(site.access().splitlines()) == 5)
is_(sorted(l.split()[2] for l in site.access().splitlines()), 3 * ["PASSED"] + 2 * ["REJECTED"], "C6: $limit_conn_status says ours")
end(site)

site = Native("""
    geo $exempt { default 0; 127.0.0.9 1; }
    map $exempt $limited { 0 $binary_remote_addr; 1 ""; }
    limit_req_zone $limited zone=one:10m rate=1r/s;
    limit_req zone=one; limit_req_status 429;
""", locations=f"location / {{ proxy_pass http://127.0.0.1:{backend.port}; }} location /dry/ {{ limit_req_dry_run on; proxy_pass http://127.0.0.1:{backend.port}; }}")
Bucket(1, 1).check(4, lambda: site.get("/"), "C7: from a normal address")
is_(site.statuses(4, source="127.0.0.9"), 4 * [200], "C7: from an exempt one, whose key is empty")
is_(site.statuses(4, "/dry/", source="127.0.0.8"), 4 * [200], "C7: a dry run passes")
dry = [l for l in site.access().splitlines() if "/dry/" in l]
is_(len(site.lines(r'limiting requests, dry run, excess: \d\.\d{3} by zone "one"')), sum("REJECTED_DRY_RUN" in l for l in dry), "C7: a line for each that would have been refused")
within(sum("REJECTED_DRY_RUN" in l for l in dry), 1, 3, "C7: those are three, on a machine that does not stand still")
is_([l for l in site.access().splitlines() if " - - " in l], 4 * ["200 - - GET / HTTP/1.1"], "C7: without a key no status")
end(site)

site = native("2r/s", "limit_req zone=perip burst=2; limit_req_status 429;")
began = time.monotonic()


def one(i):
    time.sleep(max(0, began + 0.3 + 0.05 * i - time.monotonic()))
    return site.get("/")


answers = at_once(5, one)
passed = [a for a in answers if a.status == 200]
if max((a.ended for a in answers if a.status == 429), default=9e9) - answers[0].began < 0.45:  # before a place was free again
    is_(sorted(a.status for a in answers), [200, 200, 200, 429, 429], "C8: five, 50 ms apart, 2r/s burst=2")
    for got, most in zip(sorted(site.excesses("delaying request") + site.excesses()), [1.0, 2.0, 3.0, 3.0]):
        within(got, most - 0.5, most, "C8: the excess that nginx would log")
else:
    within(len(passed), 3, 5, "C8: five, on a machine that stood still meanwhile")
in_turn(passed, 0.5, "C8: those that pass are answered in turn")
end(site)

site = native("2r/s", "limit_req zone=perip;", locations="location / { return 200 'pong\\n'; }")
is_(site.statuses(6), 6 * [200], "C9: a location that answers with `return` is not limited, as in nginx")
end(site)

site = native("1r/s", "limit_req zone=perip burst=3 nodelay; limit_req_status 429;")
Bucket(1, 4).check_at_once(6, lambda: site.get("/"), "C13: six at once are 4x200 and 2x429")
end(site)

site = Native(LOGIN, locations=SERVER.format("limit_req_log_level warn; error_page 429 /slow.html; location = /slow.html { internal; root "
                                             + folder() + "; }", backend.port, backend.port))
page = re.search(r"internal; root (\S+);", site.conf_text)[1]
os.chmod(page, 0o755)
write(os.path.join(page, "slow.html"), "slow down\n")
got = [site.post("/login") for _ in range(8)]
bucket = Bucket(5 / 60, 5, passed=401)
is_([a.status for a in got], [bucket.expected(a) for a in got], "C14: 401 five times, then 429")
is_({a.text for a in got if a.status == 429}, {"slow down\n"}, "C14: with the page as body")
is_(len(site.lines(r'\[warn\].*limiting requests, excess: [45]\.\d{3} by zone "login"')), sum(a.status == 429 for a in got), "C14: a line at level warn for each")
end(site)

let_go = threading.Event()


def answer(method, path, headers, body):
    if "/slow" in path:
        let_go.wait(20)
    return 200, {}, b"ok\n"


backend = Backend(answer)
site = Native("""
    map $http_x_api_key $keyless { "" $binary_remote_addr; default ""; }
    limit_req_zone $http_x_api_key zone=keyed:10m rate=2r/s;
    limit_req_zone $keyless zone=keyless:10m rate=1r/m;
    limit_conn_zone $binary_remote_addr zone=inflight:10m;
    limit_req_status 429; limit_conn_status 429;
""", "limit_req zone=keyed burst=2 nodelay; limit_req zone=keyless; limit_conn inflight 3;", backend=backend.port)
for key in "A", "B":
    Bucket(2, 3).check(5, lambda: site.get("/", headers={"X-Api-Key": key}), f"C15: key {key} has its own three at once")
is_(site.statuses(5), [200] + 4 * [429], "C15: without a key one a minute")
results = []
threads = [threading.Thread(target=lambda k=k: results.append(site.get("/slow", headers={"X-Api-Key": k}, source="127.0.0.8").status))
           for k in "CDE"]
[t.start() for t in threads]
ok(wait_until(lambda: sum(p == "/slow" for _, p in backend.seen) == 3), "C15: three in flight from one address")
is_(site.get("/", headers={"X-Api-Key": "F"}, source="127.0.0.8").status, 429, "C15: a fourth is refused")
is_(site.get("/", headers={"X-Api-Key": "G"}, source="127.0.0.7").status, 200, "C15: not one from another address")
let_go.set()
[t.join() for t in threads]
is_(results, [200, 200, 200], "C15: the three were answered")
is_(site.get("/", headers={"X-Api-Key": "H"}, source="127.0.0.8").status, 200, "C15: then there is room")
end(site)
done()
