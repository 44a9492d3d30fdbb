#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# A local user was first to make /dev/shm/weir-33: nginx's workers refused the stranger's folder and let every request pass undecided. The
# master makes the folder; a stranger's is moved aside, and where that cannot be, the configuration fails instead of the limits.
import glob, os, pwd, re, shutil, stat, sys; sys.path[:0] = ["tests/lib", "tests/doors"]
if "WEIR_TEST_SHM" not in os.environ:  # a /dev/shm of our own
    os.environ["WEIR_TEST_SHM"] = "1"
    os.execvp("unshare", ["unshare", "-m", "sh", "-c", 'mount -t tmpfs -o mode=1777 none /dev/shm && exec "$0" "$@"', sys.executable, *sys.argv])
from gatelib import *

worker, stranger = pwd.getpwnam("www-data"), pwd.getpwnam("nobody")
PLACE = f"/dev/shm/weir-{worker.pw_uid}"
POLICY = "limits: {all: {key: site, rate: 1/hour, burst: 2}}\n"


def site_of(table="", user="user www-data;", first=True):
    """`first`: `user` stands before http{}, as it mostly does."""
    site = Site(policy=POLICY, start_now=False)
    text = site.conf_text.replace("user root;", user if first else "")
    write(site.conf, re.sub(r"weir_table [^;]*;", f"weir_table {table};" if table else "", text) + ("" if first else user))
    return site


def begin(site):
    open(site.error_log, "w").close()
    site.process = start(["nginx", "-c", site.conf, "-p", site.dir, "-e", site.error_log, "-g", "daemon off;"], env=san_env(), stderr=subprocess.DEVNULL)
    wait_until(lambda: site.process.poll() is not None or listening(site.port))
    return site.process.poll()


def lines(site, level):
    return [l for l in site.errors().splitlines() if f"[{level}]" in l and "weir: /" in l]


def what(path):
    s = os.lstat(path)
    return s.st_uid, stat.S_IMODE(s.st_mode)


def works(site, why):
    is_(begin(site), None, f"{why}: nginx starts")
    is_(site.statuses(3), [200, 200, 429], f"{why}: the limit holds")
    is_([l for l in site.errors().splitlines() if "[crit]" in l], [], f"{why}: no worker complains")
    is_(site.stop(), 0, f"{why}: nginx ends")


def refused(site, why, *parts):
    is_(site.nginx("-t").returncode, 1, f"{why}: nginx -t fails")
    is_(begin(site), 1, f"{why}: nginx does not start")
    is_(len(lines(site, "emerg")), 1, f"{why}: said once")
    for part in parts + ("needs a folder of its own", "weir_table /dev/shm/NAME/table"):
        like(lines(site, "emerg")[0], part, f"{why}: {part}")


def clear():
    shutil.rmtree(PLACE, ignore_errors=True)
    for f in glob.glob(PLACE + "*"):
        shutil.rmtree(f) if os.path.isdir(f) and not os.path.islink(f) else os.remove(f)


def as_stranger(*argv):
    return run("setpriv", f"--reuid={stranger.pw_uid}", f"--regid={stranger.pw_gid}", "--clear-groups", *argv, env=san_env())


# nothing there
site = site_of()
is_(site.nginx("-t").returncode, 0, "nothing there: nginx -t is content")
is_(os.path.exists(PLACE), False, "and makes nothing")
works(site, "nothing there")
is_(what(PLACE), (worker.pw_uid, 0o700), "the folder is the workers' own")
works_later = site_of(first=False)
clear()
works(works_later, "`user` at the end of the file")
is_(what(PLACE), (worker.pw_uid, 0o700), "the folder is the workers' own there too")
clear()
bare = site_of(user="")  # nginx was built with a user
begin(bare)
owners = {what(f) for f in glob.glob("/dev/shm/weir-[0-9]*")}
is_(bare.statuses(3), [200, 200, 429], "no `user` at all: the limit holds")
is_(len(owners) == 1 and owners.pop()[1], 0o700, "in a folder of the user that nginx was built with")
bare.stop()
for f in glob.glob("/dev/shm/weir-[0-9]*"):
    shutil.rmtree(f)

# a stranger was first, with a folder, with an open one, with a link
takes = {"a folder": ("mkdir", "-m", "755", PLACE), "an open folder": ("mkdir", "-m", "777", PLACE), "a file": ("touch", PLACE),
         "a link": ("ln", "-s", "/tmp", PLACE)}
for thing, argv in takes.items():
    clear()
    is_(as_stranger(*argv).returncode, 0, f"a stranger makes {thing}")
    t = site.nginx("-t")
    is_(t.returncode, 0, f"{thing}: nginx -t passes")
    like(t.stderr, "it will be moved aside", f"{thing}: nginx -t says what will be")
    is_(os.lstat(PLACE).st_uid, stranger.pw_uid, f"{thing}: and does nothing")
    works(site, thing)
    is_(what(PLACE), (worker.pw_uid, 0o700), f"{thing}: the folder is the workers'")
    away = glob.glob(f"{PLACE}.foreign-*")
    is_([os.lstat(f).st_uid for f in away], [stranger.pw_uid], f"{thing}: the stranger's is beside it")
    is_(len(lines(site, "warn")), 1, f"{thing}: said once")
    like(lines(site, "warn")[0], away[0], f"{thing}: and where it is")

# a folder that is there already is left as it is
clear()
os.mkdir(PLACE, 0o700)
os.chown(PLACE, worker.pw_uid, worker.pw_gid)
inode = os.stat(PLACE).st_ino
works(site, "made at boot")
is_((os.stat(PLACE).st_ino, lines(site, "warn")), (inode, []), "made at boot: it is used")

# what cannot be mended is said before anything is lost: a reload is refused, and the old workers go on
is_(begin(site), None, "nginx runs")
is_(site.get("/").status, 429, "and limits")
os.chmod(PLACE, 0o777)
old = site.workers()
open(site.error_log, "w").close()
site.reload()
ok(wait_until(lambda: lines(site, "emerg")), "a reload finds that others can write to the folder")
like(lines(site, "emerg")[0], "mode 0777", "and says so")
is_((site.workers(), site.get("/").status), (old, 429), "the old workers go on")
is_(site.nginx("-s", "stop").returncode, 0, "nginx -s does not mind")
site.process.wait(10)
refused(site, "open to others", PLACE, "mode 0777")
clear()
os.symlink("/tmp", PLACE)
refused(site, "root's own link", PLACE, "is a symbolic link")
clear()

# a place that the operator named
named = os.path.join(site.shm, "named")
os.chmod(site.shm, 0o755)
table = site_of(table=f"{named}/table 1m")
works(table, "named")
is_(what(named), (worker.pw_uid, 0o700), "named: the folder is made for the workers")
os.chown(named, stranger.pw_uid, -1)
refused(table, "named, a stranger's", named, f"belongs to uid {stranger.pw_uid}")
is_((what(named), glob.glob(named + ".*")), ((stranger.pw_uid, 0o700), []), "named, a stranger's: nothing is moved")
os.chown(named, worker.pw_uid, -1)
os.chmod(named, 0o770)
refused(table, "named, open to a group", named, "mode 0770")
shutil.rmtree(named)
os.mkdir(named, 0o755)
refused(table, "named, root's", f"{named} belongs to root: uid {worker.pw_uid} cannot make files in it")
is_(what(named), (0, 0o755), "named, root's: it stays root's")
roots = site_of(table=f"{named}/table 1m", user="user root;")
works(roots, "named, root's, and so are the workers")

# a master that is not root cannot move anything
own = site_of(user="")
for path, folders, files in os.walk(own.dir):
    for f in [path] + [os.path.join(path, f) for f in files]:
        os.chown(f, stranger.pw_uid, stranger.pw_gid)
os.mkdir(f"/dev/shm/weir-{stranger.pw_uid}", 0o755)
os.chown(f"/dev/shm/weir-{stranger.pw_uid}", worker.pw_uid, -1)
r = as_stranger("nginx", "-t", "-c", own.conf, "-p", own.dir, "-e", own.error_log)
is_(r.returncode, 1, "not root, a stranger's folder: refused")
like(r.stderr, f"belongs to uid {worker.pw_uid}, not to root or uid {stranger.pw_uid}", "not root: and why")
os.rmdir(f"/dev/shm/weir-{stranger.pw_uid}")
own.process = start(["setpriv", f"--reuid={stranger.pw_uid}", f"--regid={stranger.pw_gid}", "--clear-groups", "nginx", "-c", own.conf, "-p", own.dir,
                     "-e", own.error_log, "-g", "daemon off;"], env=san_env(), stderr=subprocess.DEVNULL)
ok(wait_until(lambda: listening(own.port)), "not root: it starts")
is_(own.statuses(3), [200, 200, 429], "not root: the limit holds")
is_(what(f"/dev/shm/weir-{stranger.pw_uid}"), (stranger.pw_uid, 0o700), "not root: the folder is its own")
own.stop()

# weir run: the same, before nginx is started
gateway = write(os.path.join(site.dir, "gateway.yaml"), "gateway: {to: 'http://127.0.0.1:9'}\n" + POLICY)
clear()
as_stranger("mkdir", PLACE)
p = start([WEIR, "run", gateway, "--listen", f"127.0.0.1:{port()}"], stdout=subprocess.PIPE, stderr=open(site.dir + "/err", "w+"), text=True, env=san_env())
like(p.stdout.readline(), "listening on", "weir run: it starts")
is_(what(PLACE), (worker.pw_uid, 0o700), "weir run: the folder is the workers'")
like(open(site.dir + "/err").read(), f"{PLACE}.foreign-", "weir run: says what it moved")
is_(stop(p), 0, "weir run: ends")
clear()
os.mkdir(PLACE)
os.chmod(PLACE, 0o777)
r = weir("run", gateway, "--listen", f"127.0.0.1:{port()}")
is_(r.returncode, 3, "weir run: a folder that others can write to: exit 3")
like(r.stderr, f"{PLACE} has mode 0777: others can write to it", "weir run: says why")
is_("[emerg]" in r.stderr, False, "weir run: nginx was not started")
done()
