#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# The shop of examples/shop.yaml: customers buy, scrapers become slow, coupons and cards cannot be guessed, the sale queues.
import sys; sys.path.insert(0, "tests/examples")
from starterlib import *


def answer(method, path, headers, body):
    status = 402 if path == "/checkout" and b"stolen" in body else 401 if path == "/login" else 200
    return status, {}, b"x" * (60000 if path == "/products/big" else 3)


backend = Backend(answer)
site = Starter("examples/shop.yaml", [("192.0.2.0/24", "127.0.9.0/24")], backend=backend.port)


def post(path, body=b"", sid=None, source="127.0.1.1"):
    return site.post(path, body=body, source=source, headers={**FORM, **({"Cookie": f"sid={sid}"} if sid else {})})


# ---- a customer ----
is_(load_page(site.port, [f"/img/{i}.jpg" for i in range(60)], source="127.0.1.1"), 61 * [200], "a category page with sixty pictures")
is_([site.get(f"/products/{i}", source="127.0.1.1").status for i in range(10)], 10 * [200], "ten products")
is_([post("/cart/add", sid="ann").status for _ in range(10)], 10 * [200], "all of them into the cart")
is_([post("/coupon", b"code=SUMMER", "ann").status for _ in range(8)], 8 * [200], "a coupon that one clicks on eight times")
is_([post("/checkout", b"stolen", "ann").status, post("/checkout", b"good", "ann").status], [402, 200], "a card that fails, one that is good")

# ---- scrapers ----
is_(statuses(many(site.port, 100, "/products/1", source="127.0.2.1")), {200: 100}, "a hundred products at once")
time.sleep(0.6)
is_(statuses(many(site.port, 20, "/products/1", source="127.0.2.1")), {200: 20}, "and twenty more")
a = [site.get("/products/big", source="127.0.2.1") for _ in range(2)]
is_([(x.status, len(x.body)) for x in a], 2 * [(200, 60000)], "the next ones pass, too")
within(a[1].seconds, 0.8, 20, "... at 50 KB/s")
within(len(logged(site, "SLOWED", "/products/big")), 1, 2, "and the log says so")

# ---- guessers ----
bot = [post("/coupon", b"code=TRY%d" % i, source="127.0.3.1") for i in range(16)]
is_([x.status for x in bot], 5 * [200] + 11 * [429], "five different codes")
within(int(post("/coupon", b"code=TRY1", source="127.0.3.1")["retry-after"]), 3500, 3600, "ten refusals: an hour's ban, also for what was tried before")
is_([post("/checkout", b"stolen", "thief", "127.0.3.2").status for _ in range(8)], 5 * [402] + 3 * [429], "five stolen cards a session")
fresh = iter(range(1000))
Bucket(10 / HOUR, 10, passed=402).check(12, lambda: post("/checkout", b"stolen", f"new{next(fresh)}", "127.0.3.3"), "and ten sessions an address")
Bucket(20 / MINUTE, 20).check(24, lambda: post("/cart/add", sid=f"bot{next(fresh)}", source="127.0.3.4"), "twenty new carts a minute")
Bucket(5 / MINUTE, 5, passed=401).check(7, lambda: post("/login", source="127.0.3.5"), "five passwords")
is_({post("/hooks/paid", source="127.0.9.1").status for _ in range(120)}, {200}, "payments are never refused")

# ---- the sale ----
time.sleep(1.5)
began = time.monotonic()
got = at_once(31, lambda i: post("/checkout", b"good", f"c{i}", f"127.0.5.{i + 1}"))
is_(sorted(a.status for a in got), 31 * [200], "the sale: thirty-one checkouts at once all go through")
within(time.monotonic() - began, 0.48, 20, "... the last ten of them one every 50 ms")
site.check_no_alerts()
site.stop()
done()
