#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# README's terminal session, as a stranger would type it: the policy it shows, the answers it promises.
import re, sys; sys.path.insert(0, "tests/lib")
from weirtest import *

readme = open("README.md").read()
policy = re.search(r"```yaml\n(.*?)```", readme, re.S).group(1)
session = re.search(r"```console\n(.*?)```", readme, re.S).group(1)
steps = re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", session, re.M)
is_(len(steps), 4, "the session has four steps")

where = folder()
write(os.path.join(where, "policy.yaml"), policy)
backend = Backend(lambda method, path, headers, body: (401 if method == "POST" else 200, {}, b""))
listen = port()
env = {"PATH": os.path.dirname(WEIR) + ":" + os.environ["PATH"]}
here = lambda command: command.replace(":3000", f":{backend.port}").replace("127.0.0.1:8080", f"127.0.0.1:{listen}")
shell = lambda command: run("bash", "-c", here(command), cwd=where, env=env).stdout

is_(shell(steps[0][0]), steps[0][1], "weir check reads it aloud")
argv = here(steps[1][0]).rstrip(" &").split()
gateway = start([WEIR, *argv[1:], "--listen", f"127.0.0.1:{listen}"], cwd=where, env=san_env(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
ok(wait_until(lambda: listening(listen), 20), "the gateway listens")
is_(shell(steps[2][0]).strip(), steps[2][1].strip(), "five guesses reach the backend, the rest are refused")
got = shell(steps[3][0]).replace("\r", "")
for line in steps[3][1].splitlines():
    if line.startswith("Retry-After") or line.startswith("RateLimit: "):  # a second may have passed
        number = int(re.search(r"(\d+)$", line).group(1))
        ok(any(line.replace(str(number), str(n)) in got for n in range(number - 4, number + 1)), f"the refusal says {line}")
    else:
        like(got, line, f"the refusal says {line}")
is_(stop(gateway), 0, "and stops cleanly")
done()
