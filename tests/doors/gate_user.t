#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# A master that is root with workers that are not, as Debian runs nginx; the table's default place; and an nginx of one process.
import os, pwd, shutil, stat, sys; sys.path[:0] = ["tests/lib", "tests/doors"]
from gatelib import *

nobody = pwd.getpwnam("nobody")
site = Site(policy="limits: {per-ip: {key: ip, rate: 1/hour, burst: 3}}\n", start_now=False, workers=2)
os.chmod(site.policy, 0o600)
conf = re.sub(r"weir_table [^;]*;", "", site.conf_text)
if os.geteuid() == 0:
    conf = conf.replace("user root;", "user nobody nogroup;")
    uid = nobody.pw_uid
else:
    uid = os.geteuid()
write(site.conf, conf)
where = f"/dev/shm/weir-{uid}"
existed = os.path.isdir(where)
before = set(os.listdir(where)) if existed else set()
site.table = None
try:
    site.process = start(["nginx", "-c", site.conf, "-p", site.dir, "-e", site.error_log, "-g", "daemon off;"], env=san_env(), stderr=subprocess.DEVNULL)
    ok(wait_until(lambda: listening(site.port)), "nginx starts with a policy that only its master can read")
    is_(site.statuses(4), [200, 200, 200, 429], "the workers decide")
    mine = sorted(set(os.listdir(where)) - before)
    s = os.stat(where)
    is_((s.st_uid, stat.S_IMODE(s.st_mode)), (uid, 0o700), "the table's folder is the workers', and closed to others")
    base = [name for name in mine if not name.endswith((".ledger", ".policy", ".lock"))]
    is_(len(base), 1, "there is one table in it")
    files = {name: os.stat(os.path.join(where, name)) for name in mine}
    is_({(f.st_uid, stat.S_IMODE(f.st_mode) & 0o077) for f in files.values()}, {(uid, 0)}, "its files too")
    show = weir("show", "--table", os.path.join(where, base[0]))
    like(show.stdout, "per-ip", "weir show finds it")
    write(site.policy, "limits: {per-ip: {key: ip, rate: 1/hour, burst: 9}}\n")
    os.chmod(site.policy, 0o600)
    site.reload()
    ok(wait_until(lambda: site.get("/")["X-RateLimit-Limit"] == "9"), "a reload publishes as that user")
    is_(weir("publish", site.policy, "--table", os.path.join(where, base[0])).returncode, 0, "so does root, from outside")
    is_(site.get("/")["X-RateLimit-Limit"], "9", "and the workers can read it")
    site.stop()
    is_([l for l in site.errors().splitlines() if any(x in l for x in ("[crit]", "[alert]", "[emerg]"))], [], "nothing went wrong")
finally:
    for name in set(os.listdir(where) if os.path.isdir(where) else []) - before:
        os.remove(os.path.join(where, name))
    if not existed:
        shutil.rmtree(where, ignore_errors=True)

# one process: what a developer runs (nginx itself cannot reload it)
single = Site(policy="limits: {per-ip: {key: ip, rate: 1/hour, burst: 3}}\n", main="master_process off;")
is_(single.statuses(4), [200, 200, 200, 429], "master_process off: it decides")
single.check_no_alerts()
done()
