#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Limits that look into the body: one account is one client however it is spelled; what cannot be read is missing; the backend gets
# every byte as it was sent.
import gzip, hashlib, json, sys; sys.path[:0] = ["tests/lib", "tests/doors"]
from gatelib import *

FORM = "application/x-www-form-urlencoded"
h2 = port()
backend = Backend(lambda method, path, headers, body: (200, {}, f"{len(body)} {hashlib.sha256(body).hexdigest()}".encode()))
site = Site(policy="""
limits:
  login: {match: POST /login, key: body.username, missing: deny, rate: 2/hour}
  echo: {match: /echo/**, key: body.username, missing: ip, rate: 100000/hour}
  closed: {match: /closed, rate: 0/s}
  behind: {match: /closed, key: body.username, missing: skip, rate: 1/hour}
  batch: {match: /batch, key: header.x-k, missing: deny, rate: 10/hour, cost: body.items.count}
  tries: {match: /tries, rate: 2 distinct body.username/hour}
  units: {match: /units, key: header.x-k, missing: deny, rate: 10/hour, cost: body.n}
  graph: {match: /graph, key: header.x-k, missing: deny, rate: 10/hour, cost: body.count}
  turn: {match: /turn, key: body.username, missing: deny, rate: 2/s, algorithm: leaky-bucket, queue: 5}
  ret: {match: /ret, key: body.username, missing: deny, rate: 1000/hour}
""", server=f"listen 127.0.0.1:{h2} http2; client_max_body_size 2m; client_body_buffer_size 8k; lingering_timeout 2s;", locations=f"""
    location / {{ proxy_pass http://127.0.0.1:{backend.port}; }}
    location /echo/unbuffered/ {{ proxy_pass http://127.0.0.1:{backend.port}; proxy_request_buffering off; proxy_http_version 1.1; }}
    location /echo/file/ {{ proxy_pass http://127.0.0.1:{backend.port}; client_body_in_file_only clean; }}
    location /echo/single/ {{ proxy_pass http://127.0.0.1:{backend.port}; client_body_in_single_buffer on; client_body_buffer_size 1m; }}
    location /echo/mirrored/ {{ proxy_pass http://127.0.0.1:{backend.port}; mirror /mirror; }}
    location = /mirror {{ internal; proxy_pass http://127.0.0.1:{backend.port}; }}
    location /echo/small/ {{ proxy_pass http://127.0.0.1:{backend.port}; client_max_body_size 1k; }}
    location /echo/boundless/ {{ proxy_pass http://127.0.0.1:{backend.port}; client_max_body_size 0; proxy_request_buffering off; proxy_http_version 1.1; }}
    location = /ret {{ return 200 'x'; }}
""")


def multipart(name, value, boundary="B"):
    return f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n--{boundary}--\r\n'


def login(body, kind=FORM, path="/login", **headers):
    return site.post(path, body=body if isinstance(body, bytes) else body.encode(), headers={"Content-Type": kind, **headers}).status


def raw(lines):
    w = Wire(site.port)
    status = w.send(f"POST /login HTTP/1.1\r\nHost: a\r\nContent-Type: {FORM}\r\n{lines}\r\nContent-Length: 11\r\n\r\nusername=x9").read().status
    w.close()
    return status


# ---- one account -----------------------------------------------------------------------------------------
is_(login("username=alice&password=1"), 200, "a form: the first")
is_(login(json.dumps({"password": "x", "username": " ALICE "}), "application/json"), 200, "JSON, in capitals: the second of the same account")
is_([login("username=%61lice&password=3"), login(multipart("username", "Alice"), "multipart/form-data; boundary=B"),
     login('{"username":"\\u0061lice"}', "application/vnd.api+json"), login("username[]=alice"), login('{"Username":"alice"}', "text/plain")],
    [429] * 5, "then none, however it is spelled")
is_([site.post("/login", body=b"username=alice", headers={"Content-Type": FORM}, source=f"127.0.9.{i}").status for i in (1, 2)], [429] * 2,
    "nor from elsewhere")
is_(login("username=bob"), 200, "another account passes")
a = site.post("/login", body=b"username=alice", headers={"Content-Type": FORM})
is_((a.status, a["X-RateLimit-Remaining"], int(a["Retry-After"]) > 0), (429, "0", True), "a refusal as any other")

# ---- what is not there -----------------------------------------------------------------------------------
for what, got in [
    ("no body", lambda: login("")),
    ("no type", lambda: site.post("/login", body=b"username=x1").status),
    ("another type", lambda: login("username=x1", "text/plain")),
    ("another field", lambda: login("user=x1")),
    ("an empty one", lambda: login("username=+&password=1")),
    ("two that differ", lambda: login("username=x1&username=x2")),
    ("broken JSON", lambda: login('{"username":"x1"', "application/json")),
    ("a compressed form", lambda: login(gzip.compress(b"username=x1"), FORM, **{"Content-Encoding": "gzip"})),
    ("one that says it is", lambda: login("username=x1", FORM, **{"Content-Encoding": "br"})),
    ("identity, and then something else", lambda: raw("Content-Encoding: identity\r\nContent-Encoding: gzip")),
    ("two types", lambda: raw("Content-Type: multipart/form-data; boundary=B")),
    ("a form that is JSON too", lambda: login('{"username":"x1","z":"&username=x2&q="}')),
    ("a second boundary", lambda: login(multipart("username", "x1", "A") + multipart("username", "x2"), "multipart/form-data; boundary=A; boundary*=us-ascii''B")),
    ("another charset", lambda: login("username=x1", FORM + "; charset=utf-7")),
    ("an escape that only some know", lambda: login("username=%u0078")),
    ("a field behind the first 16 KB", lambda: login("a=" + "x" * 16384 + "&username=x1")),
]:
    is_(got(), 403, f"missing: {what}")
is_(raw("X-Other: 1"), 200, "(each of them is there when it is sent as it should be)")
is_(login("username=x1", FORM, **{"Content-Encoding": "identity"}), 200, "identity is no encoding")
is_(login("username=x3&a=" + "x" * 100_000), 200, "a field at the beginning of a large body is found")
is_([login("a=" + "x" * 16000 + "&username=x3&b=" + "y" * n) for n in (0, 30000)], [200, 429], "... also in its sixteenth kilobyte, in a temporary file")

# ---- the backend gets what was sent ----------------------------------------------------------------------
bodies = [b"", b"username=u", b"username=u&a=" + bytes(range(256)) * 4, b"x" * 16384, b"username=u&" + b"y" * 16384, bytes(range(256)) * 4096,
          multipart("username", "u").encode() * 200]
digests = [f"{len(b)} {hashlib.sha256(b).hexdigest()}" for b in bodies]
for place in "/echo/", "/echo/unbuffered/", "/echo/file/", "/echo/single/", "/echo/mirrored/", "/echo/boundless/":
    headers = {"Content-Type": FORM}
    is_([site.post(place, body=b, headers=headers).text for b in bodies], digests, f"{place}: with its length")
    w = Wire(site.port)
    for b in bodies:
        w.send(f"POST {place} HTTP/1.1\r\nHost: a\r\nContent-Type: {FORM}\r\nTransfer-Encoding: chunked\r\n\r\n")
        for at in range(0, len(b), 5000):
            piece = b[at:at + 5000]
            w.send(b"%x\r\n%s\r\n" % (len(piece), piece))
        w.send("0\r\n\r\n")
    is_([w.read().text for _ in bodies], digests, f"{place}: in chunks, on one connection")
    w.close()
for place in "/echo/", "/echo/unbuffered/":
    got = []
    for i, b in enumerate(bodies):
        name = write(os.path.join(site.dir, "sent"), "")
        open(name, "wb").write(b)
        got.append(curl(f"http://127.0.0.1:{h2}{place}", "--http2-prior-knowledge", "-H", f"Content-Type: {FORM}", "--data-binary", f"@{name}").text)
    is_(got, digests, f"{place}: over HTTP/2")
s = H2(h2)
one = s.begin("POST", "/echo/", end=False, content_type=FORM)
s.data(one, b"username=")
two = s.begin("POST", "/echo/", end=False, content_type=FORM)
s.data(two, b"username=v", end=True)
faster = s.answer(two)[0]
s.data(one, b"", end=False)
s.data(one, b"u", end=True)
is_((faster, s.answer(one)[0]), (200, 200), "two streams, one slower than the other, without their lengths")

# ---- when it is read -------------------------------------------------------------------------------------
w = Wire(site.port)
w.send(f"POST /login HTTP/1.1\r\nHost: a\r\nContent-Type: {FORM}\r\nContent-Length: 13\r\nExpect: 100-continue\r\n\r\n")
is_(w.read().status, 100, "Expect: 100-continue: the body is asked for")
w.send("username=carl")
is_(w.read().status, 200, "... and then decided")
w.send(f"POST /closed HTTP/1.1\r\nHost: a\r\nContent-Type: {FORM}\r\nContent-Length: 13\r\nExpect: 100-continue\r\n\r\n")
is_(w.read().status, 429, "it is not asked for where a limit refuses that needs none")
w = Wire(site.port)
w.send(f"POST /login HTTP/1.1\r\nHost: a\r\nContent-Type: {FORM}\r\nContent-Length: 13\r\n\r\nuser")
is_(login("username=dora"), 200, "a slow body holds nobody up")
w.send("name=carl")
is_(w.read().status, 200, "... and is decided at its end")
w.send(f"POST /login HTTP/1.1\r\nHost: a\r\nContent-Type: {FORM}\r\nContent-Length: 13\r\n\r\nusername=carlGET /echo/ HTTP/1.1\r\nHost: a\r\n\r\n")
is_([w.read().status, w.read().status], [429, 200], "a refusal, and what was sent behind it")
w.close()
before = site.access().count("POST /login")
w = Wire(site.port)
w.send(f"POST /login HTTP/1.1\r\nHost: a\r\nContent-Type: {FORM}\r\nContent-Length: 100\r\n\r\nusername=emil&")
accepted(site.port, w)
w.close()
lines = wait_until(lambda: site.access().count("POST /login") > before and [l for l in site.access().splitlines() if "POST /login" in l][-1:])
like(lines and lines[0][:4] or "", "4", "a client that goes away while it sends")
is_([login("username=emil") for _ in range(3)], [200, 200, 429], "... has cost nothing")
a = site.post("/echo/small/", body=b"x" * 2000)
is_(a.status, 413, "too large by its length: nginx's 413")
w = Wire(site.port)
w.send(b"POST /echo/small/ HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n7d0\r\n" + b"x" * 2000 + b"\r\n0\r\n\r\n")
a = w.read()
is_((a.status, a["X-RateLimit-Limit"]), (413, "100000"), "too large as it comes: the same, decided without a body")
big = b"username=u&" + b"z" * 1_500_000
a = site.post("/echo/boundless/", body=big, headers={"Content-Type": FORM}, source="127.0.9.9")
is_((a.text, a["X-RateLimit-Remaining"]), (f"{len(big)} {hashlib.sha256(big).hexdigest()}", "99999"),
    "no bound to bodies: one of more than 1 MB is passed on as it comes, its field is missing (counted by ip)")
w = Wire(site.port)
w.send(b"POST /echo/boundless/ HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
try:
    for _ in range(24):
        w.send(b"10000\r\n" + b"x" * 65536 + b"\r\n")
except OSError:
    pass
is_(w.read().status, 413, "... in chunks, whose sum nobody knows, 1 MB is the most")
w.close()
began = time.monotonic()
is_([a.status for a in at_once(3, lambda i: site.post("/turn", body=b"username=zoe", headers={"Content-Type": FORM}))], [200] * 3, "read, then in their turn")
within(time.monotonic() - began, 0.95, 20, "... half a second apart")
is_(login("username=alice", path="/ret"), 403, "what never comes to where bodies are read (return): the field is missing")

# ---- what it costs ---------------------------------------------------------------------------------------
def left(path, body, kind="application/json", key="k"):
    a = site.post(path, body=body.encode(), headers={"Content-Type": kind, "X-K": key})
    return a["X-RateLimit-Remaining"] if a.status == 200 else a.status


is_([left("/batch", '{"items":[1,2,3,4]}'), left("/batch", '{"items":[1,{"items":[1,2]}]}'), left("/batch", '{"items":[1,2,3,4,5]}'),
     left("/batch", '{"items":[1,2,3,4]}'), left("/batch", '{"items":[]}')], ["6", "4", 429, "0", 429], "a batch costs what it has")
is_([left("/graph", '[{"query":"a"},{"query":"b"},{"query":"c"}]'), left("/graph", '{"query":"a"}')], ["7", "6"], "an array as the body")
is_([left("/units", '{"n":2.5}'), left("/units", "n=3", FORM), left("/units", '{"n":1,"n":3}'), left("/units", '{"n":1}'), left("/units", "{}")],
    ["7", "4", "1", "0", 429], "a number: rounded up, in any kind of body, the largest")
big = json.dumps({"pad": "x" * 16384, "items": [1] * 7})
is_([site.post("/batch", body=b, headers={"Content-Type": "application/json", "X-K": f"big{i}", **h})["X-RateLimit-Remaining"] for i, (b, h) in enumerate([
    (big.encode(), {}), (gzip.compress(big.encode()), {"Content-Encoding": "gzip"}), (b'{"items":7}', {}), (b'{"pad":1}', {})])], ["0", "0", "0", "9"],
    "what may cost anything costs all that there is; what says nothing, one")
is_([login(b, path="/tries") for b in ("username=a", "username=a", "username=x&username=b1", "username=x&username=b2", "username=a", "other=1")],
    [200, 200, 200, 429, 200, 200], "different values: what cannot be told is one more")
site.check_no_alerts()
site.stop()
done()
