#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# weir keys when something is in the way: locked, full, damaged, read-only, somebody else's, newer; killed at any instant. Each time: a
# clear sentence, nothing lost, nothing half done, and a door that has the keys goes on.
import fcntl, json, os, random, resource, shutil, signal, sqlite3, sys, time; sys.path.insert(0, "tests/lib")
from weirtest import *

home = folder()
DB = os.path.join(home, "k", "keys.db")
LOOK = os.path.join(ROOT, BUILD, "tests/lib/ring_look")


def keys(*argv, db=DB, **kw):
    return weir("keys", *argv, "--database", db, **kw)


class Door:
    def __init__(self, db=DB, by=()):
        self.p = start([*by, LOOK, db], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __call__(self, secret):
        self.p.stdin.write(secret + "\n")
        self.p.stdin.flush()
        return self.p.stdout.readline().strip()


def names(db=DB):
    return [k["name"] for k in json.loads(keys("list", "--json", db=db).stdout)["keys"]]


def fails(r, status, why, what):
    is_((r.returncode, r.stdout), (status, ""), what)
    like(r.stderr, why, "a clear sentence")
    like(r.stderr, "cure: ", "and what to do")


S = keys("add", "one", "--plan", "free").stdout.strip()
door = Door()
is_(door(S), "known one free", "a key and a door")

# ---- locked ----
holder = sqlite3.connect(DB, isolation_level=None)
holder.execute("BEGIN IMMEDIATE")
began = time.monotonic()
fails(keys("add", "two"), 3, "another process has locked the database: nothing was changed", "locked by somebody")
within(time.monotonic() - began, 4.5, 40, "after a bounded wait")
is_(door(S), "known one free", "the door goes on")
is_(names(), ["one"], "reading does not wait")
holder.execute("ROLLBACK")
holder.close()
lock = open(DB + ".ring.lock")
fcntl.flock(lock, fcntl.LOCK_EX)
fails(keys("set", "one", "--plan", "x"), 3, "another process is changing API keys", "the other lock")
lock.close()
is_(keys("set", "one", "--plan", "pro").returncode, 0, "let go: it goes")
is_(door(S), "known one pro", "at once")
many = [start([WEIR, "keys", "add", f"m{i}", "--database", DB], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) for i in range(12)]
secrets = [p.communicate()[0].strip() for p in many]
is_([door(s) for s in secrets], [f"known m{i} -" for i in range(12)], "twelve at the same time wait for each other")

# ---- killed ----
random.seed(7)
for i in range(40):
    p = start([WEIR, "keys", "set", "m1", "--plan", f"p{i}", "--database", DB], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(random.random() * 0.1)
    stop(p, signal.SIGKILL)
plan = json.loads(keys("show", "m1", "--json").stdout)["plan"]
is_(door(secrets[1]), f"known m1 {plan or '-'}", "killed at forty instants: after the next command the door knows what the database says")
with sqlite3.connect(DB) as c:
    is_(c.execute("PRAGMA integrity_check").fetchall(), [("ok",)], "which is sound")
c.close()


def behind(plan):
    """As if killed between the commit and the ring."""
    with sqlite3.connect(DB) as c:
        c.execute("UPDATE keys SET plan = ? WHERE name = 'one'", (plan,))
        c.execute("UPDATE meta SET change = change + 1, token = token + 1")
    c.close()


behind("later")
is_(door(S), "known one pro", "the ring is behind")
keys("list")
is_(door(S), "known one later", "any weir keys brings it up")
behind("last")
keys("add", "next")
is_(door(S), "known one last", "also one that changes something else")

# ---- the ring ----
RING = DB + ".ring"
for what, spoil in (("gone", lambda: os.unlink(RING)), ("empty", lambda: (os.unlink(RING), open(RING, "w").close(), os.chmod(RING, 0o600))),
                    ("foreign", lambda: (os.unlink(RING), write(RING, "x" * 10000), os.chmod(RING, 0o600)))):
    spoil()
    time.sleep(1.1)
    is_(door(S), "known one last", f"the ring is {what}: the door goes on with what it has")
    like(Door()(S), "no ring: ", "a new one cannot")
    keys("list")
    is_(Door()(S), "known one last", "any weir keys writes it again")
    time.sleep(1.1)
    is_(door(S), "known one last", "the old door sees it too")
size = os.path.getsize(RING)
with open(RING, "r+b") as f:
    f.seek(8192)
    f.write(random.randbytes(size - 8192))
is_(keys("set", "one", "--plan", "anew").returncode, 0, "a ring of random bytes")
is_(Door()(S), "known one anew", "is written again")

# ---- full ----
def limited(size, *argv):
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    return subprocess.run([WEIR, "keys", *argv, "--database", DB], capture_output=True, text=True, preexec_fn=limit, restore_signals=False, env=san_env())


before = names()
r = limited(30000, "add", "fat", "--notes", "x" * 400)
fails(r, 3, "o", "no file may grow")
r = limited(100, "add", "fat", "--notes", "x" * 400)
fails(r, 3, "no space left", "nor begin")
is_(names(), before, "nothing was added")
is_(door(S), "known one anew", "the door goes on")
place = os.path.join(home, "small")
os.mkdir(place)
ns = ["nsenter", "-t", "", "-U", "--preserve-credentials", "-m"]
if run("unshare", "-rm", "mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", place).returncode == 0:
    hold = start(["unshare", "-rm", "sh", "-c", f"mount -t tmpfs -o size=1500k,mode=700 tmpfs {place} && exec sleep 600"])
    ns[2] = str(hold.pid)
    small = os.path.join(place, "keys.db")
    inside = lambda *argv, **kw: run(*ns, *argv, **kw)
    wk = lambda *argv, **kw: inside(WEIR, "keys", *argv, "--database", small, **kw)
    ok(wait_until(lambda: inside("mountpoint", "-q", place).returncode == 0), "a small file system")
    first = wk("add", "first").stdout.strip()
    ok(first.startswith("weir_"), "a key on it")
    d = Door(small, ns)
    is_(d(first), "known first -", "and a door")
    text = "".join(json.dumps({"name": f"k{i}", "secret": f"secret-number-{i}", "notes": "x" * 400}) + "\n" for i in range(3000))
    fails(wk("import", "-", input=text), 3, "no", "an import that does not fit")
    is_(len(json.loads(wk("list", "--json").stdout)["keys"]), 1, "leaves nothing behind")
    inside("sh", "-c", f"dd if=/dev/zero of={place}/filler bs=4k count=$(($(df --output=avail -k {place} | tail -n 1) / 4 - 22)) 2>/dev/null")
    added = []
    while len(added) < 250 and sum(r.returncode != 0 for r in added) < 3:
        added.append(wk("add", f"a{len(added)}", "--notes", "y" * 400))
    bad = [r for r in added if r.returncode]
    good = [r.stdout.strip() for r in added if r.returncode == 0]
    note(f"{len(good)} keys found room in what there was, {len(bad)} did not")
    ok(bad and good, "a disk that fills")
    fails(bad[-1], 3, "no space left", "says so")
    is_([d(s) for s in good], [f"known a{i} -" for i in range(len(good))], "those that were told are known")
    is_(d(first), "known first -", "the door goes on")
    inside("rm", f"{place}/filler")
    is_(sorted(k["name"] for k in json.loads(wk("list", "--json").stdout)["keys"]), sorted(["first"] + [f"a{i}" for i in range(len(good))]), "with room again: nothing lost, nothing more")
    more = wk("add", "more").stdout.strip()
    is_(d(more), "known more -", "and it goes on")
    stop(d.p)
    is_(inside("mount", "-o", "remount,ro", place).returncode, 0, "made read-only")
    fails(wk("add", "never"), 3, "read-only", "a read-only file system")
    r = wk("show", "first", "--json")
    is_((r.returncode, json.loads(r.stdout)["name"]), (0, "first"), "where reading goes on")
    is_(Door(small, ns)(first), "known first -", "and doors do")
    stop(hold, signal.SIGKILL)
else:
    note("no mounts here: a full and a read-only file system are not tried")

# ---- damaged ----
good = os.path.join(home, "good")
shutil.copytree(os.path.dirname(DB), good)


def spoilt(at, size):
    with open(DB, "r+b") as f:
        f.seek(at)
        f.write(random.randbytes(size))


total = os.path.getsize(DB)
for what, at, size in (("its head", 0, 100), ("its schema", 100, 3000), ("its keys", 4096, total - 4096), ("everything", 0, total)):
    spoilt(at, size)
    r = keys("add", "never")
    fails(r, 3, DB, f"damaged: {what}")
    ok("damaged" in r.stderr or "not a database" in r.stderr, "called that")
    like(r.stderr, "the doors go on with the keys they know", "and what it means")
    is_((door(S), Door()(S)), ("known one anew", "known one anew"), "they do, also new ones")
    is_(keys("list").returncode, 3, "list cannot either")
    shutil.copy(os.path.join(good, "keys.db"), DB)
with open(DB, "r+b") as f:
    f.truncate(5000)
fails(keys("add", "never"), 3, DB, "cut off")
shutil.copy(os.path.join(good, "keys.db"), DB)
ok("one" in names(), "a backup put back: all is well")

# ---- a backup that is older than the ring ----
new = keys("add", "after-the-backup").stdout.strip()
is_(door(new), "known after-the-backup -", "a key made after the backup")
shutil.copy(os.path.join(good, "keys.db"), DB)
keys("list")
is_((door(S), door(new)), ("known one anew", "unknown -"), "the ring follows the database that was put back")

# ---- not ours ----
foreign = os.path.join(home, "k", "foreign.db")
c = sqlite3.connect(foreign)
c.execute("CREATE TABLE t(x)")
c.commit()
c.close()
os.chmod(foreign, 0o600)
fails(keys("add", "x", db=foreign), 3, "is not a database of weir's keys", "another program's database")
c = sqlite3.connect(foreign)
is_(c.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0], 1, "is left alone")
c.close()
with sqlite3.connect(DB) as c:
    c.execute("PRAGMA user_version = 99")
c.close()
fails(keys("add", "x"), 3, "written by a newer weir (schema 99", "a newer schema")
is_(door(S), "known one anew", "the door goes on")
with sqlite3.connect(DB) as c:
    c.execute("PRAGMA user_version = 1")
c.close()
os.chmod(DB, 0o640)
fails(keys("list"), 3, "others can read or write it (mode 0640)", "others may read it")
os.chmod(DB, 0o600)
os.chmod(os.path.dirname(DB), 0o777)
r = keys("list")
is_(r.returncode, 3, "others may write to its folder")
like(r.stderr, "mode 0700", "says so")
os.chmod(os.path.dirname(DB), 0o700)
os.symlink(DB, os.path.join(home, "k", "link.db"))
r = keys("list", db=os.path.join(home, "k", "link.db"))
is_(r.returncode, 3, "a symbolic link")
like(r.stderr, "is not a file", "is not followed")
if os.geteuid() == 0:
    os.chown(DB, 65534, 65534)
    fails(keys("list"), 3, "belongs to uid 65534, not to uid 0", "somebody else's file in root's folder")
    os.chown(DB, 0, 0)
    web = os.path.join(home, "web")
    os.chmod(home, 0o755)
    os.mkdir(web, 0o700)
    os.chown(web, 33, 33)
    mine = keys("add", "w", db=web + "/keys.db").stdout.strip()
    keys("add", "w2", db=web + "/keys.db")
    is_({os.stat(os.path.join(web, n)).st_uid for n in os.listdir(web)}, {33}, "root in a folder of the workers': everything is theirs")
    shared = os.path.join(home, "ring_look")
    shutil.copy(LOOK, shared)
    os.chmod(shared, 0o755)
    LOOK = shared
    worker = Door(web + "/keys.db", ["setpriv", "--reuid", "33", "--regid", "33", "--clear-groups"])
    is_(worker(mine), "known w -", "a worker knows the key")
    ok(json.loads(keys("show", "w", "--json", db=web + "/keys.db").stdout)["last_used"] is not None, "and says when it was used")
    stranger = Door(web + "/keys.db", ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"])
    like(stranger(mine), "no ring", "nobody else reads them")
done()
