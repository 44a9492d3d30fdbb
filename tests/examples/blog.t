#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# The blog of examples/blog.yaml behind `weir run`: readers load pages whole (C17), members and authors have their numbers, and who
# scrapes, guesses or spams is stopped where the comments say.
import sys; sys.path.insert(0, "tests/examples")
from starterlib import *


def answer(method, path, headers, body):
    return (401 if path == "/login" and b"right" not in body else 200), {}, b"ok\n"


backend, p, dir = Backend(answer), port(), folder()
os.chmod(dir, 0o755)
text = open("examples/blog.yaml").read().replace("listen: 8080 ", f"listen: 127.0.0.1:{p} ").replace("127.0.0.1:3000", f"127.0.0.1:{backend.port}")
write(f"{dir}/blog.yaml", text)
private(f"{dir}/blog.secret", SECRET)
if os.geteuid() == 0:
    shutil.chown(f"{dir}/blog.secret", group="www-data")
    os.chmod(f"{dir}/blog.secret", 0o640)
r = weir("check", f"{dir}/blog.yaml")
is_((r.returncode, r.stderr), (0, ""), "no error, no warning")
gateway = start([WEIR, "run", f"{dir}/blog.yaml", "--state", f"{dir}/state"], stdout=subprocess.DEVNULL, stderr=open(f"{dir}/err", "w"))
ok(wait_until(lambda: listening(p), 60), "weir run examples/blog.yaml")


def ask(method, path, source, body=None):
    return lambda: request(p, method, path, body=body, source=source)


# ---- readers ----
files = [f"/assets/f{i}.png" for i in range(30)]
is_(load_page(p, files, source="127.0.1.1"), 31 * [200], "C17: a page with 30 files loads whole")
is_([load_page(p, files, f"/post/{i}", "127.0.1.2") for i in range(3)], 3 * [31 * [200]], "three of them, one after the other, too")
is_(sum(at_once(8, lambda i: load_page(p, files, source=f"127.0.2.{i + 1}")), []), 8 * 31 * [200], "eight readers at once")
is_([request(p, "POST", "/login", body=b"right", source="127.0.1.3").status for _ in range(12)], 12 * [200], "who knows the password never meets the limit")
Bucket(3 / MINUTE, 3).check(3, ask("POST", "/comments", "127.0.1.1"), "three comments")
is_({request(p, path="/healthz", source="127.0.1.4").status for _ in range(150)}, {200}, "monitoring is not limited")

# ---- levels ----
for level, pages in ("guest", 1000), ("member", 2000), ("author", 3000):
    cookie = {} if level == "guest" else {"Cookie": f"token={hs256(sub=level, level=level)}"}
    request(p, path="/post/1", source="127.0.1.5", headers=cookie)
    is_(own(p, source="127.0.1.5", headers=cookie)["pages"], (pages, 1), f"{level}: {pages} pages an hour")
forged = {"Cookie": "token=" + hs256(sub="eve", level="author")[:-4] + "AAAA"}
is_(own(p, source="127.0.1.6", headers=forged)["pages"][0], 1000, "who makes a token up is a guest")

# ---- those who are to be stopped ----
flood(many(p, 400, "/assets/x.png", source="127.0.3.1"), 100, 50, "a scraper has 100 at once, then 50 a second")
is_(request(p, source="127.0.3.2").status, 200, "... and nobody else is held up")
guess = ask("POST", "/login", "127.0.3.3", b"wrong")
Bucket(5 / MINUTE, 5, passed=401).check(9, guess, "five wrong passwords, then none is tried")
a = guess()
is_((a.status, 1 <= int(a["retry-after"]) <= 12), (429, True), "... but one every twelve seconds")
[guess() for _ in range(25)]
within(int(guess()["retry-after"]), 800, 900, "twenty refusals: banned for a quarter of an hour")
is_(request(p, source="127.0.3.3").status, 200, "... from the login; pages are still there")
Bucket(3 / MINUTE, 3).check(5, ask("POST", "/comments", "127.0.3.4"), "spam: three comments")
Bucket(3 / MINUTE, 3).check(5, ask("POST", "/contact", "127.0.3.5"), "three mails")
Bucket(10 / MINUTE, 10).check(13, ask("GET", "/search?q=x", "127.0.3.6"), "ten searches")
is_(stop(gateway), 0, "it ends")
done()
