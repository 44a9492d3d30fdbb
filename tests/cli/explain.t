#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# weir explain: each station's answer, nothing charged, with and without a running door.
import glob, json, sys; sys.path.insert(0, "tests/lib")
from weirtest import *

POLICY = """\
clients:
  address: {from: x-forwarded-for, trusted: [10.0.0.0/8]}
  exempt: [{match: GET /healthz, reason: health checks}]
  deny: [{ip: 203.0.113.7, reason: scraper}]
limits:
  per-ip: {rate: 50/s, burst: 100}
  login:
    match: POST /login
    rate: 5/min
  api:
    match: {path: /api/*, method: GET, header.x-tier: gold}
    key: header.x-api-key
    missing: deny
    rate: 10/s
  shop: {match: {host: shop.example, not: {header.x-bot: "*"}}, key: [ip, path], rate: 3/s}
  office: {match: {ip: 198.51.100.0/24}, rate: 9/s}
  off: {rate: 1/s, mode: disabled}
  trial: {match: /trial, rate: 0/s, mode: shadow}
"""
dir = folder()
write(f"{dir}/policy.yaml", POLICY)
before = set(glob.glob("/dev/shm/weir-try-*"))


def explain(*argv, code=0, **kw):
    r = weir("explain", "--json", *argv, cwd=dir, **kw)
    if r.returncode != code:
        ok(False, f"{argv}: exit {r.returncode}, not {code}: {r.stderr}")
    return json.loads(r.stdout)


def limit(d, name):
    return next(l for l in d["limits"] if l["name"] == name)


d = explain("--method", "POST", "--path", "/a/..//%6CogIn/;x?y=1", "--ip", "192.0.2.1")
is_(d["policy"]["fresh"], True, "without a door: fresh counters")
is_(d["request"]["path"], "/login", "the path as it is matched")
is_(d["client"], {"address": "192.0.2.1", "peer": "192.0.2.1", "why": "the peer itself: it is no trusted proxy", "untrusted_forward": False},
    "the client")
is_((limit(d, "login")["matches"], limit(d, "login")["key"]), (True, "192.0.2.1"), "login matches, with its key")
is_(limit(d, "login")["counters"], [{"name": "login", "what": "rate", "fits": True, "limit": 5, "remaining": 5, "cost": 1, "wait_ns": 0, "full_ns": 0}],
    "and its counter as it stands")
is_({l["name"]: l["why"] for l in d["limits"] if not l["matches"]},
    {"api": "another path", "shop": "another host", "office": "the client is in none of its networks", "off": "disabled",
     "trial": "another path"}, "why the others do not")
is_((d["verdict"]["status"], d["verdict"]["action"], d["verdict"]["limit"]), ("PASSED", "pass", "login"), "the verdict and the binding limit")
is_(dict(d["answer"]["headers"])["X-RateLimit-Remaining"], "4", "the headers that would be sent")

for argv, name, why in [
    (("--path", "/login"), "login", "the method is GET"),
    (("--path", "/api/x"), "api", "header x-tier says something else"),
    (("--host", "shop.example", "--header", "X-Bot: 1"), "shop", "its `not` holds"),
]:
    d = explain(*argv)
    is_(limit(d, name)["why"], why, f"{' '.join(argv)}: {name} does not match, {why}")

d = explain("--path", "/api/x", "--header", "X-Tier: gold", code=1)
is_((limit(d, "api")["role"], d["verdict"]["status"], d["verdict"]["http_status"]), ("refuses: its key is missing", "MISSING", 403),
    "a key that must be there and is not: refused, exit 1")
d = explain("--path", "/api/x", "--header", "X-Tier: gold", "--header", "X-API-Key: k\x1b[31m")
is_(limit(d, "api")["key"], r"k\x1b[31m", "hostile bytes of a key are escaped")
d = explain("--host", "Shop.Example:8080", "--path", "/Cart/")
is_(limit(d, "shop")["key"], "127.0.0.1, /cart", "a combined key")
d = explain("--path", "/trial")
is_((limit(d, "trial")["role"], d["verdict"]["status"]), ("counts, never refuses: shadow", "REJECTED_SHADOW"), "a shadow limit")
d = explain("--path", "/healthz")
is_((d["exempt"]["reason"], d["verdict"]["status"]), ("health checks", "EXEMPT"), "the exempt list")
d = explain("--ip", "203.0.113.7", code=1)
is_((d["deny"]["reason"], d["verdict"]["status"], d["verdict"]["http_status"]), ("scraper", "DENIED", 403), "the deny list")

# what is in flight, how fast, by which answer: each counter in its own words
write(f"{dir}/words.yaml", """\
limits:
  files: {match: /files/*, concurrent: 2, bandwidth: 1MiB/s after 500KiB, total: 2MiB/s}
  exact: {match: /files/*, rate: 10/min, algorithm: sliding-log}
  stock: {match: /files/*, rate: 1/min, algorithm: nginx, queue: 3}
  guess: {match: /files/*, rate: 5/min, count: failures}
  none:  {match: /files/*, concurrent: 0, mode: shadow}
""")
d = json.loads(weir("explain", "--json", "--policy", "words.yaml", "/files/x", cwd=dir).stdout)
is_(limit(d, "files")["counters"],
    [{"name": "files/concurrent", "what": "concurrent", "fits": True, "limit": 2, "remaining": 2, "cost": 1, "wait_ns": 0, "full_ns": 0,
      "held": 0},
     {"name": "files/total", "what": "total", "bytes_per_s": 2097152, "fits": True, "limit": 2048, "remaining": 2048, "cost": 1,
      "wait_ns": 0, "full_ns": 0},
     {"name": "files/bandwidth", "what": "bandwidth", "bytes_per_s": 1048576, "free_bytes": 512000}], "places in flight, and bandwidths")
is_([(c["limit"], c["remaining"], c["fits"], c.get("held")) for l in ("exact", "stock", "guess", "none") for c in limit(d, l)["counters"]],
    [(10, 10, True, None), (4, 4, True, None), (5, 5, True, 0), (0, 0, False, 0)], "a log, nginx's bucket, failures, and no place at all")
text = weir("explain", "--policy", "words.yaml", "/files/x", cwd=dir).stdout
like(text, "files/concurrent: 0 of 2 in flight; it fits\n", "places are read out")
like(text, "files/total: 2048 of 2048 KiB left; it fits\n", "and a total")
like(text, "files/bandwidth: 1048576 bytes a second, each response, after 512000 bytes\n", "and a bandwidth")

d = explain("--ip", "192.0.2.9", "--peer", "10.1.2.3")
is_((d["client"]["address"], d["client"]["why"]), ("192.0.2.9", "named by x-forwarded-for, which the trusted peer 10.1.2.3 sent"),
    "behind a trusted proxy")
d = explain("--ip", "192.0.2.9", "--peer", "172.16.0.9")
is_(d["client"]["address"], "172.16.0.9", "behind an untrusted one (C16)")
like(d["client"]["why"], "clients: {address: {from: x-forwarded-for, trusted: [172.16.0.9]}}", "with the line that would trust it")
d = explain("--ip", "192.0.2.9", "--peer", "10.1.2.3", "--header", "X-Forwarded-For: 1.1.1.1, 192.0.2.77")
is_(d["client"]["address"], "192.0.2.9", "the last one forwarded counts")
d = explain("--ip", "10.9.9.9")
is_(d["client"]["why"], "the peer itself: trusted, but x-forwarded-for names no address", "a trusted peer that forwards nothing")
is_(explain("--ip", "::ffff:192.0.2.1")["client"]["address"], "192.0.2.1", "IPv4 in IPv6 is IPv4")
is_(limit(explain("--ip", "2001:db8::1:2"), "per-ip")["key"], "2001:db8::/64", "IPv6 by prefix")
d = explain("--method", "OPTIONS", "--path", "/api/x", "--header", "Origin: https://a.example", "--header",
            "Access-Control-Request-Method: GET")
is_(d["request"]["preflight"], True, "a preflight is seen")

text = weir("explain", "--method", "POST", "--path", "/login", "--ip", "192.0.2.1", cwd=dir).stdout
for part in ("request     POST /login of localhost\n            matched as /login\n",
             "client      192.0.2.1: the peer itself: it is no trusted proxy\n",
             "lists       neither denied nor exempt\n",
             "            login (POST /login): yes, enforced\n              key 192.0.2.1\n              login: 5 of 5 left; it fits\n",
             "            off (every request): no, disabled\n",
             "verdict     PASSED: every limit allowed it; binding: login\n"):
    like(text, part, "as text: " + part.strip().splitlines()[0])

r = weir("explain", "--policy", "nope.yaml", cwd=dir)
is_(r.returncode, 3, "an unreadable policy: exit 3")
write(f"{dir}/bad.yaml", "limits: {x: {rate: 5}}\n")
r = weir("explain", "--policy", "bad.yaml", cwd=dir)
is_((r.returncode, "error" in r.stderr), (1, True), "a broken policy: exit 1, its findings")
is_(set(glob.glob("/dev/shm/weir-try-*")) - before, set(), "no private table is left behind")

is_(explain("/login", "--method", "POST")["request"]["target"], "/login", "the path as a word")
for argv, words in ((("login",), "'login' is no path: it begins with /"), (("/a", "--path", "/b"), "the path is given twice: '/a'")):
    like(explain(*argv, code=2)["error"]["message"], words, words)
like(weir("explain", "/healthz", cwd=dir).stdout, "answer      the application's, unchanged\n", "an exempt request: the answer is the application's alone")
like(weir("explain", "/", cwd=dir).stdout, "answer      the application's, with\n", "else it has our headers")

# with a door: the counters as they are, and nothing is charged
site = Site(policy="limits: {per-ip: {rate: 1/min, burst: 3}}")
began = time.monotonic()
site.get("/")
live = ("--table", site.table)
first = explain(*live)
is_((first["policy"]["fresh"], first["policy"]["generation"], limit(first, "per-ip")["counters"][0]["remaining"]), (False, 1, 2),
    "with a door: its counters")
for _ in range(5):
    explain(*live)
is_(limit(explain(*live), "per-ip")["counters"][0]["remaining"], 2, "explaining charges nothing")
site.statuses(2)
foretold = time.monotonic()
d = explain(*live, code=1)
is_((d["verdict"]["status"], d["verdict"]["http_status"]), ("REJECTED", 429), "a refusal foretold: exit 1")
within(d["verdict"]["retry_after_s"], 60 - 1 - int(time.monotonic() - began), 60, "with its wait")
is_(json.loads(d["answer"]["body"])["limit"], "per-ip", "and the body that would be sent")
is_(site.get("/").status, 429, "which is what happens")
a = site.get("/")
within(int(a["Retry-After"]) - d["verdict"]["retry_after_s"], -1 - int(a.ended - foretold), 0, "with the same wait")
write(f"{dir}/other.yaml", "limits: {per-ip: {rate: 1/min, burst: 9}}\n")
d = explain(*live, "--policy", "other.yaml")
is_((d["policy"]["fresh"], limit(d, "per-ip")["counters"][0]["limit"]), (True, 9), "another file: as that says, with fresh counters")
d = explain(*live, "--policy", site.policy, code=1)
is_(d["policy"]["fresh"], False, "the very file in force: live")
done()
