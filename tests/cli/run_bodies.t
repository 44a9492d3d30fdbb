#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# weir run before a login and a model: bodies are looked into, and answers are asked for as they can be read.
import gzip, json, os, sys; sys.path.insert(0, "tests/lib")
from weirtest import *


def answer(method, path, headers, body):
    data = json.dumps({"usage": {"total_tokens": 30}}).encode()
    if "gzip" in headers.get("Accept-Encoding", ""):
        return 200, {"Content-Type": "application/json", "Content-Encoding": "gzip"}, gzip.compress(data)
    return 200, {"Content-Type": "application/json"}, data


backend = Backend(answer)
dir = folder()
os.chmod(dir, 0o755)
p, policy, state = port(), f"{dir}/policy.yaml", f"{dir}/state"
login = "login: {match: POST /login, key: body.username, missing: deny, rate: 2/hour}"
tokens = "tokens: {match: /chat, key: ip, rate: 100/hour, overdraw: yes, cost: {reserve: 10, settle: response.body.usage.total_tokens}}"


def save(*limits):
    write(policy, f"gateway: {{listen: '127.0.0.1:{p}', to: 'http://127.0.0.1:{backend.port}'}}\nlimits:\n" + "".join(f"  {l}\n" for l in limits))


def post(path, body):
    return request(p, "POST", path, body=body, headers={"Content-Type": "application/x-www-form-urlencoded", "Accept-Encoding": "gzip"})


ASKED = '    proxy_set_header Accept-Encoding "";\n'
conf = lambda: open(f"{state}/nginx.conf").read()
save(login)
run_ = start([WEIR, "run", policy, "--state", state], stdout=subprocess.DEVNULL, stderr=open(f"{dir}/err", "w"))
ok(wait_until(lambda: listening(p), 60), "it serves")
is_([post("/login", f"username={name}").status for name in ("eve", "EVE+", "%65ve", "adam")], [200, 200, 429, 200], "logins are counted by account")
is_(post("/login", "").status, 403, "one without is refused")
is_(conf().count(ASKED), 0, "answers may be compressed")
is_(post("/other", "")["Content-Encoding"], "gzip", "... and are")
save(login, tokens)
ok(wait_until(lambda: conf().count(ASKED) == 1, 60), "an answer that says what it cost must be readable: from the edit on")
ok(wait_until(lambda: post("/other", "")["Content-Encoding"] is None, 60), "... they are not compressed")
ok(wait_until(lambda: post("/chat", "")["X-RateLimit-Limit"] == "100", 60), "the limit holds")
ok(wait_until(lambda: post("/chat", "").status == 429, 60), "30 a time use up 100")
within(sum(path == "/chat" for _, path in backend.seen), 4, 5, "... in four times, however small the reserve")
is_(stop(run_), 0, "it ends")
done()
