#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# The login of examples/login.yaml: one address, one account, many accounts; bans, the challenge, and owners who never notice.
import sys; sys.path.insert(0, "tests/examples")
from starterlib import *


def answer(method, path, headers, body):
    bad = path.startswith("/login") and b"right" not in body or path == "/users" and b"@" not in body
    return (401 if bad else 200), {}, b"ok\n"


backend = Backend(answer)
site = Starter("examples/login.yaml", backend=backend.port, workers=2)


def login(user, source, password="wrong", kind=FORM):
    body = json.dumps({"username": user, "password": password}) if kind is JSON else f"username={user}&password={password}"
    return site.post("/login", body=body.encode(), headers=kind, source=source)


# ---- people ----
is_(load_page(site.port, [f"/f{i}.css" for i in range(30)], source="127.0.1.1"), 31 * [200], "the page of the login loads whole")
is_([login("ann", "127.0.1.1", p).status for p in ("wrong", "wrong", "right")], [401, 401, 200], "two typing errors, then she is in")
is_([login("ann", "127.0.1.1", "right").status for _ in range(20)], 20 * [200], "and in again, twenty times")

# ---- one address ----
Bucket(5 / MINUTE, 5, passed=401).check(8, lambda: login("bob", "127.0.2.1"), "five guesses from an address")
[login("bob", "127.0.2.1") for _ in range(20)]
within(int(login("bob", "127.0.2.1")["retry-after"]), 850, 900, "twenty refusals: banned for fifteen minutes")
r = weir("bans", "--table", site.table, "--policy", site.policy)
like(r.stdout, "127.0.2.1", "weir bans tells of it")
is_(login("bob", "127.0.1.2", "right").status, 200, "bob himself comes in")
is_(weir("unban", "127.0.2.1", "--table", site.table, "--policy", site.policy).returncode, 0, "weir unban: the operator forgives")
ok(int(login("bob", "127.0.2.1")["retry-after"] or 0) <= 12, "... and what the address has used is all that holds")

# ---- one account from many addresses ----
got = [login(("eve", "EVE", "%65ve", " Eve")[i % 4].replace(" ", "+"), f"127.0.{3 + i}.1") for i in range(14)]
is_([a.status for a in got], 10 * [401] + 4 * [303], "ten guesses at an account, however it is spelled and wherever from")
is_(got[-1]["location"], "/verify", "then the challenge")
is_(login("eve", "127.0.30.1", "wrong", JSON).status, 303, "... as JSON, too")
is_((lambda a: (a.status, a["location"]))(login("eve", "127.0.1.3", "right")), (303, "/verify"), "its owner is not locked out: the same page")
is_(site.get("/verify", source="127.0.1.3").status, 200, "... which is there")

# ---- many accounts from one address ----
got = [login(f"user{i}", "127.0.20.1", "right").status for i in range(13)]
is_(got, 10 * [200] + 3 * [429], "ten accounts an address, even with the right passwords")
is_(login("user3", "127.0.20.1", "right").status, 200, "those that were there can go on")

# ---- the rest ----
def code(sid, source="127.0.21.1"):
    return site.post("/login/code", body=b"000000", headers={"Cookie": f"sid={sid}"}, source=source)


Bucket(5 / (15 * MINUTE), 5, passed=401).check(7, lambda: code("s1"), "five codes of a second factor")
fresh = iter(range(1000))
Bucket(20 / HOUR, 19, passed=401).check(22, lambda: code(f"n{next(fresh)}"), "a new session for each: twenty from an address, one of them the first")
mail = lambda who, source: site.post("/password/reset", body=f"email={who}".encode(), headers=FORM, source=source)
Bucket(3 / HOUR, 3).check(4, lambda: mail("ann@example.com", f"127.0.22.{next(fresh) % 200 + 1}"), "three mails to one person, whoever asks")
is_(mail("", "127.0.22.1").status, 403, "none to nobody")
got = [site.post("/users", body=b, source="127.0.23.1").status for b in [b"x"] * 6 + [b"a@b"] * 4]
is_(got, 6 * [401] + 3 * [200] + [429], "three sign-ups a day; forms that were wrong are free")
site.check_no_alerts()
site.stop()
done()
