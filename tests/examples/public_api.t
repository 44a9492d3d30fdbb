#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# The API of examples/public-api.yaml: guests, customers of three plans, their own limits, and the bill.
import csv, io, sys; sys.path.insert(0, "tests/examples")
from starterlib import *

backend = Backend(lambda *a: (200, JSON, b"{}\n"))
site = Starter("examples/public-api.yaml", backend=backend.port, workers=2, keys={
    "hobby": [], "product": ["--plan", "pro", "--owner", "Product Ltd"], "large": ["--plan", "enterprise"], "second": []})
P = site.port


def call(key=None, n=1, path="/v1/x", source="127.0.1.1", method="GET"):
    return many(P, n, path, source, f"X-API-Key: {site.keys[key]}\r\n" if key else "", method)


# ---- guests ----
got = call(n=70, source="127.0.2.1")
is_(statuses(got), {200: 60, 429: 10}, "a guest: sixty an hour")
a = got[-1]
is_((a["x-ratelimit-limit"], a["content-type"], int(a["retry-after"]) > 60), ("60", "application/problem+json", True), "... and is told so, by a problem document")
is_(json.loads(a.body)["status"], 429, "... for programs")
is_(call(path="/v1/export", method="POST", source="127.0.2.2")[0].status, 401, "exports are not for guests: they need a key")
a = site.get("/v1/x", headers={"X-API-Key": site.keys["hobby"][:-1] + ("y" if site.keys["hobby"][-1] == "x" else "x")}, source="127.0.2.3")
is_((a.status, json.loads(a.body).get("status")), (401, 401), "a mistyped key hears of it")

# ---- customers ----
for key, hour, month in ("hobby", 1000, 10000), ("product", 10000, 1000000), ("large", 100000, None):
    call(key, 3)
    limits = own(P, "/v1/limits", headers=site.as_(key), source="127.0.1.2")
    is_((limits["hourly"], limits.get("monthly")), ((hour, 3), month and (month, 3)), f"{key}: its numbers, and what it has used")
is_(own(P, "/v1/limits", headers=site.as_("hobby"), source="127.0.1.2")["hourly"], (1000, 3), "asking costs nothing")
is_([site.get("/v1/x", headers={"Authorization": f"Bearer {site.keys['hobby']}"}, source=f"127.0.3.{i}").status for i in range(1, 6)], 5 * [200], "from anywhere, as a bearer")
is_(own(P, "/v1/limits", headers=site.as_("hobby"), source="127.0.1.2")["hourly"], (1000, 8), "... it is the same customer")
got = sum((call("hobby", 190, source=f"127.0.4.{i}") for i in range(1, 7)), [])
is_(statuses(got), {200: 992, 429: 148}, "a thousand in an hour, wherever from")
is_({a.status for a in call("product", 150, source="127.0.4.8")}, {200}, "while others go on")
Bucket(100 / 5 / MINUTE, 20).check(24, lambda: call("product", path="/v1/search", source="127.0.4.9")[0], "twenty searches, then one every three seconds")
is_(statuses(call("second", 12, "/v1/export", "127.0.5.1", "POST")), {200: 10, 403: 2}, "ten exports a day")
is_(statuses(call("product", 105, "/v1/export", "127.0.5.2", "POST")), {200: 100, 403: 5}, "a hundred of a pro")
flood(call(n=500, path="/about", source="127.0.6.1"), 200, 100, "a flood is stopped at the edge")

# ---- a better plan, and the bill ----
weir("keys", "set", "hobby", "--plan", "pro", "--database", f"{site.dir}/keys.db")
ok(wait_until(lambda: own(P, "/v1/limits", headers=site.as_("hobby"), source="127.0.1.3")["hourly"][0] == 10000, 10), "a better plan holds at once")
is_(call("hobby", source="127.0.1.3")[0].status, 429, "... and keeps the share that is used")
r = weir("usage", "--csv", "--by", "key", "--table", site.table, "--policy", site.policy)
bill = {row["key"]: int(row["units"]) for row in csv.DictReader(io.StringIO(r.stdout))}
sent = {"hobby": 3 + 5 + 992, "product": 3 + 150, "second": 10}
searches = sum("/v1/search" in l and l.startswith("200") for l in site.access().splitlines())
sent["product"] += 100 + searches
is_({k: bill.get(k) for k in sent}, sent, "weir usage: to each key what it was answered")
site.check_no_alerts()
site.stop()
done()
