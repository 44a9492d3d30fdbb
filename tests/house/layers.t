#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Who may include whom: each layer only what stands left of it; nobody includes a door; the inside of a table
# is seen by its own layer alone.
import re, sys, subprocess; sys.path.insert(0, "tests/lib")
from weirtest import *

ORDER = ["algo", "table", "policy", "identity", "flow"]
TOP = ["doors", "control", "cli"]  # side by side, above flow
ALLOWED = {layer: set(ORDER[:i + 1]) for i, layer in enumerate(ORDER)}
ALLOWED.update({top: set(ORDER) | {top} for top in TOP})
ALLOWED["cli"].add("control")  # `weir control` and `weir run` are subcommands

files = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "*.c", "*.h"], capture_output=True, text=True).stdout.split()
bad, foreign, seen = [], [], 0
for name in files:
    layer = name.split("/")[0]
    if layer not in ALLOWED:
        continue
    for number, line in enumerate(open(name, encoding="utf-8"), 1):
        m = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
        if not m:
            continue
        seen += 1
        target = m.group(1)
        if "/" not in target:
            foreign.append(f"{name}:{number}: {target} is not a path from the root")
        elif target.split("/")[0] not in ALLOWED[layer]:
            bad.append(f"{name}:{number}: {layer} may not include {target}")
# What a table is inside is the table's business: its files beside it have table/beside.h.
INSIDE = "table/handle.h"


def included(name):
    return set(re.findall(r'^\s*#\s*include\s+"([^"]+)"', open(name, encoding="utf-8").read(), re.M)) & set(files)


reaches = {INSIDE}
while True:
    more = {n for n in files if n not in reaches and included(n) & reaches}
    if not more:
        break
    reaches |= more
ok({"table/file.h", "table/recall.h"} <= reaches, "headers that show the inside of a table were found")
is_(sorted(n for n in reaches if n.split("/")[0] in ALLOWED and not n.startswith("table/")), [], f"nobody else sees {INSIDE}, not through another header either")

ok(seen > 50, "includes were found")
is_(bad, [], "no layer includes what stands right of it")
is_(foreign, [], "every include of ours is a path from the root")

orders = [f"{n}:{i}" for n in files if n.split("/")[0] in ALLOWED and n != "table/atomic.h"
          for i, line in enumerate(open(n, encoding="utf-8"), 1) if re.search(r"memory_order_|__ATOMIC_(ACQUIRE|RELEASE|ACQ_REL|SEQ_CST)|__sync_", line)]
is_(orders, [], "only table/atomic.h names memory orders")
done()
