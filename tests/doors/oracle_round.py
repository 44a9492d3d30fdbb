#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""oracle_round: SEED TRACES [stock | WRONG | reload]: one configuration and its traces, played to stock nginx and to one with the module
(or to stock again, or to stock with a wrong configuration; reload: in the middle of each trace other bursts come into force); prints what
was counted and where they differ, as JSON."""
import collections, json, sys; sys.path[:0] = ["tests/lib", "tests/doors"]
from oracle import *
from oracle_conf import Plan

ONE_MORE = lambda m: m[1] + str(int(m[2]) + 1)
WRONG = {  # what an implementation may get wrong
    "burst": (r"(burst=)(\d+)", ONE_MORE),
    "delay": (r"( delay=)(\d+)", ONE_MORE),
    "nodelay": (r"( nodelay)()", ""),
    "rate": (r"(rate=)(\d+)", ONE_MORE),
    "conn": (r"(limit_conn c\d+ )(\d+)", ONE_MORE),
    "one-line": (r"(limit_req zone=\S+[^;]*; )(limit_req zone=[^;]*; )", r"\1"),
    "inherit": (r"(= /L\d+ \{ )()", r"\1limit_req zone=unused; limit_conn unused_conn 1; "),
}


def count(counts, played):
    answers, access, errors = played
    for line in access:
        _, status, req, conn, *_ = line.split("|")
        counts["requests"] += 1
        for word in (req, "conn " + conn):
            counts[word] += word[-1] != "-"
        counts["answered 2xx" if status[0] == "2" else "answered otherwise"] += 1
    counts["log lines"] += sum("limiting" in l or "delaying" in l for l in errors)
    counts["hung"] += sum(at < 0 for _, at, _ in answers)


def first_difference(a, b):
    for what, x, y in zip(("answers", "access log", "error log"), a, b):
        for n in range(max(len(x), len(y))):
            left, right = x[n:n + 1], y[n:n + 1]
            if left != right:
                return f"{what}, line {n}:\n  stock  {left}\n  other  {right}"


def story(seed, number, plan, trace, difference):
    """Enough to do it again by hand."""
    paths = sorted({m for _, a in trace if isinstance(a, bytes) for m in re.findall(r" (/L\d+)", a.decode())})
    lines = [l for l in plan.text.splitlines() if any(f"location = {p} " in l or f"location {p} " in l for p in paths)]
    lines += [l for l in plan.text.splitlines() if l.startswith(("limit_", "server {"))]
    sent = [f"+{gap} " + (f"client of {a} leaves" if isinstance(a, int) else a.decode().replace("\r\n", "|")) for gap, a in trace]
    return "\n".join([f"seed {seed}, trace {number}: {difference}", *lines, *sent[:60]])


def at_once(text):
    """Without anything that takes time: a reload is made while nobody is there."""
    return re.sub(r"(limit_req zone=\w+(?: burst=\d+)?)(?: delay=\d+)?;", r"\1 nodelay;", re.sub(r"limit_rate \d+; ", "", text))


def changed(text, rng):
    """Other bursts for the same zones. Not other rates: nginx counts the time since a key's last request at the new rate, back to before
    the reload; weir counts it at the old one, up to the first request after it."""
    return re.sub(r"(burst=)(\d+)", lambda m: m[1] + str(max(1, int(m[2]) + rng.choice([-3, -1, 0, 1, 4]))), text)


def both_halves(nginx, trace, before, after):
    nginx.reload(before)
    half = len(trace) // 2
    trace = [(gap, action) for gap, action in trace if isinstance(action, bytes)]
    first = nginx.play(trace[:half])
    nginx.reload(after)
    return tuple(a + b for a, b in zip(first, nginx.play(trace[half:], True)))


def main(seed, traces, other=""):
    plan = Plan(seed)
    if other == "reload":
        plan.text = at_once(plan.text)
    text, main_text, extra, table = plan.text, "", "", ""
    if other in WRONG:
        text = re.sub(*WRONG[other], text)
        extra = "limit_req_zone $none zone=unused:1m rate=1r/s; limit_conn_zone $none zone=unused_conn:1m; map $host $none { default ''; }\n"
    elif other != "stock":
        main_text = f"load_module {MODULE};"
        table = shm_folder() + "/limits"
        extra = f"weir_limit_table {table};\n"
    left = Nginx(plan.text, pages=plan.pages, name="stock nginx")
    right = Nginx(extra + text, main_text, pages=plan.pages, name="the other nginx")
    counts, different, told = collections.Counter(), 0, []
    for number in range(traces):
        trace = plan.trace(number)
        if other == "reload":
            while sum(gap for gap, _ in trace) > 50_000:
                trace = plan.trace(number)
            after = changed(plan.text, plan.rng)
            a = both_halves(left, trace, plan.text, after)
            b = both_halves(right, trace, extra + plan.text, extra + after)
        else:
            a, b = left.play(trace), right.play(trace)
        count(counts, a)
        counts["traces"] += 1
        if a != b:
            different += 1
            if len(told) < 2:
                told.append(story(seed, number, plan, trace, first_difference(a, b)))
    if table:  # it was this one that counted
        info = json.loads(weir("table", "info", "--json", "--table", table).stdout)
        counts["counters in the table"] = info["slots"] - info["empty"]
    left.stop(), right.stop()
    return {"counts": counts, "different": different, "told": told}


if __name__ == "__main__":
    if not os.path.exists(SHIM):
        build()
    print(json.dumps(main(int(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:])))
