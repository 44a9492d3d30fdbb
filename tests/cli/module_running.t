#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# A module that is replaced while nginx runs: through a reload the old one runs on, and weir says so; USR2 takes the new one.
import json, sys; sys.path.insert(0, "tests/lib")
from daemon import *

dir = folder()
os.chmod(dir, 0o755)
module = f"{dir}/ngx_http_weir_module.so"
shutil.copy(WEIR, f"{dir}/weir")  # a command whose module this is
shutil.copy(MODULE, module)
site = Site(policy="limits: {per-ip: {rate: 1/hour, burst: 100}}", workers=1, start_now=False)
write(site.conf, site.conf_text.replace(MODULE, module))
daemon = Daemon(site)
pidfile, old = daemon.pidfile, daemon.first
RESTART = "restart nginx, or upgrade it by USR2: a reload keeps the module that it has"


def check(code, running, **kw):
    r = run(f"{dir}/weir", "module", "check", "--running", str(running), "--json", env=san_env(), **kw)
    is_(r.returncode, code, f"check --running: exit {code}")
    d = json.loads(r.stdout)
    return d.get("running", {}).get("state"), r.stderr


def doctor(command, pid):
    """What the doctor says of that process."""
    r = run(command, "doctor", "--json", "--table", site.table, env=san_env())
    return [(f["level"], f.get("cure")) for f in json.loads(r.stdout)["findings"] if f["what"] == "running" and f"process {pid} " in f["sentence"]]


is_(check(0, old)[0], "current", "the module is the one on disk")
is_(check(0, pidfile)[0], "current", "by the pid file")
is_(check(0, daemon.workers(old)[0])[0], "current", "so does a worker")
like(run(f"{dir}/weir", "module", "check", "--running", pidfile, env=san_env()).stdout, f"they fit\nprocess {old} runs it\n", "as text")
is_(doctor(f"{dir}/weir", old), [("good", None)], "the doctor finds it")
is_(doctor(WEIR, old), [], "another installation's doctor has nothing to say")

shutil.copy(MODULE, module + ".new")
os.rename(module + ".new", module)
state, said = check(1, old)
is_(state, "replaced", "a new file has its name")
like(said, f"weir: process {old} still runs the module that was at {module} before\n      cure: {RESTART}\n", "with the cure")
workers = set(daemon.workers(old))
os.kill(old, signal.SIGHUP)
ok(wait_until(lambda: daemon.workers(old) and not workers & set(daemon.workers(old))), "a reload: other workers")
is_(check(1, old)[0], "replaced", "and still the old module")
is_(check(1, daemon.workers(old)[0])[0], "replaced", "in the new worker too")
is_(doctor(f"{dir}/weir", old), [("wrong", RESTART)], "the doctor says so")
is_(doctor(WEIR, old), [("note", RESTART)], "another installation's doctor notes it")

new = daemon.upgrade()
ok(new != old, "USR2: a new master")
is_(check(0, new)[0], "current", "which has the new module")
is_(check(1, old)[0], "replaced", "beside the old one")
ok(daemon.end(old), "the old one ends")
is_(doctor(f"{dir}/weir", new), [("good", None)], "the doctor is content")

# moved away instead of replaced: what runs is not deleted, but it is another file
os.rename(module, module + ".bak")
shutil.copy(MODULE, module)
state, said = check(1, new)
is_((state, f"weir: process {new} runs another module: {module}.bak\n      cure: if load_module in nginx.conf is right: {RESTART}\n" in said),
    ("current", True), "the old one was moved away")
is_(doctor(f"{dir}/weir", new), [("wrong", RESTART)], "the doctor sees that too")

ok(daemon.end(new), "the new one ends")
is_(check(3, 4194304)[0], None, "no such process: exit 3")
is_(check(1, os.getpid())[0], "none", "a process without the module: exit 1")
is_(check(3, f"{dir}/none")[0], None, "no such pid file: exit 3")
is_(check(3, "12x")[0], None, "no number: exit 3")
if os.geteuid() == 0:
    r = run("setpriv", "--reuid=33", "--regid=33", "--clear-groups", f"{dir}/weir", "module", "check", "--running", "1", env=san_env())
    is_((r.returncode, "cure: look as root" in r.stderr), (3, True), "somebody else's process: exit 3, look as root")
site.check_no_alerts()
done()
