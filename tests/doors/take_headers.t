#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# What limit_req and limit_conn can do here if they are asked to: rate headers, other statuses, sampled lines, rates and bursts by variable.
import json, sys; sys.path[:0] = ["tests/lib", "tests/doors"]
from takelib import *

ZONE = "limit_req_zone $arg_k zone=z:1m rate=1r/m;"


def end(site):
    site.check_no_alerts()
    site.stop()


# ---- headers -----------------------------------------------------------------------------------------------------------
site = Native(ZONE, "limit_req zone=z burst=4 nodelay;")
without_rate(site.get("/?k=a"), "without weir_headers an answer that passed is as nginx's")
got = [site.get("/?k=a") for _ in range(5)][-1]
is_((got.status, got["retry-after"]), (503, None), "and so is a refusal")
end(site)

site = Native(ZONE, "limit_req zone=z burst=4 nodelay; weir_headers x-ratelimit ratelimit retry-after; location /off { weir_headers off; root /nowhere; }"
                    " location /wait { weir_headers retry-after; root /nowhere; }")
for left in 4, 3, 2, 1, 0:
    got = site.get("/?k=a")
    once(got, "each rate header once")
    is_((got.status, got["x-ratelimit-limit"], got["x-ratelimit-remaining"], got["retry-after"]), (200, "5", str(left), None), f"{left} are left of 5")
got = site.get("/?k=a")
once(got, "a refusal has each once")
is_((got.status, got["x-ratelimit-limit"], got["x-ratelimit-remaining"]), (503, "5", "0"), "a refusal says that none is left")
within(int(got["retry-after"]), 60, 63, "1r/m is nginx's 0.016 a second: again in 62.5 s")
is_(got["ratelimit-policy"], '"z";q=5;w=313', "the policy: five in the time in which they are whole again")
like(got["ratelimit"], '"z";r=0;t=', "draft 11 too")
without_rate(site.get("/off?k=b"), "weir_headers off: none in this location")
got = [site.get("/wait?k=c") for _ in range(6)][-1]
is_((got.status, got["x-ratelimit-limit"], got["retry-after"] is None), (503, None, False), "weir_headers retry-after: nothing else")
is_(site.get("/").headers.get("x-ratelimit-limit"), None, "an empty key: nothing to tell")
end(site)

site = Native(ZONE + "limit_conn_zone $arg_k zone=c:1m;", "limit_req zone=z burst=4 nodelay; limit_conn c 7; weir_headers x-ratelimit retry-after;"
              "error_page 503 /slow; location = /slow { return 503 'slow\n'; }")
got = site.get("/?k=a")
is_((got["x-ratelimit-limit"], got["x-ratelimit-remaining"]), ("5", "4"), "of several limits the one with the smallest share left is told")
got = [site.get("/?k=a") for _ in range(5)][-1]
is_((got.status, got.text, got["x-ratelimit-remaining"]), (503, "slow\n", "0"), "an error_page for the refusal has them too")
end(site)

# a dry run refuses nobody, and its headers say so
site = Native("limit_conn_zone $arg_k zone=c:1m; limit_conn_zone $server_port zone=d:1m;",
              "limit_conn d 2; limit_conn c 1; limit_conn_dry_run on; limit_rate 10; weir_headers x-ratelimit retry-after;")
wire = Wire(site.port).send("GET /f1.txt?k=a HTTP/1.1\r\nHost: a\r\n\r\n")
ok(wait_until(lambda: weir("show", "--table", site.table, "--json").stdout.count('"allowed": 1') == 2), "one in flight")
got = curl(f"http://127.0.0.1:{site.port}/?k=a", "-o", "/dev/null")
is_((got.status, got["retry-after"]), (200, None), "a dry run: another passes, and is not told to come back")
wire.close()
state = json.loads(weir("show", "--table", site.table, "--json").stdout)
is_({l["name"]: (l["allowed"], l["refused"], l["shadow"]) for l in state["limits"]}, {"d": (1, 0, 0), "c": (1, 0, 1)}, "weir show: what was refused in the second look was nowhere allowed")
like(weir("show", "--table", site.table).stdout, "2 requests decided", "and how many were decided")
end(site)

# ---- statuses ----------------------------------------------------------------------------------------------------------
site = Native(ZONE + " weir_limit_status 429;", "", locations="""
    location /none { limit_req zone=z; root /nowhere; }
    location /own { limit_req zone=z; limit_req_status 501; root /nowhere; }
    location /line { limit_req zone=z status=420; limit_req_status 501; root /nowhere; }
    location /inner { weir_limit_status 430; limit_req zone=z; root /nowhere; }
""")
for path, status in ("/none", 429), ("/own", 501), ("/line", 420), ("/inner", 430):
    is_(site.statuses(2, f"{path}?k={path}"), [404, status], f"{path}: {status}")
end(site)

# ---- sampled lines -----------------------------------------------------------------------------------------------------
site = Native(ZONE, "limit_req zone=z; weir_limit_log_sample on;")
wire = Wire(site.port)
began = time.time()
got = [wire.get("/?k=a").status for _ in range(300)]
wire.close()
is_(got, [200] + 299 * [503], "300 requests of a client at its limit")
ok(wait_until(lambda: len(site.lines("limiting requests, excess")) + sum(int(m) for m in re.findall(r"weir: (\d+) more lines \"limiting requests\" by zone \"z\"", site.errors())) == 299, 10),
   "each is in the log: the first of a second in full, the others as a number")
within(len(site.lines("limiting requests, excess")), 1, 2 + time.time() - began, "the lines are few")
end(site)

# ---- rates and bursts of their own -------------------------------------------------------------------------------------
site = Native("""
    map $arg_plan $rate { free 1r/m; pro 60r/m; hour 100r/h; odd 3r/7s; none ""; wrong fast; }
    map $arg_plan $burst { free 1; pro 4; hour 9; default ""; }
    limit_req_zone $arg_k zone=plans:1m rate=$rate;
    limit_req_zone $arg_h zone=hours:1m rate=10r/5s;
""", "", locations="""
    location /plan { limit_req zone=plans burst=$burst nodelay; weir_headers ratelimit; root /nowhere; }
    location /hours { limit_req zone=hours burst=2 nodelay; root /nowhere; }
""")
is_(site.statuses(4, "/plan?k=a&plan=free"), [404, 404, 503, 503], "a plan of 1r/m and a burst of 1")
is_(site.get("/plan?k=f&plan=pro")["ratelimit-policy"], '"plans";q=5;w=5', "a plan of 60r/m and a burst of 4, as it is told")
is_(site.statuses(12, "/plan?k=b&plan=hour"), 10 * [404] + 2 * [503], "a plan of 100r/h and a burst of 9")
is_(site.statuses(2, "/plan?k=c&plan=odd"), [404, 503], "a plan of 3r/7s and no burst")
is_(site.statuses(9, "/plan?k=d&plan=none"), 9 * [404], "a plan without a rate is not limited")
is_(site.statuses(3, "/plan?k=e&plan=wrong"), 3 * [404], "nor is one whose rate cannot be read")
ok(site.lines(r'zone "plans": "fast" is no rate'), "which the log says")
is_(site.statuses(5, "/hours?h=a"), 3 * [404] + 2 * [503], "10r/5s")
end(site)
done()
