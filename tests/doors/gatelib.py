# SPDX-License-Identifier: BSD-2-Clause
"""gatelib: what the gate's tests need beyond weirtest: bytes as written, curl for HTTP/2, a certificate."""
import re, socket, ssl, struct, subprocess
from weirtest import *

RATE = ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset", "ratelimit", "ratelimit-policy"]


def once(answer, what):
    """Every rate header is there, and only once."""
    names = [k.lower() for k, _ in answer.list]
    is_([names.count(n) for n in RATE], [1] * len(RATE), what)


def without_rate(answer, what):
    is_([k for k, _ in answer.list if k.lower() in RATE + ["retry-after"]], [], what)


class Wire:
    """One HTTP/1 connection on which every byte is ours."""

    def __init__(self, port=None, source=None, unix=None, tls=False, timeout=20):
        if unix:
            self.s = socket.socket(socket.AF_UNIX)
            self.s.settimeout(timeout)
            self.s.connect(unix)
        else:
            self.s = socket.create_connection(("127.0.0.1", port), timeout, source_address=(source, 0) if source else None)
        if tls:
            context = ssl._create_unverified_context()
            self.s = context.wrap_socket(self.s, server_hostname="localhost")
        self.f = self.s.makefile("rb")

    def send(self, text):
        self.s.sendall(text if isinstance(text, bytes) else text.encode())
        return self

    def read(self, head=False):
        """The next response, or None if the connection has ended."""
        line = self.f.readline()
        if not line:
            return None
        status, headers = int(line.split()[1]), []
        while (line := self.f.readline()) not in (b"\r\n", b""):
            name, _, value = line.decode("latin-1").rstrip("\r\n").partition(": ")
            headers.append((name, value))
        a = Answer(status, headers, b"", 0)
        if head or status in (204, 304) or 100 <= status < 200:
            return a
        if a["transfer-encoding"] == "chunked":
            while (n := int(self.f.readline(), 16)):
                a.body += self.f.read(n)
                self.f.readline()
            self.f.readline()
        elif a["content-length"] is not None:
            a.body = self.f.read(int(a["content-length"]))
        else:
            a.body = self.f.read()
        return a

    def get(self, path="/", extra="", method="GET"):
        return self.send(f"{method} {path} HTTP/1.1\r\nHost: a\r\n{extra}\r\n").read(head=method == "HEAD")

    def ended(self):
        """The other side has closed."""
        try:
            return self.f.read(1) == b""
        except (ConnectionError, ssl.SSLError):
            return True

    def close(self):
        self.f.close()
        self.s.close()


def curl(url, *argv, timeout=30):
    """curl with any options; an Answer whose .version is the protocol it spoke."""
    began = time.monotonic()
    p = subprocess.run(["curl", "-sSk", "--max-time", str(timeout), "-D", "-", "-w", "\n%{http_version} %{http_code} %{time_total}", *argv, url],
                       capture_output=True)
    if p.returncode:
        raise RuntimeError(f"curl {p.returncode}: {p.stderr.decode()}")
    text, _, tail = p.stdout.rpartition(b"\n")
    version, code, seconds = tail.decode().split()
    while re.match(rb"HTTP/[\d.]+ 1\d\d", text):
        text = text.partition(b"\r\n\r\n")[2]
    head, _, body = text.partition(b"\r\n\r\n")
    headers = [tuple(l.split(": ", 1)) if ": " in l else (l.rstrip(":"), "") for l in head.decode("latin-1").split("\r\n")[1:]]
    a = Answer(int(code), headers, body, time.monotonic() - began, began)
    a.version = version
    return a


class H2:
    """HTTP/2 frame by frame: what curl cannot be made to do. Header values of answers are not decoded but the status."""

    def __init__(self, port, source=None, tls=False):
        self.s = socket.create_connection(("127.0.0.1", port), 10, source_address=(source, 0) if source else None)
        if tls:
            context = ssl._create_unverified_context()
            context.set_alpn_protocols(["h2"])
            self.s = context.wrap_socket(self.s, server_hostname="localhost")
        self.s.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
        self.frame(4, 0, 0)
        self.next = 1

    def frame(self, kind, flags, stream, payload=b""):
        self.s.sendall(struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload)

    def begin(self, method, path, end=True, **headers):
        """Sends a request's headers; the stream's number."""
        block = b""
        for k, v in [(":method", method), (":scheme", "http"), (":path", path), (":authority", "a"), *headers.items()]:
            k, v = k.replace("_", "-").encode(), v.encode()
            block += b"\0" + bytes([len(k)]) + k + bytes([len(v)]) + v
        stream, self.next = self.next, self.next + 2
        self.frame(1, 5 if end else 4, stream, block)
        return stream

    def data(self, stream, body, end=False):
        self.frame(0, 1 if end else 0, stream, body)

    def reset(self, stream):
        self.frame(3, 0, stream, struct.pack(">I", 8))

    def _exactly(self, n):
        got = b""
        while len(got) < n:
            more = self.s.recv(n - len(got))
            if not more:
                raise ConnectionError("closed")
            got += more
        return got

    def answer(self, stream):
        """Status and body of a stream, once it has ended."""
        status, body = None, b""
        while True:
            head = self._exactly(9)
            size, kind, flags, number = int.from_bytes(head[:3], "big"), head[3], head[4], int.from_bytes(head[5:], "big")
            payload = self._exactly(size)
            if kind == 4 and not flags & 1:
                self.frame(4, 1, 0)
            if number != stream:
                continue
            if kind == 1:
                while payload[0] & 0xe0 == 0x20:  # a dynamic table size update
                    payload = payload[1:]
                status = {0x88: 200, 0x89: 204, 0x8c: 400, 0x8d: 404, 0x8e: 500}.get(payload[0]) or int(payload[2:5])
            elif kind == 0:
                body += payload
            if kind == 3 or kind in (0, 1) and flags & 1:
                return status, body


def accepted(port, *wires):
    """nginx has taken these connections: sockets that wait to be accepted have no inode yet."""
    def taken():
        with open("/proc/net/tcp") as f:
            lines = [l.split() for l in f.read().splitlines()[1:]]
        ends = {int(l[2].split(":")[1], 16) for l in lines if int(l[1].split(":")[1], 16) == port and l[3] == "01" and l[9] != "0"}
        return all(w.s.getsockname()[1] in ends for w in wires)
    if not wait_until(taken):
        raise RuntimeError("nginx has not accepted a connection")
    time.sleep(0.2)  # and read what came with it


def certificate(into):
    key, pem = os.path.join(into, "key.pem"), os.path.join(into, "cert.pem")
    run("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", key, "-out", pem,
        "-days", "2", "-subj", "/CN=localhost")
    return f"ssl_certificate {pem}; ssl_certificate_key {key};"


def logged(site, *words):
    """The access log's lines; with words: waits until one has them all, and returns only such."""
    def lines():
        return [l for l in site.access().splitlines() if all(w in l for w in words)]
    return wait_until(lines)


def websockets():
    """A backend that upgrades each connection and holds it until the client goes: the locations that lead there, and their header."""
    upstream = socket.create_server(("127.0.0.1", 0))

    def hold(c):
        c.recv(1)
        c.close()

    def serve():
        while True:
            c, _ = upstream.accept()
            c.recv(4096)
            c.sendall(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n")
            threading.Thread(target=hold, args=(c,), daemon=True).start()

    threading.Thread(target=serve, daemon=True).start()
    return ("location / { proxy_http_version 1.1; proxy_set_header Upgrade $http_upgrade; proxy_set_header Connection upgrade; "
            f"proxy_pass http://127.0.0.1:{upstream.getsockname()[1]}; }}", "Upgrade: websocket\r\nConnection: Upgrade\r\n")
