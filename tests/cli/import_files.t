#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# weir import: mistakes and where they are, files that include each other, and the file that it writes.
import glob, json, os, re, sys; sys.path.insert(0, "tests/lib")
from weirtest import *

dir = folder()
conf, out = f"{dir}/nginx.conf", f"{dir}/policy.yaml"
GOOD = "http { limit_req_zone $binary_remote_addr zone=a:1m rate=1r/s; server { limit_req zone=a; } }\n"


def imported(text, *argv):
    write(conf, text)
    return weir("import", "nginx.conf", *argv, cwd=dir)


for text, place, message in [
    ("http {\n  server {\n", "3:1", "a '}' is missing before the end of the file"),
    ("http { }\n}\n", "2:1", "a '}' without its '{'"),
    ("http {\n  limit_req zone=a\n}\n", "2:3", None),
    ("a 'b", "1:3", "this string has no end"),
    ("a 'b'c;", "1:6", "a blank or ';' is missing behind the string"),
    ("a b;\n ; c d;", "2:2", "a ';' without a directive"),
    ("a b\n", "1:1", "the directive 'a' has no ';' at its end"),
    ("{ }", "1:1", "a '{' without a directive"),
    ("x_by_lua_block { if", "1:16", "this block has no end"),
    ("a {" * 70, "1:195", "blocks inside blocks, more than 64 deep"),
    ("a;\n\nb \0;", "3:3", "a NUL byte: this is no text"),
    ("http {\n  limit_req zone=a\n  location /x { limit_req zone=b; }\n}", "2:3", "the directive 'limit_req' has no ';' at its end"),
    ("http { limit_rate 5k { } }", "1:8", "the directive 'limit_rate' has no ';' at its end"),
    ("http { root /srv\n  limit_req zone=a; }", "1:8", "the directive 'root' has no ';' at its end"),
    ("\ufeffhttp { }", "1:1", "a byte order mark, which nginx refuses"),
    ("geo $g { " + "1.1.1.1 1; " * 20001 + "1.1.1.1 }", "1:1", "the directive 'geo' has no ';' at its end"),
    ("http { include nginx.conf; }", "1:8", "this file includes itself"),
]:
    r = imported(text)
    if message is None:  # the '}' ends a block only where a word could begin: nginx reads it as one more word
        is_((r.returncode, r.stdout), (1, ""), f"{text[:30]!r}: a mistake")
    else:
        is_((r.returncode, r.stdout, r.stderr), (1, "", f"weir: nginx.conf:{place}: {message}\n"), f"{text[:30]!r}")
r = imported("a 'b", "--json")
is_(json.loads(r.stdout), {"error": {"message": "nginx.conf:1:3: this string has no end"}}, "a mistake in JSON")

# what is too much
r = imported("http { geo $g { default 0; " + "10.0.0.0/8 1; " * 250000 + "} map $g $k { 0 $binary_remote_addr; 1 ''; }\n"
             "limit_req_zone $k zone=a:1m rate=1r/s; limit_req_zone $host zone=b:1m rate=1r/s; server { limit_req zone=a; limit_req zone=b; } }")
is_((r.returncode, re.findall("key: (.*)", r.stdout)), (0, ["var.k", "host"]), "a geo of 250,000 lines stays nginx's, the rest is carried over")
like(r.stderr, "differs: zone 'a': its key `$k` stays nginx's: its geo is too long; keep it in nginx.conf", "which is said")
lists = "".join(f"geo $g{i} {{ " + "10.0.0.0/8 1; " * 15000 + "} " for i in range(20))
r = imported("http { " + lists + GOOD[7:])
is_((r.returncode, r.stderr), (0, "1 of 1 limit carried over\n"), "many lists are no mistake")
r = imported("http { limit_req_zone $host zone=a:1m rate=1r/s;\n" + "".join(f"server {{ server_name s{i}.example; location / {{ limit_req zone=a; }} }}\n" for i in range(1500)) + "}")
is_((r.returncode, r.stderr.splitlines()[-1]), (4, "1000 of 1500 limits carried over"), "of 1,500 servers 1,000 are read, and all are counted")
like(r.stderr, "nginx.conf:1002:1: not carried over: more than 1000 servers: this one and what follows are not read\n", "it is said")
like(r.stderr, "nginx.conf:1501:50: not carried over: `limit_req zone=a`: its server is not read\n", "for each limit")
inside = "".join(f"location /l{i}/ {{ location /l{i}/in/ {{ limit_req zone=a; }} }}\n" for i in range(800))
r = imported("http { limit_req_zone $host zone=a:1m rate=1r/s; server {\n" + inside + "} }")
is_((r.returncode, r.stderr.splitlines()[-1]), (4, "500 of 800 limits carried over"), "of 1,600 locations 1,000 are read, and all are counted")

for i in range(66):
    write(f"{dir}/d{i}.inc", f"include d{i + 1}.inc;")
r = imported("include d0.inc;")
is_((r.returncode, r.stderr), (1, "weir: d62.inc:1:1: files that include files, more than 64 deep\n"), "a chain of files is bounded")
os.mkdir(f"{dir}/sub")
write(f"{dir}/sub/one.inc", "include sub/two.inc;")
write(f"{dir}/sub/two.inc", GOOD)
r = imported("include sub/o*.inc;")
is_(r.returncode, 0, "an include in a folder is relative to the first file's")
like(r.stdout, "# sub/two.inc:1: limit_req zone=a\n", "places name the file in which a line stands")
r = imported("include none.inc; " + GOOD)
is_((r.returncode, r.stderr.splitlines()[0]), (4, "nginx.conf:1:1: not carried over: `include`: none.inc is not read: No such file or directory"),
    "a file that is not there is said")
is_(weir("import", conf, cwd="/").stdout.count(f"# {conf}:1: limit_req zone=a\n"), 1, "a path is shown as it was given")

for path, why in (f"{dir}/none", "No such file or directory"), (dir, "it is no file"):
    r = weir("import", path)
    is_((r.returncode, r.stdout, r.stderr), (3, "", f"weir: cannot read {path}: {why}\n"), f"unreadable: {why}")
r = weir("import")
is_((r.returncode, r.stderr), (2, "weir: which configuration? weir import /etc/nginx/nginx.conf\n"), "nothing named")

r = imported(GOOD, "--out", out)
is_((r.returncode, r.stdout, r.stderr), (0, "", "1 of 1 limit carried over\n"), "--out: nothing on standard output")
text = open(out).read()
is_(text, imported(GOOD).stdout, "the file is what would be printed")
is_(weir("check", out).returncode, 0, "and a policy")
is_(os.stat(out).st_mode & 0o777, 0o644, "readable by the gate")
for argv in (), ("--out", "-"):
    r = weir("import", "-", *argv, input=GOOD, cwd=dir)
    is_((r.returncode, r.stdout, r.stderr), (0, text.replace("nginx.conf", "-"), "1 of 1 limit carried over\n"), f"import - {' '.join(argv)}: from standard input to standard output")
r = weir("import", "-", input="include x;" + GOOD)
is_((r.returncode, r.stderr.splitlines()[0]), (4, "-:1:1: not carried over: `include`: x is not read: it is not looked for"), "of which no includes are read")
is_(weir("import", "-", input="").stderr, "there are no limits in this configuration\n", "nothing at all")
like(weir("import", "-", input="#" * (33 << 20)).stderr, "weir: the standard input", "and too much")
r = imported(GOOD, "--out", f"{dir}/../{os.path.basename(dir)}/nginx.conf", "--force")
is_((r.returncode, "is the configuration itself" in r.stderr, open(conf).read()), (2, True, GOOD), "the configuration itself is not replaced")
write(out, "limits: {}\n")
r = imported(GOOD, "--out", out)
is_((r.returncode, r.stderr, open(out).read()), (2, f"weir: {out} exists; --force replaces it\n", "limits: {}\n"), "a file is not replaced")
is_((imported(GOOD, "--out", out, "--force").returncode, open(out).read()), (0, text), "but by --force")
os.remove(out)
os.symlink("elsewhere", out)
is_((imported(GOOD, "--out", out).returncode, os.path.lexists(f"{dir}/elsewhere")), (2, False), "nor is a link that leads nowhere written through")
r = imported(GOOD, "--out", f"{dir}/none/policy.yaml")
is_((r.returncode, r.stderr), (3, f"weir: cannot write {dir}/none/policy.yaml: No such file or directory\n"), "a folder that is not there")
is_(sorted(f for f in os.listdir(dir) if "new" in f), [], "nothing is left beside")
d = json.loads(imported(GOOD, "--json").stdout)
is_(d, {"policy": text, "out": None, "keys": 0, "keys_out": None, "limits": 1, "lines": 1, "carried": 1, "dropped": 0, "lost": 0, "remarks": []}, "--json: the policy inside")

# API keys go into a private file, and nowhere else
KEYED = """http {
  map $http_x_api_key $tier { default ''; "first-secret" pro; "second \\"secret" pro; "third-secret" free; }
  map $tier $pro { pro $http_x_api_key; default ''; }
  limit_req_zone $pro zone=pro:1m rate=10r/s;
  server { limit_req zone=pro; }
}"""
LINES = ['{"name":"pro","secret":"first-secret","plan":"pro"}', '{"name":"pro-2","secret":"second \\"secret","plan":"pro"}',
         '{"name":"free","secret":"third-secret","plan":"free"}']
os.umask(0o022)
for f in glob.glob(f"{dir}/*.yaml"):
    os.remove(f)
r = imported(KEYED, "--out", out)
is_((r.returncode, r.stdout, r.stderr.splitlines()),
    (0, "", ["1 of 1 limit carried over", f"3 API keys in {out}.keys.jsonl, which only you can read; next: weir keys import {out}.keys.jsonl --policy {out}"]),
    "keys: what was done is said, and what is next")
is_(open(f"{out}.keys.jsonl").read().splitlines(), LINES, "a key a line, with the plan that its map says")
is_(os.stat(f"{out}.keys.jsonl").st_mode & 0o777, 0o600, "which nobody else can read")
is_("secret" in open(out).read(), False, "no secret is in the policy")
is_(weir("check", out).returncode, 0, "which is sound")
r = weir("keys", "import", f"{out}.keys.jsonl", "--policy", out, cwd=dir)
is_((r.returncode, r.stdout), (0, "3 keys and 3 secrets imported\n"), "weir keys import takes them")
r = weir("keys", "whose", "--policy", out, input='second "secret', cwd=dir)
is_((r.returncode, "pro-2" in r.stdout), (0, True), "and knows them")
is_(imported(KEYED, "--out", out).returncode, 2, "a file of keys is not replaced")
is_(imported(KEYED, "--out", out, "--force").returncode, 0, "but by --force")
r = imported(KEYED)
is_((r.returncode, r.stderr.splitlines()[-1], "secret" in r.stdout + r.stderr), (0, "3 API keys are written nowhere: --keys FILE does that", False), "no secret goes to a terminal")
r = imported(KEYED, "--keys", f"{dir}/k", "--json")
d = json.loads(r.stdout)
is_((d["keys"], d["keys_out"], "secret" in r.stdout, open(f"{dir}/k").read().splitlines()), (3, f"{dir}/k", False, LINES), "--keys and --json")
is_(imported(GOOD, "--keys", f"{dir}/none").returncode, 0, "without keys there is nothing to write")
is_(os.path.exists(f"{dir}/none"), False, "and no file")

# a page that can be read is the policy's own
os.mkdir(f"{dir}/www")
write(f"{dir}/www/slower.html", "<p>slower</p>\n")
page = GOOD.replace("server {", f"limit_req_status 429; error_page 429 503 /slower.html; server {{ location = /slower.html {{ root {dir}/www; internal; }}")
r = imported(page)
is_((r.returncode, r.stderr), (0, "1 of 1 limit carried over\n"), "error_page with a file: nothing to say")
like(r.stdout, f"    respond: {{body: {{file: {dir}/www/slower.html}}}}\n", "it is the policy's page")
is_(weir("check", "-", input=r.stdout).returncode, 0, "which is sound")
write(f"{dir}/www/slower.html", "x" * 70000)
like(imported(page).stderr, "nginx.conf:1:86: differs: error_page 429 /slower.html: it is no file that can be read", "one that is too large is not")
done()
