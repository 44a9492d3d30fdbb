#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# The gateway of examples/model-gateway.yaml before a model that streams: questions a day, tokens a minute, answers at the same time.
import csv, io, sys; sys.path.insert(0, "tests/examples")
from starterlib import *

hold, spent = threading.Event(), collections.Counter()


def answer(method, path, headers, body):
    q = json.loads(body or b"{}")
    if q.get("hold"):
        hold.wait(30)
    used = {"usage": {"total_tokens": q.get("used", 100)}}
    if q.get("stream"):
        return 200, {"Content-Type": "text/event-stream"}, f'data: {{"delta":"Hi","usage":null}}\n\ndata: {json.dumps(used)}\n\ndata: [DONE]\n\n'.encode()
    return int(q.get("status", 200)), JSON, json.dumps(used).encode()


backend = Backend(answer)
site = Starter("examples/model-gateway.yaml", backend=backend.port, workers=2, keys={
    "curious": [], "team": ["--plan", "paid"], "crew": ["--plan", "paid"], "product": ["--plan", "scale"]})
P, CHAT = site.port, "/v1/chat/completions"


def ask(key, source="127.0.1.1", **q):
    a = site.post(CHAT, body=json.dumps(q).encode(), headers={**JSON, "Authorization": f"Bearer {site.keys[key]}"}, source=source)
    if a.status == 200:
        spent[key] += q.get("used", 100)
    return a


def left(key):
    return own(P, "/v1/limits", headers=site.as_(key), source="127.0.1.9")


# ---- who ----
is_(site.post(CHAT, body=b"{}", headers=JSON, source="127.0.1.2").status, 401, "there are no guests")
is_(site.post(CHAT, body=b"{}", headers={**JSON, "Authorization": "Bearer sk-invented"}, source="127.0.1.2").status, 401, "an invented key")

# ---- questions a day ----
is_([ask("curious", max_tokens=50, stream=i % 2).status for i in range(12)], 10 * [200] + 2 * [429], "free: ten questions a day")
is_(left("curious")["daily"], (10, 10), "... as it can read itself")
is_([ask("team", "127.0.2.1", max_tokens=50).status for _ in range(20)], 20 * [200], "who pays asks on")
is_(left("team")["daily"], (1000, 20), "a thousand a day")

# ---- tokens a minute ----
a = ask("crew", "127.0.2.2", max_tokens=4000, stream=True, used=85000)
is_((a.status, a.body.endswith(b"[DONE]\n\n")), (200, True), "a long stream, whole")
got = [ask("crew", "127.0.2.2", max_tokens=4000, used=9000, stream=True).status]
is_(got, [200], "one more may begin while some are left")
a = ask("crew", "127.0.2.2", max_tokens=10)
is_(a.status, 429, "it has used more than there was: the next one waits until that is paid off")
within(int(a["retry-after"]), 1, 4, "... 94,000 of 90,000, at 1,500 a second")
n = left("team")["tokens"][1]
is_(ask("team", "127.0.2.1", max_tokens=4000, status=502).status, 502, "an outage")
within(left("team")["tokens"][1], 0, n, "... costs nothing")
is_([ask("product", "127.0.2.3", used=100000).status for _ in range(8)], 8 * [200], "a product: a million a minute")

# ---- answers at the same time ----
def begun(source, **q):
    """A question of the team's, on a connection of its own; its answer is not read yet."""
    body = json.dumps({"max_tokens": 10, **q})
    return Wire(P, source).send(f"POST {CHAT} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {site.keys['team']}\r\n"
                                f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n{body}")


before = len(backend.seen)
wires = [begun("127.0.3.1", hold=True) for _ in range(4)]
ok(wait_until(lambda: len(backend.seen) == before + 4), "four answers are being written")
more = [begun("127.0.3.2") for _ in range(8)]
accepted(P, *more)
is_(ask("team", "127.0.3.3", max_tokens=10).status, 429, "eight more wait, a thirteenth is refused")
is_(len(backend.seen), before + 4, "... and none of them is at the model")
hold.set()
is_([w.read().status for w in wires + more], 12 * [200], "then all are answered")
[w.close() for w in wires + more]
spent["team"] += 12 * 100

# ---- the bill ----
def bill():
    r = weir("usage", "--csv", "--by", "key", "--table", site.table, "--policy", site.policy)
    return {row["key"]: int(row["units"]) for row in csv.DictReader(io.StringIO(r.stdout))}


wait_until(lambda: bill() == dict(spent), 5)
is_(bill(), dict(spent), "weir usage: what each has used, to the token")
site.check_no_alerts()
site.stop()
done()
