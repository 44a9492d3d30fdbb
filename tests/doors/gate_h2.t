#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# HTTP/2, TLS, websockets and gRPC pass through the gate, and are refused in their own language.
import hashlib, base64, json, os, socket, sys, threading; sys.path[:0] = ["tests/lib", "tests/doors"]
from gatelib import *

tls, h2, h2tls, upstream = port(), port(), port(), port()
d = folder()
cert = certificate(d)
backend = Backend(lambda method, path, headers, body: (200, {"Content-Type": "application/grpc", "grpc-status": "0"}, b"reply " + body[5:])
                  if path == "/shop.Shop/Buy" else (200, {}, b"%d\n" % len(body)))


def websocket_server():
    """Answers the handshake, then echoes bytes."""
    s = socket.create_server(("127.0.0.1", 0))

    def serve(c):
        head = b""
        while b"\r\n\r\n" not in head:
            head += c.recv(4096)
        key = [l.split(b": ")[1] for l in head.split(b"\r\n") if l.lower().startswith(b"sec-websocket-key")][0]
        accept = base64.b64encode(hashlib.sha1(key + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest())
        c.sendall(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: " + accept + b"\r\n\r\n")
        while (data := c.recv(4096)):
            c.sendall(data)
        c.close()

    def accept():
        while True:
            c, _ = s.accept()
            threading.Thread(target=serve, args=(c,), daemon=True).start()
    threading.Thread(target=accept, daemon=True).start()
    return s.getsockname()[1]


ws = websocket_server()
site = Site(policy="""
limits:
  x: {match: /x/**, key: ip, rate: 1/hour, burst: 2}
  ws: {match: /ws, key: ip, rate: 1/hour, burst: 1}
  grpc: {match: /shop.Shop/Buy, key: ip, rate: 1/min, burst: 2}
  ret: {match: [/ret/**, /zero/**], rate: 0/s}
clients: {deny: [{ip: 127.0.0.66}]}
""", server=f"listen 127.0.0.1:{tls} ssl; listen 127.0.0.1:{h2} http2; listen 127.0.0.1:{h2tls} ssl http2; {cert}",
    http=f"""
    server {{ listen 127.0.0.1:{upstream} http2; weir off;
        location / {{ proxy_pass http://127.0.0.1:{backend.port}; }} }}
""", locations=f"""
    location / {{ proxy_pass http://127.0.0.1:{backend.port}; }}
    location /ret/ {{ return 200 'x'; }}
    location /ws {{ proxy_pass http://127.0.0.1:{ws}; proxy_http_version 1.1; proxy_set_header Upgrade $http_upgrade; proxy_set_header Connection upgrade; }}
    location /shop.Shop/ {{ grpc_pass grpc://127.0.0.1:{upstream}; }}
""")
PRIOR = "--http2-prior-knowledge"

big = os.path.join(d, "big")
open(big, "w").write("b" * 400_000)
for url, argv, version, source in [(f"https://127.0.0.1:{tls}", ["--http1.1"], "1.1", 1), (f"https://127.0.0.1:{h2tls}", [], "2", 2), (f"http://127.0.0.1:{h2}", [PRIOR], "2", 3)]:
    argv = argv + ["--interface", f"127.0.4.{source}"]
    got = [curl(url + "/x/1", *argv) for _ in range(3)]
    is_([(a.status, a.version) for a in got], [(200, version), (200, version), (429, version)], f"{url.split(':')[0]}, HTTP/{version}: two pass, one is refused")
    once(got[0], "the allowed one has the headers once")
    once(got[2], "so has the refused one")
    is_(json.loads(got[2].text)["limit"], "x", "and its body")
    a = curl(url + "/x/1", *argv, "-I", "-o", "/dev/null")
    is_((a.status, int(a["content-length"]) > 20, a.body), (429, True, b""), "HEAD has none")
    a = curl(url + "/ret/1", *argv)
    is_((a.status, json.loads(a.text)["limit"]), (429, "ret"), "in place of `return`")

w = Wire(tls, tls=True)
w.send(b"POST /zero/1 HTTP/1.1\r\nHost: a\r\nContent-Length: 400000\r\n\r\n" + 400_000 * b"b")
is_(w.read().status, 429, "TLS: a POST of 400 kB is refused, its body let go")
is_(w.get("/y").text, "0\n", "and the connection goes on")
for p, secure in (h2, False), (h2tls, True):
    c = H2(p, tls=secure)
    for path in "/zero/1", "/ret/1":
        stream = c.begin("POST", path, end=False, content_length="400000")
        c.data(stream, 10_000 * b"b")
        status, body = c.answer(stream)
        is_((status, json.loads(body)["limit"]), (429, "ret"), f"HTTP/2: a POST to {path} is refused while its body is on the way")
        c.data(stream, 10_000 * b"b")
    is_(c.answer(c.begin("GET", "/z")), (200, b"0\n"), "and the connection goes on")
    c.s.close()
a = curl(f"http://127.0.0.1:{h2}/y", PRIOR, "--data-binary", "@" + big)
is_(a.text, "400000\n", "an allowed body arrives whole")
is_([k for k, _ in a.list if k != k.lower()], [], "HTTP/2 names are in lower case")

# websockets
HELLO = "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
w = Wire(site.port)
a = w.get("/ws", HELLO)
is_((a.status, a["Sec-WebSocket-Accept"]), (101, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="), "a websocket opens")
w.send(b"\x81\x05hello")
is_(w.s.recv(7), b"\x81\x05hello", "and talks")
is_(Wire(site.port).get("/ws", HELLO).status, 429, "the second one is refused")
for _ in range(50):
    w.send(b"\x81\x05again")
    w.s.recv(7)
w.close()
ok(wait_until(lambda: [l for l in logged(site) if l.startswith("101 PASSED ws 0 GET /ws")]), "fifty messages later it ends as the one request it was")

# gRPC
message = os.path.join(d, "message")
open(message, "wb").write(b"\0\0\0\0\5hello")
call = ["-X", "POST", "-H", "content-type: application/grpc", "-H", "te: trailers", PRIOR]
got = [curl(f"http://127.0.0.1:{h2}/shop.Shop/Buy", *call, *argv) for argv in (["--data-binary", "@" + message], ["--data-binary", "@" + message], [])]
is_([(a.status, a["grpc-status"], a.text) for a in got[:2]], 2 * [(200, "0", "reply hello")], "gRPC calls pass through")
once(got[0], "with the headers")
a = got[2]
is_((a.status, a["content-type"], a["grpc-status"], a.body), (200, "application/grpc", "8", b""), "refused as RESOURCE_EXHAUSTED, without a body")
like(a["grpc-message"], "Too many requests: try again in ", "with a message")
once(a, "and the headers")
within(int(a["retry-after"]), 25, 60, "Retry-After among them")
like("\n".join(logged(site, "REJECTED grpc")), "200 REJECTED grpc 0 POST /shop.Shop/Buy", "the log tells them apart")
a = curl(f"http://127.0.0.1:{h2}/shop.Shop/Buy", *call, "--interface", "127.0.0.66")
is_((a.status, a["grpc-status"]), (200, "7"), "on the deny list: PERMISSION_DENIED")
a = curl(f"http://127.0.0.1:{h2}/ret/Call", *call)
is_((a.status, a["grpc-status"], a.body), (200, "8", b""), "in place of `return` too")
a = curl(f"http://127.0.0.1:{site.port}/ret/Call", *call[:-1], "-H", "content-type: application/grpc-web")
is_((a.status, a["grpc-status"], a["content-length"]), (200, "8", "0"), "over HTTP/1.1 (gRPC-Web) with a length")
site.check_no_alerts()
done()
