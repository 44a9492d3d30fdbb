#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# weir run when something is wrong: each case with its message and exit code, found before nginx is started where it can be.
import fcntl, glob, json, os, random, shutil, socket, struct, sys; sys.path.insert(0, "tests/lib")
from weirtest import *

F_OFD_SETLK = 37  # linux/fcntl.h
backend = Backend()
dir = folder()
os.chmod(dir, 0o755)
good = write(f"{dir}/good.yaml", f"gateway: {{to: 'http://127.0.0.1:{backend.port}'}}\nlimits: {{per-ip: {{rate: 1/min, burst: 200}}}}\n")


def fails(argv, code, *parts, **kw):
    state = os.path.join(folder(), "state")
    r = run(WEIR, "run", *argv, "--state", state, timeout=40, **kw)
    what = " ".join(argv).replace(dir, "…")
    is_(r.returncode, code, f"{what}: exit {code}")
    for part in parts:
        like(r.stderr, part, f"{what}: {part}")
    is_(os.path.exists(state), False, f"{what}: nothing is left behind")
    return r


def begin(*argv, **kw):
    p = start([WEIR, "run", *argv, "--json"], stdout=subprocess.PIPE, stderr=open(f"{dir}/err", "w"), env=san_env(), text=True, **kw)
    text = ""
    while True:
        line = p.stdout.readline()
        text += line
        if line in ("}\n", ""):
            break
    return p, json.loads(text)


def low_port():
    """One that is no client's: those come from 32768 up, and binding every address minds them."""
    while True:
        p = random.randrange(12000, 32000)
        with socket.socket() as s:
            try:
                s.bind(("0.0.0.0", p))
                return p
            except OSError:
                pass


free = low_port()
here = ("--listen", f"127.0.0.1:{free}")

# what it is to stand in front of, and the policy
fails((dir, *here), 3, dir)
broken = write(f"{dir}/broken.yaml", "limits: {")
fails((broken, "--last-good", *here), 1, f"--last-good: no last good policy of {broken} was kept in ")
for argv in (("--to", "ftp://x"), (good, "--to", "ftp://x")):
    fails((*argv, *here), 2, "--to 'ftp://x'", "http://host:port")

# ports
with socket.socket() as s:
    s.bind(("127.0.0.1", 0))
    s.listen()
    taken = s.getsockname()[1]
    fails((good, "--listen", f"127.0.0.1:{taken}"), 3, f"port {taken} is in use", f"--listen {taken + 1}")
    fails((good, "--listen", str(taken)), 3, f"port {taken} is in use")
fails((good, "--listen", "70000"), 2, "cannot listen on '70000'")
for word in "example.org:80", "127.0.0.1:80:81", "[::1]:80:81", "::1:80", "[127.0.0.1:80":
    fails((good, "--listen", word), 2, f"cannot listen on '{word}'")
fails((good, "--listen", f"192.0.2.1:{free}"), 3, f"cannot listen on 192.0.2.1:{free}")

# policies
fails((write(f"{dir}/bad.yaml", "limits: {x: {rate: 5/s, brust: 1}}\n"), *here), 1, "bad.yaml:1:", "did you mean 'burst'?")
fails((f"{dir}/nope.yaml", *here), 3, "nope.yaml' cannot be read")
fails((write(f"{dir}/bare.yaml", "limits: {x: {rate: 50/s, burst: 200}}\n"), *here), 1, "nothing to stand in front of", "--to :3000")
fails(("--to", ":3000", "--limit", "5 bananas", *here), 2, "--limit: '5 bananas' is not a rate")
r = run(WEIR, "run")
is_((r.returncode, "weir run FILE, or weir run --to :3000" in r.stderr), (2, True), "nothing said: exit 2")

# nginx and the module
fails((good, *here, "--nginx", f"{dir}/nginx"), 3, f"no program {dir}/nginx", "cure: install it (Debian: apt-get install nginx)")
with open(f"{dir}/notnginx", "w") as f:
    f.write("#!/bin/sh\necho hello\n")
os.chmod(f"{dir}/notnginx", 0o755)
fails((good, *here, "--nginx", f"{dir}/notnginx"), 3, "is not nginx")
fails((good, *here, "--module", f"{dir}/none.so"), 3, f"cannot read {dir}/none.so", "cure: build it (make)")
fails((good, *here, "--module", good), 3, "is no nginx module")
have = run("nginx", "-v").stderr.split("nginx/")[1].split()[0]
number = struct.pack("<Q", sum(int(a) * b for a, b in zip(have.split("."), (1000000, 1000, 1))))
module = open(MODULE, "rb").read()
ok(module.count(number) >= 2, "the module carries nginx's version")
with open(f"{dir}/other.so", "wb") as f:
    f.write(module.replace(number, struct.pack("<Q", 1099003)))
fails((good, *here, "--module", f"{dir}/other.so"), 3, f"is nginx {have}", "was built for nginx 1.99.3", "version 1099003 instead of ", "weir module build --nginx ")
for size in (0, 10, 64, 1000, len(module) // 2, len(module) - 100):
    with open(f"{dir}/cut.so", "wb") as f:
        f.write(module[:size])
    r = run(WEIR, "run", good, *here, "--module", f"{dir}/cut.so", "--state", f"{dir}/st")
    is_(r.returncode, 3, f"a module cut to {size} bytes: exit 3")
r = weir("doctor", "--table", f"{dir}/none")
like(r.stdout, "was built for it", "the doctor knows the right one")

# /dev/shm too small, seen from a mount namespace of its own (where one may be made)
small = lambda size, argv: run("unshare", "-m" if os.geteuid() == 0 else "-Urm", "sh", "-c",
                               f"mount -t tmpfs -o size={size} tmpfs /dev/shm && exec \"$@\"", "sh", *argv, env=san_env() if ASAN else None)
if small("1m", ["true"]).returncode == 0:
    r = small("1m", [WEIR, "run", good, *here, "--state", f"{dir}/st"])
    is_(r.returncode, 3, "/dev/shm too small: exit 3")
    like(r.stderr, "/dev/shm has 1,048,576 bytes free; a table and its policy take ", "says how much is needed")
    like(r.stderr, " (docker: --shm-size=64m)", "with the cure")
    need = int(r.stderr.split("its policy take ")[1].split()[0].replace(",", ""))
    for pages, code in ((need + 4095) // 4096, 0), ((need + 4095) // 4096 - 1, 3):
        # a folder takes nothing there; SIGTERM once it serves
        r = small(4096 * pages, ["timeout", "-k", "20", "3" if code == 0 else "30", WEIR, "run", good, *here, "--state", f"{dir}/st"])
        is_((r.returncode, "undecided" in r.stderr), (124 if code == 0 else code, False), f"{4096 * pages} bytes: {'it serves' if code == 0 else 'exit 3'}")
    r = small("1m", [WEIR, "doctor"])
    is_((r.returncode, "/dev/shm has 1 of 1 MB free; a table takes 26" in r.stdout), (1, True), "the doctor says so too")

# nginx dies
p, said = begin(good, *here, "--state", f"{dir}/state")
pid = int(open(f"{dir}/state/nginx.pid").read())
workers = run("pgrep", "-P", str(pid)).stdout.split()
ok(workers, "nginx has workers")
os.kill(pid, signal.SIGKILL)
is_(p.wait(60), 3, "nginx is killed: exit 3")
like(open(f"{dir}/err").read(), "nginx ended (exit code 137)", "it says so")
ok(wait_until(lambda: not any(alive(w) for w in workers)), "no worker stays behind")
is_(listening(free), False, "nor the port")
is_((os.path.exists(said["table"]), os.path.exists(f"{dir}/state")), (False, False), "table and state are gone")


# the table has a control process already: weir run serves all the same, and leaves the edits to that
shelf = os.path.dirname(said["table"])
if not os.path.isdir(shelf):
    os.mkdir(shelf, 0o700)
    os.chown(shelf, int(shelf.rsplit("-", 1)[1]), -1)
with open(said["table"] + ".control", "w") as f:
    os.chmod(f.name, 0o600)
    os.chown(f.name, os.stat(shelf).st_uid, -1)
    fcntl.fcntl(f, F_OFD_SETLK, struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 0, 0, 0))
    f.write("4711")
    f.flush()
    p, said = begin(good, *here, "--state", f"{dir}/state")
    like(open(f"{dir}/err").read(), "weir run: edits will not be followed: weir control already runs for this table (process 4711)", "control runs elsewhere: said")
    is_(request(free).status, 200, "it serves")
    is_(stop(p, seconds=20), 0, "SIGTERM: exit 0")
is_((listening(free), os.path.exists(said["table"]), os.path.exists(f"{dir}/state")), (False, False, False), "nothing is left behind")

# a second one of the same
p, said = begin(good, *here, "--state", f"{dir}/state")
r = run(WEIR, "run", good, "--listen", f"127.0.0.1:{port()}", "--state", f"{dir}/state")
is_((r.returncode, f"weir run already serves this policy (process {p.pid})" in r.stderr), (3, True), "a second one is refused")
is_(request(free).status, 200, "the first serves on")

# weir run itself is killed: nginx does not stay behind, and the next start finds table and counters
before = int(request(free)["X-RateLimit-Remaining"])
p.kill()
p.wait()
ok(wait_until(lambda: not listening(free)), "killed: nginx ends too")
p, said2 = begin(good, *here, "--state", f"{dir}/state")
is_(said2["table"], said["table"], "started again: the same table")
is_(int(request(free)["X-RateLimit-Remaining"]), before - 1, "with its counters")

# broken when it stops, and at the next start: the last good one, if asked
keep = open(good).read()
write(good, "limits: {")
ok(wait_until(lambda: "the policy in force stays" in open(f"{dir}/err").read()), "an edit breaks the policy")
is_(stop(p), 0, "stopped")
r = run(WEIR, "run", good, *here, "--state", f"{dir}/state")
is_(r.returncode, 1, "broken at the start: exit 1")
like(r.stderr, "the last good one was kept: to start with that: --last-good", "it says that there is a last good one")
p, said = begin(good, *here, "--state", f"{dir}/state", "--last-good")
is_(request(free).status, 200, "--last-good: it serves")
write(good, keep.replace("burst: 200", "burst: 300"))
ok(wait_until(lambda: request(free)["X-RateLimit-Limit"] == "300"), "and follows the file once that is repaired")
is_(stop(p), 0, "stopped again")
is_(os.path.exists(f"{dir}/state"), False, "now that the file is good, nothing is kept")

# stopped at any moment of its start
for seen, delay in (("", 0), ("lock", 0), ("nginx.conf", 0), *(("nginx.conf", d) for d in (0.001, 0.01, 0.03, 0.06, 0.1, 0.2))):
    p = start([WEIR, "run", good, *here, "--state", f"{dir}/early"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=san_env())
    wait_until(lambda: os.path.exists(f"{dir}/early/{seen}") or p.poll() is not None, step=0.0001)
    time.sleep(delay)
    is_((stop(p, seconds=60), listening(free), os.path.exists(said["table"]), os.path.exists(f"{dir}/early")), (0, False, False, False),
        f"SIGTERM {delay} s after {seen or 'the state folder'} is there: exit 0, all gone")

# somebody else's state folder
os.mkdir(f"{dir}/open")
os.chmod(f"{dir}/open", 0o777)
r = run(WEIR, "run", good, *here, "--state", f"{dir}/open")
is_((r.returncode, "that no other can write to" in r.stderr), (3, True), "a state folder that others may write to: exit 3")

# not root: everything under one user
if os.geteuid() == 0:
    home = folder()
    os.chown(home, 65534, 65534)

    def nobody():
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)
    p, said = begin(good, *here, "--state", f"{home}/state", preexec_fn=nobody)
    is_((request(free).status, os.stat(said["table"]).st_uid), (200, 65534), "not root: it works under its own user")
    write(good, keep.replace("burst: 200", "burst: 400"))
    ok(wait_until(lambda: request(free)["X-RateLimit-Limit"] == "400"), "edits are followed")
    r = weir("show", "--json", "--table", said["table"])
    is_(json.loads(r.stdout)["policy"]["file"], "same", "root can look at it")
    is_(weir("reset", "--all", "--table", said["table"]).returncode, 0, "and write to it")
    is_({os.stat(f).st_uid for f in glob.glob(said["table"] + "*")}, {65534}, "without leaving anything of root's there")
    is_(stop(p), 0, "it stops")
    is_(os.path.exists(said["table"]), False, "and cleans up")

# a bare port: every address, both families
p, said = begin(good, "--listen", str(free), "--state", f"{dir}/state")
is_(said["listening"][0], f"0.0.0.0:{free}", "a bare port listens on every address")
is_(request(free).status, 200, "which answers")
if f"[::]:{free}" in said["listening"]:
    with socket.create_connection(("::1", free), 5) as s:
        s.sendall(b"GET / HTTP/1.0\r\n\r\n")
        like(s.recv(100).decode(), "200 OK", "and over IPv6")
is_(stop(p), 0, "stopped")
done()
