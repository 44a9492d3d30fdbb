#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Bans through a real nginx: a limit bans who goes on after being refused, in every worker, whoever of them is killed; an operator
# bans and grants by API key and user; a ban outlasts a restart.
import json, os, signal, sys, time; sys.path.insert(0, "tests/lib")
from weirtest import *

site = Site(workers=2, policy="""
clients:
  api_keys: {from: [header.x-api-key], database: KEYS}
limits:
  login: {match: /login, key: ip, rate: 2/min, burst: 2, then: {ban: 15min, after: 4 refusals in 10min, double_up_to: 1h}}
  api: {match: /api/*, key: api-key | ip, rate: 3/h, then: {ban: 30min, after: 2 refusals in 1h}}
""".replace("KEYS", "/nonexistent"), start_now=False)
keys = os.path.join(site.shm, "keys.db")
os.chmod(site.shm, 0o755)
write(site.policy, open(site.policy).read().replace("/nonexistent", keys))
K = ("--policy", site.policy)


def cli(*argv, code=0):
    r = weir(*argv, "--table", site.table)
    if not is_(r.returncode, code, f"weir {' '.join(argv)}"):
        note(r.stdout, r.stderr)
    return r.stdout


def add_key(name, *more):
    r = weir("keys", "add", name, *more, *K, "--json")
    if r.returncode:
        note(r.stdout, r.stderr)
    d = json.loads(r.stdout)
    return d.get("secret") or d.get("key")


acme, other = add_key("acme", "--owner", "ann"), add_key("other", "--owner", "bob")
ok(acme and other, "two API keys")
site.start()


def get(path, n, **headers):
    return site.get(path, source=f"127.0.0.{n}", headers={k.replace("_", "-"): v for k, v in headers.items()})


# ---- strikes, in two workers
is_([get("/login", 10).status for _ in range(6)], [200, 200, 429, 429, 429, 429], "two pass, four are refused")
r = get("/login", 10)
is_(r.status, 429, "banned: as the limit refuses")
within(int(r.headers["retry-after"]), 880, 900, "for a quarter of an hour")
is_({get("/login", 10).status for _ in range(20)}, {429}, "by every worker")
is_((get("/", 10).status, get("/login", 11).status), (200, 200), "from the limit's requests, and nobody else")
like(open(site.access_log).read(), " BANNED ", "the log says so")
for pid in site.workers():
    os.kill(pid, signal.SIGKILL)
ok(wait_until(lambda: get("/", 11).status == 200), "workers are killed, and come back")
within(int(get("/login", 10).headers["retry-after"]), 600, 900, "he is banned still")

# ---- by API key: of a limit, and by hand
is_([get("/api/x", 20, x_api_key=acme).status for _ in range(5)], [200, 200, 200, 429, 429], "three an hour for a key")
within(int(get("/api/x", 21, x_api_key=acme).headers["retry-after"]), 1700, 1800, "the key is banned, from wherever")
is_((get("/api/x", 20, x_api_key=other).status, get("/api/x", 20).status), (200, 200), "another key is not, nor the address")
is_(cli("unban", "key=acme"), "API key acme is not banned any more from api\n", "unbanned by its name")
is_(get("/api/x", 20, x_api_key=acme).status, 429, "the limit's own numbers hold still")
like(cli("grant", "api-key=acme", "api", "2"), "has 2 more of api until", "a grant by key")
is_([get("/api/x", 20, x_api_key=acme).status for _ in range(3)], [200, 200, 429], "two more")

like(cli("ban", "acme", "--for", "1h", "--reason", "unpaid"), "API key acme is banned for 1 h", "a bare name is that of a known key")
r = get("/", 20, x_api_key=acme)
is_((r.status, get("/", 20, x_api_key=other).status, get("/", 20).status), (403, 200, 200), "refused everything, by its key alone")
within(int(r.headers["retry-after"]), 3500, 3600, "for an hour")
cli("unban", "acme")
is_(get("/", 20, x_api_key=acme).status, 200, "and not any more")
cli("ban", "user=ann", "--for", "1h")
is_((get("/", 20, x_api_key=acme).status, get("/", 20, x_api_key=other).status), (403, 200), "a user by whichever key")
cli("unban", "user=ann")

# ---- written down, and loaded again by another nginx
cli("ban", "127.0.0.30", "--for", "1h", "--reason", "scraper")
cli("grant", "ip=127.0.0.31", "api", "2")
d = json.loads(cli("table", "export"))
is_(sorted(r["numbers"]["kind"] for r in d["rows"] if r["numbers"]["kind"] == "ban"), ["ban"] * 2, "exported: the rows of a limit's and the operator's bans")
write(f"{site.shm}/export.json", json.dumps(d))
site.stop()
is_(weir("table", "import", f"{site.shm}/export.json", "--replace", "--table", site.table).returncode, 0, "a table of what was written down")
site.start()
is_([get("/api/y", 31).status for _ in range(6)], [200] * 5 + [429], "the grant is there")
is_(get("/", 30).status, 403, "the ban holds")
is_(get("/login", 10).status, 429, "the limit's, too")
is_(sorted(b["name"] for b in json.loads(cli("bans", "--json"))["bans"])[:2], ["127.0.0.10", "127.0.0.30"], "with their names")
is_(weir("table", "check", "--table", site.table).returncode, 0, "and the table is sound")
done()
