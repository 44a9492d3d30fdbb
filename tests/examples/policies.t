#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Those of tests/policies that need a real nginx: websockets of a user, pictures that wait for a place, a number that is tried and then
# promoted; and one of each kind of the others, so that what holds in virtual time holds here.
import glob, sys; sys.path.insert(0, "tests/examples")
from starterlib import *

files = sorted(os.path.basename(f)[:-5] for f in glob.glob("tests/policies/*.yaml"))
is_(len(files), 15, "fifteen policies")
stories = "".join(open(f).read() for f in glob.glob("tests/flow/policies_*.c") + ["tests/examples/policies.t"])
is_([f for f in files if f"tests/policies/{f}.yaml" not in stories], [], "each has its story")

# ---- websockets of a user ----
locations, UPGRADE = websockets()
site = Starter("tests/policies/websockets.yaml", keys={"web": ["--owner", "ann"], "mobile": ["--owner", "ann"], "bob": ["--owner", "bob"]},
               locations=locations)


wires = []


def socket_of(key):
    w = Wire(site.port)
    wires.append(w)
    return w, w.get(f"/live/chat?token={site.keys[key]}", UPGRADE).status


opened = [socket_of(k) for k in ("web", "web", "mobile")]
is_([s for _, s in opened], 3 * [101], "three websockets of one user, with two keys")
w, status = socket_of("mobile")
is_(status, 429, "not a fourth")
w.close()
is_(socket_of("bob")[1], 101, "another user's")
w = Wire(site.port)
is_(w.get("/live/chat", UPGRADE).status, 401, "nobody's are refused")
w.close()
opened[0][0].close()


def again():
    w, status = socket_of("web")
    if status != 101:
        w.close()
    return status == 101


ok(wait_until(again), "one closes: another may open")
[x.close() for x in wires]
site.stop()

# ---- concurrency per API key, with waiting ----
hold = threading.Event()
backend = Backend(lambda method, path, headers, body: (hold.wait(30) if b"slow" in body else None) and (200, {}, b"drawn") or (200, {}, b"ok"))
site = Starter("tests/policies/render.yaml", backend=backend.port, workers=2, keys={"studio": [], "other": []})


def draw(key, body=b"quick"):
    return site.post("/render", body=body, headers=site.as_(key))


def begin(body="slow"):
    return Wire(site.port).send(f"POST /render HTTP/1.1\r\nHost: a\r\nX-API-Key: {site.keys['studio']}\r\nContent-Length: {len(body)}\r\n\r\n{body}")


drawing = [begin() for _ in range(2)]
ok(wait_until(lambda: len(backend.seen) == 2), "two pictures are being drawn")
is_(draw("other").status, 200, "another key has places of its own")
got = at_once(4, lambda i: draw("studio"))
is_([x.status for x in got], 4 * [429], "of four no one gets a place")
ok(sum(x.seconds >= 2.99 for x in got) == 2, "... two have waited for three seconds, the others were refused at once")
waiting = begin("quick")
accepted(site.port, waiting)
hold.set()
is_([w.read().status for w in drawing + [waiting]], 3 * [200], "a place is free in time: who waits is served")
[w.close() for w in drawing + [waiting]]
site.stop()

# ---- a staged change of a number ----
site = Starter("tests/policies/staged.yaml", backend=backend.port)
T, P = ("--table", site.table), ("--policy", site.policy)
is_(statuses(many(site.port, 90, "/search")), {200: 90}, "ninety searches under the number in force")
report = {l["limit"]: l for l in json.loads(weir("shadow", "report", "--json", *T).stdout)["limits"]}
is_((report["search/candidate"]["requests"], report["search/candidate"]["would_refuse"]), (90, 30), "the smaller one would have refused thirty")
is_([(w["key"], w["would_refuse"]) for w in report["search/candidate"]["who"]], [("127.0.0.1", 30)], "... and whom")
passed = [statuses(many(site.port, 35, "/api/x", f"127.0.7.{i + 1}", method="POST")) for i in range(40)]
enforced = [i for i, s in enumerate(passed) if s != {200: 35}]
is_([passed[i] for i in enforced], len(enforced) * [{200: 30, 429: 5}], "a quarter of the keys have thirty writes, the others as many as they like")
within(len(enforced), 1, 25, "... about a quarter")
is_(weir("promote", "search", *P).returncode, 0, "weir promote search")
like(open(site.policy).read(), "search: {match: GET /search, rate: 60/hour} # tried since May\n", "... is an edit of the file")
is_(weir("publish", site.policy, *T).returncode, 0, "... which is put in force")
a = site.get("/search", source="127.0.8.1")
is_((a.status, a["x-ratelimit-limit"]), (200, "60"), "now it holds")
is_([site.get("/search").status for _ in range(8)][6:], [429, 429], "who had used nine tenths of the old one has a tenth of the new one")
site.stop()

# ---- the same through nginx ----
seen = Backend(lambda m, path, headers, body: (401, {}, b"") if path == "/login" else (200, {"X-Query-Cost": "240", **JSON}, b"{}"))
site = Starter("tests/policies/login.yaml", backend=seen.port)
login = lambda user, source: site.post("/login", body=f"username={user}".encode(), headers=FORM, source=source).status
is_([login(f"u{i}", "127.0.1.1") for i in range(7)], 5 * [401] + 2 * [429], "login: by address")
is_([login("ann", f"127.0.2.{i + 1}") for i in range(12)], 10 * [401] + 2 * [429], "login: by account")
site.stop()
site = Starter("tests/policies/graphql.yaml", backend=seen.port, keys={"app": []})
is_([site.post("/graphql", body=b'{"query":"{a}"}', headers={**JSON, **site.as_("app")}).status for _ in range(6)], 5 * [200] + [429],
    "graphql: what the answer's header says")
site.stop()
site = Starter("tests/policies/tenant.yaml", keys={"a": ["--tenant", "acme"], "b": ["--tenant", "acme"], "c": ["--tenant", "acme"]})
got = [statuses(many(site.port, 110, "/api/x", headers=f"X-API-Key: {site.keys[k]}\r\n")) for k in "abc"]
is_([s[429] > 0 for s in got], 3 * [True], "tenant: each key has met a limit")
within(sum(s[200] for s in got), 250, 255, "... and all of them together the tenant's")
site.check_no_alerts()
site.stop()
done()
