#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Quotas through a real nginx: a fifth more than the quota, told once in the log and by weir show; what a client reads about itself; what
# was charged, by weir usage: while nginx runs, after control was killed and the machine rebooted, and of months that are over.
import csv, io, json, os, shutil, signal, sqlite3, sys, time; sys.path.insert(0, "tests/lib")
from weirtest import *

state = folder()
os.chmod(state, 0o755)
SNAP, CHARGE = os.path.join(state, "kept.snapshot"), os.path.join(ROOT, BUILD, "tests/lib/usage_charge")
site = Site(workers=2, policy="""
clients:
  api_keys: {from: [header.x-api-key], database: /nonexistent}
  plan: {from: [api-key], unknown: free, none: free}
plans:
  free: {}
  pro: {monthly: 30/month}
limits:
  monthly: {match: /api, key: api-key, missing: skip, rate: 10/month, align: calendar, over: {allow: 20%, notify: [80%, 100%]}}
  billed: {match: /bill, key: api-key, missing: skip, rate: 1000/month, align: billing-day}
  burst: {match: /api, key: ip, rate: 1000/min}
  trial: {match: /api, key: ip, rate: 5/min, mode: shadow}
""", http=f"weir_snapshot {SNAP};", start_now=False)
keys = os.path.join(site.shm, "keys.db")
os.chmod(site.shm, 0o755)
write(site.policy, open(site.policy).read().replace("/nonexistent", keys))


def add_key(name, *more):
    r = weir("keys", "add", name, *more, "--policy", site.policy, "--json")
    if r.returncode:
        note(r.stdout, r.stderr)
    d = json.loads(r.stdout)
    return d.get("secret") or d.get("key")


acme, beta = add_key("acme", "--owner", "ann, inc", "--plan", "free", "--tenant", "t1"), add_key("beta", "--owner", "bob", "--plan", "pro", "--tenant", "t1")
site.start()


def get(path, key=None, **kw):
    return site.get(path, headers={"X-API-Key": key} if key else {}, **kw)


# ---- over, and what the answers say
answers = [get("/api", acme) for _ in range(14)]
is_([r.status for r in answers].count(429), 2, "ten a month, and a fifth more, pass")
is_([int(r.headers["x-ratelimit-limit"]) for r in answers], [10] * 14, "the quota that is told is ten")
is_([int(r.headers["x-ratelimit-remaining"]) for r in answers], [9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 0, 0, 0, 0], "beyond it nothing is left")
is_([get("/api", beta).status for _ in range(5)], [200] * 5, "a customer of another plan")
log = site.errors()
is_(log.count('limit "monthly": "acme" has used 80 % of 10'), 1, "the log tells once of 80 %")
is_(log.count('limit "monthly": "acme" has used 100 % of 10'), 1, "and of all of it")
is_(log.count('"beta" has used'), 0, "nothing of who has used little")
shown = weir("show", "--table", site.table).stdout
like(shown, "acme has used 80 % of 10", "weir show tells it, too")

# ---- the client's own
r = get("/.weir/limits", beta)
is_((r.status, r.headers["content-type"]), (200, "application/json"), "own limits")
d = json.loads(r.text if hasattr(r, "text") else r.body)
is_(d["plan"], "pro", "of his plan")
is_([(x["name"], x["limit"]) for x in d["limits"]], [("monthly", 30), ("billed", 1000), ("burst", 1000)], "his numbers, no shadow")
is_((d["limits"][0]["used"], d["limits"][0]["remaining"]), (5, 25), "what he has used, and what is left")
within(d["limits"][2]["used"], 0, 17, "of the bucket what has not drained")
r = get("/.weir/limits", acme)
d = json.loads(r.text if hasattr(r, "text") else r.body)
is_([(x["name"], x["limit"], x["used"], x["remaining"]) for x in d["limits"]][0], ("monthly", 10, 12, 0), "over the quota")
r = get("/.weir/limits")
d = json.loads(r.text if hasattr(r, "text") else r.body)
is_((d["plan"], [x["name"] for x in d["limits"]]), ("free", ["burst"]), "without a key: what there is for an address")
is_(get("/.weir/limits", acme).status, 200, "also for who has nothing left: it is free")


# ---- the bill
def usage(*argv):
    r = weir("usage", "--table", site.table, *argv)
    if r.returncode:
        note(r.stdout, r.stderr)
    return r.stdout


def by_key(*argv):
    return {(row["key"], row["limit"]): int(row["units"]) for row in csv.DictReader(io.StringIO(usage("--csv", *argv)))}


is_(by_key(), {("acme", "monthly"): 12, ("beta", "monthly"): 5}, "each key what it was charged")
is_(json.loads(usage("--by", "tenant", "--json"))["usage"], [{"limit": "monthly", "units": 17, "tenant": "t1"}], "by tenant")
is_(usage("--by", "owner", "--csv"), 'owner,limit,units\n"ann, inc",monthly,12\nbob,monthly,5\n', "by owner, as a table")
is_(usage("--by", "limit", "--csv"), "limit,units\nmonthly,17\n", "by limit")
is_(json.loads(usage("--by", "plan", "--json"))["units"], 17, "by plan, and the sum")
like(usage(), "17 units charged", "for people")
is_(usage("--limit", "burst", "--csv"), "", "another limit has no bill")
is_([weir("usage", "--table", site.table, *a).returncode for a in (["--month", "2026-13"], ["--by", "day"], ["--month", "26-1"])], [2, 2, 2], "what is no month, and nothing to sum by")

# a customer is forgiven: the quota begins anew, what is to be paid for stays
is_(weir("reset", "beta", "--limit", "monthly", "--table", site.table).stdout, "1 counter forgotten\n", "weir reset of a key")
is_(by_key(), {("acme", "monthly"): 12, ("beta", "monthly"): 5}, "is not the end of its bill")

# ---- killed and rebooted
log_path = os.path.join(site.dir, "control.log")


def control():
    p = start([WEIR, "control", site.policy, "--table", site.table, "--snapshot", SNAP], stderr=open(log_path, "a"))
    ok(wait_until(lambda: json.loads(weir("show", "--json", "--table", site.table).stdout)["control"]["running"]), "control runs")
    return p


p = control()
get("/api", beta)
ok(wait_until(lambda: os.path.exists(SNAP)), "the table is written down")
time.sleep(3)
stop(p, signal.SIGKILL)
site.stop()
shutil.rmtree(site.shm + "/t")
site.start()
is_(by_key(), {("acme", "monthly"): 12, ("beta", "monthly"): 6}, "control killed, the machine rebooted: the bill is as it was")
is_(get("/api", acme).status, 429, "and so is the quota")

# ---- months that are over
charged = run(CHARGE, site.table, "monthly", "acme", "1", "777")
start_s, end_s = map(int, charged.stdout.split())
last = time.strftime("%Y-%m", time.gmtime(start_s))
is_(by_key("--month", last), {("acme", "monthly"): 777}, "last month, as long as the table has it")
p = control()


def kept():
    db = sqlite3.connect(keys)
    rows = db.execute('SELECT k.name, u."limit", period_start, period_end, units FROM usage u JOIN keys k ON k.id = u.key').fetchall()
    db.close()
    return rows


ok(wait_until(lambda: kept(), seconds=100), "control brings it into the database")
is_(kept(), [("acme", "monthly", start_s, end_s, 777)], "what is over, and nothing of this month")
stop(p)
weir("reset", "--limit", "monthly", "--table", site.table)
is_(by_key(), {("acme", "monthly"): 12, ("beta", "monthly"): 6}, "nor does the reset of a limit touch the bill")
weir("reset", "--all", "--table", site.table)
is_((by_key(), get("/api", acme).status), ({("acme", "monthly"): 12, ("beta", "monthly"): 6}, 200), "nor that of everything, which gives everybody the quota again")
site.stop()
shutil.rmtree(site.shm + "/t")
os.unlink(SNAP)
for name in os.listdir(state):
    os.unlink(os.path.join(state, name))
site.start()
is_(get("/api", beta).status, 200, "a table that knows nothing")
is_(by_key("--month", last), {("acme", "monthly"): 777}, "last month is in the database")
is_(by_key(), {("beta", "monthly"): 1}, "and this one begins anew")

# ---- another billing day: what was charged under the former one is on the bill as before, and the quota goes on
gamma = add_key("gamma", "--billing-day", "15")


def left():
    return int(get("/bill", gamma).headers["x-ratelimit-remaining"])


is_([left() for _ in range(3)], [999, 998, 997], "three in a billing period")
is_(weir("keys", "set", "gamma", "--billing-day", "20", "--policy", site.policy).returncode, 0, "his day is changed")
is_([left() for _ in range(4)], [996, 995, 994, 993], "four more of the same quota")
billed = [int(row["units"]) for m in (last, time.strftime("%Y-%m", time.gmtime())) for row in csv.DictReader(io.StringIO(usage("--csv", "--month", m, "--limit", "billed")))]
is_(sorted(billed), [3, 4], "seven on the bill, whichever months the periods began in")
site.stop()
done()
