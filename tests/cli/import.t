#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# weir import: each configuration of tests/cli/import gives exactly the policy and the list that stand beside it, and a sound policy.
# With WEIR_IMPORT_WRITE=1 the expectations are written instead (then read the difference).
import collections, glob, json, os, re, sys; sys.path.insert(0, "tests/lib")
from weirtest import *

LINE = "---- what is said of it ----\n"
confs = sorted(glob.glob("tests/cli/import/*.conf"))
ok(len(confs) >= 40, "there are configurations")
for conf in confs:
    name = os.path.basename(conf)
    r = weir("import", name, cwd=os.path.dirname(conf))
    expected = conf[:-5] + ".expected"
    if os.environ.get("WEIR_IMPORT_WRITE"):
        write(expected, r.stdout + LINE + r.stderr)
    policy, _, said = open(expected).read().partition(LINE)
    is_(r.stdout.splitlines(), policy.splitlines(), f"{name}: the policy")
    is_(r.stderr.splitlines(), said.splitlines(), f"{name}: what is said of it")
    is_(r.returncode, 4 if ": not carried over: " in said else 0, f"{name}: the exit code says whether something is lost")
    check = weir("check", "-", input=r.stdout)
    is_((check.returncode, "error:" in check.stderr), (0, False), f"{name}: weir check takes it")

# every line of a limit is carried over or dropped, and where it went can be read: this counts them without weir
LIMIT = r"(?:limit_req|limit_conn|limit_rate|set \$limit_rate)(?=[ `])"


def directives(file):
    """How many lines of limits a configuration has, with what it includes; `limit_rate 0` is none."""
    text = re.sub(r"(^|[\s;{}])#.*", r"\1", open(file).read())
    found = re.findall(r"(?:^|[;{}])\s*((?:limit_req|limit_conn|limit_rate|set\s+\$limit_rate|include)\s+([^;{}]*?)\s*)(?=[;{])", text)
    count = 0
    for line, value in found:
        if line.startswith("include"):
            count += sum(directives(f) for f in sorted(glob.glob(os.path.join("tests/cli/import", value))))
        else:
            count += line.split() != ["limit_rate", "0"]
    return count


def fate(d):
    """Where the lines are, by what is said of them: in the policy, dropped, holding nowhere."""
    kept = collections.Counter()
    for limit in re.split(r"^  \S+:$", d["policy"], flags=re.M):  # a line can be several limits, and a file be included twice
        kept |= collections.Counter(re.findall(rf"^  # (\S+:\d+: {LIMIT}.*)$", limit, re.M))
    more = sum(map(int, re.findall(r"^  # and (\d+) lines more$", d["policy"], re.M)))
    dropped = sum(r["weight"] == "lost" and bool(re.match("`" + LIMIT, r["message"])) for r in d["remarks"])
    nowhere = sum(r["weight"] == "note" and "`: it holds nowhere; " in r["message"] for r in d["remarks"])
    return kept.total() + more, dropped, nowhere


for conf in confs:
    name = os.path.basename(conf)
    d = json.loads(weir("import", name, "--json", cwd=os.path.dirname(conf)).stdout)
    kept, dropped, nowhere = fate(d)
    is_((d["lines"], d["carried"], d["dropped"]), (directives(conf), kept + nowhere, dropped), f"{name}: every line of it is in the policy or in the list")
    is_(d["lines"], d["carried"] + d["dropped"], f"{name}: carried over or dropped, and nothing else")
    is_((d["lost"], d["limits"]), (sum(r["weight"] == "lost" for r in d["remarks"]), len(re.findall(r"^  \S+:$", d["policy"].partition("limits:")[2], re.M))),
        f"{name}: what is lost and the limits of the policy are counted")
done()
