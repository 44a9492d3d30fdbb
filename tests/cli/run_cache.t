#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# weir run with `cache`: what is stored and what never is; stale answers over the limit and while the backend fails; whose answer is nobody else's.
import os, sys, threading, time; sys.path.insert(0, "tests/lib")
from weirtest import *

down = threading.Event()
told = []


def answer(method, path, headers, body):
    told.append((method, path, {k.lower(): v for k, v in headers.items()}))
    if down.is_set():
        return 503, {}, b"down\n"
    name = path.split("?")[0].split("/")[1]
    said = {"long": {"Cache-Control": "max-age=600"}, "short": {"Cache-Control": "max-age=1"}, "private": {"Cache-Control": "private, max-age=600"},
            "nostore": {"Cache-Control": "no-store"}, "cookie": {"Cache-Control": "max-age=600", "Set-Cookie": "sid=1"}, "vary":
            {"Cache-Control": "max-age=600", "Vary": "Accept-Language"}}.get(name, {})
    if name == "slow":
        time.sleep(0.3)
    return 200, said, f"{path} number {len(told)}\n".encode()


backend = Backend(answer)
POLICY = """\
gateway: {to: http://127.0.0.1:%d%s}
clients:
  address: {from: x-forwarded-for, trusted: [127.0.0.1]}
  api_keys: {from: [header.x-api-key, bearer, query.key, cookie.k]}
  session: header.x-session
  user: header.x-user
limits:
  news: {match: /short/few, key: ip, rate: 2/hour, instead: cached}
  tenants: {key: header.x-tenant | ip, rate: 1000/s}
  edge: {key: ip, rate: 1000/s}
"""
home = folder()
os.chmod(home, 0o755)
policy = write(f"{home}/policy.yaml", POLICY % (backend.port, ", cache: 64MiB"))
p = port()
state = f"{home}/state"
err = f"{home}/err"
gateway = start([WEIR, "run", policy, "--listen", f"127.0.0.1:{p}", "--state", state, "--snapshot", "none"], stdout=subprocess.PIPE,
                stderr=open(err, "w"), env=san_env(), text=True)
said = ""
while "weir show" not in said and gateway.poll() is None:
    said += gateway.stdout.readline()
like(said, "the gateway stores answers that may be stored and are nobody's own, at most 64 MiB", "it says that it stores")


def get(path, headers=None, method="GET", source="127.0.0.2"):
    return request(p, method, path, headers=headers, source=source)


def asked(*requests):
    """How often the backend is asked for these, one after the other; and what it was told last."""
    before = len(told)
    answers = []
    for r in requests:
        answers.append(get(*r) if isinstance(r, tuple) else get(r))
        time.sleep(0.15)  # an answer is stored after its last byte has been sent
    return len(told) - before, [a.body for a in answers]


# ---- what is stored ----
n, bodies = asked("/long/a", "/long/a", "/long/a")
is_((n, len(set(bodies))), (1, 1), "what may be stored is asked for once")
is_(asked("/long/a?x=1", "/long/a?x=2")[0], 2, "with its whole target")
is_(asked(("/long/a", {"Host": "other.example"}), ("/long/a", {"Host": "other.example:8080"}))[0], 2, "and its host, and the port that the backend is told")
is_(asked(("/long/head", None, "HEAD"), "/long/head")[0], 1, "HEAD and GET are one")
is_(asked(("/long/post", None, "POST"), ("/long/post", None, "POST"), "/long/post", "/long/post")[0], 3, "a POST is never answered from there")
for path, why in (("/plain/a", "nothing is stored that nobody said may be"), ("/private/a", "nor what is private"), ("/nostore/a", "nor no-store"),
                  ("/cookie/a", "nor what sets a cookie")):
    is_(asked(path, path)[0], 2, why)
is_(asked(("/vary/a", {"Accept-Language": "de"}), ("/vary/a", {"Accept-Language": "fr"}), ("/vary/a", {"Accept-Language": "fr"}))[0], 2, "Vary holds")

# ---- whose it is ----
get("/long/mine")
for headers in ({"Authorization": "Basic eDp5"}, {"Authorization": "0"}, {"Cookie": "a=b"}, {"X-Api-Key": "one"}, {"X-Api-Key": "0"}, {"X-Session": "s"},
                {"X-User": "u"}):
    n, bodies = asked(("/long/mine", headers), ("/long/mine", headers))
    is_((n, len(set(bodies))), (2, 2), f"with {headers} it is not answered from there")
is_(asked("/long/mine")[0], 0, "and what was stored is still the one of before")
for headers in ({"Authorization": "Bearer t"}, {"Cookie": "sid=1"}, {"X-Api-Key": "one"}, {"X-Session": "s"}, {"X-User": "u"}):
    path = "/long/first-" + list(headers)[0].lower()
    is_(asked((path, headers), path, path)[0], 2, f"with {headers} it is not stored")
is_(asked("/long/query?key=one", "/long/query?key=one", "/long/query?a=1&KEY=one", "/long/query?a=1&KEY=one")[0], 4, "nor with a key in the query")
is_(asked(*[("/long/tenant", {"X-Tenant": t}) for t in ("one", "two", "one", "two")])[0], 2, "what a limit counts by is told apart")
is_(asked(("/long/odd", {"X-Tenant": "a\tb"}), ("/long/odd", {"X-Tenant": "a\tb"}))[0], 2, "and not with what parts it in the key")
is_(asked(("/long/fwd", {"X-Forwarded-Host": "evil.example"}), "/long/fwd")[0], 2, "what is said of the host, too")


def twice(path, one, two):
    with socket.create_connection(("127.0.0.1", p), 10, ("127.0.0.2", 0)) as s:
        s.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{p}\r\n{one}\r\n{two}\r\nConnection: close\r\n\r\n".encode())
        data = b""
        while part := s.recv(65536):
            data += part
    return data


twice("/long/twice", "X-Api-Key:", "X-Api-Key: mine")
is_(told[-1][2].get("x-api-key"), None, "of a header that is sent twice the backend is told the one that was judged")
twice("/long/twice", "X-Api-Key: mine", "X-Api-Key: other")
is_(told[-1][2].get("x-api-key"), "mine", "... or the first")
get("/plain/told", {"Authorization": "Basic eDp5", "Cookie": "a=b; c=d", "X-Session": "s"})
is_({k: told[-1][2].get(k) for k in ("authorization", "cookie", "x-session", "x-api-key")},
    {"authorization": "Basic eDp5", "cookie": "a=b; c=d", "x-session": "s", "x-api-key": None}, "the backend is told what was sent")

# ---- stale ----
first = get("/short/few", source="127.0.0.7").body
get("/short/many", source="127.0.0.7")
is_(get("/short/few", source="127.0.0.7").status, 200, "two pass")
time.sleep(2.1)
n = len(told)
over = [get("/short/few", source="127.0.0.7") for _ in range(3)]
is_(([a.status for a in over], {a.body.split()[0] for a in over}, len(told) - n), ([200] * 3, {b"/short/few"}, 0),
    "over the limit: the stored answer, though it is stale, and the backend is not asked")
is_(over[0]["X-RateLimit-Remaining"] is not None, True, "with what the limit says")
get("/short/few?new", source="127.0.0.7")
is_((get("/short/few?new", source="127.0.0.7").status, len(told) - n), (429, 0), "what is not stored is refused")
is_(get("/short/few", {"X-Api-Key": "one"}, source="127.0.0.7").status, 429, "nor is who has a key answered with everybody's")
down.set()
a = get("/short/many")
is_((a.status, a.body.split()[0]), (200, b"/short/many"), "while the backend fails: the stale one")
is_(get("/plain/a").status, 503, "there is none: what it says")
down.clear()

# ---- at once ----
before = len(told)
answers = at_once(6, lambda i: get("/slow/a"))
is_(([getattr(a, "status", a) for a in answers], len(told) - before), ([200] * 6, 6), "what is not stored is asked for side by side")
within(max(a.ended for a in answers) - min(a.began for a in answers), 0.3, 1.7, "... and not one after the other")

# ---- places ----
files = [os.path.join(d, f) for d, _, names in os.walk(f"{state}/cache") for f in names]
ok(len(files) > 5, "it lies in the state folder")
text = b"".join(open(f, "rb").read() for f in files)
is_([word for word in (b"key=one", b"KEY=one", b"Basic", b"sid=1") if word in text], [], "and no secret in it")
write(policy, POLICY % (backend.port, ""))
ok(wait_until(lambda: "nginx reloads" in open(err).read()), "without the word")
ok(wait_until(lambda: len({get("/long/a").body for _ in range(3)}) == 3), "... nothing is answered from there")
like(open(err).read(), "'instead: cached' has nothing to answer with", "and the policy's other word is warned of")
is_([l for l in open(err) if "[emerg]" in l or "[alert]" in l or "[crit]" in l], [], "no complaint of nginx")
is_(stop(gateway), 0, "it stops")
is_(os.path.exists(f"{state}/cache"), False, "and leaves nothing")
done()
