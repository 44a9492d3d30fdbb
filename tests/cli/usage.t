#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Every subcommand: its help, its exit codes, and one JSON document with --json whatever happens.
import json, re, sys; sys.path.insert(0, "tests/lib")
from weirtest import *

dir = folder()
d = json.loads(weir("help", "--json").stdout)
names = [c["name"] for c in d["subcommands"]]
is_(names, "run check explain show top get why plans shadow promote reset ban unban bans grant keys usage publish control table module doctor import schema version help".split(), "the subcommands")
is_([c["code"] for c in d["exit_codes"]], [0, 1, 2, 3, 4], "the exit codes")

text = weir("help").stdout
for name in names:
    like(text, f"  {name} ", f"{name} is listed")
for code in d["exit_codes"]:
    like(text, f"  {code['code']}  {code['sentence']}\n", f"exit code {code['code']} is explained")
is_(weir("--help").stdout, text, "--help is help")
is_(weir("--version").stdout, weir("version").stdout, "--version is version")
ok(re.match(r"weir \d+\.\d+\.\d+\n", weir("version").stdout), "version")

r = weir()
is_((r.returncode, r.stdout), (2, text), "nothing said: help, exit 2")
r = weir("chek")
is_((r.returncode, r.stderr), (2, "weir: no subcommand 'chek'; did you mean 'check'?\n"), "a misspelt subcommand")
is_(weir("help", "frobnicate").returncode, 2, "help for nothing")

for name in names:
    r = weir(name, "--help")
    ok(r.returncode == 0 and r.stdout.startswith(f"usage: weir {name}") and "--json" in r.stdout, f"{name} --help")
    is_(weir("help", name).stdout, r.stdout, f"help {name} is the same")
    r = weir(name, "--frobnicate")
    ok(r.returncode == 2 and "no option '--frobnicate'" in r.stderr, f"{name}: an unknown option: exit 2")
    r = weir(name, "--json", "--frobnicate")
    ok(r.returncode == 2 and "--frobnicate" in json.loads(r.stdout)["error"]["message"], f"{name}: in the document too")
    ok(max(len(line) for line in weir(name, "--help").stdout.splitlines()) <= 110, f"{name}: help fits a terminal")

write(f"{dir}/p.yaml", "limits: {per-ip: {rate: 50/s, burst: 100}}\n")
table = ("--table", f"{dir}/none")
for argv, code, key in [
    (("check", "p.yaml"), 0, "ok"),
    (("explain", "--policy", "p.yaml"), 0, "verdict"),
    (("show", *table), 3, "error"),
    (("reset", "--all", *table), 3, "error"),
    (("reset",), 2, "error"),
    (("reset", "--all", "--limit", "x"), 2, "error"),
    (("show", "--key", "x", *table), 2, "error"),
    (("top", *table), 3, "error"),
    (("top", "--limited", "--near", *table), 2, "error"),
    (("get",), 2, "error"),
    (("get", "127.0.0.1", *table), 3, "error"),
    (("why",), 2, "error"),
    (("why", "x", "--key", "y", *table), 2, "error"),
    (("why", "x", *table), 3, "error"),
    (("plans", *table), 3, "error"),
    (("shadow",), 2, "error"),
    (("shadow", "report", *table), 3, "error"),
    (("promote",), 2, "error"),
    (("promote", "per-ip", "--policy", "none.yaml"), 3, "error"),
    (("promote", "per-ip", "--policy", "p.yaml"), 1, "error"),
    (("publish", "p.yaml", *table), 3, "error"),
    (("publish",), 2, "error"),
    (("control",), 2, "error"),
    (("table", "info", *table), 3, "error"),
    (("table", "check", *table), 3, "error"),
    (("table",), 2, "error"),
    (("table", "frob"), 2, "error"),
    (("module",), 2, "error"),
    (("module", "frob"), 2, "error"),
    (("module", "path", "--nginx", "nginx"), 2, "error"),
    (("module", "check", "--source", "."), 2, "error"),
    (("module", "build", "x.so"), 2, "error"),
    (("module", "path"), 0, "module"),
    (("module", "check"), 0, "ok"),
    (("module", "check", "p.yaml"), 1, "trouble"),
    (("module", "check", "--nginx", "none"), 3, "error"),
    (("module", "build", "--nginx", "none"), 3, "error"),
    (("doctor", *table), 1, "findings"),
    (("schema",), 0, "$schema"),
    (("import",), 2, "error"),
    (("import", "none.conf"), 3, "error"),
    (("version",), 0, "version"),
    (("help",), 0, "subcommands"),
    (("run",), 2, "error"),
    (("run", "p.yaml", "--limit", "5/s"), 2, "error"),
    (("run", "p.yaml", "--table-size", "1k"), 2, "error"),
    (("run", "p.yaml", "--table-size", "many"), 2, "error"),
    (("check", "--quiet=yes"), 2, "error"),
    (("explain", "--ip", "nowhere", "--policy", "p.yaml"), 2, "error"),
    (("explain", "--header", "nonsense", "--policy", "p.yaml"), 2, "error"),
    (("explain", "--method"), 2, "error"),
]:
    r = weir(*argv, "--json", cwd=dir)
    what = " ".join(argv).replace(dir, "…")
    is_(r.returncode, code, f"{what}: exit {code}")
    try:
        document = json.loads(r.stdout)
    except ValueError:
        document = {}
    ok(key in document, f"{what} --json: one document, with {key}")

r = weir("show", *table)
like(r.stderr, f"{dir}/none", "no table: its path")
like(r.stderr, "cure: start a door first, or name the table with --table", "and the cure")
with open("/dev/full", "w") as full:
    p = subprocess.run([WEIR, "help"], stdout=full, stderr=subprocess.PIPE, text=True)
is_((p.returncode, "No space left" in p.stderr), (3, True), "standard output cannot be written: exit 3")

for name, out in (("schema", weir("schema").stdout), ("schema --markdown", weir("schema", "--markdown").stdout)):
    like(out, "# The policy file", f"{name}: a page")
is_(weir("schema", "--markdown", "--json").returncode, 2, "a page or JSON, not both")
schema = json.loads(weir("schema", "--json").stdout)
ok("limits" in schema["properties"], "schema --json knows the words")
done()
