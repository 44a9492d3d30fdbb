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
is_(len(site.lines("there is no room")), 1, "once")
old = site.workers()
site.reload()
ok(wait_until(lambda: site.workers() and not set(site.workers()) & set(old) and not any(alive(p) for p in old)), "a reload")
is_(site.get("/?k=a").status, 503, "changes nothing")
is_(site.lines("no room|No space|crit"), site.lines("there is no room")[:1], "and tries nothing again")
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
