#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# weir show and weir reset against a real nginx: what was counted, whose counter is how full, forgetting it.
import json, os, sys; sys.path.insert(0, "tests/lib")
from weirtest import *

site = Site(policy="""\
limits:
  per-ip: {rate: 1/min, burst: 3}
  keyed: {match: /k, key: [header.x-key | cookie.sid, path], missing: anonymous, rate: [1/min, 5/hour]}
  asked: {match: /q, key: query.who, missing: ip, rate: 1/hour}
  whole: {match: /w, key: site, rate: 1/hour}
  routed: {match: [/r/a, /r/b], key: [route, ip/24], rate: 1/hour}
  trial: {match: /t, rate: 0/s, mode: shadow}
  paced: {match: /p, bandwidth: 1MiB/s}
""")
T = ("--table", site.table)


def show(*argv, code=0):
    r = weir("show", "--json", *argv, *T)
    is_(r.returncode, code, f"show {' '.join(argv)}: exit {code}")
    return json.loads(r.stdout)


def left(limit, *key):
    argv = [w for k in key for w in ("--key", k)]
    return [c["remaining"] for c in show("--limit", limit, *argv)["key"]]


def reset(*argv, code=0):
    r = weir("reset", "--json", *argv, *T)
    is_(r.returncode, code, f"reset {' '.join(argv)}: exit {code}")
    return json.loads(r.stdout).get("forgotten")


is_(site.statuses(5), [200, 200, 200, 429, 429], "three pass, two do not")
d = show()
per_ip = d["limits"][0]
is_((per_ip["name"], per_ip["allowed"], per_ip["refused"], per_ip["mode"]), ("per-ip", 3, 2, "enforce"), "the counts of a limit")
like(per_ip["sentence"], "3 at once, then one every 60 s", "its rate in words")
is_((d["policy"]["generation"], d["policy"]["source"], d["policy"]["file"]), (1, site.policy, "same"), "the policy's state")
is_(d["control"]["running"], False, "nobody publishes edits")
is_(d["requests"]["decisions"], 5, "the process counters")
is_([(h["kind"], h["limit"], h["who"]) for h in d["recently"]], [("refused", "per-ip", "127.0.0.1")], "who was refused")

is_(left("per-ip", "127.0.0.1"), [0], "what a client has left")
is_(left("per-ip", "ip=::ffff:127.0.0.1"), [0], "in another spelling")
is_(left("per-ip", "127.0.0.9"), [3], "another client")
key = show("--limit", "per-ip", "--key", "127.0.0.1")["key"][0]
is_((key["fits"], 50e9 < key["wait_ns"] <= 60e9, 170e9 < key["full_ns"] <= 180e9), (False, True, True), "when the next one fits, and when it is whole")
paced = d["limits"][6]
is_((paced["name"], paced["allowed"], paced["refused"], paced["statistics_shared"]), ("paced", None, None, False), "a bandwidth alone counts nothing")
text = weir("show", *T).stdout
like(text, "paced                           -            -            -            -\n  paced: /p", "as text: nor shares it a count")
for part in (f"table     {site.table}\n", f"policy    {site.policy}, generation 1, ", "control   none: edits wait for weir publish\n",
             "per-ip                          3            2            0            0\n", "5 requests decided", "refused          per-ip           127.0.0.1"):
    like(text, part, f"as text: {part.strip()}")
like(weir("show", "--limit", "per-ip", "--key", "127.0.0.1", *T).stdout, "per-ip: 0 of 3 left, the next one fits in ", "and of a key")

# every kind of key, named as it is shown
site.get("/k", headers={"X-Key": "a b\x7f%41"}, source="127.0.1.1")
is_(left("keyed", "header.x-key=a b\x7f%41", "/k"), [0, 4], "a combined key, by its parts")
is_(left("keyed", "a b\x7f%41", "/K/"), [0, 4, 1, 5], "without its kind: whatever it may be; a path in any spelling")
is_(left("keyed", "a b\x7f%41, /k"), [0, 4, 1, 5], "as it is printed")
is_([c.get("as") for c in show("--limit", "keyed", "--key", "v, /k")["key"]], ["header.x-key=v"] * 2 + ["cookie.sid=v"] * 2, "which each counter says")
like(weir("show", "--limit", "keyed", "--key", "v", "--key", "/k", *T).stdout, " (cookie.sid=v): 1 of 1 left", "also in words")
r = reset("--limit", "keyed", "--key", "a b, /k", code=2)
is_(r, None, "to forget, the kind must be said")
like(weir("reset", "--limit", "keyed", "--key", "v, /k", *T).stderr, "as KIND=VALUE: header.x-key=v or cookie.sid=v\n", "the choices")
is_(left("keyed", "header.x-key=a b\x7f%41", "/k"), [0, 4], "nothing was forgotten")
is_(left("keyed", "cookie.sid=a b\x7f%41", "/k"), [1, 5], "the same word from a cookie is another client")
site.get("/k", headers={"Cookie": "x=1; sid=%73; sid=s"}, source="127.0.1.2")
is_(left("keyed", "cookie.sid=s", "/k"), [0, 4], "a cookie")
site.get("/k", source="127.0.1.3")
is_(left("keyed", "anonymous"), [0, 4], "the shared bucket of those without a key")
site.get("/q?a=1&who=x%20y%26", source="127.0.1.4")
is_(left("asked", "x y&"), [0], "a query parameter")
site.get("/q", source="127.0.1.5")
is_(left("asked", "ip=127.0.1.5"), [0], "the address in its place")
for word in "who=bob", "WHO=bob", "header.x-who=bob", "host=bob":
    r = weir("show", "--limit", "asked", "--key", word, *T)
    is_((r.returncode, r.stderr), (2, f"weir: '{word}' cannot stand in the key query.who: KIND=VALUE names the kind as the key does\n"), f"{word}: a kind that the key has not")
r = weir("show", "--limit", "asked", "--key", "whom=bob", *T)
is_((r.returncode, r.stderr), (0, "weir: no part of the key is called 'whom': all of 'whom=…' is taken as the value\n"), "a word that may be one")
for word in "query.who=who=bob", "Ym9i==", "a b=c":
    r = weir("show", "--limit", "asked", "--key", word, *T)
    is_((r.returncode, r.stderr), (0, ""), f"{word}: a value that has a =")
is_([(c["as"], c["remaining"]) for c in show("--limit", "asked", "--key", "127.0.1.5")["key"]], [("query.who=127.0.1.5", 1), ("ip=127.0.1.5", 0)],
    "an address may be either")
site.get("/w", source="127.0.1.6")
is_(left("whole", "site"), [0], "the site's one counter")
is_(reset("--limit", "whole", "--key", "site"), 1, "which can be forgotten")
site.get("/r/b", source="127.0.2.7")
is_(left("routed", "/r/b", "127.0.2.0/24"), [0], "route and masked address, as they are shown")
is_(left("routed", "/r/a", "127.0.2.0/24"), [1], "another route")
site.get("/t", source="127.0.1.8")
trial = next(l for l in show()["limits"] if l["name"] == "trial")
is_((trial["shadow"], trial["refused"], trial["mode"]), (1, 0, "shadow"), "a shadow limit counts apart")

for argv, words in [
    (("--limit", "per-ipp"), "no limit 'per-ipp' in the policy in force; did you mean 'per-ip'?"),
    (("--limit", "per-ip", "--key", "nowhere"), "'nowhere' cannot stand in the key ip"),
    (("--limit", "keyed", "--key", "a"), "2 parts, 1 given"),
    (("--limit", "routed", "--key", "/r/c", "--key", "1.2.3.4"), "'/r/c' cannot stand in the key"),
]:
    like(show(*argv, code=2)["error"]["message"], words, words)

# forgetting
is_(reset("--limit", "per-ip", "--key", "127.0.0.9"), 0, "nothing to forget")
is_(reset("--limit", "per-ip", "--key", "127.0.0.1"), 1, "one client's counter")
is_(site.statuses(4), [200, 200, 200, 429], "who has the whole allowance again")
is_(weir("reset", "--limit", "per-ip", "--key", "127.0.0.1", *T).stdout, "1 counter forgotten\n", "in words")
is_(reset("--limit", "keyed", "--key", "header.x-key=a b\x7f%41", "--key", "/k"), 2, "both rates of a key")
is_(reset("--limit", "keyed"), 4, "everybody's: the other two clients' counters")
site.statuses(3)
ok(reset("--all") >= 3, "every counter")
is_(site.get("/").status, 200, "all begin anew")
is_(reset("--all") >= 1 and reset("--all"), 0, "until nothing is left to forget")

# hostile text
for _ in range(2):
    r = request(site.port, path="/k", headers={"X-Key": "ev\\il\xff"}, source="127.0.3.3")
is_(r.status, 429, "a hostile key is refused")
who = [h["who"] for h in show()["recently"] if h.get("limit", "").startswith("keyed")]
is_(who[:1], [r"ev\x5cil\xff, /k"], "and shown escaped")
site.check_no_alerts()

# variables that nginx was given and we were not
os.environ["WEIR_TEST_BURST"], os.environ["WEIR_TEST_RATE"] = "7", "1/min"
site = Site(policy="limits: {per-ip: {rate: '${WEIR_TEST_RATE}', burst: '${WEIR_TEST_BURST}'}}\n")
T = ("--table", site.table)
is_((site.get("/")["X-RateLimit-Limit"], show()["policy"]["file"]), ("7", "same"), "a policy with variables")
del os.environ["WEIR_TEST_BURST"]
is_((show()["policy"]["file"], show()["policy"]["unset"]), ("unset", "${WEIR_TEST_BURST} is not set here"), "one is not set here: the file is not called broken")
like(weir("show", *T).stdout, "whether the file has been edited since cannot be told: ${WEIR_TEST_BURST} is not set here\n", "in words")
del os.environ["WEIR_TEST_RATE"]
is_(show()["policy"]["unset"], "${WEIR_TEST_RATE} and ${WEIR_TEST_BURST} are not set here", "both")
note_of = lambda: [(f["level"], f["sentence"]) for f in json.loads(weir("doctor", "--json", *T).stdout)["findings"] if f["what"] == "policy"]
is_(note_of(), [("note", f"${{WEIR_TEST_RATE}} and ${{WEIR_TEST_BURST}} are not set here: whether {site.policy} has been edited since generation 1 cannot be told")],
    "weir doctor notes it, as nothing wrong")
write(site.policy, "limits: {per-ip: {rate: '${WEIR_TEST_RATE}', brust: 1}}\n")
is_(show()["policy"]["file"], "broken", "another mistake beside it: broken")
is_(note_of()[0][0], "wrong", "which is wrong")
site.check_no_alerts()
done()
