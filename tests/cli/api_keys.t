#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# weir keys: every verb, as an operator types it; a door's view (ring_look: one process that has the ring open) changes at once.
import csv, io, json, os, re, shutil, stat, sys, time; sys.path.insert(0, "tests/lib")
from weirtest import *

home = folder()
DB = os.path.join(home, "keys.db")
LOOK = os.path.join(ROOT, BUILD, "tests/lib/ring_look")


def keys(*argv, db=DB, **kw):
    return weir("keys", *argv, "--database", db, **kw)


def made(*argv, **kw):
    """The secret that a verb prints."""
    r = keys(*argv, **kw)
    if r.returncode:
        note(r.stderr)
    return r.stdout.strip()


class Door:
    def __init__(self, db=DB, ahead=0):
        self.p = start([LOOK, db, str(ahead)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __call__(self, secret):
        self.p.stdin.write(secret + "\n")
        self.p.stdin.flush()
        return self.p.stdout.readline().strip()


# ---- add ----
r = keys("list")
is_(r.returncode, 3, "no database yet")
like(r.stderr, "weir keys add NAME", "says how it comes to be")
old = os.umask(0)
r = keys("add", "acme-1", "--owner", "ACME, Inc", "--plan", "pro", "--tenant", "acme", "--billing-day", "31", "--expires", "30d", "--notes", "first")
os.umask(old)
is_(r.returncode, 0, "a key")
A = r.stdout.strip()
ok(re.fullmatch(r"weir_[0-9A-Za-z]{33}", A), "its secret, alone on standard output")
like(r.stderr, "acme-1 is a key now; its secret is shown this once", "what it is, beside it")
for name in sorted(os.listdir(home)):
    is_(oct(stat.S_IMODE(os.stat(os.path.join(home, name)).st_mode)), "0o600", f"{name} is private, whatever the umask")
door = Door()
is_(door(A), "known acme-1 pro", "a door knows it")
is_(door(A[:-1]), "unknown -", "and nothing that looks like it")
ok(not any(A[5:].encode() in open(os.path.join(home, n), "rb").read() for n in os.listdir(home)), "the secret is in no file")
B = made("add", "b", "--prefix", "shop_live_")
ok(B.startswith("shop_live_"), "a prefix of one's own")
is_(door(B), "known b -", "the door that was there before knows it at once")
ok(len({made("add", f"n{i}") for i in range(20)} - {""}) == 20, "twenty more, all different")
r = keys("add", "b")
is_((r.returncode, r.stdout), (1, ""), "a name is given once")
like(r.stderr, "there is, or was, a key named b", "says why")
for bad, why in (("", "needs a name"), ("a b", "a name is"), ("-x", ""), ("x" * 65, "longer than 64"), ("a,b", "a name is"), ("é", "a name is")):
    r = keys("add", bad)
    is_(r.returncode, 2, f"no name: {bad[:8]!r}")
    like(r.stderr, why, "and why")
for argv, why in ((["--billing-day", "32"], "no day of a month"), (["--expires", "yesterday"], "no time"), (["--expires", "2001-01-01"], "over already"),
                  (["--expires", "2099-02-31"], "no time"), (["--prefix", "ä"], "letters, digits"), (["--owner", "x" * 129], "longer than 128"),
                  (["--until", "1d"], "say --plan too"), (["--notes", "a\nb"], "control character"), (["--overlap", "1d"], "weir keys add has no --overlap"),
                  (["--policy", "x"], "not both"), (["--plam", "x"], "did you mean '--plan'")):
    r = keys("add", "never", *argv)
    is_(r.returncode, 2, f"{argv[0]} {argv[1][:12]!r} is refused")
    like(r.stderr, why, "and why")
is_(json.loads(keys("list", "--json").stdout)["count"], 22, "none of those was added")

# ---- a given secret ----
given = write(os.path.join(home, "secret"), "legacy-secret-0001\n")
r = keys("add", "legacy", "--secret-file", given)
is_((r.returncode, r.stdout), (0, ""), "a given secret is not repeated")
is_(door("legacy-secret-0001"), "known legacy -", "and works")
r = keys("add", "legacy-2", "--secret-file", "-", input="legacy-secret-0001")
is_(r.returncode, 1, "it is one key's")
like(r.stderr, "is a key's already", "says so")
r = keys("show", "legacy-2")
is_(r.returncode, 1, "and nothing is half done: no key without a secret")
for text, why in (("short", "8 to 512"), ("two words here", "one word"), ("x" * 513, "8 to 512"), ("", "8 to 512"), ("with\0nul-byte", "one word")):
    r = keys("add", "x", "--secret-file", "-", input=text)
    ok(r.returncode in (2, 3), f"no secret: {text[:6]!r}")
    like(r.stderr, why, "and why")

# ---- list, show, whose ----
d = json.loads(keys("show", "acme-1", "--json").stdout)
secrets = d.pop("secrets")
now = time.time()
ok(abs(d.pop("created") - now) < 120 and abs(d.pop("expires") - now - 30 * 86400) < 120 and abs(d.pop("last_used") - now) < 120, "its times")
is_(d, {"name": "acme-1", "state": "live", "owner": "ACME, Inc", "tenant": "acme", "plan": "pro", "plan_until": None, "plan_after": None, "billing_day": 31,
        "notes": "first", "revoked": None, "reason": None}, "all that is known of it")
is_([(s["begins"], s["ends"]) for s in secrets], [(A[:9], None)], "how its secret begins")
like(keys("show", "acme-1").stdout, "  owner        ACME, Inc\n", "the same for people")
like(keys("list").stdout, "23 keys in ", "how many there are")
is_([k["name"] for k in json.loads(keys("list", "--json", "--owner", "ACME, Inc", "--tenant", "acme", "--plan", "pro").stdout)["keys"]], ["acme-1"], "some of them")
is_(json.loads(keys("list", "--json", "--plan", "none").stdout)["keys"], [], "or none")
r = keys("show", "acme-2")
is_(r.returncode, 1, "a name that there is not")
like(r.stderr, "did you mean 'acme-1'?", "says which was meant")
is_(json.loads(keys("whose", "--json", input=A + "\n").stdout)["name"], "acme-1", "whose secret is that?")
is_(keys("whose", input="nobody's").returncode, 1, "nobody's")

# ---- set ----
is_(keys("set", "b", "--plan", "free", "--owner", "B").returncode, 0, "set")
is_(door(B), "known b free", "at once")
r = keys("set", "b", "--plan", "huge", "--until", "1h")
like(r.stdout, "b: plan huge until ", "a plan for a while")
like(r.stdout, " UTC, then free\n", "and what follows")
is_(door(B), "known b huge", "at once")
is_(Door(ahead=3590)(B), "known b huge", "it holds")
is_(Door(ahead=3601)(B), "known b free", "an hour later the former plan holds again, by itself")
d = json.loads(keys("show", "b", "--json").stdout)
is_((d["plan"], d["plan_after"]), ("huge", "free"), "as show says")
keys("set", "b", "--plan", "pro")
is_(Door(ahead=3601)(B), "known b pro", "a plan without an end takes the place of both")
is_(keys("set", "b").returncode, 2, "set what?")
keys("set", "b", "--expires", "1h")
is_((door(B), Door(ahead=3601)(B)), ("known b pro", "expired b pro"), "it expires")
keys("set", "b", "--expires", "never", "--plan", "")
is_(Door(ahead=3601)(B), "known b -", "or not")

# ---- rotate ----
B2 = made("rotate", "b", "--overlap", "1h")
ok(B2.startswith("weir_") and B2 != B, "another secret")
is_((door(B), door(B2)), ("known b -", "known b -"), "both work")
later = Door(ahead=3601)
is_((later(B), later(B2)), ("expired b -", "known b -"), "until the overlap is over")
B3 = made("rotate", "b", "--overlap", "0")
is_((door(B), door(B2), door(B3)), ("expired b -", "expired b -", "known b -"), "no overlap: at once")
is_(len(json.loads(keys("show", "b", "--json").stdout)["secrets"]), 3, "all three are told of")

# ---- revoke ----
r = keys("revoke", "b", "--reason", "leaked")
is_((r.returncode, r.stdout), (0, "b is revoked\n"), "revoked")
is_(door(B3), "revoked b -", "at once")
d = json.loads(keys("show", "b", "--json").stdout)
is_((d["state"], d["reason"]), ("revoked", "leaked"), "with the reason")
for verb in ("set", "--plan", "x"), ("rotate",), ("revoke",):
    r = keys(verb[0], "b", *verb[1:])
    is_(r.returncode, 1, f"{verb[0]} of a revoked key")
    like(r.stderr, "that is for good", "says so")
is_(keys("add", "b").returncode, 1, "its name is not given again")
is_([k["name"] for k in json.loads(keys("list", "--json", "--revoked").stdout)["keys"]], ["b"], "list --revoked")

# ---- export, import ----
keys("set", "n1", "--plan", "x", "--until", "2099-01-01")
export = keys("export").stdout
ok("hash" not in export and "pepper" not in export and A not in export, "an export has neither secrets nor hashes")
rows = list(csv.DictReader(io.StringIO(keys("export", "--csv").stdout)))
is_([(x["name"], x["owner"], x["billing_day"]) for x in rows if x["owner"]], [("acme-1", "ACME, Inc", "31"), ("b", "B", "")], "as a table")
is_(keys("export", "--csv", "--hashes").returncode, 2, "hashes are no table")
other = os.path.join(home, "other", "keys.db")
for form in [], ["--json"]:
    moved = keys("export", "--hashes", *form).stdout
    r = keys("import", "-", db=other, input=moved)
    is_(r.returncode, 0, f"imported on another machine {form}")
    like(r.stdout, "23 keys and 25 secrets imported", "all of them")
    is_([Door(other)(s) for s in (A, B3, B, "legacy-secret-0001")], ["known acme-1 pro", "revoked b -", "revoked b -", "known legacy -"], "where the same secrets work")
    both = [json.loads(keys("export", "--json", "--hashes", db=x).stdout) for x in (DB, other)]
    for d in both:
        for k in d["keys"]:
            del k["last_used"]
    is_(both[0], both[1], "and all is as it was")
    r = keys("import", "-", db=other, input=moved)
    is_(r.returncode, 1, "not twice")
    shutil.rmtree(os.path.dirname(other))
keys("import", "-", db=os.path.join(home, "third", "keys.db"), input='[{"name": "x", "secret": "plain-secret-1"}]')
r = keys("import", "-", db=os.path.join(home, "third", "keys.db"), input=keys("export", "--hashes").stdout)
is_(r.returncode, 1, "hashes of another database do not fit one that has its own")
like(r.stderr, "were made with another database's key", "says so")
table = 'name,secret,plan,owner,expires\nc1,secret-of-c1,pro,"Smith, ""Bob""",2099-12-31\nc2,secret-of-c2,,,\n'
r = keys("import", write(os.path.join(home, "t.csv"), table))
like(r.stdout, "2 keys and 2 secrets imported", "a table")
is_((door("secret-of-c1"), door("secret-of-c2")), ("known c1 pro", "known c2 -"), "whose secrets work")
is_(json.loads(keys("show", "c1", "--json").stdout)["owner"], 'Smith, "Bob"', "quotes and all")
for text, why in (('{"name": "d1"}\n{"name": "d2", "plam": 1}', "no field 'plam'; did you mean 'plan'"), ('{"name": "d1"}\n{"name": "c1"}', "named c1"),
                  ('{"name": "d1"}\n{"name"', "-:2: "), ("name,plan\nd1,x\nd2", "-:3: not as many fields"), ('name\nd1\n"d2', "-:3: a quote"),
                  ("name,billing_day\nd1,1\nd2,40\n", "1 to 31"), ('[{"name": "d1"}, 7]', "a key is an object"), ('{"name": "d1", "secrets": [{"hash": "12"}]}', "hexadecimal"),
                  ('{"name": "d1", "expires": "soon"}', "no time"), ('{"name": "d1", "secret": "secret-of-c1"}', "is a key's already")):
    r = keys("import", "-", input=text)
    is_(r.returncode, 1, f"{text[:40]!r} is not imported")
    like(r.stderr, why, "why and where")
    is_(keys("show", "d1").returncode, 1, "nor is the sound part of it")

# ---- which database ----
site = folder()
os.mkdir(os.path.join(site, "p"))
write(os.path.join(site, "policy.yaml"), "clients: {api_keys: {database: p/k.db}}\nlimits: {a: {key: api-key | ip, rate: 5/s}}\n")
r = weir("keys", "add", "one", cwd=site)
is_(r.returncode, 0, "the policy that is here names the database")
is_(json.loads(weir("keys", "list", "--json", "--policy", os.path.join(site, "policy.yaml")).stdout)["database"], os.path.join(os.path.realpath(site), "p/k.db"), "or one that is named")
r = weir("keys", "list", cwd=home)
is_(r.returncode, 2, "no policy, no database")
like(r.stderr, "say --database PATH or --policy FILE", "says what to say")
write(os.path.join(site, "policy.yaml"), "limits: {a: {rate: 5/s}}\n")
like(weir("keys", "list", cwd=site).stderr, "names no database of keys", "nor does every policy name one")
is_(weir("keys", "lst", "--database", DB).returncode, 2, "no verb")
like(weir("keys", "lst", "--database", DB).stderr, "did you mean 'list'?", "but one that was meant")
d = json.loads(weir("keys", "show", "nobody", "--database", DB, "--json").stdout)
is_(d["error"]["name"], "NOT_FOUND", "errors are documents too")
done()
