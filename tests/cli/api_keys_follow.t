#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# weir control keeps the ring of API keys equal to its database; and what docs/identities.md shows of weir keys is what happens.
import json, os, re, shutil, sqlite3, sys, time; sys.path.insert(0, "tests/lib")
from weirtest import *

LOOK = os.path.join(ROOT, BUILD, "tests/lib/ring_look")

# ---- the page ----
page = re.search(r"## API keys\n(.*?)\n## ", open("docs/identities.md").read(), re.S).group(1)
where = folder()
write(os.path.join(where, "policy.yaml"), re.search(r"```yaml\n(.*?)```", page, re.S).group(1))
SECRET = re.compile(r"weir_[0-9A-Za-z]{33}")
steps = re.findall(r"^\$ (.*)\n((?:(?!\$ |```).*\n)*)", "\n".join(re.findall(r"```console\n(.*?)```", page, re.S)), re.M)
is_(len(steps), 5, "the page has five steps")
for command, said in steps:
    r = run("bash", "-c", command, cwd=where, env={"PATH": os.path.dirname(WEIR) + ":" + os.environ["PATH"]})
    is_((r.returncode, SECRET.sub("SECRET", r.stdout)), (0, SECRET.sub("SECRET", said.rstrip() + "\n")), command)

# ---- control ----
site = Site(policy="clients: {api_keys: {database: keys/k.db}}\nlimits: {a: {key: api-key | ip, rate: 50/s}}\n")
DB = os.path.join(os.path.dirname(site.policy), "keys", "k.db")
log = os.path.join(folder(), "log")
control = start([WEIR, "control", site.policy, "--table", site.table, "--snapshot", "none"], stderr=open(log, "w"))
ok(wait_until(lambda: "no database of API keys" in open(log).read()), "control says that there are no keys yet")
secret = weir("keys", "add", "one", "--plan", "free", "--database", DB).stdout.strip()
door = start([LOOK, DB], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def asked(s):
    door.stdin.write(s + "\n")
    door.stdin.flush()
    return door.stdout.readline().strip()


is_(asked(secret), "known one free", "a key, a door")
for round in "one", "two":
    with sqlite3.connect(DB) as c:
        c.execute("UPDATE keys SET plan = ?", (round,))
        c.execute("UPDATE meta SET change = change + 1")
    c.close()
    ok(wait_until(lambda: asked(secret) == f"known one {round}"), "a ring that is behind is written anew")
os.unlink(DB + ".ring")
ok(wait_until(lambda: os.path.exists(DB + ".ring")), "one that is gone, too")
backup = shutil.copy(DB, DB + ".backup")
later = weir("keys", "add", "later", "--database", DB).stdout.strip()
is_(asked(later), "known later -", "a key after the backup")
ok(wait_until(lambda: not os.path.exists(DB + "-wal")), "nobody has the database open")
os.replace(backup, DB)
ok(wait_until(lambda: asked(later) == "unknown -"), "a backup that is put back")
is_(asked(secret), "known one two", "is what holds")
with open(DB, "r+b") as f:
    f.write(b"x" * 100)
ok(wait_until(lambda: "damaged" in open(log).read() or "not a database" in open(log).read()), "a damaged database is told of")
is_(asked(secret), "known one two", "and the door goes on")
time.sleep(2.5)
is_(open(log).read().count("not a database"), 1, "once")
stop(control)
site.check_no_alerts()
done()
