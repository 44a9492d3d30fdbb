#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# weir run with `concurrent`: what the backend works at is counted, also when nobody waits for it any more.
import os, socket, sys, threading; sys.path.insert(0, "tests/lib")
from weirtest import *

hold = threading.Event()


def answer(method, path, headers, body):
    if path == "/hold":
        hold.wait(60)
    return 200, {}, b"ok\n"


backend = Backend(answer)
dir = folder()
os.chmod(dir, 0o755)
p, policy, state = port(), f"{dir}/policy.yaml", f"{dir}/state"


def save(limit):
    write(policy, f"gateway: {{listen: '127.0.0.1:{p}', to: 'http://127.0.0.1:{backend.port}'}}\nlimits: {{work: {{key: ip, {limit}}}}}\n")


ABORT = "    proxy_ignore_client_abort on;\n"
conf = lambda: open(f"{state}/nginx.conf").read()
save("rate: 1000/s")
run_ = start([WEIR, "run", policy, "--state", state], stdout=subprocess.DEVNULL, stderr=open(f"{dir}/err", "w"))
ok(wait_until(lambda: listening(p), 60), "it serves")
is_(conf().count(ABORT), 0, "rates only: a backend is told when its client hangs up")
save("concurrent: 2")
ok(wait_until(lambda: conf().count(ABORT) == 1, 60), "concurrent: from the edit on it is not")
ok(wait_until(lambda: request(p, "GET", "/")["X-RateLimit-Limit"] == "2", 60), "two at once")
time.sleep(2)  # the old workers are gone

for i in range(2):
    s = socket.create_connection(("127.0.0.1", p))
    s.sendall(b"GET /hold HTTP/1.1\r\nHost: a\r\n\r\n")
    wait_until(lambda: [path for _, path in backend.seen].count("/hold") > i)
    s.close()
time.sleep(1)
is_(request(p, "GET", "/").status, 429, "two clients have hung up: the backend works at their requests still")
hold.set()
ok(wait_until(lambda: request(p, "GET", "/").status == 200), "when it is done, their places are free")
is_(stop(run_), 0, "it ends")
done()
