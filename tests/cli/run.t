#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# weir run: a gateway from one command: what it passes on, live edits, routes, and a clean stop.
import json, os, socket, sys, threading; sys.path.insert(0, "tests/lib")
from weirtest import *

seen = []


def answer(method, path, headers, body):
    seen.append((method, path, {k.lower(): v for k, v in headers.items()}, body))
    return 200, {"X-Backend": "one"}, b"one"


backend = Backend(answer)
second = Backend(lambda *a: (200, {"X-Backend": "two"}, b"two"))


class Gateway:
    def __init__(self, *argv, json_out=True, **kw):
        self.dir = folder()
        self.port = port()
        self.state = os.path.join(self.dir, "state")
        self.err = os.path.join(self.dir, "err")
        self.process = start([WEIR, "run", *argv, "--listen", f"127.0.0.1:{self.port}", "--state", self.state]
                             + (["--json"] if json_out else []), stdout=subprocess.PIPE, stderr=open(self.err, "w"), env=san_env(), text=True, **kw)
        text = ""
        while json_out:
            line = self.process.stdout.readline()
            text += line
            if line in ("}\n", ""):
                break
        self.said = json.loads(text) if text else None

    def log(self):
        return open(self.err).read()

    def get(self, path="/", **kw):
        return request(self.port, "GET", path, **kw)


# without a file
g = Gateway("--to", f":{backend.port}", "--limit", "3/min", "--table-size", "128k")
is_(json.loads(weir("table", "info", "--json", "--table", g.said["table"]).stdout)["slots"], 8192, "a table of the size that was asked for")
is_(g.said["listening"], [f"127.0.0.1:{g.port}"], "it says where it listens")
is_(g.said["routes"], [{"match": "", "to": f"http://127.0.0.1:{backend.port}"}], "and what it stands in front of")
ok(os.path.exists(g.said["table"]), "its table is there")
a = g.get("/a%2Fb?c=%20d", headers={"X-Forwarded-For": "1.1.1.1", "X-Forwarded-Proto": "https", "Host": "shop.example:81"})
is_((a.status, a["X-Backend"], a["X-RateLimit-Limit"], a["X-RateLimit-Remaining"]), (200, "one", "3", "2"), "a request passes, limited")
method, path, headers, body = seen[-1]
is_(path, "/a%2Fb?c=%20d", "its target as the client wrote it")
is_({k: headers.get(k) for k in ("host", "x-forwarded-for", "x-forwarded-proto", "x-forwarded-host", "x-real-ip", "connection")},
    {"host": "shop.example:81", "x-forwarded-for": "127.0.0.1", "x-forwarded-proto": "http", "x-forwarded-host": "shop.example:81",
     "x-real-ip": "127.0.0.1", "connection": None}, "what the application is told; nothing that the client made up")
big = os.urandom(3 << 20)
a = request(g.port, "POST", "/", body=big)
is_((a.status, seen[-1][3] == big), (200, True), "a large body passes unchanged")
is_([g.get().status for _ in range(3)], [200, 429, 429], "then it is refused")
is_(len(seen), 3, "refused requests never reach the application")
r = weir("show", "--json", "--table", g.said["table"])
is_(json.loads(r.stdout)["control"]["running"], True, "edits are followed")
edited = open(g.said["policy"]).read().replace("3/min", "30/min")
write(g.said["policy"], edited)
ok(wait_until(lambda: g.get()["X-RateLimit-Limit"] == "30"), "the policy that was written for it can be edited")
is_(stop(g.process), 0, "SIGTERM: exit 0")
is_(g.log().count("a page with 30 files would not load whole"), 1, "a warning of the policy is told once")
is_((os.path.exists(g.said["table"]), os.path.exists(g.state)), (False, False), "table and state are gone")
is_([n for n in os.listdir(os.path.dirname(g.said["table"])) if n.startswith(os.path.basename(g.said["table"]))]
    if os.path.exists(os.path.dirname(g.said["table"])) else [], [], "and everything beside it")

# with a file
home = folder()
os.chmod(home, 0o755)
POLICY = """\
gateway:
  to: http://127.0.0.1:%d
%s
clients:
  address: {from: x-forwarded-for, trusted: [127.0.0.0/8]}
limits:
  per-ip: {rate: 1/min, burst: %d}
  slow: {match: /slow, key: site, algorithm: leaky-bucket, rate: 2/s, queue: 5}
"""
policy = write(f"{home}/policy.yaml", POLICY % (backend.port, "", 4))
g = Gateway(policy)
g.get("/", headers={"X-Forwarded-For": "192.0.2.1, 192.0.2.2", "X-Forwarded-Proto": "https"}, source="127.0.0.2")
h = seen[-1][2]
is_((h["x-forwarded-for"], h["x-forwarded-proto"], h.get("x-real-ip")), ("192.0.2.1, 192.0.2.2, 127.0.0.2", "https", None),
    "behind a trusted proxy: appended, and its word is passed on")
client = {"X-Forwarded-For": "192.0.2.2"}
is_([g.get(headers=client)["X-RateLimit-Remaining"] for _ in range(2)], ["2", "1"], "the client behind it is counted")
write(policy, POLICY % (backend.port, "", 8))
if not ok(wait_until(lambda: f"burst 8, counters carried over" in g.log()), "an edit is reported"):
    note(g.log())
a = g.get(headers=client)
is_((a["X-RateLimit-Limit"], a["X-RateLimit-Remaining"]), ("8", "1"), "in force at the next request; no counter is lost")

write(policy, POLICY % (backend.port, "", 9) + "nonsense: 1\n")
ok(wait_until(lambda: "is not usable: the policy in force stays" in g.log()), "a broken edit is reported")
is_(g.get(headers=client)["X-RateLimit-Limit"], "8", "and changes nothing")

routes = f"""  routes:
    - {{match: /pay/special, to: 'http://127.0.0.1:{backend.port}'}}
    - {{match: /pay/**, to: 'http://127.0.0.1:{second.port}'}}
    - {{match: '/users/{{id}}/files', to: 'http://127.0.0.1:{second.port}'}}
    - {{match: /a.b, to: 'http://127.0.0.1:{second.port}'}}"""
nginx = int(open(os.path.join(g.state, "nginx.pid")).read())
workers = lambda: {int(w) for w in run("pgrep", "-P", str(nginx)).stdout.split()}
old = workers()
write(policy, POLICY % (backend.port, routes, 1000))
ok(wait_until(lambda: "nginx reloads" in g.log()), "an edit of the gateway: nginx reloads by itself")
# until they are told to exit, for a tenth of a second, nginx's old workers take connections beside the new ones
ok(wait_until(lambda: workers() and not old & workers()), "the old workers end")
ok(wait_until(lambda: g.get("/pay/x", source="127.0.0.3")["X-Backend"] == "two"), "the new route holds")
for path, to in (("/pay", "two"), ("/pay/", "two"), ("/PAY/x/y", "two"), ("/pay/special", "one"), ("/pay/special/", "one"), ("/payx", "one"),
                 ("/users/7/files", "two"), ("/users/7/8/files", "one"), ("/users//files", "one"), ("/a.b", "two"), ("/axb", "one"), ("/", "one")):
    is_(g.get(path, source="127.0.0.3")["X-Backend"], to, f"{path} goes to {to}")

# SIGHUP, and stopping while requests wait
old = workers()
g.process.send_signal(signal.SIGHUP)
ok(wait_until(lambda: workers() and not old & workers()), "SIGHUP: nginx reloads")
is_(g.get(source="127.0.0.4").status, 200, "after SIGHUP it serves on")
results = []
threads = [threading.Thread(target=lambda: results.append(request(g.port, "GET", "/slow", source="127.0.0.5"))) for _ in range(4)]
[t.start() for t in threads]
slow = lambda: json.loads(weir("show", "--json", "--table", g.said["table"], "--limit", "slow").stdout)["limits"][0]["allowed"]
ok(wait_until(lambda: slow() == 4), "four are admitted: one passes, three wait their turn")
g.process.send_signal(signal.SIGINT)
g.process.send_signal(signal.SIGTERM)
[t.join() for t in threads]
is_([r.status for r in results], [200] * 4, "SIGINT lets those that wait finish, though a SIGTERM follows at once")
in_turn(results, 0.5, "each at its turn")
is_(g.process.wait(60), 0, "then exit 0")
within(time.monotonic() - max(r.ended for r in results), 0, 8, "as soon as the last has finished")
is_(os.path.exists(g.said["table"]), False, "the table is gone")
is_(listening(g.port), False, "the port is free")

# a second signal, later, does not wait for them
accepted = threading.Event()
patient = Backend(lambda *a: accepted.set() or time.sleep(60) or (200, {}, b"late"))
g = Gateway("--to", f":{patient.port}")
with socket.create_connection(("127.0.0.1", g.port), 60) as s:
    s.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    ok(accepted.wait(30), "a request is in flight")
    g.process.send_signal(signal.SIGTERM)
    ok(wait_until(lambda: "stopping" in g.log()), "SIGTERM is heard")
    started = time.monotonic()
    time.sleep(1.2)
    is_(g.process.poll(), None, "SIGTERM: it is waited for")
    g.process.send_signal(signal.SIGTERM)
    is_(s.recv(100), b"", "another one: it is cut off")
    is_(g.process.wait(50), 0, "exit 0")
    within(time.monotonic() - started, 1.2, 8, "without waiting the ten seconds")

# the application is away
g = Gateway("--to", f":{port()}", "--limit", "3/min")
is_([g.get().status for _ in range(5)], [502, 502, 502, 429, 429], "the application is away: 502, yet the limits hold")
is_(stop(g.process), 0, "it stops all the same")

# a websocket: the upgrade passes, and bytes flow both ways
upgrade = socket.socket()
upgrade.bind(("127.0.0.1", 0))
upgrade.listen()


def echo():
    c = upgrade.accept()[0]
    data = b""
    while b"\r\n\r\n" not in data:
        data += c.recv(4096)
    head = data.decode().lower()
    good = "upgrade: websocket" in head and "connection: upgrade" in head
    c.sendall(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n" if good else b"HTTP/1.1 400 No\r\n\r\n")
    c.sendall(b"<" + c.recv(100) + b">")
    c.close()


threading.Thread(target=echo, daemon=True).start()
g = Gateway("--to", f":{upgrade.getsockname()[1]}")
with socket.create_connection(("127.0.0.1", g.port), 10) as s:
    s.sendall(b"GET /ws HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n")
    data = b""
    while b"\r\n\r\n" not in data:
        data += s.recv(4096)
    ok(data.startswith(b"HTTP/1.1 101 "), "a websocket is upgraded")
    ok(b"X-RateLimit-Limit: 100" in data, "and counted")
    s.sendall(b"ping")
    data = data.split(b"\r\n\r\n", 1)[1]
    while len(data) < 6:
        data += s.recv(100)
    is_(data, b"<ping>", "bytes flow both ways")
is_(stop(g.process), 0, "it stops")

# the words for people
g = Gateway(write(f"{home}/words.yaml", POLICY % (backend.port, "", 200)), json_out=False)
said = ""
while "weir show" not in said:
    said += g.process.stdout.readline()
for part in (f"listening on http://127.0.0.1:{g.port} → http://127.0.0.1:{backend.port}\n", "per-ip: every request, by client address: 200 at once",
             f"edit {home}/words.yaml and save: in force within a second\n", f"curl -i http://127.0.0.1:{g.port}/\n"):
    like(said, part, part.strip())
g.process.send_signal(signal.SIGINT)
is_(g.process.wait(60), 0, "SIGINT ends it too")
done()
