#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# nginx's own limits when the table has no room, is damaged, is removed, or stands in nobody's folder.
import ctypes, sys; sys.path[:0] = ["tests/lib", "tests/doors"]
from takelib import *

libc = ctypes.CDLL(None, use_errno=True)


def small(megabytes):
    """A file system of that size; unmounted at the end."""
    place = folder()
    if libc.mount(b"none", place.encode(), b"tmpfs", 0, f"size={megabytes}m".encode()) != 0:
        raise SystemExit(f"mount: {os.strerror(ctypes.get_errno())}")
    atexit.register(lambda: libc.umount2(place.encode(), 2))
    os.chmod(place, 0o700)
    return place


def native(place, size="1m"):
    site = Native(f"limit_req_zone $arg_k zone=z:{size} rate=1r/m; weir_limit_table {place}/t/zones;", "limit_req zone=z;", table=False, start_now=False)
    site.table = place + "/t/zones"
    return site


site = native(small(14), "64m")
is_(site.nginx("-t").returncode, 0, "zones of 64m, and 14m of room: nginx -t passes")
site.start()
is_(site.statuses(2, "/?k=a"), [200, 503], "the limits hold, in a smaller table")
ok(site.lines(r"\[warn\].*there is no room for a table of 67108864 bytes; one of \d+ is made, which forgets sooner"), "which the log says")
is_(len(site.lines("one of .* is made")), 1, "once")
like("\n".join(site.lines("there is no room")), "14680064 are free. A smaller one will be made", "nginx -t had said so")
old = site.workers()
site.reload()
ok(wait_until(lambda: site.workers() and not set(site.workers()) & set(old) and not any(alive(p) for p in old)), "a reload")
is_(site.get("/?k=a").status, 503, "changes nothing")
is_((len(site.lines("one of .* is made")), site.lines("No space|crit")), (1, []), "and tries nothing again")
site.check_no_alerts()
site.stop()

site = native(small(2))
site.start_now = False
site.process = start(["nginx", "-c", site.conf, "-p", site.dir, "-e", site.error_log, "-g", "daemon off;"], env=san_env())
ok(wait_until(lambda: listening(site.port)), "no room at all: nginx starts")
is_(site.statuses(3, "/?k=a"), 3 * [200], "requests pass undecided")
ok(site.lines(r"weir: .*zones: .*requests pass undecided"), "which the log says")
site.check_no_alerts()
site.stop()

# a file system that is full when zones are added: refused, nothing changes
place = small(16)
site = native(place)
site.start()
is_(site.statuses(2, "/?k=a"), [200, 503], "a table with room")
with open(place + "/filler", "wb", buffering=0) as f:
    try:
        while True:
            f.write(b"x" * 4096)
    except OSError:
        pass
good = site.conf_text
is_(site.nginx("-t").returncode, 0, "full, and nothing changes: nginx -t passes")
write(site.conf, good.replace("rate=1r/m;", "rate=1r/m; limit_req_zone $arg_j zone=y:1m rate=1r/m;").replace("limit_req zone=z;", "limit_req zone=z; limit_req zone=y;"))
tested = site.nginx("-t")
is_(tested.returncode, 1, "full, and a zone is new: nginx -t fails")
like(tested.stderr, "there is no room to write down zones that are new or have changed", "and says why")
old = site.workers()
site.reload()
ok(wait_until(lambda: site.lines(r"\[emerg\].*there is no room to write down zones")), "so does a reload")
is_((site.workers(), site.get("/?k=a").status), (old, 503), "which changes nothing")
os.unlink(place + "/filler")
site.reload()
ok(wait_until(lambda: site.workers() and not set(site.workers()) & set(old) and not any(alive(p) for p in old)), "with room it is applied")
is_(site.statuses(2, "/?j=a"), [200, 503], "and the new zone limits")
site.stop()

# two nginx that share one table by mistake: each goes on with its own zones, also in workers that come later
place = shm_folder()
a, b = native(place), native(place)
write(b.conf, b.conf_text.replace("zone=z", "zone=other").replace("$arg_k", "$arg_o"))
a.start()
is_(a.statuses(2, "/?k=a"), [200, 503], "one nginx")
b.start()
is_(b.statuses(2, "/?o=a"), [200, 503], "another in the same table")
for site, path in ((a, "/?k=a"), (b, "/?o=a")):
    old = site.workers()
    os.kill(old[0], signal.SIGKILL)
    wait_until(lambda: site.workers() and site.workers() != old)
    ok(wait_until(lambda: site.get(path).status == 503, 5), "a worker that replaces a killed one decides by its own zones")
is_(a.get("/?k=a").status, 503, "and so do the others")
a.stop()
b.stop()

# and one that was given to a policy too
site = Site(policy="limits: {all: 5/s}", http="limit_req_zone $arg_k zone=z:1m rate=1r/m;", server="limit_req zone=z;", start_now=False)
write(site.conf, site.conf_text.replace("weir_policy", f"weir_limit_table {site.table}; weir_policy"))
tested = site.nginx("-t")
is_(tested.returncode, 1, "weir_table and weir_limit_table with one path: nginx -t fails")
like(tested.stderr, '"weir_table" and "weir_limit_table" name one file', "and says why")
for shared in "/dev/shm", "/tmp":
    site = Native("limit_req_zone $arg_k zone=z:1m rate=1r/m; weir_limit_table %s/limits-of-a-test;" % shared, "limit_req zone=z;", table=False, start_now=False)
    tested = site.nginx("-t")
    is_(tested.returncode, 1, f"a table in {shared} itself")
    like(tested.stderr, "needs a folder of its own", "nginx -t says what it needs")

place = shm_folder()
site = native(place)
site.start()
is_(site.statuses(2, "/?k=a"), [200, 503], "a table")
for name in os.listdir(place + "/t"):
    os.unlink(f"{place}/t/{name}")
ok(wait_until(lambda: site.get("/?k=a").status == 200), "its files are removed: a new one")
is_(site.get("/?k=a").status, 503, "limits")
ok(os.path.exists(site.table), "at the same place")
site.check_no_alerts()
site.stop()

with open(site.table, "r+b") as f:
    f.write(b"\0" * 4096)
site.process = start(["nginx", "-c", site.conf, "-p", site.dir, "-e", site.error_log, "-g", "daemon off;"], env=san_env())
ok(wait_until(lambda: listening(site.port)), "a damaged table: nginx starts")
is_(site.statuses(2, "/?k=b"), 2 * [200], "requests pass undecided")
ok(site.lines(r"weir: .*zones.*requests pass undecided"), "and the log says why")
os.unlink(site.table)
ok(wait_until(lambda: site.statuses(2, "/?k=c") == [200, 503], 30, 0.5), "when it has been removed they are limited again")
site.check_no_alerts()
done()
