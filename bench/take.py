#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""take: limit_req and limit_conn of stock nginx against the same nginx and configuration with the module: CPU per request, memory per key.

Requests come 16 at a time on a connection and are answered from memory, so that what the limit costs is not lost in what the network
does. CPU is user + system time of all workers over the requests they answered; the load generator does not count. The two take turns,
each round gives a ratio, and the median of the ratios is told, and the ratio of the best rounds: below 1 the module is ahead. The line
without a limit is the same nginx twice: how far it is from 1 is how much the machine is to be believed.
"""
import json, os, re, statistics, sys
sys.path[:0] = ["tests/lib", "tests/doors"]
os.environ["WEIR_BUILD"] = sys.argv[1] if len(sys.argv) > 1 else "build/release"
from suitelib import *

SECONDS = float(os.environ.get("BENCH_SECONDS", "2"))
ROUNDS = int(os.environ.get("BENCH_ROUNDS", "5"))
KEYS = 1_000_000
WRK = """
local at, step, new = %d, 2, %s
function setup(thread) thread:set("first", threads or 0) threads = (threads or 0) + 1 end
function init()
    at = at + first
    local all = {}
    for i = 1, 16 do all[i] = wrk.format("GET", "/?k=1") end
    same = table.concat(all)
end
function request()
    if not new then return same end
    local all = {}
    for i = 1, 16 do
        at = at + step
        all[i] = "GET /?k=" .. at .. " HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n"
    end
    return table.concat(all)
end
"""
ALL = "server {{ listen 127.0.0.1:PORT; {} location / {{ empty_gif; }} }}\nkeepalive_requests 100000000; server_tokens off;\n"
ONE = "limit_req_zone $server_port zone=z:1m rate={};\n"
QUIET = "limit_req_log_level info; limit_conn_log_level info;"


def many(zone, rate, line):
    """16 of them: what one costs is easier to see."""
    return "".join(f"{zone} $server_port zone=z{i}:1m {rate};\n" for i in range(16)) + ALL.format("".join(line.format(i) for i in range(16)))


CASES = {  # name: (workers, http, what the module has besides)
    "one key, allowed, 2 workers": (2, ONE.format("1000r/s") + ALL.format("limit_req zone=z burst=4000000 nodelay;"), ""),
    "one key, allowed, 4 workers": (4, ONE.format("1000r/s") + ALL.format("limit_req zone=z burst=4000000 nodelay;"), ""),
    "one key, refused, 2 workers": (2, ONE.format("1r/m") + ALL.format("limit_req zone=z;" + QUIET), ""),
    "one key, refused, 4 workers": (4, ONE.format("1r/m") + ALL.format("limit_req zone=z;" + QUIET), ""),
    "one key, limit_conn, 2 workers": (2, "limit_conn_zone $server_port zone=c:1m;\n" + ALL.format("limit_conn c 60000;"), ""),
    "one key, limit_conn, 4 workers": (4, "limit_conn_zone $server_port zone=c:1m;\n" + ALL.format("limit_conn c 60000;"), ""),
    "16 limit_req on a place, allowed": (2, many("limit_req_zone", "rate=1000r/s", "limit_req zone=z{} burst=4000000 nodelay;"), ""),
    "16 limit_conn on a place": (2, many("limit_conn_zone", "", "limit_conn z{} 60000;"), ""),
    "new keys beside 1,000,000": (2, "limit_req_zone $arg_k zone=z:200m rate=1r/s;\n" + ALL.format("limit_req zone=z burst=5 nodelay;"), ""),
    "refused and logged": (2, ONE.format("1r/m") + ALL.format("limit_req zone=z;"), ""),
    "refused, logs sampled": (2, ONE.format("1r/m") + ALL.format("limit_req zone=z;"), "weir_limit_log_sample on;"),
    "no limit": (2, ALL.format(""), ""),
}


def cpu(site):
    total = 0
    for pid in site.workers():
        fields = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()
        total += int(fields[11]) + int(fields[12])
    return total / os.sysconf("SC_CLK_TCK")


def load(site, seconds, script):
    argv = ["wrk", "-t2", "-c32", f"-d{seconds:g}s", "-s", script, f"http://127.0.0.1:{site.port}/?k=1"]
    return int(re.search(r"(\d+) requests in", run(*argv, timeout=300).stdout)[1])


class Case:
    """The two sites of a case; `at`: the first key that neither has seen."""

    def __init__(self, workers, http, more):
        self.sites = {who: Plain(who, (more if who == OURS else "") + http, workers=workers, log_level="error") for who in (STOCK, OURS)}
        self.at = {who: 0 for who in self.sites}

    def script(self, who, new):
        return write(os.path.join(self.sites[who].dir, "wrk.lua"), WRK % (self.at[who], str(new).lower()))

    def measure(self, who, new):
        site = self.sites[who]
        before = cpu(site)
        n = load(site, SECONDS, self.script(who, new))
        self.at[who] += 2 * n + 100000
        value = 1e6 * (cpu(site) - before) / n
        os.truncate(os.path.join(site.dir, "error.log"), 0)
        return value

    def fill(self):
        for who in self.sites:
            filled = 0
            while filled < KEYS:
                filled += (n := load(self.sites[who], 2, self.script(who, True)))
                self.at[who] += 2 * n + 100000

    def stop(self):
        for site in self.sites.values():
            site.stop()


def remembered(who, size):
    """Of more keys than a zone of `size` has room for, how many are still refused; and the table's bytes."""
    site = Plain(who, f"limit_req_zone $arg_k zone=z:{size}m rate=1r/m;\n" + ALL.format("limit_req zone=z;" + QUIET), log_level="error")
    keys = [f"client-{i}" for i in range(size * 30000)]
    refused = 0
    for order, count in (keys, False), (keys[::-1], True):
        for i in range(0, len(order), 400):
            w = Wire(site.port).send("".join(f"HEAD /?k={k} HTTP/1.1\r\nHost: a\r\n\r\n" for k in order[i:i + 400]))
            got = [w.read(head=True).status for _ in order[i:i + 400]]
            refused += got.count(503) if count else 0
            w.close()
    size_ = os.stat(site.table).st_size if who == OURS else size << 20
    info = json.loads(weir("table", "info", "--json", "--table", site.table).stdout) if who == OURS else {}
    site.stop()
    return refused, size_, info


if __name__ == "__main__":
    module = open(MODULE, "rb").read()
    only = sys.argv[2] if len(sys.argv) > 2 else ""
    print(f"{f'CPU per request, {ROUNDS} x {SECONDS:g} s':36} {'stock':>11} {'module':>11} {'ratio':>7} {'':12} of the best")
    for name, (workers, http_, more) in CASES.items():
        if only not in name or more.split(" ")[0].encode() not in module:
            continue
        case = Case(workers, http_, more)
        new = "new keys" in name
        if new:
            case.fill()
        pairs = []
        for round_ in range(ROUNDS):
            order = (STOCK, OURS) if round_ % 2 else (OURS, STOCK)
            pair = {who: case.measure(who, new) for who in order}
            pairs.append((pair[STOCK], pair[OURS]))
        ratios = [b / a for a, b in pairs]
        (a, best_a), (b, best_b) = ((statistics.median(of), min(of)) for of in zip(*pairs))
        print(f"{name:36} {a:8.2f} us {b:8.2f} us {statistics.median(ratios):7.2f} ({min(ratios):.2f}..{max(ratios):.2f}) {best_b / best_a:7.2f}", flush=True)
        case.stop()
    if only in "memory":
        for who in (STOCK, OURS):
            count, size_, info = remembered(who, 4)
            print(f"memory: {who}: a zone of 4m remembers {count} keys: {(4 << 20) / count:.0f} bytes of the zone each" +
                  (f"; the table's file has {size_} bytes" if info else ""))
