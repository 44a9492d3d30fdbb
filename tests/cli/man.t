#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# The manual page and the shell completion say what the command can do: every subcommand, option and exit code.
import json, os, re, sys; sys.path.insert(0, "tests/lib")
from weirtest import *

page = open("docs/man/weir.1").read().replace("\\-", "-")
d = json.loads(weir("help", "--json").stdout)
for c in d["subcommands"]:
    ok(re.search(rf"^\.B {c['name']}\b", page, re.M), f"weir.1 tells of {c['name']}")
    for option in re.findall(r"^  (--[a-z-]+)", weir("help", c["name"]).stdout, re.M):
        ok(option in page, f"weir.1 knows {c['name']} {option}")
for code in d["exit_codes"]:
    like(page, f".B {code['code']}\n{code['sentence']}\n", f"weir.1 explains exit code {code['code']}")
words = set(json.loads(weir("schema", "--json").stdout)["properties"])
policy = open("docs/man/weir-policy.5").read()
for word in ("limits", "clients", "respond", "gateway", "include"):
    ok(word in words and f".B {word}\n" in policy, f"weir-policy.5 tells of {word}")
example = re.search(r"\.SH EXAMPLE\n\.nf\n(.*?)\.fi", policy, re.S).group(1).replace("\\-", "-").replace("\\(aq", "'")
is_(weir("check", "-", input=example).returncode, 0, "its example is a good policy")


def complete(line):
    words = line.split(" ")
    script = (f'PATH="{os.path.dirname(WEIR)}:$PATH"; source packaging/completion/weir.bash; '
              f'COMP_WORDS=({" ".join(repr(w) for w in words)}); COMP_CWORD={len(words) - 1}; _weir; printf "%s\\n" "${{COMPREPLY[@]}}"')
    r = run("bash", "-c", script)
    return [l for l in r.stdout.split("\n") if l]


is_(complete("weir "), [c["name"] for c in d["subcommands"]], "completion: the subcommands")
is_(complete("weir e"), ["explain"], "one of them")
is_(complete("weir check --"), ["--quiet", "--json", "--help"], "its options")
is_(complete("weir table "), ["info", "check", "resize", "export", "import"], "words")
is_(complete("weir keys r"), ["rotate", "revoke"], "words")
is_(complete("weir shadow "), ["report"], "words")
is_(complete("weir module "), ["path", "check", "build"], "words")
is_(complete("weir explain --method P"), ["POST", "PUT", "PATCH"], "methods")
is_(complete("weir check examples/demo.y"), ["examples/demo.yaml"], "files")
site = Site(policy="limits: {per-ip: {rate: 50/s, burst: 100}, login: {match: POST /login, rate: 5/min}}")
is_(complete(f"weir show --table {site.table} --limit "), ["per-ip", "login"], "the limits in force")
done()
