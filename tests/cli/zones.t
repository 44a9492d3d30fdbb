#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# A table of nginx's own zones under every subcommand: what is shown, kept, moved, refused.
import glob, json, os, signal, sys; sys.path[:0] = ["tests/lib", "tests/doors"]
from takelib import *

MAKE = os.path.join(ROOT, BUILD, "tests/lib/zone_table")
dir, shm = folder(), shm_folder()
conf, table = write(f"{dir}/nginx.conf", "events {}\n"), f"{shm}/t/table"
T = ("--table", table)
ODD = "€\\x01\udcff"  # a name of any bytes: controls stand in the image as they are shown


def make(*argv):
    r = run(MAKE, table, conf, *argv)
    is_((r.returncode, r.stderr), (0, ""), "a table as nginx leaves it")
    return r.stdout


def show(*argv):
    r = weir("show", "--json", *argv, *T)
    is_((r.returncode, r.stderr), (0, ""), f"show {' '.join(argv)}")
    return json.loads(r.stdout)


def find(what):
    return [(f["level"], f["sentence"], f.get("cure")) for f in json.loads(weir("doctor", "--json", *T).stdout)["findings"] if f["what"] == what]


def key(zone, value):
    return [(c["what"], c["limit"], c["remaining"]) for c in show("--limit", zone, "--key", value)["key"]]


like(make(), "the first publication of this table: 4 zones\n", "which says so")

# show
d = show()
is_({k: d["policy"][k] for k in ("kind", "source", "generation", "file", "compiled_at")},
    {"kind": "zones", "source": conf, "generation": 1, "file": "there", "compiled_at": 1780272000}, "what is in force, without a look at its words")
is_("findings" in d["policy"], False, "nginx.conf is no policy with errors")
is_([(z["name"], z["key"], z.get("rate"), z["match"], z["sentence"]) for z in d["limits"][:3]],
    [("one", "$binary_remote_addr", "2r/m", "", "one: 2r/m, burst 2, by $binary_remote_addr"),
     ("daily", "$http_x_api_key", "100r/d", "", "daily: 100r/d, burst 9, by $http_x_api_key"),
     ("per ip", "$binary_remote_addr", None, "", "per ip: 10 connections at the same time, by $binary_remote_addr")], "each zone, its key and rate")
is_([(z["allowed"], z["refused"], z["delayed"], z["shadow"]) for z in d["limits"][:2]], [(3, 1, 0, 0), (3, 0, 0, 0)], "what each let pass and refused")
is_((d["limits"][3]["name"], d["limits"][3]["key"]), ("\\xe2\\x82\\xac\\x5cx01\\xff", "$a\\x5c$b"), "name and key of any bytes")
is_([z["rate"] for z in show("--limit", ODD)["limits"]], ["5r/s"], "which can be named")
is_([(h["kind"], h["limit"], h["who"]) for h in d["recently"]], [("refused", "one", "127.0.0.1")], "who was refused of late")
text = weir("show", *T).stdout
for part in (f"table     {table}\n", f"zones     of {conf}, generation 1, read by nginx ", "          an edit is in force after nginx -s reload\n",
             "zone                      allowed      refused      dry run      delayed\n",
             "one                             3            1            0            0\n  one: 2r/m, burst 2, by $binary_remote_addr\n",
             "per ip                          0            0            0            0\n  per ip: 10 connections at the same time, by $binary_remote_addr\n",
             "7 requests decided; 0 keys evicted before they had recovered\n", "refused          one              127.0.0.1"):
    like(text, part, f"as text: {part.split(chr(10))[0].strip()}")
for word in "policy", "weir publish", "weir check", "untrusted", "limit ":
    is_(word in text, False, f"nothing of '{word}'")

# one key
is_(key("one", "127.0.0.1"), [("rate", 3, 0)], "of a binary address, by the address")
is_(key("one", "::ffff:127.0.0.1"), [("rate", 3, 3)], "as nginx has it behind a socket of both families: another key")
is_(key("one", "127.0.0.2"), [("rate", 3, 3)], "another client")
is_(key("daily", "a b"), [("rate", 10, 7)], "any other value as it is")
is_(key("daily", "a=b, c"), [("rate", 10, 10)], "whatever stands in it")
is_([(c["what"], c["limit"], c["held"]) for c in show("--limit", "per ip", "--key", "127.0.0.1")["key"]], [("concurrent", 10, 0)], "connections")
for argv, words in [(("--limit", "onne"), "weir: no zone 'onne' in nginx.conf as it is in force; did you mean 'one'?\n"),
                    (("--limit", "one", "--key", "bob"), "weir: 'bob' is no address, and the key is $binary_remote_addr\n"),
                    (("--limit", "daily", "--key", "a", "--key", "b"), "weir: the key is $http_x_api_key: one value, 2 given\n")]:
    r = weir("show", *argv, *T)
    is_((r.returncode, r.stderr), (2, words), words.strip())

# doctor, explain
is_(find("zones"), [("good", f"4 of {conf} are in force, generation 1; an edit is after nginx -s reload", None)], "doctor: the zones")
is_((find("policy"), find("proxy")), ([], []), "no policy, no proxies")
is_(find("control"), [("note", "none runs: what takes over a minute to recover does not survive a reboot", f"weir control --table {table}, as a service")],
    "a daily limit should be kept")
r = weir("explain", "/x", *T)
is_((r.returncode, r.stderr), (2, f"weir: this table holds the limit_req and limit_conn zones of {conf}: which of them a request meets, nginx's locations say, "
                               f"and no policy; weir show tells of each, weir import {conf} writes them as a policy\n"), "explain: that is nginx's")
os.rename(conf, conf + "~")
like(weir("show", *T).stdout, "          the file is gone; what nginx read stays in force\n", "show: the file is gone")
is_(find("zones"), [("wrong", f"{conf} is gone; generation 1 of its zones stays in force", "put it back; nginx cannot restart without it")], "doctor: and wrong")
os.rename(conf + "~", conf)

# a policy is not put over them
policy = write(f"{dir}/p.yaml", "limits: {a: {rate: 1/s}}\n")
mine = f"{table} serves the limit_req and limit_conn zones of {conf}: a policy needs another table"
CURE = "a policy and the zones of nginx.conf each need a table of their own: name another one"
for argv in ("publish", policy), ("control", policy):
    r = weir(*argv, *T)
    is_(r.returncode, 3, f"{argv[0]}: exit 3")
    like(r.stderr, mine, "whose table it is")
    like(r.stderr, CURE, "and the cure")
is_(show()["policy"]["generation"], 1, "nothing has changed")

# table
i = json.loads(weir("table", "info", "--json", *T).stdout)
is_((i["policy"], i["generation"], i["live"]), ({"kind": "zones", "source": conf}, 1, 2), "table info")
like(weir("table", "info", *T).stdout, f"zones        of {conf}, generation 1\n", "as text")
is_((weir("table", "check", *T).returncode, weir("table", "check", *T).stdout), (0, f"{table} is sound\n"), "table check")
like(weir("table", "resize", "2m", *T).stdout, "in weir_table, or weir_limit_table, when there is none", "table resize: where else to say it")
is_((key("one", "127.0.0.1"), key("daily", "a b")), ([("rate", 3, 0)], [("rate", 10, 7)]), "counters are those they were")
is_(weir("table", "export", f"{dir}/t.json", *T).returncode, 0, "table export")
is_(sorted({row["numbers"]["kind"] for row in json.load(open(f"{dir}/t.json"))["rows"]}), ["nginx"], "kinds by name")
r = weir("table", "import", f"{dir}/t.json", "--replace", *T)
is_(r.returncode, 0, "table import")
is_(make("3r/m"), "zone 'one': 2r/m, burst 2 -> 3r/m, burst 2, counters carried over\n", "nginx starts with what was imported, and another rate")
is_(key("daily", "a b"), [("rate", 10, 7)], "whose counters go on")
is_(key("one", "127.0.0.1"), [("rate", 3, 0)], "also at the new rate")

# reset
r = weir("reset", "--limit", "one", "--key", "127.0.0.1", *T)
is_((r.returncode, r.stdout), (0, "1 counter forgotten\n"), "reset: one client")
is_(key("one", "127.0.0.1"), [("rate", 3, 3)], "who begins anew")
ok(json.loads(weir("reset", "--json", "--limit", "daily", *T).stdout)["forgotten"] >= 1, "a whole zone")
is_(key("daily", "a b"), [("rate", 10, 10)], "where all begin anew")

# control without a policy: the table is written down, and found again
kept = f"{dir}/kept"
subprocess.run(["rm", "-r", f"{shm}/t"])
make()
control = start([WEIR, "control", *T, "--snapshot", kept], stderr=open(f"{dir}/log", "w"))
ok(wait_until(lambda: show()["control"]["running"]), "control runs")
is_(find("control"), [("good", f"process {control.pid} writes the table down", None)], "doctor knows")
like(weir("show", *T).stdout, f"control   process {control.pid} writes the table down\n", "show too")
ok(wait_until(lambda: os.path.exists(kept) and os.path.getsize(kept) > 0), "the table is written down")
control.send_signal(signal.SIGTERM)
is_(control.wait(20), 0, "until it is told to stop")
is_(open(f"{dir}/log").read(), f"weir control: keeping {table}\n", "with nothing else to say")
is_(show()["policy"]["generation"], 1, "and nothing published")
is_(weir("control", "--snapshot", kept).returncode, 2, "neither policy nor table: usage")
is_(weir("control", policy, "--nginx-conf", conf).returncode, 2, "both: usage")

# a policy's table is kept by its own control
site = Site(policy="limits: {per-ip: {rate: 1/min}}\n")
site.get("/")
r = weir("control", "--table", site.table)
is_((r.returncode, r.stderr), (2, f"weir: {site.table} serves a policy, whose edits would wait: say weir control {site.policy} --table {site.table}\n"),
    "control without a policy leaves a policy's table alone")

# found by nginx.conf
r = weir("show", "--nginx-conf", conf)
is_(r.returncode, 3, "--nginx-conf: no such table")
like(r.stderr, f"weir: no table for {conf} (it would be /dev/shm/weir-{os.geteuid()}/", "where it would be")
where = r.stderr.split("(it would be ")[1].split(")")[0]
mine = not os.path.isdir(os.path.dirname(where))
table = where
try:
    make()
    d = json.loads(weir("show", "--json", "--nginx-conf", conf).stdout)
    is_((d["table"], d["policy"]["source"]), (where, conf), "--nginx-conf: the one in its default place")
    r = weir("show", "--policy", policy)
    like(r.stderr, f"      --table {where}  (zones of {conf})\n", "a list of tables says what each serves")
finally:
    for f in glob.glob(f"{where}*"):
        os.unlink(f)
    if mine:
        os.rmdir(os.path.dirname(where))

# the same of a real nginx
kept = f"{dir}/kept2"
nginx = Native(http="""limit_req_zone ${binary_remote_addr} zone=slow:1m rate=2r/m;
limit_req_zone $http_x_api_key zone=keyed:1m rate=100r/d;
limit_conn_zone $server_port zone=all:1m; weir_limit_snapshot %s;""" % kept, server="limit_req zone=slow burst=2 nodelay; limit_req zone=keyed burst=9 nodelay; limit_conn all 7;")
table = nginx.table
T = ("--table", table)
is_([nginx.get("/", headers={"X-Api-Key": "a=b, c"}).status for _ in range(4)], [200, 200, 200, 503], "nginx: three pass, one does not")
d = show()
is_((d["policy"]["kind"], d["policy"]["source"], d["policy"]["generation"]), ("zones", nginx.conf, 1), "what is in force")
is_([(z["name"], z["allowed"], z["refused"], z["sentence"]) for z in d["limits"]],
    [("slow", 3, 1, "slow: 2r/m, burst 2, by ${binary_remote_addr}"), ("keyed", 3, 0, "keyed: 100r/d, burst 9, by $http_x_api_key"),
     ("all", 3, 0, "all: 7 connections at the same time, by $server_port")], "every zone")
is_([(h["kind"], h["limit"], h["who"]) for h in d["recently"]], [("refused", "slow", "127.0.0.1")], "who was refused")
is_((key("slow", "127.0.0.1"), key("keyed", "a=b, c")), ([("rate", 3, 0)], [("rate", 10, 7)]), "what one client has left")
is_(weir("reset", "--limit", "slow", "--key", "127.0.0.1", *T).stdout, "1 counter forgotten\n", "and may be given")
is_(nginx.get("/").status, 200, "which nginx knows at once")
is_([f["sentence"] for f in json.loads(weir("doctor", "--json", *T).stdout)["findings"] if f["level"] == "wrong"], [], "doctor: nothing is wrong")

# which begins after a reboot as it was written down
control = start([WEIR, "control", *T, "--snapshot", kept], stderr=open(f"{dir}/log2", "w"))
ok(wait_until(lambda: os.path.exists(kept)), "what a real nginx counted is written down")
time.sleep(3)  # two rounds of the keeper, and some
nginx.stop()
control.kill()
control.wait()
subprocess.run(["rm", "-r", os.path.dirname(table)])
nginx.start()
is_(nginx.get("/", headers={"X-Api-Key": "a=b, c"}).status, 200, "after a reboot")
is_(key("keyed", "a=b, c"), [("rate", 10, 6)], "a daily allowance goes on")

# what variables say of each request
nginx = Native(http="".join(f"limit_req_zone $binary_remote_addr zone={z}:1m rate={r};" for z, r in
                            (("burst", "1r/m"), ("rate", "$arg_rate"), ("either", "$arg_rate"), ("before", "1r/m"))) + "limit_req_status 429;",
               locations="location /burst { limit_req zone=burst burst=$arg_burst nodelay; }"
                         "location /rate { limit_req zone=rate burst=4 nodelay; }"
                         "location /either { limit_req zone=either burst=$arg_burst nodelay; }"
                         "location /both { limit_req zone=before burst=7 nodelay; limit_req zone=burst burst=20 nodelay; }")
table = nginx.table
T = ("--table", table)
is_([z["sentence"] for z in show()["limits"]],
    ["burst: 1r/m, burst by variable, by $binary_remote_addr", "rate: $arg_rate, burst 4, by $binary_remote_addr",
     "either: $arg_rate, burst by variable, by $binary_remote_addr", "before: 1r/m, burst 7, by $binary_remote_addr"], "read out as written")
is_([nginx.get(f"/burst?burst=2&{i}").status for i in range(4)], [404, 404, 404, 429], "a burst that a variable says")
is_([nginx.get(f"/rate?rate=5r/m&{i}").status for i in range(6)], [404] * 5 + [429], "a rate that it says")
for zone, known, used in (("burst", ["burst"], 3), ("rate", ["rate"], None), ("either", ["rate", "burst"], None)):
    (c,) = show("--limit", zone, "--key", "127.0.0.1")["key"]
    full = c.pop("full_ns")
    is_(c, {"name": zone, "what": "rate", "by_variable": known, **({"used": used} if used else {})}, f"{zone}: no figure that nobody can know")
    within(full, 0 if zone == "either" else 1, {"burst": 188e9, "rate": 60e9, "either": 0}[zone], "but when all is whole again")
for argv, words in (("burst", "127.0.0.1"), "\nburst: 3 used, burst by variable, whole again in "), \
        (("burst", "127.0.0.2"), "\nburst: 0 used, burst by variable\n"), (("rate", "127.0.0.1"), "\nrate: in use, rate by variable, whole again in "), \
        (("either", "127.0.0.1"), "\neither: nothing used, rate by variable\n"):
    like(weir("show", "--limit", argv[0], "--key", argv[1], *T).stdout, words, f"as text: {argv[0]} of {argv[1]}")
is_("fits" in weir("show", "--limit", "burst", "--key", "127.0.0.1", *T).stdout, False, "and whether one fits it does not say")
done()
