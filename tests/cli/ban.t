#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# weir ban, unban, bans and grant beside a running nginx: in force with the next request, told with names and reasons, lifted again.
import json, sys, time; sys.path.insert(0, "tests/lib")
from weirtest import *

site = Site(policy="""
limits:
  login: {match: /login, key: ip, rate: 2/min, burst: 2, then: {ban: 15min, after: 3 refusals in 10min, double_up_to: 1h}}
  api: {match: /api/*, key: ip, rate: 2/h, burst: 2}
  door: {match: /door, key: [ip, path], rate: 1/h, burst: 1, then: {ban: 1h, after: 1 refusal in 1h}}
  places: {match: /places, key: ip, concurrent: 5}
""")
T = ("--table", site.table)


def get(path, n):
    return site.get(path, source=f"127.0.0.{n}").status


def cli(*argv, code=0):
    r = weir(*argv, *T)
    if r.returncode != code:
        note(r.stdout, r.stderr)
    is_(r.returncode, code, f"weir {' '.join(argv)}: exit {code}")
    return r.stdout if code == 0 else r.stderr


def bans():
    return json.loads(cli("bans", "--json"))


# ---- the operator's
is_(cli("bans"), "nobody is banned\n", "nobody is banned")
is_(get("/", 10), 200, "he may")
like(cli("ban", "127.0.0.10", "--for", "1h", "--reason", "scrapes the shop"), "127.0.0.10 is banned for 1 h, until ", "banned, for an hour")
r = site.get("/", source="127.0.0.10")
is_(r.status, 403, "he is refused with the next request")
within(int(r.headers["retry-after"]), 3500, 3600, "and told for how long")
is_((get("/login", 10), get("/", 11)), (r.status, 200), "everywhere; nobody else is")
d = bans()
is_(d["unnamed"], 0, "bans --json")
b = d["bans"][0]
within(b["until"] - time.time(), 3400, 3601, "until when")
within(time.time() - b["since"], -2, 120, "since when")
is_((b["whom"], b["name"], b["by"], b["level"], b["reason"], b["hashed"]), ("address", "127.0.0.10", "operator", 0, "scrapes the shop", False), "who, by whom, why")
text = cli("bans")
like(text, "127.0.0.10", "bans, as text")
like(text, "scrapes the shop\n", "with the reason")
cli("ban", "127.0.0.10", "--for", "2min")
within(int(site.get("/", source="127.0.0.10").headers["retry-after"]), 60, 120, "banned anew: so long from now")
is_(len(bans()["bans"]), 1, "it is one ban")
is_(cli("unban", "127.0.0.10"), "127.0.0.10 is not banned any more\n", "lifted")
is_(get("/", 10), 200, "he may again")
is_(cli("unban", "127.0.0.10"), "127.0.0.10 was not banned\n", "not twice")
is_(bans(), {"bans": [], "unnamed": 0}, "nobody is banned any more")
cli("ban", "127.0.0.12", "--until", time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 3600)))
within(int(site.get("/", source="127.0.0.12").headers["retry-after"]), 3500, 3600, "until a date")
cli("ban", "2001:db8:1:2::7", "--for", "1d")
is_([b["name"] for b in bans()["bans"]], ["127.0.0.12", "2001:db8:1:2::/64"], "who ends first comes first; an IPv6 client is its network")
is_(cli("unban", "2001:db8:1:2::/64"), "2001:db8:1:2::/64 is not banned any more\n", "and is lifted as it is shown")
cli("ban", "key=acme", "--for", "1d", "--reason", "unpaid")
cli("ban", "user=ann", "--for", "2d")
is_([(b["whom"], b["name"]) for b in bans()["bans"]], [("address", "127.0.0.12"), ("api-key", "acme"), ("user", "ann")], "a key, a user")
like(cli("bans"), "API key acme", "as text")
is_(json.loads(cli("unban", "key=acme", "--json")), {"unbanned": "API key acme", "from": ["operator"]}, "unban --json")
cli("unban", "user=ann")
cli("unban", "127.0.0.12")

# ---- a limit's own
for expect in (200, 200, 429, 429, 429, 429):
    is_(get("/login", 20), expect, f"login: {expect}")
within(int(site.get("/login", source="127.0.0.20").headers["retry-after"]), 850, 900, "the third refusal: 15 minutes")
is_(get("/", 20), 200, "from login only")
b = bans()["bans"][0]
is_((b["whom"], b["name"], b["by"], b["level"], b["reason"]), ("key", "127.0.0.20", "login", 1, ""), "in bans")
is_(cli("unban", "127.0.0.20"), "127.0.0.20 is not banned any more from login\n", "lifted with who it is")
is_(get("/login", 20), 429, "the limit's own numbers hold still")
within(int(site.get("/login", source="127.0.0.20").headers["retry-after"]), 1, 60, "as before")
is_(bans()["bans"], [], "and it is no ban any more")
cli("reset", "--limit", "login", "--key", "127.0.0.20")
is_(get("/door", 21), 200, "a key of two parts")
is_((get("/door", 21), get("/door", 21)), (429, 429), "banned at once")
is_(bans()["bans"][0]["name"], "127.0.0.21, /door", "with both parts")
is_(cli("unban", "127.0.0.21"), "127.0.0.21 was not banned\n", "which one part does not name")
is_(cli("unban", "127.0.0.21", "/door", "--limit", "door"), "127.0.0.21 is not banned any more from door\n", "but both do")
is_(bans()["bans"], [], "lifted")
like(cli("unban", "127.0.0.21", "--limit", "api", code=2), "api bans nobody", "a limit without then")

# ---- a grant
is_([get("/api/x", 30) for _ in range(3)], [200, 200, 429], "two an hour")
like(cli("grant", "127.0.0.30", "api", "3"), "127.0.0.30 has 3 more of api until ", "three more")
is_([get("/api/x", 30) for _ in range(4)], [200, 200, 200, 429], "three, and no more")
is_(get("/api/x", 31), 200, "of this client")
cli("grant", "127.0.0.30", "api", "1000", "--until", "2d")
is_(get("/api/x", 30), 200, "a thousand")
like(cli("grant", "ip=127.0.0.30", "api", "5"), ", instead of 999", "a grant takes the place of the one before")
d = json.loads(cli("grant", "127.0.0.30", "api", "0", "--json"))
is_((d["whom"], d["limit"], d["granted"], d["before"]), ("127.0.0.30", "api", 0, 5), "taken away")
is_(get("/api/x", 30), 429, "and gone")

# ---- what is said wrong
for argv, part in (
    (("ban",), "say whom"),
    (("ban", "127.0.0.1"), "say for how long"),
    (("ban", "127.0.0.1", "--for", "1h", "--until", "2099-01-01"), "say for how long"),
    (("ban", "127.0.0.1", "--for", "soon"), "'soon' is no time"),
    (("ban", "127.0.0.1", "--for", "0"), "a ban lasts a second to ten years"),
    (("ban", "127.0.0.1", "--until", "2001-01-01"), ""),
    (("ban", "127.0.0.1", "--for", "520000w"), ""),
    (("ban", "127.0.0.0/8", "--for", "1h"), "one client at a time"),
    (("ban", "ip=somebody", "--for", "1h"), "'somebody' is no address"),
    (("ban", "somebody", "--for", "1h"), "no API key of that name is known: say key=somebody or user=somebody"),
    (("ban", "key=", "--for", "1h"), "a name of 1 to 255 bytes"),
    (("unban",), "say whom"),
    (("unban", "127.0.0.1", "127.0.0.2"), "say whom"),
    (("unban", "127.0.0.1", "--limit", "logn"), "did you mean 'login'?"),
    (("unban", "127.0.0.1", "--limit", "door"), "2 parts, 1 given"),
    (("grant", "127.0.0.1", "api"), "say whom, which limit and how many"),
    (("grant", "127.0.0.1", "api", "many"), "'many' is no number"),
    (("grant", "127.0.0.1", "apii", "5"), "did you mean 'api'?"),
    (("grant", "127.0.0.1", "places", "5"), "places has no rate"),
    (("grant", "127.0.0.1", "api", "5", "--until", "1000d"), "a grant ends within 400 days"),
):
    r = weir(*argv, *T)
    is_((r.returncode, r.stdout), (2, ""), f"weir {' '.join(argv)}: exit 2")
    like(r.stderr, part, f"  {part}")
is_(bans()["bans"], [], "nothing came of it")

# ---- a reload, an edit, and another size
cli("ban", "127.0.0.40", "--for", "1h")
is_([get("/login", 41) for _ in range(5)], [200, 200, 429, 429, 429], "banned from login, too")
write(site.policy, open(site.policy).read().replace("15min", "5min"))
site.reload()
is_((get("/", 40), get("/login", 41)), (403, 429), "after a reload both are")
within(int(site.get("/login", source="127.0.0.41").headers["retry-after"]), 800, 900, "for as long as it was")
is_(weir("table", "resize", "16m", *T).returncode, 0, "a larger table")
ok(wait_until(lambda: site.get("/", source="127.0.0.40").status != 200), "the operator's ban holds")
within(int(site.get("/login", source="127.0.0.41").headers["retry-after"]), 750, 900, "and the limit's")
is_(sorted(b["name"] for b in bans()["bans"]), ["127.0.0.40", "127.0.0.41"], "both have their names")
is_(weir("table", "check", *T).returncode, 0, "and the table is sound")
done()
