# SPDX-License-Identifier: BSD-2-Clause
"""starterlib: a policy of examples/ or tests/policies/ in front of a site, and those who come to it."""
import base64, collections, hashlib, hmac, json, os, sys, threading, time
sys.path[:0] = ["tests/lib", "tests/doors"]
from gatelib import *

SECRET = "0123456789abcdef0123456789abcdef"
JSON = {"Content-Type": "application/json"}
FORM = {"Content-Type": "application/x-www-form-urlencoded"}


def private(path, text):
    write(path, text)
    os.chmod(path, 0o600)
    return path


class Starter(Site):
    """The file as it stands, but for what `swap` replaces (networks that nobody has); `secrets`: files beside it, for their eyes
    only; `public`: others. Keys: by name, their plan."""

    def __init__(self, path, swap=(), secrets=(), public=(), keys=None, **kw):
        text = open(path).read()
        for old, new in swap:
            if old not in text:
                raise RuntimeError(f"{path}: no {old!r}")
            text = text.replace(old, new)
        super().__init__(policy=text, start_now=False, **kw)
        for name in secrets:
            private(f"{self.dir}/{name}", SECRET)
        for name, what in public:
            write(f"{self.dir}/{name}", what)
        self.keys = {}
        for name, options in (keys or {}).items():
            r = weir("keys", "add", name, *options, "--database", f"{self.dir}/keys.db")
            self.keys[name] = r.stdout.strip()
        r = weir("check", self.policy)
        is_((r.returncode, r.stderr), (0, ""), f"{path}: no error, no warning")
        self.start()

    def as_(self, name, **more):
        return {"X-API-Key": self.keys[name], **more}


def many(p, n, path="/", source=None, headers="", method="GET"):
    """n requests as fast as one client can send them, a hundred on a connection; their answers, and when they began and ended."""
    began, answers = time.monotonic(), []
    for at in range(0, n, 100):
        w, some = Wire(p, source), min(100, n - at)
        w.send(f"{method} {path} HTTP/1.1\r\nHost: a\r\n{headers}\r\n" * some)
        answers += [w.read() for _ in range(some)]
        w.close()
    for a in answers:
        a.began, a.ended = began, time.monotonic()
    return answers


def statuses(answers):
    return dict(collections.Counter(a.status for a in answers))


def flood(answers, burst, rate, what, refused=429, passed=200):
    """Of what came at once exactly the burst passed, and what came back meanwhile."""
    n = sum(a.status == passed for a in answers)
    within(n, burst, burst + int(rate * (answers[-1].ended - answers[0].began)), what)
    is_(sum(a.status == refused for a in answers), len(answers) - n, "... and all else is refused")


def load_page(p, files, page="/", source=None, headers=None):
    """A page, then its files over six connections at once, as a browser does; the statuses."""
    got, lock, names = [], threading.Lock(), list(files)
    got.append(request(p, path=page, source=source, headers=headers).status)

    def connection(_):
        c = http.client.HTTPConnection("127.0.0.1", p, timeout=30, source_address=(source or "127.0.0.1", 0))
        while True:
            with lock:
                if not names:
                    break
                name = names.pop()
            c.request("GET", name, headers=headers or {})
            r = c.getresponse()
            r.read()
            with lock:
                got.append(r.status)
        c.close()
    at_once(6, connection)
    return got


def _part(x):
    return base64.urlsafe_b64encode(x if isinstance(x, bytes) else json.dumps(x).encode()).rstrip(b"=")


def hs256(**claims):
    text = _part({"alg": "HS256"}) + b"." + _part({"exp": int(time.time()) + 600, **claims})
    return (text + b"." + _part(hmac.new(SECRET.encode(), text, hashlib.sha256).digest())).decode()


class Es256:
    """A login that signs: its public keys as a set, and tokens. Made with the openssl command."""

    def __init__(self):
        self.key = f"{folder()}/key.pem"
        run("openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", self.key)
        point = subprocess.run(["openssl", "pkey", "-in", self.key, "-pubout", "-outform", "DER"], capture_output=True).stdout[-64:]
        self.set = json.dumps({"keys": [{"kty": "EC", "crv": "P-256", "x": _part(point[:32]).decode(), "y": _part(point[32:]).decode()}]})

    def token(self, **claims):
        text = _part({"alg": "ES256"}) + b"." + _part({"exp": int(time.time()) + 600, **claims})
        der = subprocess.run(["openssl", "dgst", "-sha256", "-sign", self.key], input=text, capture_output=True).stdout
        raw, at = b"", 2
        for _ in range(2):
            size = der[at + 1]
            raw += der[at + 2:at + 2 + size].lstrip(b"\0").rjust(32, b"\0")
            at += 2 + size
        return (text + b"." + _part(raw)).decode()


def own(p, path="/.weir/limits", **kw):
    """What a client reads of its own limits: the numbers by name."""
    d = json.loads(request(p, path=path, **kw).body)
    return {l["name"]: (l["limit"], l["used"]) for l in d["limits"]}


MINUTE, HOUR = 60.0, 3600.0
