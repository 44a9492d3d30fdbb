#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# weir run when the gateway's part of an edit cannot be put in force: it says which part and why, show and doctor know,
# everything is served as before, and the next save tries again.
import json, os, socket, sys; sys.path.insert(0, "tests/lib")
from weirtest import *

one = Backend(lambda *a: (200, {"X-Backend": "one"}, b""))
two = Backend(lambda *a: (200, {"X-Backend": "two"}, b""))
dir = folder()
os.chmod(dir, 0o755)
p, q, state, err = port(), port(), f"{dir}/state", f"{dir}/err"
policy = f"{dir}/policy.yaml"


def save(listen, to, burst):
    write(policy, f"gateway: {{listen: [{', '.join(listen)}], to: '{to}'}}\nlimits: {{per-ip: {{rate: 1/min, burst: {burst}}}}}\n")


def log():
    return open(err).read()


def refused(what, part):
    before = log().count("is not in force: ")
    what()
    ok(wait_until(lambda: log().count("is not in force: ") > before, 60), f"refused: {part}")
    said = log().rsplit("is not in force: ", 1)[1].splitlines()[0]
    like(said, part, "and why")
    like(said, "; nginx serves on as before, the limits are in force", "and what holds")
    why = wait_until(lambda: json.loads(weir("show", "--json", "--table", table).stdout).get("gateway", {}).get("why"))
    ok(why and said.startswith(why + ";"), "weir show knows")
    like(weir("show", "--table", table).stdout, f"gateway   not in force as edited: {why}\n", "in words")
    wrong = [f["sentence"] for f in json.loads(weir("doctor", "--json", "--table", table).stdout)["findings"] if f["what"] == "gateway"]
    is_(wrong, [f"the edited gateway is not in force: {why}"], "weir doctor too")
    a = request(p, "GET", "/")
    is_((a.status, a["X-Backend"]), (200, "one"), "it serves as before")
    ok(wait_until(lambda: not os.path.exists(f"{state}/nginx.conf.next")), "what was tried is gone")


here, there = f"127.0.0.1:{p}", f"http://127.0.0.1:{two.port}"
mine = f"http://127.0.0.1:{one.port}"
save([here], mine, 100)
run_ = start([WEIR, "run", policy, "--state", state, "--json"], stdout=subprocess.PIPE, stderr=open(err, "w"), text=True,
             env=dict(san_env(), RES_OPTIONS="timeout:1 attempts:1"))  # a resolver that nobody answers holds nothing up
text = ""
while (line := run_.stdout.readline()) not in ("}\n", ""):
    text += line
table = json.loads(text + "}")["table"]
conf = open(f"{state}/nginx.conf").read()

with socket.socket() as s:
    s.bind(("127.0.0.1", q))
    s.listen()
    refused(lambda: save([here, f"127.0.0.1:{q}"], there, 101), f"listen: 127.0.0.1:{q}: the port is in use")
    ok(wait_until(lambda: request(p, "GET", "/")["X-RateLimit-Limit"] == "101"), "the edited limit is in force")
refused(lambda: save([str(p)], mine, 102), f"listen: it cannot change to 0.0.0.0:{p} while it listens on that port already")
refused(lambda: save([here], "http://no-such-host.invalid:80", 103), 'nginx: host not found in upstream "no-such-host.invalid:80"')
is_(open(f"{state}/nginx.conf").read(), conf, "nginx.conf is the old one")
is_("nginx reloads" in log(), False, "and nginx never reloaded")

save([here, f"127.0.0.1:{q}"], there, 105)
ok(wait_until(lambda: "nginx reloads" in log()), "mended: nginx reloads")
ok(wait_until(lambda: listening(q) and request(q, "GET", "/")["X-Backend"] == "two"), "all of it holds")
is_("gateway" in json.loads(weir("show", "--json", "--table", table).stdout), False, "weir show has nothing to say of it")
refused_to = "http://no-such-host.invalid:80"
save([here], refused_to, 106)
ok(wait_until(lambda: os.path.exists(f"{table}.gateway")), "refused again")
save([here, f"127.0.0.1:{q}"], there, 106)
ok(wait_until(lambda: not os.path.exists(f"{table}.gateway")), "taken back: nothing is refused any more")
is_(stop(run_), 0, "it stops")
is_((os.path.exists(state), os.path.exists(f"{table}.gateway")), (False, False), "and leaves nothing")
done()
