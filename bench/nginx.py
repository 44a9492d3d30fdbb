#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""nginx: CPU per request with the gate against without, and against stock limit_req: allowed and refused, one key and a million.

One worker each; its own CPU time (user + system) over the requests it answered, so the load generator does not count. All
configurations take turns in one run, three rounds, the best of each counts: the ratios mean something, the microseconds do not.
"""
import os, re, sys
sys.path.insert(0, "tests/lib")
os.environ["WEIR_BUILD"] = sys.argv[1] if len(sys.argv) > 1 else "build/release"
from weirtest import *

SECONDS = float(os.environ.get("BENCH_SECONDS", "2"))
ROUNDS = 3
KEYS = 1_000_000
LUA = """
local n = %d
function init() math.randomseed(os.time()) end
function request() return wrk.format("GET", "/?k=" .. math.random(1, n)) end
"""
EVERY = """
local at, n = %d, %d
function request() at = at + 1 return wrk.format("GET", "/?k=" .. (at - 1) %% n + 1) end
"""
open_policy = "limits: {l: {key: query.k | site, rate: 1000000/s, burst: 1000000}}\nrespond: {cors: none}\n"
shut_policy = "limits: {l: {key: query.k | site, algorithm: token-bucket, rate: 1/year, burst: 1}}\nrespond: {cors: none}\n"
PAGE = "location / { root $ROOT; }"
quiet = "access_log off;"


def zone(rate, burst):
    return f"limit_req_zone $arg_k$server_port zone=z:200m rate={rate}; limit_req zone=z {burst}; limit_req_status 429; "


CONFIGS = {  # name: (policy, weir directive, http text)
    "plain": (open_policy, "weir off;", quiet),
    "gate, allowed": (open_policy, "weir on;", quiet),
    "limit_req, allowed": (open_policy, "weir off;", quiet + zone("1000000r/s", "burst=1000000 nodelay")),
    "gate, refused": (shut_policy, "weir on;", quiet),
    "limit_req, refused": (open_policy, "weir off;", quiet + zone("1r/m", "")),
    "limit_req, refused, not logged": (open_policy, "weir off;", quiet + zone("1r/m", "") + "limit_req_log_level info;"),
}


def cpu(pid):
    fields = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measure(site, script):
    worker = site.workers()[0]
    before = cpu(worker)
    argv = ["wrk", "-t1", "-c32", f"-d{SECONDS:g}s"] + (["-s", script] if script else []) + [f"http://127.0.0.1:{site.port}/"]
    out = run(*argv, timeout=120).stdout
    requests = int(re.search(r"(\d+) requests in", out).group(1))
    return 1e6 * (cpu(worker) - before) / requests


def fill(site):
    """Touches every key once, so that all that follows is refused."""
    done_ = 0
    while done_ < KEYS:
        write(every, EVERY % (done_, KEYS))
        out = run("wrk", "-t1", "-c32", "-d5s", "-s", every, f"http://127.0.0.1:{site.port}/", timeout=120).stdout
        done_ += int(re.search(r"(\d+) requests in", out).group(1))


where = folder()
every = os.path.join(where, "every.lua")
many = write(os.path.join(where, "many.lua"), LUA % KEYS)
best = {}
sites = {}
for name, (policy, gate, http) in CONFIGS.items():
    site = Site(policy=policy, weir=gate, http=http + "keepalive_requests 100000000;", table_size="64m", log_level="warn")
    sites[name] = site
for keys, script in ("one key", None), ("1,000,000 keys", many):
    for round_ in range(ROUNDS):
        for name, site in sites.items():
            if script and "refused" in name and round_ == 0:
                fill(site)
            value = measure(site, script)
            best[keys, name] = min(value, best.get((keys, name), value))
print(f"{'nginx worker CPU per request':36} {'one key':>22} {'1,000,000 keys':>22}")
for name in CONFIGS:
    row = f"{name:36}"
    for keys in "one key", "1,000,000 keys":
        row += f" {best[keys, name]:9.2f} us {best[keys, name] / best[keys, 'plain']:6.2f} x"
    print(row)
for what in "allowed", "refused":
    for keys in "one key", "1,000,000 keys":
        print(f"gate / limit_req, {what}, {keys}: {best[keys, f'gate, {what}'] / best[keys, f'limit_req, {what}']:.2f}")
for site in sites.values():
    site.stop()
