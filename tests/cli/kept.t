#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# What survives: control writes the table down each second; a table that is made anew (a reboot, a new container) goes on from
# there. `weir run` writes a last time when it stops. Broken, foreign and old snapshots stand in nobody's way.
import json, os, shutil, sys; sys.path.insert(0, "tests/lib")
from weirtest import *

state = folder()
os.chmod(state, 0o755)
SNAP = os.path.join(state, "kept.snapshot")
POLICY = "limits: {quota: {match: {not: {path: /quick}}, rate: 10/month}, quick: {match: /quick, rate: 20/s, burst: 20}}\n"


def left(site, path="/f1.txt", **kw):
    return int(site.get(path, **kw)["X-RateLimit-Remaining"])


site = Site(policy=POLICY, http=f"weir_snapshot {SNAP};")
log_path = os.path.join(site.dir, "control.log")


def start_control(*argv):
    p = start([WEIR, "control", site.policy, "--table", site.table, "--snapshot", SNAP, *argv], stderr=open(log_path, "a"))
    ok(wait_until(lambda: json.loads(weir("show", "--json", "--table", site.table).stdout)["control"]["running"]), "control runs")
    return p


def boot():
    """As after a reboot: nothing on tmpfs, nginx starts."""
    site.stop()
    shutil.rmtree(site.shm + "/t")
    site.start()


control = start_control()
is_([left(site) for _ in range(4)], [9, 8, 7, 6], "four of ten this month")
site.get("/quick")
ok(wait_until(lambda: os.path.exists(SNAP)), "the table is written down")
is_(oct(os.stat(SNAP).st_mode & 0o777), "0o600", "privately")
time.sleep(3)  # two rounds of the keeper, and some: what is on disk is at most a second old
stop(control, signal.SIGKILL)
boot()
is_(left(site), 5, "control was killed, tmpfs emptied: the month goes on where it was")
like(site.errors(), "counters go on from " + SNAP, "and the log says so")
like(weir("table", "info", "--table", site.table).stdout, "it began with 1 counters", "table info too: what recovers within a minute is not in it")
r = weir("table", "check", "--table", site.table)
is_((r.returncode, r.stdout), (0, f"{site.table} is sound\n"), "it is sound")

control = start_control()
is_([left(site) for _ in range(2)], [4, 3], "counting on")
is_(stop(control), 0, "control is stopped: it writes a last time")
boot()
is_(left(site), 2, "nothing is lost")

second = start([WEIR, "control", site.policy, "--table", site.table, "--snapshot", SNAP], stderr=open(log_path, "a"))
ok(wait_until(lambda: open(log_path).read().count("watching") >= 3), "control again")
r = weir("reset", "--all", "--table", site.table)
is_(r.returncode, 0, "reset")
stop(second)
boot()
is_(left(site), 9, "what was forgotten stays forgotten")

for what, spoil in (("cut", lambda: os.truncate(SNAP, 100)), ("foreign", lambda: write(SNAP, "not a snapshot\n")),
                    ("one byte is another", lambda: (lambda b: open(SNAP, "wb").write(b[:40] + bytes([b[40] ^ 1]) + b[41:]))(open(SNAP, "rb").read()))):
    control = start_control()
    for suffix in "", ".journal":
        if os.path.exists(SNAP + suffix) and what != "cut":
            os.unlink(SNAP + suffix)
    stop(control)
    if not os.path.exists(SNAP):
        c = start_control()
        ok(wait_until(lambda: os.path.exists(SNAP)), "written again")
        stop(c)
    site.stop()
    spoil()
    shutil.rmtree(site.shm + "/t")
    site.start()
    is_(left(site), 9, f"a snapshot that is {what}: the counters begin anew")
    ok(wait_until(lambda: "the counters begin anew: " in site.errors()), "and the log says why")
    os.unlink(SNAP)
    if os.path.exists(SNAP + ".journal"):
        os.unlink(SNAP + ".journal")
site.check_no_alerts()
site.stop()

# ---- weir run ----
backend = Backend()
home = folder()
os.chmod(home, 0o755)
policy = write(f"{home}/policy.yaml", f"gateway: {{to: http://127.0.0.1:{backend.port}}}\n{POLICY}")
p = port()


def gateway(*argv):
    g = start([WEIR, "run", policy, "--listen", f"127.0.0.1:{p}", "--state", f"{home}/state", *argv],
              stdout=open(f"{home}/out", "w"), stderr=open(f"{home}/err", "a"), env=san_env())
    ok(wait_until(lambda: listening(p) and "try " in open(f"{home}/out").read()), "a gateway")
    return g


def remaining():
    return request(p)["X-RateLimit-Remaining"]


g = gateway()
is_([remaining() for _ in range(3)], ["9", "8", "7"], "three of ten")
is_(stop(g), 0, "it stops, its table is removed")
g = gateway()
is_(remaining(), "6", "and at the next start the month goes on")
like(open(f"{home}/err").read(), "weir run: 1 counter goes on from ", "which is said")
is_(stop(g), 0, "it stops")
said = open(f"{home}/err").read().count(" on from ")
g = gateway("--snapshot", "none")
is_(remaining(), "9", "--snapshot none: it begins anew")
is_((said, open(f"{home}/err").read().count(" on from ")), (1, 1), "the first start, and this one, had nothing to say of it")
is_(stop(g), 0, "and stops")
g = gateway()
is_(remaining(), "5", "which has not touched what was kept")
stop(g)
done()
