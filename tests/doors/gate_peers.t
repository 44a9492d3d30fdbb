#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Whose request it is: the connection's peer, what nginx's realip makes of it (for a server and for a location), the PROXY protocol,
# IPv6, unix sockets, and variables of nginx as keys.
import os, socket, sys; sys.path[:0] = ["tests/lib", "tests/doors"]
from gatelib import *

LIMIT = "limits: {per-ip: {key: ip, rate: 1/hour, burst: 2}}\n"
d = folder()
sock = os.path.join(d, "s")
proxied, six, real, loc = port(), port(), port(), port()
site = Site(policy=LIMIT, server=f"listen unix:{sock}; listen [::1]:{six};", http=f"""
    server {{ listen 127.0.0.1:{real}; set_real_ip_from 127.0.0.0/8; real_ip_header X-Real-IP; location / {{ root /; }} location /r {{ return 200 'r'; }} }}
    server {{ listen 127.0.0.1:{loc}; location / {{ set_real_ip_from 127.0.0.0/8; real_ip_header X-Forwarded-For; real_ip_recursive on; alias $W/; }} }}
""", start_now=False)
write(site.conf, site.conf_text.replace("$W", site.root))
site.start()
via = lambda p, ip, name="X-Real-IP", path="/", **kw: request(p, "GET", path, headers={name: ip}, **kw).status

is_([via(real, "192.0.2.1", path="/r") for _ in range(3)], [200, 200, 429], "realip for a server: the client it names")
is_([via(real, "192.0.2.2", path="/none") for _ in range(3)], [404, 404, 429], "another has its own bucket")
is_([via(loc, "192.0.2.3", "X-Forwarded-For", "/f1.txt") for _ in range(3)], [200, 200, 429], "realip inside a location: the same")
is_([via(loc, f"10.{i}.0.1, 192.0.2.4", "X-Forwarded-For", "/f1.txt") for i in range(3)], [200, 200, 429], "entries invented on the left gain nothing")
is_([via(real, "192.0.2.1", path="/r")], [429], "and one client is one, by either way")
is_([l for l in site.errors().splitlines() if "untrusted" in l], [], "no hint about proxies: nginx was told whom to trust")

is_([Wire(unix=sock).get("/").status for _ in range(3)], [200, 200, 429], "a unix socket is one client")
is_([via(site.port, f"10.0.0.{i}", "X-Forwarded-For") for i in range(3)], [200, 200, 429], "headers of an untrusted peer gain nothing")
hints = [l for l in site.errors().splitlines() if "untrusted" in l]
is_(len(hints), 1, "of which the log says one line")
like(hints[0], "weir: X-Forwarded-For from untrusted 127.0.0.1: all its clients share one bucket; if it is your proxy: "
     "clients: {address: {from: x-forwarded-for, trusted: [127.0.0.1]}}", "that says what to write")


def over_six():
    with socket.create_connection(("::1", six), 5) as s:
        s.sendall(b"GET / HTTP/1.0\r\n\r\n")
        return int(s.makefile("rb").readline().split()[1])


is_([over_six() for _ in range(3)], [200, 200, 429], "IPv6")
site.check_no_alerts()
site.stop()

# the PROXY protocol, believed only from where it is trusted
site = Site(policy=LIMIT + "clients: {address: {from: proxy-protocol, trusted: [127.0.0.1]}}\n", listen="proxy_protocol", start_now=False)
site.start()


def spoken(client, source=None):
    w = Wire(site.port, source=source)
    a = w.send(f"PROXY TCP4 {client} 192.0.2.200 1234 80\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n").read()
    w.close()
    return a.status


is_([spoken("192.0.2.1") for _ in range(3)], [200, 200, 429], "the PROXY protocol names the client")
is_(spoken("192.0.2.2"), 200, "another one")
is_([spoken(f"192.0.2.{10 + i}", "127.0.0.8") for i in range(3)], [200, 200, 429], "from a peer that is not trusted it names nobody")
site.check_no_alerts()
site.stop()

# a unix socket is trusted where 127.0.0.1 is
site = Site(policy=LIMIT + "clients: {address: {from: x-forwarded-for, trusted: [127.0.0.1]}}\n", server=f"listen unix:{sock}2;")
is_([Wire(unix=sock + "2").get("/", f"X-Forwarded-For: 192.0.2.{i}\r\n").status for i in (1, 1, 1, 2)], [200, 200, 429, 200], "a proxy on a unix socket")
is_([Wire(site.port).get("/", "X-Forwarded-For: 192.0.2.5\r\nX-Forwarded-For: 192.0.2.6\r\n").status for _ in range(3)], [200, 200, 429],
    "several header lines are one list: the last entry counts")
is_(site.get("/", headers={"X-Forwarded-For": "192.0.2.5"}).status, 200, "and not the first")
site.check_no_alerts()
site.stop()

# variables of nginx
site = Site(policy="""
limits:
  by-map: {match: /map/**, key: var.tier, missing: ip, rate: 1/hour, burst: 1}
  by-set: {match: /set/**, key: var.mine, missing: skip, rate: 1/hour, burst: 1}
  by-arg: {match: /arg/**, key: var.ARG_x, missing: skip, rate: 1/hour, burst: 1}
""", http="map $http_x_tier $tier { default ''; gold g; silver s; }", server="set $mine $arg_m;")
tier = lambda name: site.get("/map/", headers={"X-Tier": name} if name else {}).status
is_([tier("gold"), tier("gold"), tier("silver"), tier(None), tier(None)], [200, 429, 200, 200, 429], "a map; empty is missing")
is_([site.get("/set/?m=1").status, site.get("/set/?m=1").status, site.get("/set/?m=2").status, site.get("/set/").status, site.get("/set/").status],
    [200, 429, 200, 200, 200], "set")
is_([site.get("/arg/?x=1").status, site.get("/arg/?x=1").status, site.get("/arg/?x=2").status], [200, 429, 200], "$arg_x, whatever the case it is written in")
site.check_no_alerts()
done()
