#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# An imported policy answers as the nginx that it was imported from: the same traces through stock nginx with its own limits, and
# through an nginx without them, with weir's module and the policy. Rates are so slow that no machine is slow enough to matter.
import random, re, sys; sys.path.insert(0, "tests/lib")
from weirtest import *

LIMITS = re.compile(r"\b(limit_(req|conn)|set_real_ip|real_ip)\w* [^;]*;")


def plain(http, port):
    return http.replace("LISTEN", f"listen 127.0.0.1:{port};").replace("FILE", "try_files $uri /index.html;")


class Nginx:
    def __init__(self, http, policy=None, keys=None):
        self.dir, shm = folder(), shm_folder()
        os.chmod(self.dir, 0o755)
        self.port = port()
        os.mkdir(f"{self.dir}/www")
        write(f"{self.dir}/www/index.html", "hello\n")
        write(f"{self.dir}/www/large", "x" * 300000)
        self.table = f"{shm}/t/site"
        own = ""
        if policy:
            path = write(self.dir + "/policy.yaml", policy)
            if keys and weir("keys", "import", keys, "--policy", path).returncode != 0:
                raise SystemExit("the keys were not imported")
            own = f"weir_policy {path}; weir_table {self.table} 4m;"
        self.conf = write(f"{self.dir}/nginx.conf", f"""
{"load_module " + MODULE + ";" if policy else ""}
{"user root;" if os.geteuid() == 0 else ""}
worker_processes 1;
error_log {self.dir}/error.log info;
pid {self.dir}/nginx.pid;
events {{ worker_connections 256; }}
http {{
    client_body_temp_path {self.dir}/b; proxy_temp_path {self.dir}/p; fastcgi_temp_path {self.dir}/f; uwsgi_temp_path {self.dir}/u;
    scgi_temp_path {self.dir}/s;
    access_log off; root {self.dir}/www; {own}
    {plain(http, self.port)}
}}
""")
        self.process = start(["nginx", "-c", self.conf, "-p", self.dir, "-e", f"{self.dir}/error.log", "-g", "daemon off;"], env=san_env(),
                             stderr=open(f"{self.dir}/stderr", "w"))
        if not wait_until(lambda: listening(self.port) and (not policy or os.path.exists(self.table + ".policy"))):
            raise SystemExit("nginx did not start: " + open(f"{self.dir}/error.log").read()[-2000:])


def pair(http):
    """Stock nginx, and weir's with what was imported from it."""
    conf = write(f"{folder()}/nginx.conf", "http {\n" + plain(http, 80) + "\n}\n")
    keys = conf + ".keys"
    r = weir("import", conf, "--keys", keys)
    if r.returncode not in (0, 4):
        raise SystemExit(r.stderr)
    return Nginx(http), Nginx(LIMITS.sub("", http), r.stdout, keys if os.path.exists(keys) else None), r


def same(what, http, trace, expect=None):
    stock, ours, r = pair(http)
    both = []
    for nginx in stock, ours:
        statuses = []
        for step in trace:
            if isinstance(step, float):
                time.sleep(step)
                continue
            path, kw = (step, {}) if isinstance(step, str) else step
            statuses.append(request(nginx.port, path=path, **kw).status)
        both.append(statuses)
        stop(nginx.process, signal.SIGQUIT)
    is_(both[1], both[0], f"{what}: as nginx")
    if expect:
        is_(both[0], expect, f"{what}: and that is what is meant")
    return r


ZONE = "limit_req_zone $binary_remote_addr zone=a:1m rate=1r/m;\n"
same("a burst", ZONE + "server { LISTEN limit_req zone=a burst=5 nodelay; location / { FILE } }", ["/"] * 8, [200] * 6 + [503] * 2)
same("no burst, 429", ZONE + "limit_req_status 429; server { LISTEN location / { limit_req zone=a; FILE } }", ["/"] * 3, [200, 429, 429])
same("what comes back", "limit_req_zone $remote_addr zone=a:1m rate=1r/s; server { LISTEN limit_req zone=a burst=1 nodelay; location / { FILE } }",
     ["/", "/", "/", 1.5, "/", "/"], [200, 200, 503, 200, 503])
same("a login beside a site", """
    limit_req_zone $binary_remote_addr zone=login:1m rate=1r/m;
    limit_req_zone $binary_remote_addr zone=site:1m rate=2r/m;
    limit_req_status 429;
    server {
        LISTEN
        limit_req zone=site burst=9 nodelay;
        location / { FILE }
        location = /login { limit_req zone=login burst=4 nodelay; limit_req zone=site burst=9 nodelay; FILE }
    }""", ["/login"] * 7 + ["/"] * 6 + [("/login", {"source": "127.0.0.7"}), ("/other", {"source": "127.0.0.7"})],
     [200] * 5 + [429] * 2 + [200] * 5 + [429] + [200] * 2)
EXEMPT = """
    geo $limited { default 1; 127.0.0.9 0; 127.0.1.0/24 0; 127.0.1.128/25 1; }
    map $limited $key { 0 ""; 1 $binary_remote_addr; }
    limit_req_zone $key zone=a:1m rate=1r/m;
    limit_req_zone $binary_remote_addr zone=b:1m rate=1r/m;
    server {
        LISTEN
        location / { limit_req zone=a; FILE }
        location /trial/ { limit_req zone=b; limit_req_dry_run on; FILE }
    }"""
same("an exempt list, a dry run", EXEMPT, [("/", {"source": s}) for s in ("127.0.0.1", "127.0.0.9", "127.0.1.4", "127.0.1.200") for _ in range(3)] + ["/trial/x"] * 3,
     [200, 503, 503] + [200] * 6 + [200, 503, 503] + [200] * 3)
same("keys by header", """
    map $http_x_api_key $keyless { "" $binary_remote_addr; default ""; }
    limit_req_zone $http_x_api_key zone=key:1m rate=1r/m;
    limit_req_zone $keyless zone=guest:1m rate=1r/m;
    server { LISTEN limit_req zone=key burst=2 nodelay; limit_req zone=guest; location / { FILE } }""",
     [("/", {"headers": {"X-API-Key": k} if k else {}}) for k in ("A", "B", "", "A", "", "B", "A", "A", "B", "B", "")],
     [200, 200, 200, 200, 503, 200, 200, 503, 200, 503, 503])
same("tiers of API keys", """
    map $http_x_api_key $tier { default free; key-0001 pro; key-0002 pro; key-0003 internal; key-0004 free; }
    map $tier $free { free $binary_remote_addr; default ""; }
    map $tier $pro { pro $http_x_api_key; default ""; }
    limit_req_zone $free zone=free:1m rate=1r/m;
    limit_req_zone $pro zone=pro:1m rate=1r/m;
    server { LISTEN limit_req zone=free; limit_req zone=pro burst=2 nodelay; location / { FILE } }""",
     [("/", {"headers": {"X-API-Key": k} if k else {}}) for k in ["key-0001"] * 4 + ["key-0002"] + ["key-0003"] * 3 + ["", "", "key-0004", "key-0009", "key-0002", "key-0002", "key-0002"]],
     [200] * 3 + [503, 200] + [200] * 3 + [200, 503, 503, 503, 200, 200, 503])
same("clients of several bearer keys", """
    map $http_authorization $client { default ""; "Bearer a-secret-1" a; "Bearer a-secret-2" a; "Bearer b-secret-1" b; }
    limit_req_zone $client zone=client:1m rate=1r/m;
    server { LISTEN limit_req zone=client burst=1 nodelay; location / { FILE } }""",
     [("/", {"headers": {"Authorization": f"Bearer {k}"} if k else {}}) for k in ("a-secret-1", "a-secret-2", "a-secret-1", "a-secret-2", "b-secret-1", "b-secret-1", "b-secret-1", "", "", "", "c", "c", "c")],
     [200, 200, 503, 503, 200, 200, 503] + [200] * 6)
same("by method", """
    map $request_method $writer { default ""; ~^(POST|PUT)$ $binary_remote_addr; }
    limit_req_zone $writer zone=a:1m rate=1r/m;
    server { LISTEN limit_req zone=a; location / { FILE } }""",
     [("/", {"method": m}) for m in ("GET", "POST", "GET", "POST", "PUT", "DELETE", "GET")])
NESTED = """
    limit_req_zone $binary_remote_addr zone=site:1m rate=1r/m;
    limit_req_zone $binary_remote_addr zone=api:1m rate=1r/m;
    limit_req_zone $binary_remote_addr zone=auth:1m rate=1r/m;
    limit_req_zone $binary_remote_addr zone=form:1m rate=1r/m;
    server {
        LISTEN
        limit_req zone=site burst=2 nodelay;
        location / { FILE }
        location /api/ {
            limit_req zone=api burst=3 nodelay;
            FILE
            location /api/auth/ { limit_req zone=auth; FILE }
            location = /api/auth/status { limit_req zone=site burst=2 nodelay; FILE }
            location /api/v1/ { FILE }
        }
        location ~ ^/(login|register)$ { limit_req zone=form; FILE }
        location ~ ^/users/[^/]+/avatar$ { limit_req zone=form; FILE }
        location ^~ /users/me/ { FILE }
    }"""
PATHS = ["/", "/x", "/api/", "/api/v1/a", "/api/auth/x", "/api/auth/status", "/login", "/register", "/users/7/avatar", "/users/me/avatar", "/users/7"]
same("nested locations", NESTED, [(p, {"source": f"127.0.0.{10 + i}"}) for i, p in enumerate(PATHS) for _ in range(5)])
dice = random.Random(4)
same("nested locations, 200 times by chance", NESTED,
     [(dice.choice(PATHS), {"source": f"127.0.2.{dice.randrange(1, 5)}", "method": dice.choice(["GET", "HEAD", "POST"])}) for _ in range(200)])
SERVERS = """
    limit_req_zone $binary_remote_addr zone=a:1m rate=1r/m;
    limit_req_zone $binary_remote_addr zone=b:1m rate=1r/m;
    limit_req_status 429;
    server { LISTEN server_name one.example; limit_req zone=a burst=3 nodelay; location / { FILE } location /deep/ { limit_req zone=b; FILE } }
    server { LISTEN server_name .two.example; limit_req zone=b burst=1 nodelay; limit_req_status 503; location / { FILE } }
    server { LISTEN server_name www.two.example three.example; location / { FILE } }"""
HOSTS = ["one.example", "two.example", "x.two.example", "www.two.example", "three.example", "nobody.example"]
same("servers by host", SERVERS, [(p, {"source": f"127.0.0.{20 + i}", "headers": {"Host": h}}) for i, h in enumerate(HOSTS) for p in ["/", "/", "/", "/", "/", "/deep/x", "/deep/y"]])
same("return, hostnames, a header or else the address", """
    map $host $outside { hostnames; default $binary_remote_addr; .int.example ""; }
    map $http_x_api_key $key { default $http_x_api_key; "" $binary_remote_addr; }
    limit_req_zone $outside zone=a:1m rate=1r/m;
    limit_req_zone $key zone=k:1m rate=1r/m;
    server { LISTEN server_name any.example; limit_req zone=a; location / { FILE } location = /healthz { return 204; }
             location /key/ { limit_req zone=k; FILE } }
    server { LISTEN server_name gone.example; return 301 http://any.example/; }""",
     [("/", {"source": f"127.0.0.{60 + i}", "headers": {"Host": h}}) for i, h in enumerate(["any.example", "int.example", "a.int.example", "a.example", "gone.example"]) for _ in range(3)] +
     [("/healthz", {"source": "127.0.0.70"})] * 3 + [("/key/x", {"source": "127.0.0.71", "headers": {"X-Api-Key": k} if k else {}}) for k in ("A", "", "A", "B", "")],
     [200, 503, 503] + [200] * 6 + [200, 503, 503] + [301] * 3 + [204] * 3 + [200, 200, 503, 200, 503])
same("a real address behind a proxy", """
    set_real_ip_from 127.0.0.1; real_ip_header X-Forwarded-For; real_ip_recursive on;
    limit_req_zone $binary_remote_addr zone=a:1m rate=1r/m;
    server { LISTEN limit_req zone=a; location / { FILE } }""",
     [("/", {"source": s, "headers": {"X-Forwarded-For": f}}) for s, f in [("127.0.0.1", "192.0.2.1"), ("127.0.0.1", "192.0.2.2"),
      ("127.0.0.1", "192.0.2.1"), ("127.0.0.5", "192.0.2.9"), ("127.0.0.5", "192.0.2.8"), ("127.0.0.1", "192.0.2.3, 127.0.0.1")]],
     [200, 200, 503, 200, 503, 200])
same("all or none", """
    limit_req_zone $binary_remote_addr zone=a:1m rate=1r/m;
    limit_req_zone $uri zone=b:1m rate=1r/m;
    server { LISTEN location / { limit_req zone=a burst=3 nodelay; limit_req zone=b; FILE } }""",
     ["/x", "/x", "/x", "/y", "/z", "/y", "/q", "/r"])

# delays and places in flight
stock, ours, _ = pair("limit_req_zone $binary_remote_addr zone=a:1m rate=2r/s; limit_req_status 429;\n"
                      "server { LISTEN location / { limit_req zone=a burst=3 delay=1; FILE } }")
for nginx, who in (stock, "nginx"), (ours, "the policy"):
    got = sorted(at_once(7, lambda i: request(nginx.port)), key=lambda a: a.seconds)
    passed = [a.seconds for a in got if a.status == 200]
    is_(sorted(a.status for a in got)[:4], [200] * 4, f"delay: {who} lets four of seven pass, at least")
    within(len(passed), 4, 5, f"delay: {who} refuses the others")
    ok(passed[2] >= 0.3 and passed[3] >= 0.8, f"delay: {who} lets two of them wait their turn")
    stop(nginx.process, signal.SIGQUIT)
stock, ours, _ = pair("limit_conn_zone $binary_remote_addr zone=c:1m; limit_conn_status 429;\n"
                      "server { LISTEN limit_conn c 2; location / { limit_rate 100k; FILE } }")
for nginx, who in (stock, "nginx"), (ours, "the policy"):
    got = at_once(5, lambda i: request(nginx.port, path="/large"))
    is_(sorted((a.status, len(a.body)) for a in got if a.status == 200), [(200, 300000)] * 2, f"in flight: {who} serves two")
    is_(sorted(a.status for a in got), [200] * 2 + [429] * 3, f"in flight: {who} refuses three")
    ok(min(a.seconds for a in got if a.status == 200) >= 1.0, f"in flight: {who} keeps to the bandwidth")
    stop(nginx.process, signal.SIGQUIT)
done()
