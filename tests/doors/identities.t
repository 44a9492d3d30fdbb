#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Who is counted: API keys that are known, from the moment they are, in every worker and without a reload; what is invented is the address
# that invents it; plans, and what a change of plan keeps.
import base64, hashlib, hmac, json, os, sqlite3, sys, threading, time; sys.path[:0] = ["tests/lib", "tests/doors"]
from gatelib import *

POLICY = """
clients:
  address: {from: x-forwarded-for, trusted: [127.0.0.1]}
  api_keys: {from: [header.x-api-key, bearer], unknown: %s, database: %s}
  jwt: {secret_file: %s, algorithms: [HS256], issuer: https://id.example, invalid: %s}
  plan: {from: [api-key, jwt.tier, header.x-plan], unknown: free, none: guest}
  exempt: [{key: monitor, reason: ours}]
  deny: [{key: scraper, reason: asked to stop}]
plans:
  guest: {hourly: 3/hour}
  free: {hourly: 5/hour}
  pro: {like: free, hourly: 10/hour}
limits:
  hourly: {match: /api/*, key: user | ip, rate: 4/hour}
  keyed: {match: /keyed, key: api-key, missing: deny, rate: 100/hour}
  claimed: {match: /claimed, key: jwt.sub, missing: deny, rate: 100/hour}
  plain: {match: /plain, key: header.x-org, missing: deny, rate: 100/hour}
"""
dir = folder()
db, secret_file = f"{dir}/keys.db", f"{dir}/hs256"
write(secret_file, "a secret that is long enough to be one: 0123456789\n")
os.chmod(secret_file, 0o600)


def keys(*argv, code=0):
    r = weir("keys", *argv, "--database", db, "--json")
    if r.returncode != code:
        raise RuntimeError(f"weir keys {argv}: {r.returncode} {r.stderr}")
    return json.loads(r.stdout) if r.stdout.strip() else None


def add(name, *argv):
    return keys("add", name, *argv)["secret"]


def site_of(unknown="ip", invalid="ip", **kw):
    return Site(policy=POLICY % (unknown, db, secret_file, invalid), workers=2, server="large_client_header_buffers 4 32k;", **kw)


def asks(site, n, secret=None, headers=None, source="127.0.0.7", path="/api/x"):
    h = dict(headers or {}, **({"X-API-Key": secret} if secret else {}))
    return [site.get(path, headers=h, source=source).status for _ in range(n)]


def known_soon(site, secret, limit, what):
    """In every worker its plan's number holds, within a second (and what a busy machine needs)."""
    began = time.monotonic()
    h = {"X-API-Key": secret}
    seen = wait_until(lambda: {site.get("/api/x", headers=h)["x-ratelimit-limit"] for _ in range(6)} == {limit}, 10)
    within(time.monotonic() - began if seen else 99, 0, 3, what)


acme = add("acme", "--plan", "pro", "--owner", "Acme")
site = site_of()

# ---- keys ----
is_(asks(site, 4), 3 * [200] + [429], "a stranger has what guests have")
is_(asks(site, 11, acme), 10 * [200] + [429], "a key has its plan's numbers, in all workers together")
is_(asks(site, 1, headers={"Authorization": f"Bearer  {acme}"}) + asks(site, 1, headers={"authorization": f"bearer {acme}"}), [429, 429],
    "however the header is spelled: the same client")
is_(asks(site, 1, acme, source="127.0.0.99"), [429], "... and wherever it comes from")
is_(asks(site, 1, "junk", headers={"Authorization": f"Bearer {acme}"}), [429], "an invented key beside a known one hides nobody")
w = Wire(site.port, source="127.0.0.7")
is_(w.get("/api/x", f"X-API-Key: junk\r\nX-API-Key: {acme}\r\n").status, 429, "... also in a line of its own before it")
w.close()
a = [s for i in range(1000) for s in asks(site, 1, f"invented{i}", source="127.0.0.8")]
is_((a.count(200), a.count(429)), (3, 997), "a thousand invented keys from one address are that address")

late = add("late", "--plan", "free")
known_soon(site, late, "5", "a new key is known at once, without a reload")
is_(asks(site, 6, late)[-1], 429, "... as what its plan says")

two = keys("rotate", "late", "--overlap", "1h")["secret"]
is_(asks(site, 1, two), [429], "a rotated key is the same client")
is_(asks(site, 1, late), [429], "... and the old secret still is, while they overlap")
keys("set", "late", "--plan", "pro")
known_soon(site, two, "10", "a change of plan holds at once")
is_(asks(site, 3, two), [429] * 3, "... and keeps the share that is used: all of it")

keys("revoke", "late", "--reason", "left us")
is_(wait_until(lambda: asks(site, 1, two, source="127.0.0.9") == [200], 5) and asks(site, 3, two, source="127.0.0.9"), [200, 200, 429],
    "a revoked key is nobody's: its address counts")

monitor, scraper = add("monitor"), add("scraper")
wait_until(lambda: asks(site, 1, scraper) == [403], 5)
is_(asks(site, 30, monitor), 30 * [200], "exempt by name")
is_(asks(site, 2, scraper), [403, 403], "denied by name")

# ---- tokens ----


def token(alg="HS256", key=b"a secret that is long enough to be one: 0123456789", **claims):
    def part(x):
        return base64.urlsafe_b64encode(x).rstrip(b"=")
    head = part(json.dumps({"alg": alg, "typ": "JWT"}).encode())
    body = part(json.dumps(dict({"iss": "https://id.example", "exp": int(time.time()) + 600}, **claims)).encode())
    mac = hmac.new(key, head + b"." + body, hashlib.sha256).digest() if alg == "HS256" else b""
    return (head + b"." + body + b"." + part(mac)).decode()


def bearer(t):
    return {"Authorization": f"Bearer {t}"}


is_(asks(site, 11, headers=bearer(token(sub="jane", tier="pro"))), 10 * [200] + [429], "a token's claims say who and which plan")
is_(asks(site, 1, headers=bearer(token(sub="jane", tier="pro", iat=5))), [429], "another token of hers is her")
is_(asks(site, 1, headers=bearer(token(sub="joe", tier="pro"))), [200], "... and of another is not")
is_(asks(site, 1, "junk", headers=bearer(token(sub="jane", tier="pro"))), [429], "an invented key beside a token hides nobody")
bad = {"alg none": token("none", sub="jane"), "wrong key": token(key=b"x" * 50, sub="jane"), "expired": token(sub="jane", exp=int(time.time()) - 120),
       "another issuer": token(sub="jane", iss="https://evil.example"), "oversize": token(sub="j" * 9000), "malformed": "a.b.c"}
for i, (name, t) in enumerate(bad.items()):
    is_(asks(site, 4, headers=bearer(t), source=f"127.0.1.{i + 1}"), 3 * [200] + [429], f"{name}: not believed, its address counts")

ok(wait_until(lambda: all(f"weir: a token is not believed ({why}) in " in site.errors() for why in
   ("its algorithm is not one that the policy names", "its signature is wrong", "it has expired", "another issuer", "not a token"))), "the log says why, once a second and reason")
ok(wait_until(lambda: "the deny list refused" in site.errors()), "... beside the deny list")
ok("a token is not believed (verified)" not in site.errors(), "... and of what is believed nothing")

# ---- without any ----
a = site.get("/keyed", source="127.0.1.20")
is_((a.status, a["www-authenticate"], json.loads(a.body)["message"]), (401, 'Bearer realm="api"', "This request needs an API key: send one."), "who needs a key is told to send one")
a = site.get("/claimed", source="127.0.1.20", headers={"Accept": "text/plain"})
is_((a.status, a.text), (401, "This request needs a token: send one.\n"), "... or a token")
is_([site.get("/keyed", headers={"X-API-Key": acme}).status, site.get("/keyed", headers=bearer(token(sub="jane"))).status], [200, 403], "a token is no key, and no lack of credentials")
a = site.get("/plain", source="127.0.1.20")
is_((a.status, a["www-authenticate"]), (403, None), "what is no credential is not asked for so")

# ---- headers that name a plan ----
is_(asks(site, 4, headers={"X-Plan": "pro"}, source="127.0.0.20"), 3 * [200] + [429], "whoever is not trusted chooses no plan")
is_(asks(site, 11, headers={"X-Plan": "pro", "X-Forwarded-For": "9.9.9.9"}, source="127.0.0.1"), 10 * [200] + [429], "a trusted peer does")
site.stop()

# ---- refusing them ----
site = site_of("deny", "deny")
whole = open(secret_file).read()
write(secret_file, "short")
os.chmod(secret_file, 0o600)
ok(wait_until(lambda: (site.get("/"), any("[error]" in l and "the secret is shorter than 32 bytes; the keys read before stay" in l for l in site.errors().splitlines()))[1]), "a broken secret is an error in the log")
write(secret_file, whole)
os.chmod(secret_file, 0o600)
ok(wait_until(lambda: (site.get("/"), any("[notice]" in l and "hs256: 1 key" in l for l in site.errors().splitlines()))[1]), "... and a mended one is news")
a = site.get("/api/x", headers={"X-API-Key": "invented"}, source="127.0.2.1")
is_((a.status, a["www-authenticate"], json.loads(a.body)["error"]), (401, 'Bearer realm="api"', "unknown_credentials"), "unknown: deny")
is_(asks(site, 3, "invented", source="127.0.2.1"), [401, 401, 429], "... and guessing is limited like everything else")
is_(site.get("/api/x", headers=bearer(token("none", sub="x")), source="127.0.2.2")["www-authenticate"], 'Bearer error="invalid_token"', "an invalid token")
is_(asks(site, 1, headers={"Authorization": "Basic abc"}, source="127.0.2.3"), [200], "what is neither is no credential")


def why(headers, path="/api/x"):
    d = json.loads(weir("why", site.get(path, headers=headers, source="127.0.2.4")["Weir-Refusal"], "--json", "--table", site.table).stdout)
    return d["kind"], d["reason"], d["limit"]


is_([why({"X-API-Key": "invented"}), why({"X-API-Key": two})], [("unknown key", "no key here has that secret", None), ("unknown key", "it was revoked", None)], "weir why says what a key was")
is_([why(bearer(bad[name]), "/claimed") for name in ("wrong key", "expired", "another issuer")],
    [("token", "its signature is wrong", None), ("token", "it has expired", None), ("token", "another issuer", None)], "... and why a token was not believed")
is_(site.get("/.weir/limits", source="127.0.2.6").status, 200, "who asks for his own limits is not refused")
ok(wait_until(lambda: all(part in site.errors() for part in ("weir: an API key that is not known refused ", "weir: an API key that was revoked refused 1 request in the last second, last: client 127.0.2.4 ",
   "weir: a token that is not believed (it has expired) refused 1 request "))), "so does the log, which blames no list")
ok("the deny list" not in site.errors(), "... that had no part in it")
weir("ban", "127.0.2.5", "--for", "1h", "--table", site.table)
is_(asks(site, 1, source="127.0.2.5"), [403], "an operator's ban")
ok(wait_until(lambda: "weir: a ban by the operator refused 1 request in the last second, last: client 127.0.2.5 " in site.errors()), "is called one")

# ---- a database in trouble: traffic goes on with what was known ----
other = add("other", "--plan", "pro")
known_soon(site, other, "10", "a key before the trouble")
lock = sqlite3.connect(db)
lock.execute("BEGIN EXCLUSIVE")
is_(site.get("/api/x", headers={"X-API-Key": other})["x-ratelimit-limit"], "10", "locked by somebody: the doors do not ask it")
lock.rollback()
lock.close()
with open(db, "r+b") as f:
    f.seek(0)
    f.write(os.urandom(8192))
is_(site.get("/api/x", headers={"X-API-Key": other})["x-ratelimit-limit"], "10", "damaged: nor then")
r = weir("keys", "list", "--database", db)
is_(r.returncode, 3, "... and who asks it is told")
ok("Traceback" not in r.stderr and db in r.stderr, "... of what is wrong")
with open(db + ".ring", "r+b") as f:
    f.seek(0)
    f.write(os.urandom(64))
ok(set(asks(site, 4, other)) <= {200, 401, 429}, "a ring that somebody wrote into: answers all the same")
site.check_no_alerts()
site.stop()
done()
