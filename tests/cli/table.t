#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# weir table and weir doctor: a sound table, and everything that can be wrong with one, with its message, cure and exit code.
import fcntl, json, os, shutil, struct, sys; sys.path.insert(0, "tests/lib")
from weirtest import *

F_OFD_SETLK = 37  # linux/fcntl.h

site = Site(policy="limits: {per-ip: {rate: 1/min, burst: 3}}", workers=2)
T = ("--table", site.table)
for i in range(10):
    site.get("/", source=f"127.0.0.{i + 10}")

ok(wait_until(lambda: json.loads(weir("table", "info", "--json", *T).stdout)["processes"] == 2), "two workers have come")
d = json.loads(weir("table", "info", "--json", *T).stdout)
is_((d["table"], d["live"], d["generation"], d["processes"], d["process_slots"]), (site.table, 10, 1, 2, 256), "table info --json")
within(d["bytes"], 4 << 20, 13 << 20, "as large as asked for")
is_(d["live"] + d["recovered"] + d["claimed"] + d["empty"], d["slots"], "every place is counted once")
text = weir("table", "info", *T).stdout
for part in (f"table        {site.table}, ", "counters     10 being counted, of ", "processes    2 of 256\n", f"policy       {site.policy}, generation 1\n"):
    like(text, part, f"table info: {part.strip()}")
r = weir("table", "check", *T)
is_((r.returncode, r.stdout), (0, f"{site.table} is sound\n"), "table check")
is_(json.loads(weir("table", "check", "--json", *T).stdout)["ok"], True, "table check --json")


def doctor(code, **kw):
    r = weir("doctor", "--json", *T, **kw)
    is_(r.returncode, code, f"doctor: exit {code}")
    return [(f["what"], f["level"], f["sentence"], f.get("cure", "")) for f in json.loads(r.stdout)["findings"]]


def has(findings, what, level, part):
    if not ok(any(w == what and l == level and part in s + c for w, l, s, c in findings), f"doctor: {level}: {what}: {part}"):
        for f in findings:
            note(f)


f = doctor(0)
has(f, "nginx", "good", "is nginx 1.")
has(f, "module", "good", "was built for it")
has(f, "memory", "good", "/dev/shm has ")
has(f, "table", "good", "10 keys are being counted")
has(f, "processes", "good", "2 of 256 slots are taken")
has(f, "policy", "good", f"{site.policy} is in force, generation 1")
has(f, "control", "note", "start weir control")
like(weir("doctor", *T).stdout, "nothing is wrong\n", "doctor, as text")

write(site.policy, "limits: {per-ip: {rate: 2/min, burst: 3}}")
has(doctor(1), "policy", "wrong", f"weir publish {site.policy}")
write(site.policy, "limits: {per-ip: {rate: 2/min, burst: }")
has(doctor(1), "policy", "wrong", f"weir check {site.policy}")
os.rename(site.policy, site.policy + ".away")
has(doctor(1), "policy", "wrong", f"{site.policy} is gone")
write(site.policy, "limits: {per-ip: {rate: 1/min, burst: 3}}")
doctor(0)
site.get("/", headers={"X-Forwarded-For": "192.0.2.1"}, source="127.0.0.99")
has(doctor(1), "proxy", "wrong", "clients: {address: {from: x-forwarded-for, trusted: [127.0.0.99]}}")
like(weir("show", *T).stdout, "  clients: {address: {from: x-forwarded-for, trusted: [127.0.0.99]}}\n", "show has the line to trust it (C16)")
has(doctor(1, env={"PATH": "/nonexistent"}), "nginx", "good", "/usr/sbin/nginx")
r = weir("doctor", *T)
like(r.stdout, "1 thing is wrong\n", "doctor counts")
site.stop()
has(doctor(1), "processes", "note", "nobody decides in this table now")

# a slot is taken by whoever has the lock on its byte: the first of each 64 behind the first page
doctor_processes = lambda: [f for f in doctor(1) if f[0] == "processes"]
with open(site.table, "r+b") as f:
    for n, level, sentence in (191, "good", "191 of 256 slots are taken"), (192, "wrong", "192 of 256 process slots are taken"), \
            (256, "wrong", "all 256 process slots are taken"):
        for i in range(n):
            fcntl.fcntl(f, F_OFD_SETLK, struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, 4096 + 64 * i, 1, 0))
        has(doctor_processes(), "processes", level, sentence)

# tables that are none, or no longer
copies = shm_folder()


def broken(name, change, code, what, cure="", command="check"):
    path = os.path.join(copies, f"t{len(os.listdir(copies))}")
    shutil.copyfile(site.table, path)
    os.chmod(path, 0o600)
    for suffix in (".ledger", ".policy"):
        shutil.copyfile(site.table + suffix, path + suffix)
        os.chmod(path + suffix, 0o600)
    change(path)
    r = weir("table", command, "--table", path)
    is_(r.returncode, code, f"{name}: exit {code}")
    like(r.stderr + r.stdout, what, f"{name}: {what}")
    like(r.stderr + r.stdout, cure, f"{name}: its cure")
    d = weir("doctor", "--table", path)
    is_(d.returncode, 1, f"{name}: doctor sees it")


def poke(offset, data):
    def change(path):
        with open(path, "r+b") as f:
            f.seek(offset)
            f.write(data)
    return change


def replace(data):
    def change(path):
        with open(path, "wb") as f:
            f.write(data)
    return change


broken("foreign", replace(b"#!/bin/sh\n" + b"x" * 100000), 3, "not a weir table", "name another path, or remove the file")
broken("empty", replace(b""), 3, "too short for a table (0 bytes)", "name another path, or remove the file")
broken("truncated", lambda p: os.truncate(p, 100000), 3, "100000 bytes, the header says", "stop the doors, remove the file, start again")
broken("writable", lambda p: os.chmod(p, 0o666), 3, "others may write to it (mode 0666)", "correct owner and mode")
broken("link", lambda p: (os.rename(p, p + ".real"), os.symlink(p + ".real", p)), 3, "is a symbolic link", "correct owner and mode")
r = weir("table", "info", "--table", os.path.join(copies, "none"))
is_((r.returncode, "none" in r.stderr), (3, True), "no file: exit 3")

# a hostile writer: every byte behind the header may be anything, and the walk ends and says so
import random
random.seed(7)
noise = bytes(random.randrange(256) for _ in range(65536))
path = os.path.join(copies, "hostile")
shutil.copyfile(site.table, path)
os.chmod(path, 0o600)
shutil.copyfile(site.table + ".ledger", path + ".ledger")
os.chmod(path + ".ledger", 0o600)
size = os.path.getsize(path)
with open(path, "r+b") as f:
    f.seek(size - len(noise))
    f.write(noise)
r = weir("table", "check", "--json", "--table", path)
d = json.loads(r.stdout)
is_((r.returncode, d["ok"], d["count"] > 0, 0 < len(d["findings"]) <= 100), (1, False, True, True), "a hostile writer: found, exit 1")
done()
