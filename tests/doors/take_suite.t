#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# What nginx does for limit_req and limit_conn, one configuration after the other, as tables of what is asked and answered. Each is played
# to stock nginx too, which shows that the expectations are nginx's own.
import json, sys; sys.path[:0] = ["tests/lib", "tests/doors"]
from suitelib import *

BIG = "0123456789\n" * 65536
IP = "limit_req_zone $binary_remote_addr zone={}:1m rate={};\n"
CONN = "limit_conn_zone {} zone={}:1m;\n"
SERVER = "server {{ listen 127.0.0.1:PORT; {} }}\n"
BEHIND = "server {{ listen 127.0.0.1:BACK; {} }}\n"  # holds whom it delays
STATUS = "add_header X-Req $limit_req_status always; add_header X-Conn $limit_conn_status always;\n"


def get(path, status, **headers):
    return "get", path, status, headers


# excess itself is compared to the thousandth where the clock is held: oracle.t
def log(count, *words, file="error.log"):
    return "log", file, count, words


def wait(seconds):
    return "wait", seconds


def begin(name, path):
    return "begin", name, path


def end(name, status, at_least=0.0, **headers):
    return "end", name, status, at_least, headers


def leave(name):
    return "leave", name


TABLE = [
    ("a burst without delay, and what shares its zone", {"a": "a", "s": "s"},
     IP.format("one", "2r/s") + SERVER.format("location / { limit_req zone=one burst=1 nodelay; }"
                                              "location /s { limit_req zone=one burst=1 nodelay; limit_req_status 501; }"),
     [get("/a", 200), get("/a", 200), get("/a", 503), get("/s", 501), get("/a", 503),
      wait(0.55), get("/s", 200),  # what was refused cost nothing
      log(3, "[error]", 'limiting requests, excess: 1.', ' by zone "one", client: 127.0.0.1, server: , request: "GET /')]),
    ("debt does not go below nothing", {"a": "a"},
     IP.format("fast", "1000r/s") + SERVER.format("location / { limit_req zone=fast burst=1; }"),
     [get("/a", 200), wait(0.1), get("/a", 200), wait(0.1), get("/a", 200)]),
    ("two zones on a place: the one whose key is there counts", {"a": "a"},
     "limit_req_zone $arg_a zone=slow:1m rate=1r/m; limit_req_zone $arg_b zone=fast:1m rate=1000r/s;\n" + SERVER.format(
         "location / { limit_req zone=fast; limit_req zone=slow; }"
         "location /n { limit_req zone=fast nodelay; limit_req zone=slow nodelay; alias DIR/html/a; }"),
     [step for place, n in (("/a", 0), ("/n", 10)) for step in (
         get(f"{place}?b={n}1", 200), wait(0.02), get(f"{place}?b={n}1", 200), get(f"{place}?a={n}1", 200), wait(0.02),
         get(f"{place}?a={n}1", 503), get(f"{place}?a={n}2&b={n}2", 200), wait(0.02), get(f"{place}?a={n}2&b={n}2", 503),
         get(place, 200), get(place, 200))] + [log(4, "limiting requests", 'by zone "slow"'), log(0, 'by zone "fast"')]),
    ("delay: the first of the burst at once, the rest later, and no more than the burst", {"a": "a"},
     IP.format("one", "60r/m") + SERVER.format("location / { limit_req zone=one delay=1 burst=2; add_header X-Time $request_time; }"),
     [get("/a", 200, x_time="0.000"), get("/a", 200, x_time="0.000"), begin("slow", "/a"), get("/a", 503), end("slow", 200, 0.7),
      log(1, "[warn]", "delaying request, excess: 1.9", ', by zone "one", client: ')]),
    ("dry run: all pass, all is told", {"delay": "x", "refuse": "x", "free": "x"},
     IP.format("one", "1r/m") + "log_format t $uri:$limit_req_status;\n" + SERVER.format(
         STATUS + "limit_req_dry_run on; access_log DIR/access.log t; location /delay { limit_req zone=one burst=2; }"
         "location /refuse { limit_req zone=one; } location /refuse/off { limit_req zone=one; limit_req_dry_run off; } location / { }"),
     [get("/delay", 200, x_req="PASSED"), get("/delay", 200, x_req="DELAYED_DRY_RUN"), get("/refuse", 200, x_req="REJECTED_DRY_RUN"),
      get("/refuse/off", 503, x_req="REJECTED"), get("/free", 200, x_req=None),
      log(1, "[warn]", "delaying request, dry run, excess: ", ', by zone "one"'), log(1, "[error]", "limiting requests, dry run, excess: ", ' by zone'),
      log(1, "limiting requests, excess: "), log(1, "/free:-", file="access.log"), log(1, "/refuse/off:REJECTED", file="access.log"),
      log(1, "/delay:DELAYED_DRY_RUN", file="access.log")]),
    ("limit_conn: one zone in several places", {"free": "x"},
     IP.format("req", "30r/m") + CONN.format("$binary_remote_addr", "z") + CONN.format("$binary_remote_addr", "z2") + CONN.format("$binary_remote_addr", "own")
     + BEHIND.format("location /w { limit_req zone=req burst=10; }") + SERVER.format(
         STATUS + "location / { proxy_pass http://127.0.0.1:BACK; limit_conn z 1; } location /1 { limit_conn z 1; } location /z2 { limit_conn z2 1; }"
         "location /five { limit_conn z 5; } location /own { proxy_pass http://127.0.0.1:BACK/; limit_conn_log_level info; limit_conn_status 501; limit_conn own 1; }"),
     [get("/w", 404, x_conn="PASSED"), begin("one", "/w"), get("/", 503, x_conn="REJECTED"), get("/1", 503), get("/z2", 404, x_conn="PASSED"),
      leave("one"), ("until", "/1", 404),
      begin("own", "/own/w"), get("/own", 501), log(1, "[info]", 'limiting connections by zone "own", client: 127.0.0.1'),
      begin("again", "/w"), get("/five", 404), get("/", 503), log(3, "[error]", 'limiting connections by zone "z"'), leave("again"), leave("own")]),
    ("keys of several parts", {"r": "", "r2": ""},
     "limit_req_zone $binary_remote_addr$arg_r zone=req:1m rate=1r/m; limit_req_zone $binary_remote_addr zone=re2:1m rate=1r/m;\n"
     + CONN.format("$binary_remote_addr$arg_c", "conn") + SERVER.format(
         "location / { limit_conn conn 1; } location /w { limit_conn conn 1; proxy_pass http://127.0.0.1:PORT/r2; }"
         "location /r { limit_req zone=req burst=2; } location = /r2 { limit_req zone=re2 burst=2; }"),
     [get("/r", 200), begin("same", "/r"), ("silent", "same", 1.0), get("/r?r=2", 200), get("/r2", 200), begin("w", "/w"),
      get("/", 503), get("/?c=2", 403), leave("same"), leave("w")]),
    ("limit_conn, dry run", {"w": ""},
     IP.format("req", "30r/m") + CONN.format("$binary_remote_addr", "z") + "log_format t $uri:$limit_conn_status;\n"
     + BEHIND.format("location /w { limit_req zone=req burst=10; }") + SERVER.format(
         STATUS + "access_log DIR/access.log t; location /refuse { proxy_pass http://127.0.0.1:BACK/w; limit_conn z 1; }"
         "location /dry { limit_conn z 1; limit_conn_dry_run on; } location / { }"),
     [get("/refuse", 200, x_conn="PASSED"), begin("one", "/refuse"), get("/refuse", 503, x_conn="REJECTED"),
      get("/dry", 404, x_conn="REJECTED_DRY_RUN"), get("/w", 200, x_conn=None), leave("one"),
      log(1, 'limiting connections, dry run, by zone "z"'), log(1, "/w:-", file="access.log"), log(1, "/dry:REJECTED_DRY_RUN", file="access.log")]),
    ("levels: one line a refusal where the log's level lets it through", {"a": "a"},
     IP.format("one", "1r/m") + "limit_req zone=one;\n" + SERVER.format("".join(
         f"location /{own} {{ limit_req_log_level {own}; " + "".join(f"error_log DIR/{own}.{level} {level}; " for level in
                                                                     ("debug", "info", "notice", "warn", "error", "alert")) + "}\n"
         for own in ("info", "notice", "warn", "error"))
         + "location /low { error_log DIR/low warn; error_log DIR/low; } location /high { error_log DIR/high emerg; error_log DIR/high; }"
           "location /stderr { error_log stderr; }"),
     [get("/a", 200)] + [get(f"/{own}", 503) for own in ("info", "notice", "warn", "error")] + [get("/low", 503), get("/high", 503), get("/stderr", 503)]
     + [log(int(n <= m), f"[{own}]", "limiting requests", file=f"{own}.{level}") for m, own in enumerate(("info", "notice", "warn", "error"), 1)
        for n, level in enumerate(("debug", "info", "notice", "warn", "error", "alert"))]
     + [log(2, "[error]", "limiting requests", file="low"), log(1, "[error]", "limiting requests", file="high"), log(1, "limiting requests", file="stderr")]),
    ("a mirror that is delayed does not hold up whom it mirrors", {},
     "limit_req_zone $uri zone=slow:1m rate=60r/m; log_format t $request_uri:$request_body;\n" + SERVER.format(
         "location / { mirror /mirror; proxy_pass http://127.0.0.1:BACK; }"
         "location /mirror { internal; proxy_pass http://127.0.0.1:BACK; limit_req zone=slow burst=1; }")
     + BEHIND.format("location / { access_log DIR/access.log t; proxy_pass http://127.0.0.1:BACK/said; } location /said { return 204; }"),
     [("post", "/", "some body", 204), ("post", "/next", "other body", 204), log(1, "/mirror:some body", file="access.log"), log(1, "delaying request", 'subrequest: "/mirror"')]),
    ("inheritance: a level without limits has those of the one above, one with a limit has only its own", {"a": "a", "b": "b", "c": "c"},
     "limit_req_zone $arg_k zone=one:1m rate=1r/m; limit_req_zone $arg_k zone=two:1m rate=1r/m; limit_req zone=one; limit_req_status 429;\n" + SERVER.format(
         "location /a { } location /b { limit_req zone=two; } location /c { limit_req_status 503; }"),
     [get("/a?k=1", 200), get("/b?k=1", 200), get("/c?k=1", 503), get("/a?k=1", 429), get("/b?k=1", 429), get("/b?k=2", 200), get("/a?k=2", 200)]),
    ("once a request: what leads elsewhere is not limited twice", {"x": "x", "y": "y"},
     IP.format("one", "1r/m") + IP.format("two", "1r/m") + SERVER.format(
         STATUS + "location = /none { limit_req zone=one; error_page 404 = /x; } location = /x { limit_req zone=two; }"
         "location = /try { try_files /nothing /x; }"),
     [get("/none", 200, x_req="PASSED"), get("/try", 200, x_req="PASSED"), get("/none", 503, x_req="REJECTED"), get("/try", 503), get("/x", 503)]),
    ("a refusal has its page, and its page is not limited", {"sorry": "wait a minute"},
     IP.format("one", "1r/m") + SERVER.format("location / { limit_req zone=one; error_page 503 =429 /sorry; } location = /sorry { limit_req zone=one; }"),
     [get("/sorry", 200), ("body", "/", 429, "wait a minute")]),
    ("a refused auth_request is an error of the server", {"a": "a", "auth": ""},
     IP.format("one", "1r/m") + SERVER.format("location = /a { auth_request /auth; } location = /auth { limit_req zone=one; }"),
     [get("/a", 200), get("/a", 500), log(1, "auth request unexpected status: 503")]),
    ("return is not limited; 444 says nothing", {"a": "a"},
     IP.format("one", "1r/m") + SERVER.format("limit_req_status 444; location / { limit_req zone=one; } location /r { limit_req zone=one; return 204; }"),
     [get("/r", 204), get("/r", 204), get("/a", 200), get("/a", None), get("/r", 204)]),
    ("keep-alive, pipelined: each is counted", {"a": "a"},
     IP.format("one", "1r/m") + SERVER.format("location / { limit_req zone=one burst=2 nodelay; }"), [("pipeline", "/a", [200, 200, 200, 503, 503])]),
]


def play(site, name, steps):
    held = {}
    for n, (what, *words) in enumerate(steps):
        told = f"{name}: {n}: {what} {' '.join(map(str, words[:2]))}"
        if what in ("get", "body"):
            try:
                a = site.get(words[0])
                got = a.status, {k: a[k.replace("_", "-")] for k in words[2]} if what == "get" else a.text
            except http.client.BadStatusLine:
                got = None, {}
            is_(got, (words[1], words[2]), told)
        elif what == "post":
            w = Wire(site.port).send(f"POST {words[0]} HTTP/1.1\r\nHost: a\r\nContent-Length: {len(words[1])}\r\n\r\n{words[1]}")
            is_(w.read().status, words[2], told)
        elif what == "wait":
            time.sleep(words[0])
        elif what == "begin":
            held[words[0]] = (time.monotonic(), Wire(site.port).send(f"GET {words[1]} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"))
            time.sleep(0.3)
        elif what == "end":
            began, w = held.pop(words[0])
            is_(w.read().status, words[1], told)
            within(time.monotonic() - began, words[2], words[2] + 20, told + ", after")
        elif what == "silent":
            began, w = held[words[0]]
            w.s.settimeout(words[1])
            try:
                got = w.s.recv(1)
            except TimeoutError:
                got = None
            is_(got, None, told)
        elif what == "leave":
            held.pop(words[0])[1].close()
        elif what == "until":
            ok(wait_until(lambda: site.get(words[0]).status == words[1]), told)
        elif what == "pipeline":
            w = Wire(site.port).send(f"GET {words[0]} HTTP/1.1\r\nHost: a\r\n\r\n" * len(words[1]))
            is_([w.read().status for _ in words[1]], words[1], told)
        elif what == "log":
            wait_until(lambda: site.lines(words[0], *words[2]) >= words[1], 5)  # some are written after the answer
            is_(site.lines(words[0], *words[2]), words[1], f"{told} lines with {words[2]}")


def big_answer(who):
    """A delayed answer that fills every buffer is whole."""
    site = Plain(who, IP.format("long", "2r/s") + SERVER.format("location / { limit_req zone=long burst=5; }"), {"big": BIG})
    is_(site.get("/big").body, BIG.encode(), f"{who}: a big answer")
    w = Wire(site.port).send("GET /big HTTP/1.1\r\nHost: a\r\n\r\n")
    time.sleep(0.7)
    is_(w.read().body, BIG.encode(), f"{who}: the same, delayed and read late")
    site.stop()
    is_(site.alerts(), [], f"{who}: no alert")


def graceful_end(who):
    """Who is delayed while nginx ends is answered, and told that it is the last."""
    site = Plain(who, IP.format("one", "1r/s") + SERVER.format("location / { limit_req zone=one burst=5; }"), {"a": "a"})
    w = Wire(site.port).send("GET /a HTTP/1.1\r\nHost: a\r\n\r\n" * 2)
    is_(w.read()["connection"], "keep-alive", f"{who}: the first stays")
    time.sleep(0.2)
    site.process.send_signal(signal.SIGQUIT)
    a = w.read()
    is_((a.status, a["connection"]), (200, "close"), f"{who}: the delayed one is answered at a graceful end, and is the last")
    ok(wait_until(lambda: site.process.poll() is not None), f"{who}: nginx has ended")


def http2(who):
    site = Plain(who, IP.format("req", "2r/s") + CONN.format("$binary_remote_addr", "conn") + f"""
        server {{ listen 127.0.0.1:PORT http2; location / {{ }} location /req {{ limit_req zone=req burst=2; alias DIR/html/a; }}
            location /proxy/ {{ limit_req zone=req burst=2; client_body_in_single_buffer on; proxy_pass http://127.0.0.1:BACK/; }}
            location /t {{ limit_conn conn 1; }} }}
        server {{ listen 127.0.0.1:BACK; location / {{ proxy_pass http://127.0.0.1:OTHER; add_header X-Body $request_body; proxy_set_body $request_body; }} }}
        """, {"a": "SEE-THIS", "t": "SEE-THIS"})
    echo = Echo(site.other)
    h = Frames(site.port)
    for name, pause, sent in (("at once", 0, "TEST"), ("while it waits", 0, "TEST"), ("after it waited", 0.7, "TEST"), ("none of it", 0.7, "")):
        h = Frames(site.port)
        s = h.begin("POST", "/proxy/", end=False)
        time.sleep(pause)
        h.data(s, sent.encode(), end=True)
        is_(h.answer(s), (200, sent.encode()), f"{who}: HTTP/2, a body that comes {name}")
    h = Frames(site.port)
    s = h.begin("POST", "/req", end=False)
    h.data(s, b"TE")
    is_(h.answer(s)[0], 405, f"{who}: HTTP/2, a body that nobody wants, delayed")  # a file is not posted to
    is_(h.answer(h.begin("GET", "/a"))[0], 200, f"{who}: HTTP/2, the next stream of that connection")
    for n in range(2):  # what a client leaves while it waits
        h = Frames(site.port)
        s = h.begin("GET", "/req", end=False)
        h.data(s, b"TE")
        time.sleep(0.2)
        h.reset(s) if n else h.s.close()
    time.sleep(1.2)
    h = Frames(site.port, window=1)
    first = h.begin("GET", "/t")
    is_(h.status(first), 200, f"{who}: HTTP/2, the first stream")
    is_(h.status(h.begin("GET", "/t")), 503, f"{who}: HTTP/2, each stream is a connection: the second is refused")
    h.reset(first)
    ok(wait_until(lambda: h.status(h.begin("GET", "/t")) == 200, 10), f"{who}: HTTP/2, a stream that is reset gives its place back")
    h.s.close()
    site.stop()
    is_(site.alerts(), [], f"{who}: no alert")
    echo.close()


class Echo:
    """Answers with the body that it was sent."""

    def __init__(self, at):
        self.s = socket.create_server(("127.0.0.1", at))
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                c, _ = self.s.accept()
            except OSError:
                return
            f = c.makefile("rb")
            size = 0
            while (line := f.readline()) not in (b"\r\n", b""):
                if line.lower().startswith(b"content-length:"):
                    size = int(line.split(b":")[1])
            c.sendall(b"HTTP/1.0 200 OK\r\n\r\n" + f.read(size))
            f.close(), c.close()

    def close(self):
        self.s.close()


if __name__ == "__main__":
    for who in (STOCK, OURS):
        for name, files, conf, steps in TABLE:
            site = Plain(who, conf, files)
            play(site, f"{who}: {name}", steps)
            if who == OURS:  # it was this one that counted
                info = json.loads(weir("table", "info", "--json", "--table", site.table).stdout)
                within(info["slots"] - info["empty"], 1, 100, f"{name}: it was counted in the table")
            mirror = "mirror" in name  # nginx leaves a socket open where a mirror was delayed
            if not mirror:
                site.stop()
            is_(site.alerts(), [], f"{who}: {name}: no alert")
            stop(site.process)
        big_answer(who)
        graceful_end(who)
        http2(who)
    done()
