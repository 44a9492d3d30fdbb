#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# weir import: each configuration of tests/cli/import gives exactly the policy and the list that stand beside it, and a sound policy.
# With WEIR_IMPORT_WRITE=1 the expectations are written instead (then read the difference).
import glob, json, os, sys; sys.path.insert(0, "tests/lib")
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

# every limit_req, limit_conn and limit_rate of a file is in the count
for conf in confs:
    d = json.loads(weir("import", os.path.basename(conf), "--json", cwd=os.path.dirname(conf)).stdout)
    lost = sum(r["weight"] == "lost" for r in d["remarks"])
    ok(d["carried"] + lost >= d["limits"] and d["lost"] == lost, f"{os.path.basename(conf)}: as many are lost as are not carried over")
done()
