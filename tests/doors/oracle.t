#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# limit_req and limit_conn against nginx's own, in virtual time: random configurations and traces, played to stock nginx and to the same
# nginx with the module. Equal must be: each answer's bytes, the ms in which it ends, the access log, the error log.
# scripts/oracle does the same for as long as one likes.
import collections, concurrent.futures, json, sys; sys.path[:0] = ["tests/lib", "tests/doors"]
from oracle import build
from oracle_round import WRONG
from weirtest import *

ROUNDS, TRACES, SEED = int(os.environ.get("ORACLE_ROUNDS", "8")), 200, int(os.environ.get("ORACLE_SEED", "1"))
FEW = 60
build()


def play(seed, traces, *other):
    p = run("tests/doors/oracle_round.py", str(seed), str(traces), *other, timeout=600)
    return json.loads(p.stdout) if p.returncode == 0 else {"counts": {}, "different": -1, "told": [p.stdout[-500:] + p.stderr[-2000:]]}


with concurrent.futures.ThreadPoolExecutor(2) as two:
    wrong = {name: two.submit(play, SEED, FEW, name) for name in WRONG}
    itself = two.submit(play, SEED, FEW, "stock")
    reloads = two.submit(play, SEED, 12, "reload")
    rounds = [two.submit(play, SEED + i, TRACES) for i in range(ROUNDS)]
    is_(itself.result()["different"], 0, "stock nginx does not differ from itself")
    for name, of in wrong.items():
        within(of.result()["different"], 1, FEW, f"a wrong configuration is seen: {name}")
    is_((reloads.result()["different"], reloads.result()["told"]), (0, []), "nor does it over a reload with other bursts")
    total = collections.Counter()
    for i, of in enumerate(rounds):
        said = of.result()
        total.update(said["counts"])
        is_(said["different"], 0, f"seed {SEED + i}: no trace differs")
        for text in said["told"]:
            for line in text.splitlines():
                note(line[:400])
for name, n in sorted(total.items()):
    if name not in ("-", "conn -"):
        note(f"{n:8} {name}")
within(total["counters in the table"], 1, total["requests"] * 8, "it was the module that counted")
is_(total["traces"], ROUNDS * TRACES, "all traces were played")
for name in ("PASSED", "DELAYED", "REJECTED", "DELAYED_DRY_RUN", "REJECTED_DRY_RUN", "conn PASSED", "conn REJECTED", "conn REJECTED_DRY_RUN"):
    within(total[name], 20 * ROUNDS, total["requests"], f"{name} came often enough to mean something")
done()
