#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# When the table cannot be had, traffic goes on: a full file system, a foreign, damaged or truncated file, a folder that others can write,
# a published policy that is no policy: each is said with its cure, and mended without a restart.
import os, shutil, signal, sys, time; sys.path[:0] = ["tests/lib", "tests/doors"]
from gatelib import *

POLICY = "limits: {per-ip: {key: ip, rate: 1/hour, burst: 3}}\n"
NEXT = 10.5  # seconds until another try


def crit(site):
    return [l for l in site.errors().splitlines() if "[crit]" in l and "weir: " in l]


def start(site):
    """Without waiting for a table, which will not be there."""
    site.process = subprocess.Popen(["nginx", "-c", site.conf, "-p", site.dir, "-e", site.error_log, "-g", "daemon off;"], start_new_session=True, env=san_env(), stderr=subprocess.DEVNULL)
    import weirtest
    weirtest._children.append(site.process)
    ok(wait_until(lambda: listening(site.port)), "nginx starts")


def undecided(site, what, *words):
    got = [site.get("/") for _ in range(6)]
    is_([a.status for a in got], 6 * [200], f"{what}: traffic passes")
    without_rate(got[0], f"{what}: undecided")
    is_(logged(site)[-1].split()[:3], ["200", "FAILED", "-"], f"{what}: $weir_status is FAILED")
    is_(len(crit(site)), 1, f"{what}: said once")
    for word in words:
        like(crit(site)[0], word, f"{what}: the log")


site_of = lambda **kw: Site(policy=POLICY, start_now=False, **kw)

# a foreign file; removed, it is mended at a request
foreign = site_of()
os.mkdir(os.path.dirname(foreign.table), 0o700)
open(foreign.table, "w").write("not a table\n" * 1000)
os.chmod(foreign.table, 0o600)
start(foreign)
undecided(foreign, "a foreign file", foreign.table, "requests pass undecided")
is_(open(foreign.table).read(12), "not a table\n", "a foreign file: is not touched")

# a full file system
small = site_of(table_size="8m")
mounted = os.path.join(small.shm, "t")
os.mkdir(mounted, 0o700)
is_(run("mount", "-t", "tmpfs", "-o", "size=1m,mode=0700", "none", mounted).returncode, 0, "a file system of one megabyte")
try:
    start(small)
    undecided(small, "a full file system", "No space left", "make the table smaller")
    is_(os.listdir(mounted), [], "a full file system: nothing is left behind")

    # a folder that others can write, a header overwritten, a file cut short
    open_folder = site_of()  # opened to others while nginx runs (before that, its configuration fails: gate_folder.t)
    open_folder.start()
    os.chmod(os.path.dirname(open_folder.table), 0o777)
    old = open_folder.workers()
    os.kill(old[0], signal.SIGKILL)
    wait_until(lambda: open_folder.workers() and open_folder.workers() != old and crit(open_folder))
    undecided(open_folder, "a folder that others can write", "0700")
    open(open_folder.error_log, "w").close()

    broken = site_of()
    broken.start()
    is_(broken.statuses(4), [200, 200, 200, 429], "a table that works")
    broken.stop()
    with open(broken.table, "r+b") as f:
        f.seek(16)
        f.write(os.urandom(200))
    open(broken.error_log, "w").close()
    start(broken)
    undecided(broken, "a damaged header", broken.table, "remove the file")

    short = site_of()
    short.start()
    short.stop()
    os.truncate(short.table, 100_000)
    open(short.error_log, "w").close()
    start(short)
    undecided(short, "a truncated file", short.table)

    # the mending
    os.remove(foreign.table)
    shutil.rmtree(os.path.dirname(broken.table))
    os.chmod(os.path.dirname(open_folder.table), 0o700)
    is_(run("mount", "-o", "remount,size=64m", mounted).returncode, 0, "room is made")
    time.sleep(NEXT)
    for site, what in (foreign, "foreign file removed"), (small, "room made"), (open_folder, "folder closed"), (broken, "damaged table removed"):
        is_(site.statuses(4), [200, 200, 200, 429], f"{what}: deciding begins")
        site.check_no_alerts()
        site.stop()
    is_(short.statuses(2), [200, 200], "nothing done: undecided still")
    is_(len(crit(short)), 2, "said a second time, ten seconds later")
    short.stop()
finally:
    run("umount", mounted)

# in the middle of the work
site = Site(policy=POLICY)
is_(site.statuses(2), [200, 200], "two of three are used")
image = site.table + ".policy"
good = open(image, "rb").read()
with open(image + ".new", "wb") as f:
    f.write(os.urandom(5000))
os.chmod(image + ".new", 0o600)
os.rename(image + ".new", image)
is_(site.statuses(2), [200, 429], "a spoilt image that nobody announced changes nothing")
old = site.workers()
os.kill(old[0], signal.SIGKILL)
wait_until(lambda: site.workers() and site.workers() != old)
is_(wait_until(lambda: site.get("/").status), 200, "a worker that starts with it lets pass")
ok(any("publish" in l for l in crit(site)), "says that the image is damaged, and to publish again")
is_(site.publish(POLICY.replace("3", "4")).returncode, 0, "published again")
time.sleep(NEXT)
is_(site.get("/")["X-RateLimit-Limit"], "4", "it decides")

os.remove(site.table)
ok(wait_until(lambda: os.path.exists(site.table) or site.get("/") and False, 5, 0.2), "a table that is removed is made again")
is_(site.get("/")["X-RateLimit-Limit"], "4", "with the policy that was in force, edits included")
is_([l for l in site.errors().splitlines() if ("[alert]" in l or "[emerg]" in l) and "exited on signal 9" not in l], [], "no alert but that about the killed")
done()
