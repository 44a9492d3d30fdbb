#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# The table that was looked for is not there, or not for this user: what is there instead is said. As root, which plays another user too.
import json, os, pwd, shutil, sys; sys.path.insert(0, "tests/lib")
from weirtest import *

site = Site(policy="limits: {per-ip: {rate: 1/min}}\n")
site.get("/")
dir = folder()
os.chmod(dir, 0o755)
write(f"{dir}/other.yaml", "limits: {per-ip: {rate: 1/min}}\n")
shutil.copy(WEIR, f"{dir}/weir")
nobody = pwd.getpwnam("nobody")

# a table in a default place, of a user who is nobody else's on this machine
user = 4242421
mine, foreign = f"/dev/shm/weir-{user}", f"/dev/shm/weir-{user + 1}"
for path in mine, foreign:
    os.mkdir(path, 0o700)
try:
    shutil.copy(site.table, f"{mine}/0123456789abcdef.v2")
    os.chown(mine, user, user)
    r = weir("show", "--policy", f"{dir}/other.yaml")
    is_(r.returncode, 3, "no table of this policy: exit 3")
    like(r.stderr, f"no table for {dir}/other.yaml (it would be /dev/shm/weir-0/", "where it would be")
    like(r.stderr, "; those that are here:\n", "but others are here")
    like(r.stderr, f"      --table {mine}/0123456789abcdef.v2\n", "by name")
    like(r.stderr, "weir_table PATH is --table PATH", "or nginx has it elsewhere")
    is_("start a door" in r.stderr, False, "a door has started, so that is no cure")
    found = [f for f in json.loads(weir("doctor", "--json").stdout)["findings"] if foreign in f["sentence"]]
    is_([(f["level"], f["sentence"]) for f in found],
        [("wrong", f"{foreign} belongs to root, not to user {user + 1}: no door that runs as that user can make its table there")],
        "doctor: a folder that is not its user's")
    like(found[0].get("cure", ""), f"rm -r {foreign}", "with a cure")
finally:
    shutil.rmtree(mine)
    shutil.rmtree(foreign)

# another user
as_nobody = lambda *argv: subprocess.run([f"{dir}/weir", *argv], capture_output=True, text=True, cwd=dir, env=san_env(),
                                         user=nobody.pw_uid, group=nobody.pw_gid, extra_groups=[])
like(as_nobody("show", "--policy", f"{dir}/other.yaml").stderr, "; tables of other users are seen by root only: try sudo", "not root: others may have it")
shm = os.path.dirname(site.table)
os.chmod(site.policy, 0o600)
os.chmod(os.path.dirname(shm), 0o711)
for path in shm, *(os.path.join(shm, f) for f in os.listdir(shm)):
    os.chown(path, nobody.pw_uid, nobody.pw_gid)
is_(json.loads(as_nobody("show", "--json", "--table", site.table).stdout)["policy"]["file"], "unreadable", "a policy that it may not read is not called broken")
like(as_nobody("show", "--table", site.table).stdout, "cannot be told: this user may not read it\n", "in words")
is_([(f["level"], f["sentence"]) for f in json.loads(as_nobody("doctor", "--json", "--table", site.table).stdout)["findings"] if f["what"] == "policy"],
    [("note", f"{site.policy} is unreadable for this user: whether it has been edited since generation 1 cannot be told")], "nor wrong")
done()
