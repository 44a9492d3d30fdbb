#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# The shape of the house: small files, each with its licence line, formatted; nothing unfinished, nothing of one machine.
import re, statistics, subprocess, sys; sys.path.insert(0, "tests/lib")
from weirtest import *

git = lambda *a: subprocess.run(["git", *a], capture_output=True, text=True).stdout.split("\n")
files = [f for f in git("ls-files", "-co", "--exclude-standard") if f and os.path.exists(f)]
code = [f for f in files if f.endswith((".c", ".h", ".py", ".sh", ".t"))]
lines = {f: sum(1 for _ in open(f, errors="replace")) for f in code}

ok(len(code) > 60, "the tree was read")
is_([f"{f}: {n}" for f, n in lines.items() if n > 500], [], "no file is over 500 lines")
product = [n for f, n in lines.items() if f.endswith((".c", ".h")) and f.split("/")[0] in ("algo", "table", "policy", "flow", "doors", "control", "cli")]
within(statistics.median(product), 1, 130, "the median file has at most 130 lines")
is_([f for f in code if "SPDX-License-Identifier: BSD-2-Clause" not in "".join(open(f, errors="replace").readlines()[:3])], [],
    "each file says its licence at its head")

unfinished = re.compile(r"\b(TO" r"DO|FIX" r"ME|X" r"XX|HA" r"CK)\b")
is_([f for f in code if unfinished.search(open(f, errors="replace").read())], [], "nothing is marked as unfinished")
is_([f for f in files if not f.startswith("fuzz/corpus/") and re.search(r"/(wo" r"rk|ro" r"ot)/\w", open(f, errors="replace").read())], [], "no path of one machine")
within(sum(1 for _ in open("README.md")), 30, 120, "README has at most 120 lines")
within(sum(1 for _ in open("Makefile")), 30, 200, "the Makefile has at most 200 lines")

ours = [f for f in files if f.endswith((".c", ".h")) and not f.startswith("doors/nginx/")]
done_ = subprocess.run(["clang-format", "--dry-run", "-Werror", *ours], capture_output=True, text=True)
is_(sorted({l.split(":")[0] for l in done_.stderr.splitlines() if ": error:" in l}), [], "clang-format has nothing to change")
done()
