#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# limit_req and limit_conn in nginx.conf, read by weir: what stock nginx takes is taken, what it refuses is refused in its own words at
# its own line, with more behind them; what weir has besides; `nginx -t` says what a reload changes; from stock nginx and back by reload.
import os, re, sys, time; sys.path[:0] = ["tests/lib", "tests/doors"]
from gatelib import *

LOAD = f"load_module {MODULE};"
Z = "limit_req_zone $binary_remote_addr zone=z:1m rate=1r/s;"
C = "limit_conn_zone $binary_remote_addr zone=c:1m;"
home, shm = folder(), shm_folder()
os.chmod(home, 0o755)
os.chmod(shm, 0o755)
CONF, LOG, TABLE, P = f"{home}/nginx.conf", f"{home}/error.log", f"{shm}/zones", port()
USER = "user root;" if os.geteuid() == 0 else ""


def site(http, module=True, main=""):
    """The same lines with and without the module."""
    write(CONF, f"{LOAD if module else ''} {USER} pid {home}/pid; error_log {LOG} info; {main}\nevents {{}}\n"
          f"http {{ client_body_temp_path {home}/b; proxy_temp_path {home}/p; fastcgi_temp_path {home}/f; uwsgi_temp_path {home}/u; "
          f"scgi_temp_path {home}/s; access_log off;\n{http}\n}}\n")


def nginx(*argv):
    return run("nginx", "-c", CONF, "-p", home, "-e", LOG, *argv, env=san_env())


def test(http, module=True, main=""):
    site(http, module, main)
    p = nginx("-t")
    return p.returncode, [l[7:] for l in (p.stderr + p.stdout).splitlines() if l.startswith("nginx: ")]


def L(text):
    """In a location, on a line of its own."""
    return "server { listen 127.0.0.1:%d; location / {\n%s } }" % (P, text)


def emerg(lines):
    return [l for l in lines if l.startswith("[emerg] ")]


# ---- as stock has it ---------------------------------------------------------------------------------
RIGHT = [
    Z, C, Z + C,
    "limit_req_zone $binary_remote_addr zone=z:1m rate=10;", "limit_req_zone $binary_remote_addr rate=30r/m zone=z:32k;",
    "limit_req_zone $remote_addr$uri zone=z:1048576 rate=1r/s;", "limit_req_zone $remote_addr zone=z:1M rate=1r/s;",
    "limit_req_zone $remote_addr zone=z:1m zone=y:1m;", "limit_req_zone '' zone=z:1m rate=1r/s;" + L("limit_req zone=z;"),
    "limit_req_zone text zone=z:1m rate=1r/s;" + L("limit_req zone=z;"), "limit_req_zone $remote_addr zone=z:1m rate=1000000r/s;",
    "limit_req_zone ${binary_remote_addr} zone=z:1m rate=60000r/m;" + L("limit_req zone=z;"),
    Z + L("limit_req zone=z;"), Z + L("limit_req zone=z burst=5;"), Z + L("limit_req burst=5 zone=z nodelay;"),
    Z + L("limit_req zone=z burst=5 delay=3;"), Z + L("limit_req zone=z burst=5 delay=8;"), Z + L("limit_req zone=z burst=5 burst=6;"),
    Z + L("limit_req zone=z nodelay nodelay;"), Z + L("limit_req zone=z delay=3 nodelay;"), L("limit_req zone=z;") + Z, L("limit_conn c 1;") + C,
    Z + "limit_req zone=z;" + L(""), Z + "server { limit_req zone=z burst=3; }", C + L("limit_conn c 65535;"), C + "limit_conn c 1;" + L(""),
    L("limit_req_status 400; limit_conn_status 599;"), L("limit_req_log_level info; limit_conn_log_level warn;"), L("limit_req_log_level ERROR;"),
    L("limit_req_dry_run on; limit_conn_dry_run off;"), "limit_req_status 429; limit_conn_status 429; limit_req_dry_run off;",
    Z + C + "server { listen 127.0.0.1:%d; server_name a; limit_req zone=z; limit_conn c 3; } server { listen 127.0.0.1:%d; server_name b; "
    "limit_conn c 5; location /x { limit_req zone=z burst=3; } }" % (P, P),
    Z + L("location /a { limit_req zone=z; } location /b { limit_req zone=z; } location ~ c { limit_req zone=z; }"),
]
for name in ["ünï", "'a b", 'a\\"b', "$x", "n" * 255, "n" * 300, "-", "a\\\\b", "rate=", "\u0080"]:
    q = "'" if name[0] == "'" else ""
    name = name.lstrip("'")
    RIGHT.append(f"limit_req_zone $remote_addr {q}zone={name}:1m{q} rate=1r/s;" + L(f"limit_req {q}zone={name}{q};"))
for text in RIGHT:
    stock, ours = test(text, False), test(text)
    is_((ours, ours[0]), (stock, 0), f"as stock: {text[:140]!r}")

WRONG = [
    # numbers of arguments
    "limit_req_zone;", "limit_req_zone $remote_addr zone=z:1m;", "limit_req_zone $remote_addr zone=z:1m rate=1r/s sync;", "limit_conn_zone;",
    "limit_conn_zone $remote_addr;", "limit_conn_zone $remote_addr zone=c:1m zone=d:1m;", Z + L("limit_req;"),
    Z + L("limit_req zone=z burst=5 nodelay delay=3;"), Z + L("limit_req zone=z burst=5 nodelay x;"), C + L("limit_conn;"), C + L("limit_conn c;"),
    C + L("limit_conn c 1 2;"), C + L("limit_conn c 1 2 3;"), L("limit_req_status;"), L("limit_req_log_level;"), L("limit_req_dry_run;"),
    # keys
    "limit_req_zone $nope zone=z:1m rate=1r/s;", "limit_conn_zone $nope zone=c:1m;", "limit_req_zone '$' zone=z:1m rate=1r/s;",
    "limit_req_zone '${a' zone=z:1m rate=1r/s;", "limit_conn_zone '${a' zone=c:1m;",
    # zones
    *[f"limit_req_zone $remote_addr {zone} rate=1r/s;" for zone in
      ["zone=z", "zone=:1m", "zone=z:", "zone=z:x", "zone=z:1k", "zone=z:31k", "zone=z:0", "zone=z:-1", "zone=z:1g", "zone=a:b:1m", "foo=1", "zone",
       "Zone=z:1m"]],
    *[f"limit_conn_zone $remote_addr {zone};" for zone in ["zone=c", "zone=:1m", "zone=c:", "zone=c:x", "zone=c:1k", "zone=c:31k", "zone=c:-1", "foo", "rate=1r/s"]],
    "limit_req_zone $remote_addr rate=1r/s rate=2r/s;", "limit_req_zone $remote_addr rate=0 zone=z;", "limit_req_zone $remote_addr zone=z rate=0;",
    # rates that weir does not know either
    *[f"limit_req_zone $remote_addr zone=z:1m rate={rate};" for rate in
      ["0r/s", "0", "r/s", "", "-1r/s", "1.5r/s", "10r/S", "10r/", "10/s", "10r", "fast", "99999999999999999999r/s", "1r/0s", "1r/s/s"]],
    # names that are taken
    Z + "\n" + Z, Z + "\nlimit_req_zone $remote_addr zone=z:1m rate=2r/s;", Z + "\nlimit_req_zone $remote_addr zone=z:2m rate=1r/s;", C + "\n" + C,
    C + "\nlimit_conn_zone $remote_addr zone=c:2m;", Z + "\nlimit_conn_zone $remote_addr zone=z:1m;", C + "\nlimit_req_zone $remote_addr zone=c:1m rate=1r/s;",
    Z + f"\nproxy_cache_path {home}/cache keys_zone=z:1m;", f"proxy_cache_path {home}/cache keys_zone=z:1m;\n" + Z, Z + C + L("limit_req zone=c;"),
    Z + C + L("limit_conn z 1;"), L("limit_conn z 1;") + Z, "upstream u { server 127.0.0.1:1; zone z 1m; }\n" + Z,
    # lines
    *[Z + L(f"limit_req {rest};") for rest in
      ["zone=z burst=0", "zone=z burst=x", "zone=z burst=-1", "zone=z burst=", "zone=z burst=99999999999999999999", "zone=z delay=0", "zone=z delay=x",
       "zone=z foo", "zone=z burst", "burst=5", "nodelay", "z", "zone=z nodelay=1"]],
    *[C + L(f"limit_conn c {n};") for n in ["0", "x", "65536", "-1", "''", "off", "99999999999999999999"]],
    Z + L("limit_req zone=z; limit_req zone=z;"), Z + L("limit_req zone=z; limit_req zone=z burst=x;"), C + L("limit_conn c 1; limit_conn c 2;"),
    C + L("limit_conn c 1; limit_conn c x;"), Z + "limit_req zone=z; limit_req zone=z burst=2;",
    # statuses, levels, flags
    *[L(f"limit_{what}_status {n};") for what in ("req", "conn") for n in ("399", "600", "x", "-1", "4x", "''")],
    *[L(f"limit_{what}_log_level '{level}';") for what in ("req", "conn") for level in ("debug", "crit", "")],
    *[L(f"limit_{what}_dry_run maybe;") for what in ("req", "conn")],
    *[L(f"limit_{d}; limit_{d};") for d in ("req_status 429", "conn_status 429", "req_log_level info", "conn_log_level info", "req_dry_run on", "conn_dry_run on")],
    # places
    "server {\n" + Z + "}", L(Z), "server {\n" + C + "}", L("if ($a) {\n" + C + "}"), Z + L("if ($a) {\nlimit_req zone=z; }"), Z + L("limit_except GET {\nlimit_req zone=z; }"),
    Z + "server { if ($a) {\nlimit_req zone=z; } }", C + L("if ($a) {\nlimit_conn c 1; }"), C + L("limit_except GET {\nlimit_conn c 1; }"),
    *[L("if ($a) {\nlimit_%s; }" % d) for d in ("req_status 429", "conn_status 429", "req_log_level info", "conn_log_level info", "req_dry_run on", "conn_dry_run on")],
    "upstream u {\n" + Z + "}", L("limit_request zone=z;"),
    # zones that nobody declares
    Z + L("limit_req zone=nope;"), C + L("limit_conn nope 1;"), Z + L("limit_req zone=;"), Z + L("limit_req zone=z zone=y;"), Z + L("limit_req zone=y zone=z;"),
    L("limit_req zone=nope; limit_conn nada 3;"), "limit_req_zone $remote_addr zone=z:1m zone=y:1m;" + L("limit_req zone=z;"),
]
for text in WRONG:
    stock, ours = test(text, False), test(text)
    if not emerg(stock[1]):
        ok(False, f"stock refuses: {text!r}")
        continue
    sentence, place = re.fullmatch(r"(.*?)( in \S+:\d+)?", emerg(stock[1])[0]).groups()
    first = (emerg(ours[1]) or [""])[0]
    if not is_((ours[0], first.startswith(sentence), (place or "") in first), (stock[0], True, True), f"stock's words: {text[-140:]!r}"):
        note("stock", emerg(stock[1]))
        note("ours", ours[1])
for text in [Z, "limit_req zone=z;", "limit_conn c 1;", "limit_req_status 429;"]:
    is_(test("", main=text), test("", False, main=text), f"outside of http{{}}: {text}")

# ---- what it adds to them ----------------------------------------------------------------------------
for text, words in [
    ("server {\n" + Z + "}", '"limit_req_zone" directive is not allowed here: it belongs into http{}, outside of server{} in $F:5'),
    (Z + L("if ($a) {\nlimit_req zone=z; }"), '"limit_req" directive is not allowed here: it belongs into http{}, server{} or location{}, not into if{}'),
    (Z + L("limit_except GET {\nlimit_req zone=z; }"), "not into limit_except{}"),
    ("limit_req_zone $remote_addr zone=bucket:1m rate=1r/s;" + L("limit_req zone=buckt;"),
     'zero size shared memory zone "buckt" in $F:5: no limit_req_zone declares it; did you mean "bucket"?'),
    ("limit_conn_zone $remote_addr zone=per_ip:1m;" + L("limit_conn per-ip 1;"), 'no limit_conn_zone declares it; did you mean "per_ip"?'),
    (L("limit_conn nada 3; limit_req zone=nope;"), 'zero size shared memory zone "nope" in $F:5: no limit_req_zone declares it'),
    (Z + "\nlimit_req_zone $remote_addr zone=z:1m rate=2r/s;", 'is already bound to key "$binary_remote_addr", declared at $F:4 in $F:5'),
    (C + L("limit_req zone=c;"), '"c" is a zone for limit_conn, since $F:4: limit_req needs one of its own, from limit_req_zone'),
    (L("limit_conn z 1;") + Z, '"z" is a zone for limit_conn, since $F:5'),
    (Z + L("limit_req zone=z busrt=3;"), 'invalid parameter "busrt=3": did you mean "burst="?'),
    (Z + L("limit_req zone=z no_delay;"), 'did you mean "nodelay"?'),
    ("limit_req_zone $remote_addr zone=z:1m Rate=1r/s;", 'did you mean "rate="?'),
    ("limit_req_zone $remote_addr zone=z:1m rate=fast;", 'invalid rate "rate=fast": write rate=Nr/s, Nr/m, Nr/h, Nr/d, Nr/w'),
    ("limit_req_zone $remote_addr zone=z:1k rate=1r/s;", 'zone "zone=z:1k" is too small: 32k is the least'),
    (Z + L("limit_req zone=z burst=0;"), "for none leave it out"),
]:
    code, said = test(text)
    is_(code, 1, f"refused: {text[-100:]!r}")
    like("\n".join(said), words.replace("$F", CONF), "and said why")

# ---- what only weir takes ----------------------------------------------------------------------------
FINE = ["syntax is ok", "test is successful"]
for text in [
    *[f"limit_req_zone $remote_addr zone=z:1m rate={r};" + L("limit_req zone=z burst=5;") for r in
      ["100r/h", "1r/d", "5r/w", "10r/5s", "100r/15m", "1r/2h", "$arg_rate", "${arg_rate}r/s", "1000001r/2s"]],
    Z + L("limit_req zone=z burst=$arg_burst;"), Z + L("limit_req zone=z burst=$arg_burst nodelay;"), Z + L("limit_req zone=z burst=$arg_burst delay=3;"),
    Z + L("limit_req zone=z burst=5 nodelay status=429;"), Z + L("limit_req status=599 zone=z;"), C + L("limit_conn c 1 status=429;"),
    *[Z + f"weir_headers {words};" + L("limit_req zone=z; weir_headers off;") for words in
      ["x-ratelimit", "x-ratelimit-delta", "github", "ratelimit", "draft-7", "draft-6", "retry-after", "off", "github draft-7 retry-after"]],
    L("weir_limit_status 429; weir_limit_log_sample on;"), Z + f"weir_limit_table {TABLE};" + L("limit_req zone=z;"),
    Z + f"weir_limit_table {TABLE} 1m; weir_limit_snapshot off;" + L("limit_req zone=z;"), Z + f"weir_limit_snapshot {shm}/kept;" + L("limit_req zone=z;"),
]:
    code, said = test(text)
    is_((code, [l.rpartition(CONF)[2].strip() for l in said]), (0, FINE), f"taken: {text[-110:]!r}")
for text, words in [
    ("limit_req_zone $remote_addr zone=z:1m rate=2000000r/s;", '[warn] "rate=2000000r/s" is more than weir counts: it is 1000000 requests a second in $F:4'),
    ("limit_req_zone $remote_addr zone=z:1m rate=60000001r/m;", '"rate=60000001r/m" is more than weir counts'),
    (Z + L("limit_req zone=z burst=1000000;"), '[warn] "burst=1000000" is more than weir counts: it is 999999 in $F:5'),
    (Z + L("limit_req zone=z burst=5 delay=9223372036854775807;"), 'is more than weir counts: it is 999999'),
    (Z + f"weir_limit_table {TABLE};" + L(""), "[warn] weir: no limit_req and no limit_conn uses a zone: weir_limit_table has no effect"),
]:
    code, said = test(text)
    is_(code, 0, f"passes: {text[-100:]!r}")
    like("\n".join(said), words.replace("$F", CONF), "with a warning")
is_(test("limit_req_zone $remote_addr zone=z:1m rate=60000000r/m;")[1][0][:4], "the ", "the most is no reason to warn")
for text, words in [
    ("limit_req_zone $remote_addr zone=z:1m rate=2000000r/1s;", 'invalid rate "rate=2000000r/1s"'),
    ("limit_req_zone $remote_addr zone=z:1m rate=1r/60w;", 'invalid rate "rate=1r/60w"'),
    ("limit_req_zone $remote_addr zone=z:1m rate=1r/y;", 'invalid rate "rate=1r/y"'),
    ("limit_req_zone $remote_addr zone=z:1m rate=$nope;" + L("limit_req zone=z;"), 'unknown "nope" variable'),
    (Z + L("limit_req zone=z burst=$nope;"), 'unknown "nope" variable'),
    (Z + L("limit_req zone=z status=399;"), 'invalid status "status=399": from 400 to 599'),
    (Z + L("limit_req zone=z status=;"), 'invalid status "status="'),
    (C + L("limit_conn c 1 status=600;"), 'invalid status "status=600"'),
    (C + L("limit_conn c 1 stat=429;"), 'invalid number of arguments in "limit_conn" directive'),
    (L("weir_headers ratelimt;"), 'invalid parameter "ratelimt": did you mean "ratelimit"?'),
    (L("weir_headers x-ratelimit github;"), '"github" writes the same fields as a word before it'),
    (L("weir_headers draft-6 draft-6;"), '"draft-6" writes the same fields'),
    (L("weir_headers off retry-after;"), '"weir_headers" directive takes "off" alone'),
    (L("weir_headers github; weir_headers github;"), '"weir_headers" directive is duplicate'),
    (L("weir_headers;"), "invalid number of arguments"),
    (L("weir_limit_status 200;"), "value must be between 400 and 599"),
    (L("weir_limit_log_sample 5;"), 'it must be "on" or "off"'),
    ("weir_limit_table 64m;", 'write "weir_limit_table PATH 64m"'),
    (f"weir_limit_table {TABLE} 1k;", 'table size "1k" is not a size from 64k to 64g'),
    (f"weir_limit_table {TABLE}; weir_limit_table {TABLE};", '"weir_limit_table" directive is duplicate'),
    (L(f"weir_limit_table {TABLE};"), '"weir_limit_table" directive is not allowed here: it belongs into http{}'),
    ("weir_limit_snapshot '';", 'needs a path, or "off"'),
]:
    code, said = test(text)
    is_(code, 1, f"refused: {text[-100:]!r}")
    like("\n".join(emerg(said)), words, "and said why")
is_(sorted(os.listdir(shm)), [], "no test has left a table")
is_(sorted(set(os.listdir(home)) - set("bpfus")), ["error.log", "nginx.conf", "pid"], "nor anything that stock nginx does not leave")
open(LOG, "w").close()


# ---- served ------------------------------------------------------------------------------------------
def begin(http, module=True):
    site(http, module)
    p = start(["nginx", "-c", CONF, "-p", home, "-e", LOG, "-g", "daemon off;"], env=san_env())
    if not wait_until(lambda: listening(P)):
        raise SystemExit("nginx did not start: " + errors())
    return p


def errors():
    with open(LOG, errors="replace") as f:
        return f.read()


def statuses(path, n):
    return [request(P, path=path).status for _ in range(n)]


def reload(p, http, module=True):
    """A reload; the new workers' answers."""
    site(http, module)
    before = workers(p)
    p.send_signal(1)
    ok(wait_until(lambda: workers(p) and not set(before) & set(workers(p))), "the workers are new")


def workers(p):
    return run("pgrep", "-P", str(p.pid)).stdout.split()


ROOT_OF = f"root {home}/www;"
ASKED = ["/inherits", "/", "/", "/own/x", "/own/x", "/own/deeper/x", "/two", "/two", "/two", "/two", "/dry/x", "/dry/x", "/dry/not/x", "/free", "/free",
         "/free", "/return", "/return"]
for path in [*ASKED, "/inner", "/set", "/line"]:
    path = f"{home}/www{path}" + "index.html" * (path == "/")
    os.makedirs(os.path.dirname(path), exist_ok=True)
    write(path, "hello\n")
ZONES = "".join(f"limit_req_zone $binary_remote_addr zone={n}:1m rate=1r/m;" for n in "abcdef")
SERVED = f"""{ZONES}
limit_req_status 599;
server {{ listen 127.0.0.1:{P}; {ROOT_OF}
    limit_req zone=a burst=1 nodelay;
    location /inherits {{ }}
    location /own {{ limit_req zone=b; limit_req_status 429; location /own/deeper {{ limit_req_status 430; }} }}
    location /two {{ limit_req zone=c burst=3 nodelay; limit_req zone=d burst=1 nodelay; limit_req_status 431; }}
    location /dry {{ limit_req zone=e; limit_req_dry_run on; limit_req_log_level warn; location /dry/not {{ limit_req_dry_run off; }} }}
    location /free {{ limit_req zone=f burst=99 nodelay; }}
    location /return {{ limit_req zone=f; return 204; }}
}}"""
answers, lines = [], []
for module in (False, True):
    p = begin(SERVED + f"weir_limit_table {TABLE};" * module, module)
    answers.append([request(P, path=path).status for path in ASKED])
    stop(p, signal.SIGQUIT)
    lines.append([re.sub(r"excess: [\d.]+", "excess: N", re.sub(r".*(\[\w+\]) \d+#\d+: \*\d+ (.*?), client.*", r"\1 \2", l))
                  for l in errors().splitlines() if "limiting requests" in l])
    open(LOG, "w").close()
is_(answers[0], [200, 200, 599, 200, 429, 430, 200, 200, 431, 431, 200, 200, 599, 200, 200, 200, 204, 204], "stock nginx: what levels inherit")
is_(answers[1], answers[0], "weir: the same")
is_(lines[1], lines[0], "and the same lines in the log")
is_(len(lines[0]), 7, "one of each refusal")

# a status of weir's: where none is set, and on a line
p = begin(f"""{ZONES} weir_limit_table {TABLE}; weir_limit_status 429;
server {{ listen 127.0.0.1:{P}; {ROOT_OF} limit_req zone=b;
    location /inner {{ weir_limit_status 420; }}
    location /set {{ limit_req_status 503; }}
    location /line {{ limit_req zone=b status=418; limit_req_status 503; }} }}""")
is_([request(P, path=x).status for x in ("/", "/inner", "/set", "/line")], [429, 420, 503, 418], "weir_limit_status and status=; counters go on after a restart")

# ---- nginx -t and a reload: what changes -------------------------------------------------------------
def told(http):
    code, said = test(http)
    return code, [l for l in said if "weir: " in l]


NOW = f"weir_limit_table {TABLE};" + L(ROOT_OF + "limit_req zone=one burst=2 nodelay; limit_conn two 5;")
ONE = "limit_req_zone $binary_remote_addr zone=one:1m rate=1r/m;"
TWO = "limit_conn_zone $binary_remote_addr zone=two:1m;"
reload(p, ONE + TWO + NOW)
is_(statuses("/", 4), [200, 200, 200, 503], "another configuration, by reload")
is_(told(ONE + TWO + NOW), (0, []), "nginx -t: nothing changes")
is_(told(ONE.replace("$binary_remote_addr", "$remote_addr") + TWO + NOW),
    (0, ["[warn] weir: with a reload: zone 'one': its key was $binary_remote_addr and is $remote_addr: its counters begin anew"]), "another key")
code, said = told(ONE.replace("1r/m", "2r/h") + TWO + NOW)
is_((code, len(said), said[0][:41]), (0, 1, "[notice] weir: with a reload: zone 'one':"), "another rate")
like(said[0], "carried over", "keeps its counters")
is_([l for l in told(ONE.replace("zone=one", "zone=three") + TWO + NOW.replace("zone=one", "zone=three"))[1]],
    ["[notice] weir: with a reload: zone 'three' is new", "[notice] weir: with a reload: zone 'one' is gone; its counters fade"], "another name")
MANY = "".join(f"limit_req_zone $binary_remote_addr zone=many{i:02}:32k rate=1r/m;" for i in range(39))
reload(p, MANY + ONE + TWO + NOW)
code, said = told(MANY.replace("1r/m", "2r/m") + ONE.replace("$binary_remote_addr", "$remote_addr") + TWO + NOW)
is_((code, said[0]), (0, "[warn] weir: with a reload: zone 'one': its key was $binary_remote_addr and is $remote_addr: its counters begin anew"),
    "one of forty that change begins anew: that is said first, and as a warning")
like(said[-1], "[notice] weir: with a reload: and ", "and how many are left out")
is_(len([l for l in said if l.startswith("[warn]")]), 1, "nothing else is one")
code, said = told((MANY + ONE).replace("$binary_remote_addr", "$remote_addr") + TWO + NOW)
is_([l for l in said if not l.startswith("[warn] weir: with a reload: ")], [], "forty that begin anew: every line is a warning")
ok(re.search(r"and (\d+) more, \1 of which begin anew$", said[-1]), "also the last, which says how many there was no room for")
reload(p, ONE + TWO + NOW)
site(ONE.replace("1r/m", "3r/h") + TWO + NOW)
is_(nginx("-t", "-q").stderr, "", "nginx -t -q says nothing of that")
is_(statuses("/", 1), [503], "nginx -t has changed nothing")
reload(p, ONE.replace("1r/m", "2r/h") + TWO + NOW)
is_(statuses("/", 1), [503], "a rate that changes keeps its counters")
reload(p, ONE.replace("$binary_remote_addr", "$remote_addr") + TWO + NOW)
is_(statuses("/", 1), [200], "a key that changes begins anew")
ok("its counters begin anew" in errors(), "and the log says so")

# beside a policy
policy = write(f"{home}/policy.yaml", "limits: {a: {rate: 1/s}}\n")
reload(p, f"weir_policy {policy}; weir_table {shm}/beside 64k;" + ONE.replace("$binary_remote_addr", "$remote_addr") + TWO + NOW)
ok(wait_until(lambda: os.path.exists(f"{shm}/beside.policy")), "a policy beside the zones has a table of its own")
is_(statuses("/", 2), [200, 429], "both are asked")

code, said = told(ONE + NOW.replace(TABLE, f"{shm}/beside").replace("limit_conn two 5;", ""))
is_((code, said), (0, ["[warn] weir: with a reload: its table serves a policy and takes no zones: name another one, weir_limit_table PATH"]), "the policy's is no place for zones")

# ---- from weir to stock nginx and back ---------------------------------------------------------------
STOCK = NOW.replace(f"weir_limit_table {TABLE};", "")
reload(p, ONE + TWO + STOCK, False)
is_(statuses("/", 4), [200, 200, 200, 503], "without the module stock nginx counts, from nothing")
reload(p, ONE + TWO + NOW)
is_(statuses("/", 5)[-1], 503, "with it weir does, again")
generation = errors().count("published generation")
reload(p, ONE + TWO + NOW)
is_(errors().count("published generation"), generation, "a reload of the same publishes nothing")
reload(p, ONE + TWO + STOCK, False)
reload(p, L(ROOT_OF))
is_(statuses("/", 5), [200] * 5, "no limits: nothing is limited")
reload(p, ONE + TWO + L(ROOT_OF))
is_(statuses("/", 5), [200] * 5, "nor by zones that no line uses")
stop(p, signal.SIGQUIT)
is_([l for l in errors().splitlines() if re.search(r"\[(alert|emerg|crit)\]|AddressSanitizer|runtime error", l)], [], "no alert")

# the module and nothing else
for path in os.listdir(shm):
    os.remove(f"{shm}/{path}")
open(LOG, "w").close()
p = begin(L(ROOT_OF))
is_(statuses("/", 3), [200] * 3, "a configuration without limits")
stop(p, signal.SIGQUIT)
is_((os.listdir(shm), "weir" in errors().replace(home, "")), ([], False), "makes nothing and says nothing")
done()
