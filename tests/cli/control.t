#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# weir control: every way of editing a policy is noticed, a broken edit changes nothing, and there is one of it a table.
import json, os, shutil, sys; sys.path.insert(0, "tests/lib")
from weirtest import *


def policy(burst, extra=""):
    return f"limits: {{per-ip: {{rate: 1/min, burst: {burst}}}}}\n{extra}"


site = Site(policy=policy(3))
log_path = os.path.join(site.dir, "control.log")


def start_control(*argv):
    p = start([WEIR, "control", site.policy, "--table", site.table, *argv], stderr=open(log_path, "a"))
    ok(wait_until(lambda: json.loads(weir("show", "--json", "--table", site.table).stdout)["control"]["running"]), "control runs")
    return p


def log():
    return open(log_path).read()


def logged(part, what):
    """What is in force is told a moment later."""
    if not ok(wait_until(lambda: part in log()), what):
        like(log(), part, what)


took = []


def limit_is(n, what):
    started = time.monotonic()
    ok(wait_until(lambda: site.get("/")["X-RateLimit-Limit"] == str(n)), what)
    took.append(time.monotonic() - started)


def in_place(path, text):
    with open(path, "w") as f:
        f.write(text)


control = start_control()
logged(f"weir control: watching {site.policy} for {site.table}\n", "it says what it watches")
is_(site.get("/")["X-RateLimit-Limit"], "3", "what nginx compiled is in force")

write(site.policy, policy(4))
limit_is(4, "an edit by rename")
in_place(site.policy, policy(5))
limit_is(5, "an edit in place")
os.rename(site.policy, site.policy + "~")
in_place(site.policy, policy(6))
limit_is(6, "the old file moved away, a new one written")

def byte_by_byte(text):
    """An editor that takes its time."""
    with open(site.policy, "w") as f:
        for c in text:
            f.write(c)
            f.flush()
            time.sleep(0.002)


byte_by_byte(policy(7))
limit_is(7, "written byte by byte")
logged("weir control: published, generation 5", "each is published")
logged("limit 'per-ip': 1 per minute, burst 6 -> 1 per minute, burst 7, counters carried over", "each is reported")
half = log().count("error")
for _ in range(5):  # control waits a second at most: where the machine stood still for that long, it is tried again
    if half == 0:
        break
    before = log().count("error")
    byte_by_byte(policy(7))
    time.sleep(2)
    half = log().count("error") - before
is_(half, 0, "and none was read half written")

# broken edits
write(site.policy, "limits: {per-ip: {rate: 1/min, brust: 9}}\n")
ok(wait_until(lambda: "did you mean 'burst'?" in log()), "a broken edit: its findings")
ok(wait_until(lambda: f"{site.policy} is not usable: the policy in force stays" in log()), "and that nothing changed")
is_(site.get("/")["X-RateLimit-Limit"], "7", "nothing changed")
d = json.loads(weir("show", "--json", "--table", site.table).stdout)["policy"]
is_((d["file"], d["generation"]), ("broken", 5), "weir show: the file is broken, generation 5 in force")
r = weir("doctor", "--table", site.table)
is_((r.returncode, "the file is broken" in r.stdout), (1, True), "weir doctor too")
last = f"{site.table}.last-good{site.policy}"
is_((open(last).read(), os.stat(last).st_mode & 0o777), (policy(7), 0o600), "the last good source is kept")
is_(weir("check", last).returncode, 0, "and can be used")
os.unlink(site.policy)
ok(wait_until(lambda: "cannot be read: No such file" in log()), "a file that is gone is reported")
is_(site.get("/")["X-RateLimit-Limit"], "7", "and changes nothing")
write(site.policy, policy(8))
limit_is(8, "a good one is in force again")
logged(f"{site.policy} is usable again", "and reported")
logged("burst 7 -> 1 per minute, burst 8, counters carried over", "with what became of the limit")
log_before = log()
write(site.policy, policy(8) + "# a comment\n")
time.sleep(0.3)
is_(log().count("counters carried over"), log_before.count("counters carried over"), "a comment changes no counter")

# includes, and a folder of them
conf_d = os.path.join(site.dir, "conf.d")
os.mkdir(conf_d)
write(site.policy, policy(9, "include: conf.d/*.yaml\n"))
limit_is(9, "an include that finds nothing yet")
more = os.path.join(conf_d, "more.yaml")


def number_of_limits():
    return len(json.loads(weir("show", "--json", "--table", site.table).stdout)["limits"])


in_place(more, "limits: {more: {match: /x, rate: 1/hour, burst: 2}}\n")
ok(wait_until(lambda: number_of_limits() == 2), "a file that appears in the folder")
in_place(more, "limits: {more: {match: /x, rate: 1/hour, burst: 2}, much: {match: /y, rate: 1/hour}}\n")
ok(wait_until(lambda: number_of_limits() == 3), "an edit of the included file")
in_place(more, "limits: {more: {match: /x, rate: 1/hour, brust: 2}}\n")
ok(wait_until(lambda: f"{conf_d}/more.yaml:1:" in log()), "a mistake in it is told with its place")
os.unlink(os.path.join(conf_d, "more.yaml"))
limit_is(9, "it is removed again")

# a ConfigMap: policy.yaml -> ..data/policy.yaml, ..data -> a folder that is swapped
for name, burst in (("one", 11), ("two", 12), ("three", 13)):
    os.mkdir(os.path.join(site.dir, name))
    in_place(os.path.join(site.dir, name, "policy.yaml"), policy(burst))
data = os.path.join(site.dir, "..data")
os.symlink("one", data)
os.symlink("..data/policy.yaml", site.policy + ".link")
os.rename(site.policy + ".link", site.policy)
limit_is(11, "the file becomes a link")
for name, burst in (("two", 12), ("three", 13)):
    os.symlink(name, data + ".tmp")
    os.rename(data + ".tmp", data)
    limit_is(burst, f"the link's folder is swapped: {name}")
in_place(os.path.join(site.dir, "three", "policy.yaml"), policy(14))
limit_is(14, "an edit where the link leads")

# one a table
r = weir("control", site.policy, "--table", site.table)
is_(r.returncode, 3, "a second one: exit 3")
like(r.stderr, f"weir control already runs for this table (process {control.pid})", "it names the first")

# somebody else publishes
other = os.path.join(site.dir, "other.yaml")
write(other, policy(20))
is_(weir("publish", other, "--table", site.table).returncode, 0, "another file is published")
ok(wait_until(lambda: "it is published again" in log()), "control puts its own in force again")
limit_is(14, "which holds")

# somebody else publishes the same text, compiled otherwise, as another version of weir may
image = bytearray(open(site.table + ".policy", "rb").read())
number = lambda at, size=8: int.from_bytes(image[at:at + size], "little")
image = image.replace(b"per-ip", b"per-IP")
image[24:32] = (number(24) + 1).to_bytes(8, "little")
total = 0x9e3779b97f4a7c15 ^ number(12, 4)
for at in range(24, number(12, 4) - 7, 8):
    total = (total ^ number(at)) * 0xff51afd7ed558ccd % 2**64
    total ^= total >> 32
image[16:24] = total.to_bytes(8, "little")
with open(site.table + ".policy.new", "wb") as f:
    f.write(image)
os.chmod(site.table + ".policy.new", 0o600)
os.chown(site.table + ".policy.new", os.stat(site.table).st_uid, os.stat(site.table).st_gid)
os.rename(site.table + ".policy.new", site.table + ".policy")
shown = lambda: json.loads(weir("show", "--json", "--table", site.table).stdout)
is_(([l["name"] for l in shown()["limits"]], shown()["policy"]["file"]), (["per-IP"], "same"), "another compilation of the same text")
with open(site.table, "r+b") as f:  # told as publishers do: the generation word
    f.seek(1024)
    f.write(image[24:32])
ok(wait_until(lambda: [l["name"] for l in shown()["limits"]] == ["per-ip"]), "control puts its own in force")

# nginx restarts while an edit is broken: it does not start; with the last good one it does, and control stays right
unusable = log().count(" is not usable: ")
os.unlink(site.policy)
in_place(site.policy, "limits: {")
ok(wait_until(lambda: log().count(" is not usable: ") > unusable), "broken again")
site.stop()
r = site.nginx("-t")
ok(r.returncode != 0 and site.policy in r.stderr, "nginx -t names the broken file")
in_place(site.policy, policy(15))
site.start()
limit_is(15, "repaired and restarted")

is_(stop(control), 0, "SIGTERM: exit 0")
is_(os.path.exists(site.table + ".control"), False, "its lock is gone")
is_(site.get("/")["X-RateLimit-Limit"], "15", "what is published stays in force")
write(site.policy, policy(16))
control = start_control()
limit_is(16, "an edit made while nobody watched")
control.kill()
control.wait()
is_(json.loads(weir("show", "--json", "--table", site.table).stdout)["control"]["running"], False, "killed: it is seen not to run")
control = start_control()
is_(stop(control, signal.SIGINT), 0, "and another one can start; SIGINT ends it too")
# by inotify, not by the look at the files' dates each second; a busy machine delays a publishing of our own as well
started = time.monotonic()
site.publish(policy(17))
own = time.monotonic() - started
middle = sorted(took)[len(took) // 2]
ok(middle < 0.45 + 5 * own, f"an edit takes {1000 * middle:.0f} ms")
is_([l for l in site.errors().splitlines() if "[alert]" in l], [], "no alert in the error log")

# control first, nginx later
late = Site(policy=policy(3), start_now=False)
p = start([WEIR, "control", late.policy, "--table", late.table], stderr=open(log_path + "2", "w"))
ok(wait_until(lambda: f"no table at {late.table}: waiting for a door to make it" in open(log_path + "2").read()), "control waits for a table")
late.start()
write(late.policy, policy(4))
ok(wait_until(lambda: late.get("/")["X-RateLimit-Limit"] == "4"), "and follows edits once there is one")
is_(stop(p), 0, "it ends")
done()
