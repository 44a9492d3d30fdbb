#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# README's map is the tree: every folder and top file it names exists, and every one that exists is named.
import re, subprocess, sys; sys.path.insert(0, "tests/lib")
from weirtest import *

files = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], capture_output=True, text=True).stdout.split()
files = [f for f in files if os.path.exists(f)]
readme = open("README.md").read()
block = re.search(r"## The map.*?```\n(.*?)```", readme, re.S)
ok(block, "README has a map")
named = [line.split()[0].rstrip("/") for line in block.group(1).splitlines() if line.strip() and not line.startswith(" ")]
folders = {f.split("/")[0] for f in files if "/" in f and not f.startswith(".")}
deeper = {n for n in named if "/" in n}
is_(sorted(folders - {n.split('/')[0] for n in named}), [], "every folder is in the map")
is_(sorted(n for n in named if not os.path.exists(n)), [], "everything in the map exists")
is_(sorted(n for n in deeper if not any(f.startswith(n + "/") or f == n for f in files)), [], "also what is named deeper down")
layers = [n for n in named if n in ("algo", "table", "policy", "identity", "flow")]
is_(layers, ["algo", "table", "policy", "identity", "flow"], "the layers stand in the order in which they may include")
makefile = re.search(r"^LAYERS\s*:=\s*(.*)$", open("Makefile").read(), re.M).group(1).split()
is_(makefile, layers, "and the Makefile builds them in that order")
done()
