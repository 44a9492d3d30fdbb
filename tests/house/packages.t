#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Every system package is named in one file, which `make run` and `make test` read; every make target says what it does.
import re, subprocess, sys; sys.path.insert(0, "tests/lib")
from weirtest import *

names = [l.split("#")[0].strip() for l in open("packages.txt") if l.split("#")[0].strip()]
ok(len(names) > 10, "packages.txt names packages")
is_(sorted(n for n in names if run("dpkg-query", "-W", "-f=${Status}", n).stdout != "install ok installed"), [], "all of them are installed")
is_(run("scripts/packages").returncode, 0, "scripts/packages has nothing to do and says so")
makefile = open("Makefile").read()
for target in "run", "test":
    ok(re.search(rf"^{target}: packages\b", makefile, re.M), f"make {target} installs what it needs")
others = run("git", "grep", "-lE", r"apt(-get)? +install", "--", ".", ":!scripts/packages", ":!README.md", ":!docs", ":!cli", ":!tests").stdout.split()
is_(others, [], "nothing else installs packages (messages may say how)")
phony = set(re.search(r"^\.PHONY: (.*)$", makefile, re.M).group(1).split())
helped = set(re.findall(r"^  make (\S+)", run("make", "help").stdout, re.M))
is_(sorted(phony - helped - {"all"}), [], "make help names every target")
done()
