#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# weir top, weir get and weir plans against a real nginx: who asks, how much is left, what each plan gets; hostile names.
import fcntl, json, os, pty, re, select, struct, sys, termios, time; sys.path.insert(0, "tests/lib")
from weirtest import *

site = Site(policy="""\
limits:
  per-ip: {rate: 3/min}
  keyed: {match: /k, key: header.x-key, missing: skip, rate: [9/s, 4/hour]}
  trial: {match: /t, rate: 1/min, mode: shadow}
  pair: {match: /p, key: [header.x-org, ip], missing: deny, rate: 5/min}
  whole: {match: /w, key: site, rate: 100/s}
""")
T = ("--table", site.table)


def top(*argv, code=0):
    r = weir("top", "--json", *argv, *T)
    is_(r.returncode, code, f"top {' '.join(argv)}: exit {code}")
    return json.loads(r.stdout)


is_(top()["keys"], [], "nobody has asked")
like(weir("top", *T).stdout, "nobody has asked in the last 1 s\n", "in words")
is_(site.statuses(5), [200, 200, 200, 429, 429], "three pass, two do not")
for n in range(3):
    site.get("/t", source="127.0.0.2")
hostile = "a\\b\x7f\x1b[31m<x>"
request(site.port, path="/k", headers={"X-Key": hostile}, source="127.0.0.3")
site.get("/p", headers={"X-Org": "acme"}, source="127.0.0.4")
site.get("/w", source="127.0.0.5")
d = top()
rows = {(k["key"], k["limit"]): k for k in d["keys"]}
is_(d["requests"] + d["before"], 5 + 3 * 2 + 2 + 2 + 2, "every limit of every request is counted")
k = rows[("127.0.0.1", "per-ip")]
is_((k["asked"] + k["before"], k["error"], k["refused"] + k["before_refused"], k["share"]), (5, 0, 2, 1.0), "who asked, was refused, and is at the limit")
k = rows[("127.0.0.2", "trial")]
is_((k["asked"] + k["before"], k["refused"] + k["before_refused"]), (3, 2), "a shadow limit: what it would have refused")
ok((r"a\x5cb\x7f\x1b[31m<x>", "keyed") in rows, "hostile bytes are escaped")
ok(("acme, 127.0.0.4", "pair") in rows and ("site", "whole") in rows, "keys of several parts, and of none")
is_(sorted((k["key"], k["limit"]) for k in top("--limited")["keys"]), [("127.0.0.1", "per-ip"), ("127.0.0.2", "trial")], "--limited: who is refused")
is_(sorted((k["key"], k["limit"]) for k in top("--near")["keys"]), [("127.0.0.1", "per-ip"), ("127.0.0.2", "per-ip"), ("127.0.0.2", "trial")], "--near: at 80 % and more")
is_({k["limit"] for k in top("--limit", "keyed")["keys"]}, {"keyed"}, "--limit: one limit")
is_(top("--limit", "keyd", code=2)["error"]["message"], "no limit 'keyd' in the policy in force; did you mean 'keyed'?", "a misspelt one")
text = weir("top", *T).stdout
ok(re.search(r"^127\.0\.0\.1 +per-ip +[0-9.]+ +[0-9.]+ +100%$", text, re.M), "as text")
ok(all(32 <= ord(c) < 127 or c == "\n" for c in text), "nothing of it moves a terminal")

# a terminal: drawn again and again, until q
site.get("/", source="127.0.0.9")
pid, fd = pty.fork()
if pid == 0:
    os.execv(WEIR, [WEIR, "top", *T])
fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
seen = b""


def read_until(part, seconds=30):
    global seen
    end = time.monotonic() + seconds
    while part not in seen and time.monotonic() < end:
        if select.select([fd], [], [], 0.1)[0]:
            try:
                seen += os.read(fd, 65536)
            except OSError:
                return
    return part in seen


ok(read_until(b"127.0.0.9"), "on a terminal it shows who asks")
seen = b""
ok(read_until(b"\x1b[H"), "and draws again")
os.write(fd, b"q")
ok(read_until(b"\x1b[?1049l"), "q ends it, and gives the terminal back")
is_(os.waitpid(pid, 0)[1], 0, "exit 0")
os.close(fd)


# one client over all limits
def get(*argv, code=0):
    r = weir("get", "--json", *argv, *T)
    is_(r.returncode, code, f"get {' '.join(argv)}: exit {code}")
    return json.loads(r.stdout)


d = get("127.0.0.1")
limits = {l["limit"]: l for l in d["limits"]}
is_(list(limits), ["per-ip", "keyed", "trial", "pair", "whole"], "get: every limit")
c = limits["per-ip"]["counters"][0]
is_((c["limit"], c["used"], c["remaining"], limits["per-ip"]["refuses"]), (3, 3, 0, True), "what is used and left")
within(c["reset_at"] - time.time(), 30, 61, "until when")
is_((limits["keyed"]["needs"], limits["pair"]["needs"]), ("header.x-key", "header.x-org"), "what is needed to know more")
is_(limits["trial"]["refuses"], False, "a shadow refuses nobody")
l = get("127.0.0.4", "header.x-org=acme", "--limit", "pair")["limits"]
is_([(l[0]["as"], l[0]["counters"][0]["used"])], [(["header.x-org=acme", "ip=127.0.0.4"], 1)], "a key of several parts")
is_([(c["name"], c["limit"]) for c in get("header.x-key=" + hostile, "--limit", "keyed")["limits"][0]["counters"]], [("keyed/s", 9), ("keyed/hour", 4)], "several rates")
is_(get("header.x-key=" + hostile, "--limit", "keyed")["limits"][0]["counters"][1]["used"], 1, "by a hostile key")
like(get("acme", code=2)["error"]["message"], "is no address, and the policy has no API keys", "a bare name without API keys")
text = weir("get", "127.0.0.1", *T).stdout
like(text, "ip=127.0.0.1\nper-ip\n  per-ip: 0 of 3 left, the next one fits in ", "get, in words")
like(text, "keyed: counted by header.x-key too; add it as KIND=VALUE\n", "and what it cannot tell")
is_(get("--plan", "gold", "127.0.0.1", code=2)["error"]["message"], "no plan 'gold' in the policy in force", "no such plan")
site.check_no_alerts()

# privacy: nobody's name
site = Site(policy="privacy: hash\nlimits: {per-ip: {rate: 1/min}}\n")
T = ("--table", site.table)
site.statuses(2)
names = [k["key"] for k in top()["keys"]]
ok(len(names) == 1 and re.fullmatch("#[0-9a-f]{16}", names[0]), "privacy: hash: a digest instead of a name")
ok("127.0.0.1" not in weir("show", *T).stdout.replace("127.0.0.1:", ""), "in what happened of late too")
ok(wait_until(lambda: "in the last second" in site.errors()) and 'last: client #' in site.errors() and "last: client 127" not in site.errors(), "and in the error log")
is_(get("127.0.0.1")["limits"][0]["counters"][0]["used"], 1, "whose address is known can still be asked for")
site.check_no_alerts()

# plans
site = Site(policy="""\
clients: {plan: {from: header.x-plan, none: free}, address: {from: x-forwarded-for, trusted: [127.0.0.1]}}
plans:
  free: {}
  pro: {search: 300/min, export: never}
  vip: {search: unlimited}
limits:
  search: {match: /s, rate: 100/min}
  export: {match: /e, rate: 2/day, align: first-request}
""")
T = ("--table", site.table)
d = json.loads(weir("plans", "--json", *T).stdout)
is_(d["plans"], ["free", "pro", "vip"], "the plans")
by = {l["limit"]: l["plans"] for l in d["limits"]}
is_((by["search"]["pro"], by["search"]["vip"], by["export"]["pro"], by["search"]["free"]), ("300 per minute", "unlimited", "never", "100 per minute"), "what each gets")
is_(d["anonymous"], "free", "and who has none")
like(weir("plans", *T).stdout, "search\n  free                 100 per minute\n  pro                  300 per minute\n  vip                  unlimited\n", "plans, in words")
site.get("/s", headers={"X-Plan": "pro"})
is_([l["counters"][0]["used"] for l in get("127.0.0.1", "--plan", "pro", "--limit", "search")["limits"]], [1], "get as a client of a plan")
is_([k["plan"] for k in top()["keys"]], ["pro"], "top knows the plan")
site.check_no_alerts()
done()
