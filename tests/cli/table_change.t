#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# weir table resize, with traffic on; export and import: every client is where it was.
import json, os, sys, threading; sys.path.insert(0, "tests/lib")
from weirtest import *

site = Site(policy="limits: {per-ip: {rate: 20/hour}}", workers=2, table_size="1m")
T = ("--table", site.table)
for i in range(40):
    for _ in range(i % 5 + 1):
        site.get("/", source=f"127.0.0.{i + 10}")


def remaining(source):
    return int(site.get("/", source=source)["X-RateLimit-Remaining"])


failed, going = [], True


def traffic():
    while going:
        try:
            a = site.get("/", source="127.0.0.200")
            if a.status not in (200, 429):
                failed.append(a.status)
        except (OSError, http.client.HTTPException) as e:
            failed.append(e)


t = threading.Thread(target=traffic)
t.start()
slots = json.loads(weir("table", "info", "--json", *T).stdout)["slots"]
for size, factor in ("4m", 4), ("2m", 2), ("512k", 0.5):
    r = weir("table", "resize", size, *T)
    is_((r.returncode, r.stderr), (0, ""), f"resize {size}")
    is_("as full as before at first" in r.stdout, size == "4m", "a larger one is as full at first, and says so")
    is_(json.loads(weir("table", "info", "--json", *T).stdout)["slots"], slots * factor, "so many slots")
    is_(weir("table", "check", *T).returncode, 0, "sound")
    time.sleep(1.5)
going = False
t.join()
is_(failed, [], "no request failed meanwhile")
is_([remaining(f"127.0.0.{i + 10}") for i in range(40)], [20 - (i % 5 + 1) - 1 for i in range(40)], "everybody is where they were")
is_(site.get("/", source="127.0.0.200").status, 429, "who had used up theirs has")
for words in ("resize",), ("resize", "1k"), ("resize", "many"), ("resize", "100t"):
    is_(weir("table", *words, *T).returncode, 2, " ".join(words) + " is refused")

# ---- export, import ----
out = os.path.join(site.dir, "export.json")
is_(weir("table", "export", out, *T).returncode, 0, "export")
is_(oct(os.stat(out).st_mode & 0o777), "0o600", "it is private")
is_(weir("table", "export", out, *T).returncode, 3, "and does not overwrite")
document = json.load(open(out))
is_((document["format"], [r["limit"] for r in document["rows"]], len(document["counters"]) >= 41), ("weir table 1", ["per-ip"], True), "what is in it")
is_(json.loads(weir("table", "export", *T).stdout)["format"], "weir table 1", "to standard output")
r = weir("table", "import", out, *T)
is_(r.returncode, 3, "a table that is there is not replaced unasked")
like(r.stderr, "there is a table already", "says that there is one")
like(r.stderr, "cure: name another path, or say that it is to be replaced: --replace", "and how it is")
site.get("/", source="127.0.0.10")
is_(weir("table", "import", out, "--replace", *T).returncode, 0, "import --replace")
ok(wait_until(lambda: remaining("127.0.0.10") >= 16), "and everything is as it was when it was exported")
is_(weir("table", "check", *T).returncode, 0, "sound")
for spoil in (lambda d: d.pop("rows"), lambda d: d.update(format="x"), lambda d: d["counters"][0].update(pair="zz"),
              lambda d: d["rows"][0].update(row=0), lambda d: d["rows"][0]["numbers"].update(kind="none"), lambda d: d.update(secret=["1"])):
    d = json.loads(json.dumps(document))
    spoil(d)
    r = weir("table", "import", write(out + ".bad", json.dumps(d)), "--replace", *T)
    is_(r.returncode, 3, "a broken export is refused")
r = weir("table", "import", write(out + ".bad", "{"), "--replace", *T)
is_(r.returncode, 3, "and what is no JSON")
like(r.stderr, "cure: give it a file that is whole", "with a cure that fits")
is_("remove the file" in r.stderr, False, "and none that does not")
r = weir("table", "import", out + ".none", "--replace", *T)
is_((r.returncode, r.stderr), (3, f"weir: {out}.none: No such file or directory\n"), "no such file")

# ---- a table that is too small ----
# every place taken by a counter that is live: the size is judged by that, and not by what it once lost
small = json.loads(json.dumps(document))
one, small["pairs"] = document["counters"][0], f"{512:x}"
small["counters"] = [dict(one, pair=f"{pair:x}", tag=f"{1 + i:x}") for pair in range(512) for i in range(8)]
r = weir("table", "import", write(out + ".small", json.dumps(small)), "--replace", *T)
is_((r.returncode, r.stderr), (0, ""), "a full table of 64k")


def doctor():
    r = weir("doctor", "--json", *T)
    found = [f for f in json.loads(r.stdout)["findings"] if "found no room or had to make room" in f["sentence"]]
    return [(f["level"], f["cure"][:23]) for f in found]


is_(doctor(), [], "full, and nobody has lost anything yet")
time.sleep(1.5)
for i in range(20):
    site.get("/", source=f"127.0.1.{i + 1}")
is_(doctor(), [("wrong", "weir table resize 256k,")], "full, and counters were lost: wrong, with a size")
before = json.loads(weir("table", "info", "--json", *T).stdout)["live"]
for wish, said in ("deny", "refused"), ("allow", "passes uncounted"):
    write(site.policy, "limits: {per-ip: {rate: 20/hour, on_full: %s}}" % wish)
    is_(weir("publish", site.policy, *T).returncode, 0, f"on_full: {wish}")
    r = weir("show", "--limit", "per-ip", "--key", "127.0.9.9", *T)
    like(r.stdout, f"20 of 20 left, but no room in the table: {said}", "show --key says that there is no room")
    r = weir("explain", "--ip", "127.0.9.9", *T)
    like(r.stdout, f"20 of 20 left, but no room in the table: {said}\n", "so does explain")
    like(r.stdout, "verdict     " + {"deny": "REJECTED", "allow": "PASSED"}[wish], "and what comes of it")
    is_(site.get("/", source="127.0.9.9").status, {"deny": 429, "allow": 200}[wish], "which it does")
is_(json.loads(weir("table", "info", "--json", *T).stdout)["live"], before, "nothing was pushed out")
is_(weir("reset", "--all", *T).returncode, 0, "room is made")
is_(doctor(), [("note", "weir table resize 256k,")], "what was lost then is no fault now")
is_(site.get("/").status, 200, "and it decides")
site.check_no_alerts()
done()
