#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# weir publish: an edit in force at the next request without a control process; a broken one changes nothing. And how a
# subcommand finds its table when nobody names it.
import json, os, sys; sys.path.insert(0, "tests/lib")
from weirtest import *

site = Site(policy="limits: {per-ip: {rate: 1/min, burst: 4}}", workers=2)
is_([site.get("/").status for _ in range(2)], [200, 200], "two of four")

r = site.publish("limits: {per-ip: {rate: 1/min, burst: 8}}")
is_(r.returncode, 0, "published")
like(r.stdout, f"{site.policy}: published, generation 2\n", "it says which generation")
like(r.stdout, "limit 'per-ip': 1 per minute, burst 4 -> 1 per minute, burst 8, counters carried over", "and what became of whom")
a = site.get("/")
is_((a["X-RateLimit-Limit"], a["X-RateLimit-Remaining"]), ("8", "3"), "at the next request: half used stays half used, less this one")

r = site.publish("limits: {per-ip: {rate: 1/min, burst: 8}}")
is_((r.returncode, r.stdout), (0, f"{site.policy}: in force already, generation 2\n"), "the same again: nothing to do")

r = site.publish("limits: {per-ip: {rate: 1/min, brust: 1}}")
is_(r.returncode, 1, "a broken edit: exit 1")
like(r.stderr, "did you mean 'burst'?", "its findings")
like(r.stderr, f"weir: {site.policy} is not published: the policy in force stays\n", "and that nothing changed")
is_(site.get("/")["X-RateLimit-Limit"], "8", "nothing changed")
d = json.loads(weir("show", "--json", "--table", site.table).stdout)
is_((d["policy"]["file"], d["policy"]["findings"][0]["line"]), ("broken", 1), "weir show knows that the file is broken")
like(weir("show", "--table", site.table).stdout, "the file is broken, what was published stays in force", "and says so")
d = json.loads(weir("publish", site.policy, "--table", site.table, "--json").stdout)
is_((d["ok"], len(d["findings"])), (False, 1), "--json: the findings")

r = site.publish("limits: {per-ip: {key: [ip, path], rate: 1/min, burst: 8}, more: {rate: 9/s}}")
d = json.loads(weir("publish", site.policy, "--table", site.table, "--json").stdout)
is_((r.returncode, d["unchanged"], d["generation"]), (0, True, 3), "--json: the report")
r = weir("publish", site.policy, "--table", os.path.join(site.shm, "t", "nothing"))
is_((r.returncode, "nothing" in r.stderr), (3, True), "no such table: exit 3")

# which table?
uid = os.geteuid()
home = folder()
write(f"{home}/policy.yaml", "limits: {per-ip: {rate: 1/min, burst: 4}}\n")
r = weir("show", cwd=home)
is_(r.returncode, 3, "a policy without a table: exit 3")
like(r.stderr, f"no table for policy.yaml (it would be /dev/shm/weir-{uid}/", "where it would be")
r = weir("show", "--policy", "./x/../policy.yaml", cwd=home)
expected = r.stderr.split("it would be ")[1].split(")")[0]
like(weir("show", cwd=home).stderr, expected, "every spelling of the path means the same table")

other = Site(policy=open(f"{home}/policy.yaml").read(), start_now=False)
text = open(other.conf).read().replace(other.policy, f"{home}/policy.yaml").replace(f"weir_table {other.table} 4m;", "")
write(other.conf, text)
other.table = expected
other.start()
is_(other.get("/").status, 200, "an nginx that was told no table either")
d = json.loads(weir("show", "--json", cwd=home).stdout)
is_((d["table"], d["limits"][0]["allowed"]), (expected, 1), "they meet in the same one")
is_(weir("reset", "--all", cwd=home).stdout, "1 counter forgotten\n", "so does reset")
is_(weir("publish", "policy.yaml", cwd=home).returncode, 0, "and publish")
other.stop()
for name in os.listdir(os.path.dirname(expected)):
    if name.startswith(os.path.basename(expected)):
        os.unlink(os.path.join(os.path.dirname(expected), name))
try:
    os.rmdir(os.path.dirname(expected))
except OSError:
    pass
site.check_no_alerts()
done()
