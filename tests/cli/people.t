#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# What a policy knows clients by is looked at before a client is: a missing database, broken keys of tokens, misspelt plans.
import json, os, sys; sys.path.insert(0, "tests/lib")
from weirtest import *

dir = folder()
LIMIT = "limits: {per-ip: {rate: 50/s, burst: 100}}\n"
RSA = '{"kty": "EC", "crv": "P-256", "x": "MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4", "y": "4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM"}'


def check(text, *argv):
    write(f"{dir}/p.yaml", text + LIMIT)
    return weir("check", "--quiet", "p.yaml", *argv, cwd=dir)


# ---- tokens ----
def set_of(text, algorithms="ES256"):
    write(f"{dir}/set.json", text)
    r = check(f"clients: {{jwt: {{algorithms: {algorithms}, jwks_file: set.json}}}}\n")
    is_(r.returncode, 0, "a broken set is no error: it may be mended without the policy")
    return r.stderr


is_(set_of(f'{{"keys": [{RSA}]}}'), "", "a good set")
like(set_of('{"keys": [{]}'), f"p.yaml: warning: {dir}/set.json: line 1 is not JSON: ", "a broken one")
like(set_of("{}"), "it is not a set of keys", "no set at all")
like(set_of('{"keys": [{"kty": "oKp"}]}'), "no key in it can be used", "one with nothing in it")
said = set_of(f'{{"keys": [{RSA}]}}', "HS256")
like(said, "warning: there is no key for HS256, which clients.jwt names: no token signed so is believed", "HS256 with public keys only: none fits")
ok("make tokens" not in said, "nor could anybody make tokens with those")
like(set_of(f'{{"keys": [{RSA}]}}', "[ES256, RS256]"), "there is no key for RS256", "each algorithm is asked for")
write(f"{dir}/secret", "short\n")
os.chmod(f"{dir}/secret", 0o600)
TOKENS = "clients: {jwt: {algorithms: HS256, secret_file: secret}}\n"
like(check(TOKENS).stderr, "secret: the secret is shorter than 32 bytes", "a secret that is too short")
write(f"{dir}/secret", "x" * 40)
os.chmod(f"{dir}/secret", 0o600)
is_(check(TOKENS).stderr, "", "a good one")
os.chmod(f"{dir}/secret", 0o644)
said = check(TOKENS).stderr
is_(said.count("warning"), 1, "one that everybody can read is told of once")
like(said, "make nginx's workers' user its owner (chown www-data), and chmod 600 it", "one that everybody can read: it must still be read by who decides")
os.chmod(f"{dir}/secret", 0o600)

# ---- API keys ----
KEYED = "clients: {api_keys: {database: keys/keys.db}}\nplans: {free: {}, pro: {per-ip: 100/s}}\n"
r = check(KEYED, "--json")
d = json.loads(r.stdout)
is_((d["warnings"], [(c["sentence"].endswith("keys/keys.db: every key is unknown"), c["cure"]) for c in d["clients"]], r.stderr), (1, [(True, "weir keys add NAME makes it")], ""), "a database that is not there")


def keys(*argv, **kw):
    return weir("keys", *argv, "--policy", "p.yaml", cwd=dir, **kw)


r = keys("add", "acme", "--plan", "prro")
is_(r.returncode, 0, "a plan that there is not: a key all the same")
like(r.stderr, f"weir: warning: no plan 'prro' in {dir}/p.yaml; did you mean pro?", "and a word")
is_(check(KEYED).stderr, "", "the database is there now")
is_([keys("set", "acme", "--plan", p).stderr.count("warning") for p in ("pro", "prro", "")], [0, 1, 0], "set says it, too")
r = keys("import", "-", input='{"name": "a", "plan": "fre", "secret": "secret-of-a"}\n{"name": "b", "plan": "fre"}\n{"name": "c", "plan": "free"}\n')
is_((r.returncode, r.stderr.count("warning"), "did you mean free?" in r.stderr), (0, 1, True), "import says it once")
os.rename(f"{dir}/p.yaml", f"{dir}/policy.yaml")
r = weir("keys", "set", "c", "--plan", "prro", "--database", f"{dir}/keys/keys.db", cwd=dir)
like(r.stderr, "did you mean pro?", "with --database by the policy that lies there, if it is its database")
r = weir("keys", "add", "c", "--plan", "prro", "--database", f"{dir}/other.db", cwd=dir)
is_((r.returncode, "warning" in r.stderr), (0, False), "another database is another policy's")
for secret, why in ("short", "a secret has 8 to 512 characters"), ("x" * 513, "a secret has 8 to 512 characters"), ("caf\u00e9-secret", "characters of ASCII"), (7, "a secret is a text"):
    r = weir("keys", "import", "-", cwd=dir, input=json.dumps({"name": "d", "secret": secret}))
    is_(r.returncode, 1, f"a secret that is none is not imported: {str(secret)[:8]!r}")
    like(r.stderr, why, "as add says it")

# ---- the doctor ----
site = Site(policy=f"clients: {{api_keys: {{database: {dir}/keys/keys.db}}, jwt: {{algorithms: ES256, jwks_file: {dir}/set.json}}, plan: {{from: api-key}}}}\nplans: {{free: {{}}, pro: {{per-ip: 100/s}}}}\n" + LIMIT)
write(f"{dir}/set.json", '{"keys": [')
found = {f["sentence"]: f for f in json.loads(weir("doctor", "--json", "--table", site.table).stdout)["findings"]}
ok(any(s.startswith("1 API key is of plan 'fre', which the policy does not have; did you mean free?") for s in found), "doctor: plans of keys that the policy does not have")
ok(any("set.json: line 1 is not JSON" in s and found[s]["level"] == "wrong" for s in found), "and a broken set of keys")

# ---- at the start ----
write(f"{dir}/run.yaml", f"gateway: {{to: http://127.0.0.1:9}}\nclients: {{jwt: {{algorithms: ES256, jwks_file: {dir}/set.json}}}}\n" + LIMIT)
p = start([WEIR, "run", f"{dir}/run.yaml", "--listen", f"127.0.0.1:{port()}", "--state", folder()], stderr=subprocess.PIPE, text=True)
line = next((l for l in iter(p.stderr.readline, "") if "set.json" in l), "")
like(line, f"weir run: warning: {dir}/set.json: line 1 is not JSON", "weir run says it at its start")
stop(p)
done()
