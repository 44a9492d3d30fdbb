#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# weir shadow report: what tried limits would have refused, since when (also after a reload), and whom; then weir promote.
import json, os, stat, sys, time; sys.path.insert(0, "tests/lib")
from weirtest import *

POLICY = """\
# the shop
limits:
  search: {match: /s, rate: 5/min, candidate: {rate: 2/min}} # tried since May
  trial:
    match: /t
    rate: 1/min # one
    mode: shadow
  plain: {match: /p, rate: 5/min}
"""
site = Site(policy=POLICY)
T = ("--table", site.table)
began = time.time()


def report():
    r = weir("shadow", "report", "--json", *T)
    is_(r.returncode, 0, "report: exit 0")
    return {l["limit"]: l for l in json.loads(r.stdout)["limits"]}


is_(list(report()), ["search/candidate", "trial"], "what is tried, and nothing else")
is_(site.statuses(4, "/s"), [200] * 4, "the candidate refuses nobody")
is_(site.statuses(3, "/t", source="127.0.0.9"), [200] * 3, "nor a shadow")
d = report()
c = d["search/candidate"]
is_((c["candidate_of"], c["mode"], c["requests"], c["would_refuse"], c["share"]), ("search", "shadow", 4, 2, 0.5), "what the candidate would have refused")
is_([(w["key"], w["asked"], w["would_refuse"]) for w in c["who"]], [("127.0.0.1", 4, 2)], "and whom")
is_((d["trial"]["requests"], d["trial"]["would_refuse"]), (3, 2), "what the shadow would have")
within(d["trial"]["since"], began - 60, began + 1, "since when")
like(weir("shadow", "report", *T).stdout, "search/candidate: 2 of 4 requests would have been refused (50.00 %) since ", "in words")
site.publish(POLICY.replace("rate: 5/min}", "rate: 6/min}"))
after = report()
is_((after["trial"]["since"], after["trial"]["requests"]), (d["trial"]["since"], 3), "another publication does not begin it anew")

# promotion
os.chmod(site.policy, 0o640)
write_text = open(site.policy).read()
before = os.stat(site.policy)
r = weir("promote", "search/candidate", "--policy", site.policy, "--dry-run")
is_((r.returncode, open(site.policy).read()), (0, write_text), "--dry-run writes nothing")
like(r.stdout, "-  search: {match: /s, rate: 5/min, candidate: {rate: 2/min}} # tried since May\n+  search: {match: /s, rate: 2/min} # tried since May\n", "and says what it would")
is_(weir("promote", "search", "--policy", site.policy).returncode, 0, "a candidate is promoted")
is_(open(site.policy).read(), write_text.replace("rate: 5/min, candidate: {rate: 2/min}", "rate: 2/min"), "nothing else has changed")
now = os.stat(site.policy)
is_((stat.S_IMODE(now.st_mode), now.st_uid, now.st_gid), (0o640, before.st_uid, before.st_gid), "nor mode and owner")
is_(os.listdir(os.path.dirname(site.policy)).count(os.path.basename(site.policy)), 1, "and nothing lies about")
ok(not [f for f in os.listdir(os.path.dirname(site.policy)) if f.startswith("policy.yaml.")], "no half of a file either")
r = weir("promote", "trial", "--policy", site.policy, "--json")
d = json.loads(r.stdout)
is_((d["was"], d["written"], [(c["sign"], c["text"]) for c in d["diff"]]), ("shadow", True, [("-", "    mode: shadow")]), "a shadow, as a document")
is_(weir("publish", site.policy, *T).returncode, 0, "what it has written is a policy")
is_(site.statuses(2, "/t", source="127.0.0.8"), [200, 429], "which is in force")
is_(report(), {}, "and nothing is tried any more")
like(weir("shadow", "report", *T).stdout, "no limit is tried", "in words")
is_(site.publish(open(site.policy).read().replace("rate: 1/min # one", "rate: 1/min # one\n    mode: shadow")).returncode, 0, "a shadow again")
is_(report()["trial"]["requests"], 0, "counts from now on")
site.check_no_alerts()

# the file that an include names, links, and what cannot be
dir = folder()
os.mkdir(f"{dir}/conf.d")
write(f"{dir}/policy.yaml", "include: conf.d/*.yaml\nlimits: {a: {rate: 1/s}}\n")
write(f"{dir}/real.yaml", "limits:\n  b: {rate: 1/s, mode: enforce 10%}\n")
os.symlink("../real.yaml", f"{dir}/conf.d/b.yaml")
r = weir("promote", "b", cwd=dir)
is_((r.returncode, open(f"{dir}/real.yaml").read()), (0, "limits:\n  b: {rate: 1/s, mode: enforce}\n"), "an included file, through a link")
ok(os.path.islink(f"{dir}/conf.d/b.yaml"), "which stays a link")
is_(open(f"{dir}/policy.yaml").read(), "include: conf.d/*.yaml\nlimits: {a: {rate: 1/s}}\n", "the file that includes it is as it was")
r = weir("promote", "a", cwd=dir)
is_((r.returncode, r.stderr), (1, "weir: limit 'a' is in force as it stands: it has no candidate, and is no shadow\n"), "nothing to promote")
is_(weir("promote", "search", cwd=dir).returncode, 2, "no such limit")
write(f"{dir}/policy.yaml", "limits: {a: {rate: 1/s, burst: 5, candidate: {rate: 9/s}}, b: {rat: 1/s}}\n")
r = weir("promote", "a", cwd=dir)
is_((r.returncode, "nothing was changed" in r.stderr, "candidate" in open(f"{dir}/policy.yaml").read()), (1, True, True), "a broken policy is left alone")
done()
