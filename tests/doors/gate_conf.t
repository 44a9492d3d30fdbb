#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# The configuration: mistakes are found by `nginx -t` with their place, a reload with a broken policy changes nothing, a test never touches
# the table; and the module itself: what it shows to others, where it stands.
import os, re, signal, sys, time; sys.path[:0] = ["tests/lib", "tests/doors"]
from gatelib import *

GOOD = "limits: {per-ip: {rate: 50/s, burst: 100}}\n"
site = Site(policy=GOOD, start_now=False)


def test(text, policy=GOOD):
    """nginx -t over the configuration with this in place of weir's lines; exit status and messages."""
    write(site.policy, policy)
    conf = site.conf_text.replace(f"weir_policy {site.policy};", "").replace(f"weir_table {site.table} 4m;", "").replace("weir on;", text)
    write(site.conf, conf.replace("$P", site.policy).replace("$T", site.table))
    p = site.nginx("-t")
    return p.returncode, p.stderr + p.stdout


def refused(text, message, what, **kw):
    code, said = test(text, **kw)
    is_(code, 1, what)
    like(said, message, f"{what}: the message")


is_(test("weir_policy $P; weir_table $T 4m;")[0], 0, "a good configuration passes")
is_(test("weir_policy $P;")[0], 0, "the table has a default")
is_(test("weir_policy policy.yaml;")[0], 0, "a relative path is nginx's: from its configuration")
is_(test("")[0], 0, "the module without a policy does nothing")
is_(os.path.exists(site.table), False, "a test makes no table")
is_(os.listdir(site.shm), [], "nor a folder for it")
refused("weir_policy $P; weir_policy $P;", '"weir_policy" directive is duplicate', "two policies")
refused("weir_policy $P; weir_table $T; weir_table $T;", '"weir_table" directive is duplicate', "two tables")
refused("weir_policy $P; weir_table 64m;", 'weir: "64m" is a size, and stands where the path belongs: write "weir_table PATH 64m"', "a size instead of a path")
refused("weir_policy $P; weir_table 64m $T;", 'write "weir_table PATH 64m"', "a size before the path")
refused("weir_policy $P; weir_table $T 1k;", 'weir: table size "1k" is not a size from 64k to 64g', "a table too small")
refused("weir_policy $P; weir_table $T lots;", 'weir: table size "lots" is not', "a size that is none")
refused("weir on;", '"weir on" needs a policy: put "weir_policy FILE;" into http{}', "weir on without a policy")
refused("weir_table $T;", '"weir_table" needs a policy', "a table without a policy")
refused("weir_policy $P; weir maybe;", 'it must be "on" or "off"', "weir maybe")
refused("weir_policy $P; weir_log_level loud;", 'invalid value "loud"', "an unknown level")
refused("server { weir_policy $P; }", '"weir_policy" directive is not allowed here', "a policy inside server{}")
refused("weir_policy $P; server { location / { weir_table $T; } }", '"weir_table" directive is not allowed here', "a table inside location{}")
refused("weir_policy /nowhere/policy.yaml;", "/nowhere/policy.yaml", "a policy that is not there")
refused("weir_policy $P;", "unknown \"tyer\" variable", "a key by a variable that nginx does not know", policy="limits: {a: {key: var.tyer, missing: ip, rate: 1/s}}\n")
BROKEN = "limits:\n  login: {match: /login, rat: 5/min}\n  b: {rate: fast}\n"
code, said = test("weir_policy $P;", policy=BROKEN)
is_(code, 1, "a broken policy")
like(said, f"[emerg] ", "is an emergency")
like(said, "policy.yaml:2:26: error: ", "with the place of each finding")
like(said, "did you mean 'rate'", "what was meant")
like(said, "policy.yaml:3:", "one line each")
code, said = test("weir_policy $P;", policy="limits: {a: {rate: 2/s, burst: 1}}\n")
is_(code, 0, "a warning does not refuse")
like(said, "[warn]", "but is said")
write(site.policy, BROKEN)
write(site.conf, site.conf_text)
p = run("nginx", "-c", site.conf, "-p", site.dir, "-e", site.error_log, "-g", "daemon off;", env=san_env())
is_(p.returncode, 1, "nginx does not start with a broken policy")
is_(os.listdir(site.shm), [], "and leaves no table")
open(site.error_log, "w").close()

# reloads
write(site.policy, GOOD)
site.start()
limit = lambda: site.get("/")["X-RateLimit-Limit"]
is_(limit(), "100", "with the good one it does")
pids = site.workers()
write(site.policy, "limits: {per-ip: {rat: 1/s}}\n")
site.reload()
ok(wait_until(lambda: "did you mean 'rate'" in site.errors()), "a reload with a broken policy says why")
time.sleep(0.3)
is_((limit(), site.workers()), ("100", pids), "and the old one goes on")
emerg = [l for l in site.errors().splitlines() if "[emerg]" in l]
ok(emerg and all("weir: " in l and "policy.yaml:1:" in l for l in emerg), "nothing else is wrong")
write(site.policy, "limits: {per-ip: {rate: 50/s, burst: 70}}\n")
is_(site.nginx("-t").returncode, 0, "nginx -t with a new policy")
is_(limit(), "100", "does not publish it")
site.reload()
ok(wait_until(lambda: limit() == "70"), "a reload does")
ok(wait_until(lambda: "weir: published generation " in site.errors()), "and says so")

# a worker that is replaced does not publish
published = lambda: site.errors().count("weir: published generation")
before = published()
is_(site.publish("limits: {per-ip: {rate: 50/s, burst: 90}}\n").returncode, 0, "an edit without a reload")
is_(limit(), "90", "holds at the next request")
old = wait_until(lambda: len(site.workers()) == 1 and site.workers())
os.kill(old[0], signal.SIGKILL)
ok(wait_until(lambda: site.workers() and site.workers() != old), "a worker is killed and replaced")
is_(wait_until(limit), "90", "the edit stays")
is_(published(), before, "nothing was published")
site.stop()

# what the module shows, and where it stands
symbols = run("nm", "-D", "--defined-only", MODULE).stdout.split()[2::3]
is_(sorted(symbols), ["ngx_module_names", "ngx_module_order", "ngx_modules"], "the module shows what nginx needs and nothing else") if not ASAN else None
write(site.conf, site.conf_text.replace(" info;", " debug;"))
site.nginx("-t")
placed = re.findall(r"module: (\S+) before (\S+):\d+", site.errors())
if placed:
    note(f"placed: {placed}")
site.start()
is_(limit(), "90", "and starts again, in the table that was there")
done()
