#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# A weir policy and nginx's own limits in one server: the policy decides first, and what it refuses is charged to no zone.
import sys; sys.path[:0] = ["tests/lib", "tests/doors"]
from takelib import *

# the policy: five by X-User; the zone: three by k
site = Site(policy="limits: {users: {key: header.x-user, missing: skip, rate: 5/min}}\n",
            http="limit_req_zone $arg_k zone=z:1m rate=1r/m; limit_conn_zone $arg_k zone=c:1m; weir_limit_table %s/zones;" % shm_folder(),
            server="limit_req zone=z burst=2 nodelay; limit_req_status 430; limit_conn c 9; weir_headers x-ratelimit;")


def ask(k, user, n=1):
    return [site.get(f"/?k={k}", headers={"X-User": user}) for _ in range(n)]


is_([a.status for a in ask("a", "u", 4)], 3 * [200] + [430], "both let three pass, then the zone refuses")
is_([a.status for a in ask("b", "u", 3)], [200, 429, 429], "the policy had counted four, and refuses the sixth")
is_([a.status for a in ask("b", "v", 3)], [200, 200, 430], "what it refused was not charged to the zone")
got = ask("c", "w")[0]
is_((got.status, got["x-ratelimit-limit"], got["x-ratelimit-remaining"]), (200, "5", "4"), "the headers of an answer that passed are the policy's")
got = ask("a", "x")[0]
is_((got.status, got["x-ratelimit-limit"], got["x-ratelimit-remaining"]), (430, "3", "0"), "of a refusal by the zone, the zone's")
once_ = [k.lower() for k, _ in got.list].count("x-ratelimit-limit")
is_(once_, 1, "once")
is_([l.split()[:2] for l in site.access().splitlines()][:4], 3 * [["200", "PASSED"]] + [["430", "PASSED"]], "$weir_status says what the policy did")
site.check_no_alerts()
site.stop()

# delays: first the policy's, then the zone's
site = Site(policy="limits: {queue: {algorithm: leaky-bucket, rate: 2/s, queue: 5}}\n",
            http="limit_req_zone $arg_k zone=z:1m rate=1r/s; weir_limit_table %s/zones;" % shm_folder(),
            server="limit_req zone=z burst=5;")
is_(site.get("/?k=a").status, 200, "the first passes at once")
got = site.get("/?k=a")
is_(got.status, 200, "the second waits in both")
within(got.seconds, 0.9, 4, "for the policy's turn, and what the zone asks for then")
site.check_no_alerts()
done()
