#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# weir why: a refusal's id, as it stands in the answer and in the log, says what happened; also when nobody knows the name any more.
import json, re, sys, time; sys.path.insert(0, "tests/lib")
from weirtest import *

site = Site(policy="""\
clients: {deny: [{ip: 127.0.0.66}]}
limits:
  per-ip: {rate: 3/min}
  hourly: {match: /h, rate: [9/s, 2/hour]}
  keyed: {match: /k, key: header.x-key, missing: deny, rate: 1/hour}
  big: {match: /b, rate: 1/s, cost: 2}
""", server="add_header X-Refused $weir_refusal always;")
T = ("--table", site.table)


def why(*argv, code=0):
    r = weir("why", "--json", *argv, *T)
    is_(r.returncode, code, f"why: exit {code}")
    return json.loads(r.stdout)


for n in range(4):
    r = site.get("/")
id = r["Weir-Refusal"]
ok(re.fullmatch("[0-7][0-9A-HJKMNP-TV-Z]{26}", id), "a refusal has an id")
is_((json.loads(r.text)["id"], r["X-Refused"]), (id, id), "the same in the body, and in $weir_refusal")
is_(site.get("/", source="127.0.0.9")["Weir-Refusal"], None, "what passes has none")
ok(wait_until(lambda: f', refusal {id}' in site.errors()), "and in the error log")
d = why(id)
is_((d["kind"], d["limit"], d["counter"], d["who"], d["generation"]["in_force"]), ("rate", "per-ip", "per-ip", "127.0.0.1", True), "what it says")
within(d["at"], time.time() - 60, time.time() + 1, "when")
within(d["said_wait_s"], 15, 20, "how long it was told to wait")
is_((d["now"]["limit"], d["now"]["remaining"]), (3, 0), "what the counter says now")
is_(d["help"], ["weir reset --limit per-ip --key 127.0.0.1", "weir grant 127.0.0.1 per-ip N"], "what helps")
is_(why(id.lower().replace("0", "o")[:9] + "-" + id.lower()[9:])["limit"], "per-ip", "as people copy it")
text = weir("why", id, *T).stdout
for part in ("it was over limit per-ip\n", "policy    generation 1, which is in force\n", "whose     127.0.0.1\n", "now       0 of 3 left, the next one fits in "):
    like(text, part, f"in words: {part.strip()}")
wrong = ("1" if id[5] != "1" else "2").join((id[:5], id[6:]))
like(why(wrong, code=2)["error"]["message"], "not copied right", "a mistyped one")
r = weir("why", "\x1b]0;mine\x07\u009b31m", *T)
is_((r.returncode, r.stderr), (2, "weir: '\\x1b]0;mine\\x07\\xc2\\x9b31m' is no refusal's id, or not copied right: 27 letters and digits\n"), "what a client made up does not reach the terminal")
like(weir("why", 500 * "A", *T).stderr, f"weir: '{61 * 'A'}...' is no refusal's id", "and a long one is cut")

# what helps does
is_(run(WEIR, *d["help"][0].split()[1:], *T).returncode, 0, "the first cure can be run as it is printed")
is_(site.get("/").status, 200, "and cures")
d = why(id)
ok(d["now"] is None or d["now"]["remaining"] > 0, "which is what is said then")

for n in range(3):
    r = site.get("/h", source=f"127.0.1.{9}")
d = why(r["Weir-Refusal"])
is_((d["limit"], d["counter"], d["who"]), ("hourly", "hourly/hour", "127.0.1.9"), "of several rates the one that refused, and whose it is")
d = why(site.get("/k", source="127.0.1.1")["Weir-Refusal"])
is_((d["kind"], d["limit"], d["slot"], d["now"]), ("missing key", "keyed", None, None), "a missing key")
d = why(site.get("/", source="127.0.0.66")["Weir-Refusal"])
is_((d["kind"], d["limit"], d["slot"]), ("deny list", None, None), "the deny list")
d = why(site.get("/b", source="127.0.1.2")["Weir-Refusal"])
is_((d["kind"], d["limit"], d["said_wait_s"]), ("rate", "big", None), "a cost that never fits")
for n in range(2):
    r = request(site.port, path="/k", headers={"X-Key": "it's \x1b[1m"}, source="127.0.1.3")
d = why(r["Weir-Refusal"])
is_((d["who"], d["help"][0]), (r"it's \x1b[1m", "weir reset --limit keyed --key KEY"), "a hostile name is shown escaped, and in no command line")
ok("\x1b" not in weir("why", r["Weir-Refusal"], *T).stdout, "nor does it move a terminal")

# a newer policy, and a client that asks for itself
is_(site.publish("limits: {per-ip: {rate: 5/min}}\n").returncode, 0, "another policy")
d = why(id)
is_((d["limit"], d["generation"]["in_force"], d["generation"]["current"]), ("per-ip", False, 2), "of an older policy")
like(weir("why", id, *T).stdout, "policy    an older one; generation 2 is in force now\n", "in words")
for n in range(6):
    site.get("/", source="127.0.2.1")
d = why("--key", "127.0.2.1", code=1)
is_([l["limit"] for l in d["limits"]], ["per-ip"], "--key: what refuses a client now")
is_(why("--key", "127.0.2.2")["limits"], [], "and whom nothing refuses")
is_(weir("why", "--key", "127.0.2.2", *T).stdout, "nothing refuses it now\n", "in words")
site.check_no_alerts()

# another table's
other = Site(policy="limits: {per-ip: {rate: 3/min}}\n")
r = weir("why", id, "--table", other.table)
ok(r.returncode in (0, 3) and (r.returncode == 0 or "another machine's, or of a table that is gone" in r.stderr), "another table's id is not this one's")
done()
