#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Every example in the documentation works: policies load, nginx configurations pass nginx's own test, weir commands exist, the
# generated pages are what the command prints, links lead somewhere.
import glob, re, sys; sys.path.insert(0, "tests/lib")
from weirtest import *

pages = ["README.md", "DESIGN.md", "SECURITY.md", "CHANGES.md"] + sorted(glob.glob("docs/**/*.md", recursive=True))


def fences(text, kind):
    return re.findall(rf"^```{kind}\n(.*?)^```", text, re.M | re.S)


policies = 0
for page in pages:
    text = open(page).read()
    for number, example in enumerate(fences(text, "yaml"), 1):
        policies += 1
        where = folder()
        write(os.path.join(where, "policy.yaml"), example)
        for name in re.findall(r"file: ([\w.-]+)", example):
            write(os.path.join(where, name), "192.0.2.0/24\n" if name.endswith(".txt") else "<html>slow down</html>\n")
        if re.search(r"^include:", example, re.M):
            os.mkdir(os.path.join(where, "conf.d"))
        r = weir("check", os.path.join(where, "policy.yaml"), cwd=where, env={"WEIR_BACKEND": "http://127.0.0.1:3000"})
        if not ok(r.returncode == 0, f"{page}: policy {number} loads"):
            for line in (r.stdout + r.stderr).splitlines()[:8]:
                note(line)
ok(policies > 3, "there were policies")
for path in sorted(glob.glob("examples/*.yaml")):
    r = weir("check", path)
    is_(r.returncode, 0, f"{path} loads")

for page in pages:
    for number, example in enumerate(fences(open(page).read(), "nginx"), 1):
        where, shm = folder(), shm_folder()
        write(os.path.join(where, "policy.yaml"), "limits: {per-ip: {rate: 50/s, burst: 100}}\n")
        text = re.sub(r"^\s*load_module [^;]*;", "", example, flags=re.M)
        text = re.sub(r"weir_policy [^;]*;", f"weir_policy {where}/policy.yaml;", text)
        text = re.sub(r"weir_table \S+", f"weir_table {shm}/t/site", text)
        text = re.sub(r"listen [^;]*;", lambda m: f"listen 127.0.0.1:{port()};" if "ssl" not in m.group(0) and "http2" not in m.group(0) else m.group(0), text)
        if "http {" not in text:
            if "server {" not in text and re.search(r"location|weir (on|off)", text):
                text = "server {\n" + text + "\n}"
            if "weir_policy" not in text:
                text = f"weir_policy {where}/policy.yaml;\n" + text
            text = "http {\n" + text + "\n}"
        if "events" not in text:
            text += "\nevents {}\n"
        conf = write(os.path.join(where, "nginx.conf"), f"load_module {MODULE};\npid {where}/pid;\nerror_log stderr;\n" + text)
        r = run("nginx", "-t", "-c", conf, "-p", where, "-e", "stderr", env=san_env())
        if not ok(r.returncode == 0, f"{page}: nginx configuration {number} passes nginx -t"):
            for line in r.stderr.splitlines()[-5:]:
                note(line)

commands = set(re.findall(r"^  (\w+)", run(WEIR, "help").stdout, re.M))
for page in pages:
    text = open(page).read()
    used = set(re.findall(r"^(?:\$ )?weir ([a-z]+)", "\n".join(fences(text, "(?:sh|console)")), re.M)) | set(re.findall(r"`weir ([a-z]+)", text))
    is_(sorted(used - commands - {"on", "off"}), [], f"{page}: every weir command it names exists")
    broken = [target for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", text) if not os.path.exists(os.path.join(os.path.dirname(page), target))]
    is_(broken, [], f"{page}: its links lead somewhere")

is_(run("scripts/docs", WEIR, "--check").stderr, "", "the generated pages are up to date")
done()
