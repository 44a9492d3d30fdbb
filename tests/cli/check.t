#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# weir check says what a file means, or what is wrong with it and where: byte for byte, with its exit code.
import json, sys; sys.path.insert(0, "tests/lib")
from weirtest import *

dir = folder()
write(f"{dir}/good.yaml", "limits:\n  per-ip: {rate: 50/s, burst: 100}\n  login:\n    match: POST /login\n    rate: 5/min\n")
write(f"{dir}/star.yaml", "limits:\n  per-ip: {rate: 50/s, burst: 100}\n  login: {match: *, rate: 5/min}\n")
write(f"{dir}/word.yaml", "limits:\n  per-ip: {rate: 50/s, brust: 100}\n")

ALOUD = """\
per-ip: every request, by client address: 100 at once, then one every 20 ms; at most 149 in any second
login: POST /login, by client address: 5 at once, then one every 12 s; at most 9 in any minute
"""

r = weir("check", "good.yaml", cwd=dir)
is_(r.returncode, 0, "a good file: exit 0")
is_(r.stdout, ALOUD + "good.yaml: 2 limits, no errors, no warnings\n", "it is read aloud, and summed up")
is_(r.stderr, "", "nothing is wrong")

r = weir("check", "star.yaml", cwd=dir)
is_(r.returncode, 1, "a YAML trap: exit 1")
is_(r.stdout, "star.yaml: not usable, 1 error, no warnings\n", "the summary")
is_(r.stderr, 'star.yaml:3:18: error: an unquoted * begins a YAML alias; quote it: "*"\n'
    "    3 |   login: {match: *, rate: 5/min}\n"
    "      |                  ^\n", "file, line, column, what is wrong, the line, the caret")

r = weir("check", "word.yaml", cwd=dir)
is_(r.returncode, 1, "an unknown word: exit 1")
like(r.stderr, "word.yaml:2:24: error: ", "where")
like(r.stderr, "did you mean 'burst'?", "what was probably meant")

r = weir("check", "-", cwd=dir, input=open(f"{dir}/good.yaml").read())
is_((r.returncode, r.stdout), (0, ALOUD + "standard input: 2 limits, no errors, no warnings\n"), "- is standard input")

r = weir("check", "--quiet", "good.yaml", cwd=dir)
is_((r.returncode, r.stdout, r.stderr), (0, "", ""), "--quiet says nothing of a good file")
r = weir("check", "--quiet", "star.yaml", cwd=dir)
is_((r.returncode, r.stdout, r.stderr.count("\n")), (1, "", 3), "--quiet still says what is wrong")

r = weir("check", "nope.yaml", cwd=dir)
is_(r.returncode, 3, "an unreadable file: exit 3")
like(r.stderr, "'nope.yaml' cannot be read: No such file or directory", "with the system's reason")
r = weir("check", cwd=dir)
like(r.stderr, "'policy.yaml' cannot be read", "without a word: ./policy.yaml")
write(f"{dir}/policy.yaml", open(f"{dir}/good.yaml").read())
is_(weir("check", cwd=dir).returncode, 0, "which is found")

r = weir("check", "--json", "star.yaml", cwd=dir)
d = json.loads(r.stdout)
is_((r.returncode, d["ok"], d["errors"], d["findings"][0]["line"], d["findings"][0]["column"]), (1, False, 1, 3, 18), "--json: the findings")
is_(r.stderr, "", "--json: nothing beside it")
d = json.loads(weir("check", "--json", "good.yaml", cwd=dir).stdout)
is_((d["ok"], "".join(s + "\n" for s in d["sentences"])), (True, ALOUD), "--json: the sentences")

warned = "limits: {per-ip: {rate: 2/s, burst: 3}}\n"
write(f"{dir}/warn.yaml", warned)
r = weir("check", "warn.yaml", cwd=dir)
is_(r.returncode, 0, "a warning: exit 0")
like(r.stderr, "warning: a page with 30 files would not load whole", "it is said (C17)")
like(r.stdout, "warn.yaml: 1 limit, no errors, 1 warning\n", "and counted")

many = "limits:\n" + "".join(f"  l{i}: {{rate: 5/s, brust: 1}}\n" for i in range(30))
write(f"{dir}/many.yaml", many)
r = weir("check", "many.yaml", cwd=dir)
is_(r.stderr.count(": error: "), 20, "of 30 mistakes 20 are shown")
like(r.stdout, "not usable, 30 errors", "and all are counted")
done()
