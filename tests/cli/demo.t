#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# The demo, as `make run` calls it, without a terminal: the loops it prints show what it promises; SIGTERM ends all of it.
import json, os, re, shutil, socket, sys; sys.path.insert(0, "tests/lib")
from weirtest import *

p = port()
out = os.path.join(folder(), "out")
demo = start(["scripts/demo", BUILD], stdout=open(out, "w"), stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, env=dict(san_env(), PORT=str(p)))


def text():
    return open(out).read()


ok(wait_until(lambda: "weir show --table" in text() or demo.poll() is not None), "it starts")
loops = re.findall(r"^  (curl .*)$", text(), re.M)
is_(len(loops), 7, "it prints loops to paste")
policy = re.search(r"^  \$\{EDITOR:-vi\} (\S+)$", text(), re.M).group(1)
is_(os.path.basename(policy), "demo.yaml", "and the policy to edit")


def reset():
    is_(weir("reset", "--all", "--policy", policy).returncode, 0, "a fresh start")


# all of them in one go, as they stand, to a terminal: curl draws nothing of its own into what is promised
block = os.path.join(folder(), "block")
open(block, "w").write("".join(f"{loop}\necho ---\ndate +%s.%N\necho ---\n" for loop in loops))
began = time.time()
reset()
*parts, _ = run("script", "-qec", f"bash {block}", "/dev/null").stdout.replace("\r", "").split("---\n")
is_(parts[0].split(), ["401"] * 5 + ["429"] * 2, "five guesses")
lines = parts[2].splitlines()
is_(sorted(l.split()[0] for l in lines), ["200"] * 4, "four reports, and nothing else")
within(float(parts[3]) - float(parts[1]), 1.48, 10, "the last waits its turn")
is_(parts[4].split(), ["200"] * 3 + ["429"] * 2, "anybody's searches")
is_(parts[6].split(), ["200"] * 5, "those of a key's plan")
own = json.loads(parts[8])
is_((own["plan"], [l["limit"] for l in own["limits"] if l["name"] == "search"]), ("pro", [100]), "what is left of it")
codes = parts[10].split()
is_((len(codes), codes[:15]), (40, ["200"] * 15), "forty requests: first they pass")
# thirty at once but for the twelve of before, and two a second
within(codes.count("200"), 15, 18 + int(2 * (float(parts[11]) - began)), "then they do not")
is_(set(codes), {"200", "429"}, "but for one each half second")
a = parts[12]
for _ in range(10):  # the last of them may be the one of its half second
    a = a if "HTTP/1.1 429" in a else run("bash", "-c", loops[6]).stdout.replace("\r", "")
like(a, "HTTP/1.1 429", "a refusal")
like(a, "Retry-After: 1", "with Retry-After")
like(a, "X-RateLimit-Limit: 30", "and the rate headers")
like(a, '"error"', "and a body")
show, top = re.findall(r"^  (\S*weir .*)$", text(), re.M)
like(run("bash", "-c", show).stdout, "login", "what happened so far")
like(run("bash", "-c", top).stdout, "\ndemo ", "who asked most")
backend = int(re.search(r"backend on port (\d+)", text()).group(1))
r = run("scripts/demo", BUILD, env={"PORT": str(p)})
is_((r.returncode, f"port {p} is in use; choose another: make run PORT={p + 1}" in r.stderr), (3, True), "a port in use: the cure")
for word in "x", "0", "99999", "080", "4294967377":
    r = run("scripts/demo", BUILD, env={"PORT": word})
    is_((r.returncode, r.stdout), (2, ""), f"{word} is no port: exit 2, before anything is printed")
is_(stop(demo, seconds=30), 0, "SIGTERM: exit 0")
is_((listening(p), listening(backend)), (False, False), "nothing listens any more")
is_(os.path.exists(os.path.dirname(policy)), False, "and nothing is left")

r = run("scripts/install", BUILD, folder(), "/usr", timeout=30)
is_(r.returncode, 0, "install into a folder")
root = r.stdout.split("installed under ")[1].strip()[:-len("/usr")]
ok(os.access(f"{root}/usr/bin/weir", os.X_OK), "the command")
like(run(f"{root}/usr/bin/weir", "version", env=san_env()).stdout, f"{root}/usr/lib/weir/ngx_http_weir_module.so for nginx", "which finds its module")
for path in ("share/man/man1/weir.1", "share/man/man5/weir-policy.5", "share/bash-completion/completions/weir"):
    ok(os.path.getsize(f"{root}/usr/{path}") > 0, path)
like(open(f"{root}/usr/lib/systemd/system/weir.service").read(), "ExecStart=/usr/bin/weir run /etc/weir/policy.yaml", "the unit")
like(open(f"{root}/usr/lib/tmpfiles.d/weir.conf").read(), "\nd /dev/shm/weir-33 0700 www-data www-data -\n", "the tables' folder at boot")
done()
