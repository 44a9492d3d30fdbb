#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Costs that the answer's body says: found in JSON and event streams however they come, the bytes untouched and never held up; where
# nothing is said the reserve is charged.
import gzip, json, socket, sys, threading; sys.path[:0] = ["tests/lib", "tests/doors"]
from gatelib import *

answers, release = {}, threading.Event()


def serve():
    """Sends what `answers` says for a path: header, then pieces; an Event among them is waited for."""
    def one(c):
        head = b""
        while b"\r\n\r\n" not in head:
            more = c.recv(65536)
            if not more:
                return
            head += more
        header, pieces = answers[head.split()[1].decode().split("?")[0]]
        try:
            c.sendall(header.encode() + b"\r\n\r\n")
            for piece in pieces if head.split()[0] != b"HEAD" else []:
                if isinstance(piece, threading.Event):
                    piece.wait(30)
                else:
                    c.sendall(piece)
        except OSError:
            pass
        c.close()

    s = socket.create_server(("127.0.0.1", 0), backlog=128)

    def accept():
        while True:
            threading.Thread(target=one, args=(s.accept()[0],), daemon=True).start()
    threading.Thread(target=accept, daemon=True).start()
    return s.getsockname()[1]


def plain(path, body, *lines, status="200 OK", kind="application/json", step=None):
    body = body if isinstance(body, bytes) else body.encode()
    answers[path] = ("\r\n".join([f"HTTP/1.1 {status}", f"Content-Type: {kind}", f"Content-Length: {len(body)}", "Connection: close", *lines]),
                     [body[i:i + (step or len(body) or 1)] for i in range(0, len(body), step or len(body) or 1)])
    return body


def chunked(path, pieces, kind="text/event-stream"):
    answers[path] = ("\r\n".join(["HTTP/1.1 200 OK", f"Content-Type: {kind}", "Transfer-Encoding: chunked", "Connection: close"]),
                     [p if isinstance(p, threading.Event) else b"%x\r\n%s\r\n" % (len(p), p) for p in pieces] + [b"0\r\n\r\n"])
    return b"".join(p for p in pieces if isinstance(p, bytes))


used = {"usage": {"prompt_tokens": 9, "total_tokens": 25}}
stream = [b'data: {"choices":[{"delta":"H"}],"usage":null}\n\n', b'data: {"choices":[{"delta":"i"}],"us',
          b'age":null}\n', b"\ndata: ", b'{"choices":[],"usage":{"total_tok', b'ens":2', b"5}}\n\n", b"data: [DONE]\n\n"]
large = json.dumps({"text": "x" * 1_000_000, **used})
d = folder()
os.chmod(d, 0o755)
write(os.path.join(d, "large.json"), large)
backend, h2 = serve(), port()
site = Site(policy="""
limits:
  tokens: {key: header.x-k, missing: ip, rate: 1000/hour, overdraw: yes, cost: {reserve: 10, settle: response.body.usage.total_tokens}}
  capped: {match: /capped/**, key: header.x-k, missing: ip, rate: 500/hour, cost: {reserve: 10, settle: response.body.usage.total_tokens}}
""",
    http=f"proxy_cache_path {d}/cache keys_zone=c:1m;", server=f"listen 127.0.0.1:{h2} http2; proxy_http_version 1.1;", locations=f"""
    location / {{ proxy_pass http://127.0.0.1:{backend}; }}
    location /unbuffered/ {{ proxy_pass http://127.0.0.1:{backend}; proxy_buffering off; }}
    location /small/ {{ proxy_pass http://127.0.0.1:{backend}; proxy_buffers 2 4k; proxy_buffer_size 4k; proxy_busy_buffers_size 4k; }}
    location /zipped/ {{ proxy_pass http://127.0.0.1:{backend}; gzip on; gzip_min_length 1; gzip_types application/json text/event-stream; }}
    location /ssi/ {{ proxy_pass http://127.0.0.1:{backend}; ssi on; ssi_types application/json; }}
    location /charset/ {{ proxy_pass http://127.0.0.1:{backend}; charset utf-8; charset_types application/json; }}
    location /cached/ {{ proxy_pass http://127.0.0.1:{backend}; proxy_cache c; proxy_cache_valid 10m; proxy_cache_key $uri; }}
    location /file/ {{ alias {d}/; sendfile on; default_type application/json; }}
    location /accel/ {{ internal; alias {d}/; sendfile on; default_type application/json; }}
    location /page/ {{ proxy_pass http://127.0.0.1:{backend}; proxy_intercept_errors on; error_page 404 =200 /file/large.json; }}
""")
keys = iter(f"k{i}" for i in range(1000))


def over(key):
    """The request with that key has ended: it is in the log."""
    return wait_until(lambda: any(f"?{key} " in line for line in site.access().splitlines()))


def cost(path, body, what, expected=25, get=None, **headers):
    """Asks once; checks the bytes, and what the next request finds is left."""
    key = next(keys)
    path += f"?{key}"
    a = get(path, key) if get else site.get(path, headers={"X-K": key, **headers})
    is_(a.body == (body if isinstance(body, bytes) else body.encode()), True, f"{what}: the bytes")
    over(key)
    is_(charged(key), expected, f"{what}: what was charged")


def unchunked(text):
    body = b""
    while (size := int(text.partition(b"\r\n")[0], 16)):
        text = text.partition(b"\r\n")[2]
        body, text = body + text[:size], text[size + 2:]
    return body


def charged(key):
    a = site.get("/probe", headers={"X-K": key})
    return 1000 - int(a["X-RateLimit-Remaining"]) - 10


plain("/probe", "{}")
plain("/json", json.dumps(used))
cost("/json", json.dumps(used), "JSON")
plain("/steps", json.dumps(used), step=7)
cost("/steps", json.dumps(used), "... in pieces")
plain("/small/large", large)
cost("/small/large", large, "... of 1 MB, through a temporary file")
plain("/unbuffered/large", large)
cost("/unbuffered/large", large, "... without buffers")
cost("/file/large.json", large, "... a file, sent by sendfile")
plain("/accel", "", f"X-Accel-Redirect: /accel/large.json")
cost("/accel", large, "... by X-Accel-Redirect")
plain("/page/x", "no", status="404 Not Found")
cost("/page/x", large, "... as an error_page")
body = chunked("/events", stream)
cost("/events", body, "an event stream")
chunked("/unbuffered/events", stream)
cost("/unbuffered/events", body, "... without buffers")
chunked("/crlf", [p.replace(b"\n", b"\r\n") for p in stream])
cost("/crlf", body.replace(b"\n", b"\r\n"), "... with CRLF")
plain("/zipped/json", json.dumps(used))


def unzipped(path, key):
    a = site.get(path, headers={"X-K": key, "Accept-Encoding": "gzip"})
    a.body = gzip.decompress(a.body)
    return a


def over_h2(path, key):
    return curl(f"http://127.0.0.1:{h2}{path}", "--http2-prior-knowledge", "-H", f"X-K: {key}")


cost("/zipped/json", json.dumps(used), "compressed by nginx for the client", get=unzipped)
plain("/ssi/json", json.dumps(used))
cost("/ssi/json", json.dumps(used), "behind ssi")
plain("/charset/json", json.dumps(used))
cost("/charset/json", json.dumps(used), "behind charset")
plain("/cached/json", json.dumps(used), "Cache-Control: max-age=600")
for state in "a miss", "a hit":
    cost("/cached/json", json.dumps(used), f"the cache, {state}")
cost("/json", json.dumps(used), "HTTP/2", get=over_h2)
chunked("/h2/events", stream)
cost("/h2/events", body, "... an event stream", get=over_h2)

# what is not found: the reserve
zipped = gzip.compress(json.dumps(used).encode())
plain("/gz", zipped, "Content-Encoding: gzip")
cost("/gz", zipped, "compressed by the backend", 10)
plain("/html", json.dumps(used), kind="text/html")
cost("/html", json.dumps(used), "another type", 10)
plain("/none", '{"usage":null}')
cost("/none", '{"usage":null}', "no number", 10)
plain("/empty", "")
cost("/empty", b"", "nothing at all", 10)
cost("/json", b"", "HEAD", 10, get=lambda path, key: request(site.port, "HEAD", path, headers={"X-K": key}))
plain("/none204", "", status="204 No Content")
cost("/none204", b"", "204", 10)
cost("/file/large.json", b"", "304", 10, **{"If-Modified-Since": site.get("/file/large.json", headers={"X-K": "x"})["Last-Modified"]})
plain("/down", json.dumps(used), status="503 Service Unavailable")
cost("/down", json.dumps(used), "an answer that failed costs nothing", 0)

# it is passed on as it comes
chunked("/unbuffered/live", [*stream[:3], release, *stream[3:]])
w = Wire(site.port)
w.send("GET /unbuffered/live?live HTTP/1.1\r\nHost: a\r\nX-K: live\r\n\r\n")
got = b""
while b'"i"' not in got:
    got += w.f.readline()
ok(not release.is_set(), "the first events are there before the last are written")
is_(charged("live"), 10, "meanwhile the reserve is held")
release.set()
over("live")
is_(charged("live"), 10 + 25, "and then what was used is charged, besides the first look")
rest = got.partition(b"\r\n\r\n")[2]
while not rest.endswith(b"0\r\n\r\n"):
    rest += w.f.readline()
is_(unchunked(rest), body, "... every byte has come")
w.close()

# a client that goes away in the middle
never = threading.Event()
chunked("/unbuffered/gone", [b'data: {"usage":{"total_tokens":40}}\n\n', never])
w = Wire(site.port)
w.send("GET /unbuffered/gone?gone HTTP/1.1\r\nHost: a\r\nX-K: gone\r\n\r\n")
got = b""
while b"data: " not in got:
    got += w.f.readline()
w.close()
over("gone")
never.set()
is_(charged("gone"), 40, "a client that goes away pays what was said until then")

# without overdraw no more than was reserved
for path in "/capped/json", "/capped/probe":
    plain(path, json.dumps(used))
site.get("/capped/json?c1", headers={"X-K": "c1"})
over("c1")
is_(site.get("/capped/probe", headers={"X-K": "c1"})["X-RateLimit-Remaining"], "480", "without overdraw an answer is charged no more than its reserve")
site.check_no_alerts()
site.stop()
done()
