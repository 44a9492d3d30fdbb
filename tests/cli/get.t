#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# weir get, top, why, reset and doctor where clients are known: API keys by name, with their plans; users; sessions; tokens' claims; bodies.
import json, os, sys; sys.path.insert(0, "tests/lib")
from weirtest import *

dir = folder()
db = f"{dir}/keys.db"
secret = json.loads(weir("keys", "add", "acme", "--plan", "pro", "--owner", "Ann", "--database", db, "--json").stdout)["secret"]
site = Site(policy=f"""\
clients:
  api_keys: {{from: header.x-api-key, database: {db}}}
  session: cookie.sid
  plan: {{from: api-key, none: guest}}
plans:
  guest: {{}}
  pro: {{hourly: 10/hour, keyed: 7/hour}}
limits:
  hourly: {{match: /api/*, key: user | ip, rate: 4/hour}}
  keyed: {{match: /k, key: api-key, missing: deny, rate: 2/hour}}
  visits: {{match: /s, key: session, missing: skip, rate: 1/hour}}
  login: {{match: POST /login, key: body.username, missing: skip, rate: 1/hour}}
  either: {{match: /e, key: [header.x-key | ip, path], rate: 1/hour}}
  shared: {{match: /x, key: ip, rate: 5/hour}}
""")
T = ("--table", site.table)
H = {"X-API-Key": secret}


def get(*argv, code=0):
    r = weir("get", "--json", *argv, *T)
    is_(r.returncode, code, f"get {' '.join(argv)}: exit {code}")
    return json.loads(r.stdout)


def used(limit, *who):
    return [(c["used"], c["limit"]) for l in get(*who, "--limit", limit)["limits"] for c in l["counters"]]


for n in range(3):
    site.get("/api/a", headers=H)
site.get("/k", headers=H)
site.get("/api/a", source="127.0.0.2")
d = get("acme")
is_((d["api_key"], d["plan"]), ({"name": "acme", "known": True}, "pro"), "an API key by its name, with its plan")
limits = {l["limit"]: l for l in d["limits"]}
is_((limits["hourly"]["as"], [(c["used"], c["limit"]) for c in limits["hourly"]["counters"]]), (["user=Ann"], [(3, 10)]), "what its owner has used, by its plan's numbers")
is_(used("keyed", "acme"), [(1, 7)], "and what the key has")
is_(used("hourly", "127.0.0.2"), [(1, 4)], "an address")
is_(get("nobody")["api_key"], {"name": "nobody", "known": False}, "a name that no key has")
like(weir("get", "nobody", *T).stdout, "(no key of that name is known here)", "is said")
ok(secret not in weir("get", "acme", *T).stdout + weir("top", *T).stdout + weir("top", "--json", *T).stdout, "no secret is shown")
is_({(k["key"], k["plan"]) for k in json.loads(weir("top", "--json", "--limit", "keyed", *T).stdout)["keys"]}, {("acme", "pro")}, "top knows name and plan")
r = weir("show", "--limit", "keyed", "--key", "api-key=acme", "--json", *T)
is_([c["remaining"] for c in json.loads(r.stdout)["key"]], [6], "show --key api-key=NAME")

for n in range(7):
    r = site.get("/k", headers=H)
d = json.loads(weir("why", r["Weir-Refusal"], "--json", *T).stdout)
is_((d["who"], d["limit"], d["help"][0]), ("acme", "keyed", "weir reset --limit keyed --key acme"), "why a key was refused")
d = json.loads(weir("why", site.get("/k", headers={"X-API-Key": "invented"})["Weir-Refusal"], "--json", *T).stdout)
is_((d["kind"], d["limit"]), ("missing key", "keyed"), "an invented one is none")
is_(weir("reset", "--limit", "keyed", "--key", "api-key=acme", *T).stdout, "1 counter forgotten\n", "reset --key api-key=NAME")
is_(used("keyed", "acme"), [(0, 7)], "which has all again")

# the same words everywhere
for n in range(3):
    site.get("/k", headers=H)
    site.get("/api/a", headers=H)
    site.get("/x", headers=H, source="127.0.0.7")
is_(used("keyed", "key=acme"), [(3, 7)], "key=NAME, as for weir ban")
is_([c["remaining"] for c in json.loads(weir("show", "--limit", "keyed", "--key", "key=acme", "--json", *T).stdout)["key"]], [4], "for show --key, too")
is_(json.loads(weir("grant", "acme", "hourly", "5", "--json", *T).stdout)["granted"], 5, "weir grant NAME of a limit that counts by user")
is_([c.get("granted") for l in get("user=Ann", "--limit", "hourly")["limits"] for c in l["counters"]], [5], "is of the key's owner")
is_(weir("grant", "127.0.0.7", "shared", "5", *T).returncode, 0, "weir grant ADDRESS")
is_(weir("grant", "acme", "shared", "5", *T).returncode, 2, "a name is no address")
is_(weir("reset", "acme", *T).stdout, "2 counters forgotten\n", "weir reset NAME: in every limit that counts by it")
is_((used("keyed", "acme"), used("hourly", "acme"), used("shared", "127.0.0.7")), ([(0, 7)], [(0, 10)], [(3, 5)]), "and in no other")
is_(weir("reset", "127.0.0.7", "--limit", "shared", *T).stdout, "1 counter forgotten\n", "weir reset ADDRESS --limit")
is_(weir("reset", "user=Bob", *T).stdout, "0 counters forgotten\n", "somebody who was not there")
r = weir("reset", "header.x-org=a", *T)
is_((r.returncode, r.stderr), (2, "weir: no limit counts by that alone: weir get says what each one counts by\n"), "and what no limit counts by")
is_(weir("reset", "acme", "--limit", "keyed", "--key", "acme", *T).returncode, 2, "said twice")

# the cures of weir why can be run as they are printed
for headers, key in ({"X-Key": "127.0.2.9"}, "header.x-key=127.0.2.9"), ({}, "ip=127.0.2.8"):
    for n in range(2):
        r = site.get("/e", headers=headers, source="127.0.2.8")
    d = json.loads(weir("why", r["Weir-Refusal"], "--json", *T).stdout)
    is_(d["help"], [f"weir reset --limit either --key '{key}, /e'", f"weir grant '{key}, /e' either N"], "where a key has alternatives the cure says which")
    is_(weir("grant", f"{key}, /e", "either", "7", *T).returncode, 0, "the second cure can be run")
    is_([site.get("/e", headers=headers, source="127.0.2.8").status for n in range(8)], 7 * [200] + [429], "and cures that client")
    is_(run("sh", "-c", f"{WEIR} {d['help'][0].split(' ', 1)[1]} --table {site.table}").stdout, "1 counter forgotten\n", "the first one, too")

# sessions and bodies
for n in range(2):
    r = site.get("/s", headers={"Cookie": "sid=s3cret"})
is_((r.status, used("visits", "session=s3cret")), (429, [(1, 1)]), "a session, by its cookie")
ok("s3cret" not in weir("show", *T).stdout + weir("top", "--json", *T).stdout + weir("why", r["Weir-Refusal"], *T).stdout, "which is shown nowhere")
for n in range(2):
    r = request(site.port, "POST", "/login", {"Content-Type": "application/x-www-form-urlencoded"}, b"username=%41nn+B")
is_((r.status, used("login", "body.username=ann b")), (429, [(1, 1)]), "a field of the body, as it counts")

# doctor
said = lambda: [(f["what"], f["level"]) for f in json.loads(weir("doctor", "--json", *T).stdout)["findings"] if f["what"] == "keys"]
is_(said(), [("keys", "good")], "doctor: the ring is there")
os.rename(f"{db}.ring", f"{db}.away")
is_(said(), [("keys", "wrong")], "and is missed")
os.rename(f"{db}.away", f"{db}.ring")
os.rename(db, f"{db}.away")
is_(said(), [("keys", "wrong")], "so is the database")
site.check_no_alerts()
done()
