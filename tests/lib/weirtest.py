# SPDX-License-Identifier: BSD-2-Clause
"""weirtest: what the system tests share: TAP, free ports, temporary folders, a real nginx, real HTTP clients.

A test is a program `tests/<area>/NAME.t` that prints TAP and is run by prove from the repository's root:

    #!/usr/bin/env python3
    import sys; sys.path.insert(0, "tests/lib")
    from weirtest import *
    site = Site(policy="limits: {per-ip: {rate: 2/s, burst: 1}}")
    is_(site.get("/").status, 200, "the first passes")
    done()

Everything started is ended, by its id, at exit; everything listens on 127.0.0.1 on a free port.
"""
import atexit, http.client, os, shutil, signal, socket, ssl, subprocess, sys, tempfile, threading, time

os.umask(0o022)  # nginx's workers read what we write
BUILD = os.environ.get("WEIR_BUILD", "build/release")
ROOT = os.getcwd()
WEIR = os.path.join(ROOT, BUILD, "weir")
MODULE = os.path.join(ROOT, BUILD, "ngx_http_weir_module.so")
ASAN = BUILD.endswith("asan")

# ---- TAP -----------------------------------------------------------------------------------------
_count = 0
_failed = 0


def ok(good, what):
    global _count, _failed
    _count += 1
    print(f"{'ok' if good else 'not ok'} {_count} - {what}", flush=True)
    if not good:
        _failed += 1
        frame = sys._getframe(1)
        while frame.f_code.co_filename == __file__ and frame.f_back:
            frame = frame.f_back
        print(f"#   failed at {frame.f_code.co_filename}:{frame.f_lineno}", flush=True)
    return bool(good)


def is_(got, expected, what):
    if not ok(got == expected, what):
        print(f"#   got      {got!r}\n#   expected {expected!r}", flush=True)
        return False
    return True


def like(text, part, what):
    """`part` is in `text`."""
    if not ok(part in text, what):
        print(f"#   {part!r} is not in:", flush=True)
        for line in str(text).splitlines()[:30]:
            print(f"#     {line}", flush=True)


def within(got, low, high, what):
    if not ok(low <= got <= high, what):
        print(f"#   got {got!r}, expected {low!r}..{high!r}", flush=True)


def note(*words):
    print("#", *words, flush=True)


def done():
    print(f"1..{_count}", flush=True)
    sys.exit(1 if _failed else 0)


# ---- places --------------------------------------------------------------------------------------
_folders = []


def folder():
    """A new private folder, removed at exit."""
    path = tempfile.mkdtemp(prefix="weir-test-")
    _folders.append(path)
    return path


def shm_folder():
    """The same on /dev/shm, where tables belong."""
    path = tempfile.mkdtemp(prefix="weir-test-", dir="/dev/shm")
    _folders.append(path)
    return path


def write(path, text):
    """Writes a file as an editor does: a new one, renamed into place."""
    with open(path + ".new", "w") as f:
        f.write(text)
    os.rename(path + ".new", path)
    return path


# snapshots that nobody names a place for must not be left on the machine
os.environ["STATE_DIRECTORY"] = folder()
os.chmod(os.environ["STATE_DIRECTORY"], 0o755)

_ports = set()


def port():
    while True:
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            p = s.getsockname()[1]
        if p not in _ports:
            _ports.add(p)
            return p


def wait_until(condition, seconds=30.0, step=0.02):
    """Polls; returns the condition's last value. Long by default: only who fails waits to the end."""
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value or time.monotonic() > end:
            return value
        time.sleep(step)


def listening(p):
    with socket.socket() as s:
        s.settimeout(1)
        return s.connect_ex(("127.0.0.1", p)) == 0


# ---- processes -----------------------------------------------------------------------------------
_children = []


def san_env(env=None):
    env = dict(os.environ if env is None else env)
    if ASAN:
        def lib(name):
            return subprocess.run(["gcc", f"-print-file-name={name}"], capture_output=True, text=True).stdout.strip()
        env["LD_PRELOAD"] = " ".join([lib("libasan.so"), lib("libubsan.so")])
        # nginx keeps memory for its whole life and forks: leaks are looked for in the unit tests
        env["ASAN_OPTIONS"] = "detect_leaks=0:abort_on_error=1:handle_segv=1:detect_odr_violation=0"
        env["UBSAN_OPTIONS"] = "print_stacktrace=1:halt_on_error=1"
    return env


def run(*argv, input=None, timeout=60, env=None, cwd=None):
    """Runs a command to its end; returns CompletedProcess with text output."""
    e = dict(os.environ)
    e.update(env or {})
    if ASAN and argv and argv[0] == WEIR:
        e.setdefault("ASAN_OPTIONS", "detect_leaks=0")
    return subprocess.run(list(argv), input=input, capture_output=True, text=True, timeout=timeout, env=e, cwd=cwd)


def weir(*argv, **kw):
    return run(WEIR, *argv, **kw)


def start(argv, **kw):
    """Starts a process in a session of its own; ended at exit."""
    p = subprocess.Popen(argv, start_new_session=True, **kw)
    _children.append(p)
    return p


def stop(p, sig=signal.SIGTERM, seconds=30):
    if p.poll() is None:
        try:
            p.send_signal(sig)
            p.wait(seconds)
        except subprocess.TimeoutExpired:
            os.killpg(p.pid, signal.SIGKILL)
            p.wait()
    return p.returncode


@atexit.register
def _clean():
    for p in reversed(_children):
        if p.poll() is None:
            stop(p, seconds=5)
        try:
            os.killpg(p.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass
    for path in _folders:
        if os.environ.get("WEIR_KEEP"):
            print("# kept", path)
        else:
            shutil.rmtree(path, ignore_errors=True)


def _terminated(*_):
    sys.exit(143)


signal.signal(signal.SIGTERM, _terminated)


def alive(pid):
    """It runs: a zombie does not, whoever may be slow in burying it."""
    try:
        with open(f"/proc/{pid}/stat") as f:
            return f.read().rpartition(") ")[2][0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


# ---- HTTP ----------------------------------------------------------------------------------------
class Answer:
    """began and ended: when, on the monotonic clock: what was decided was decided between them."""

    def __init__(self, status, headers, body, seconds, began=0.0):
        self.status, self.body, self.seconds, self.began, self.ended = status, body, seconds, began, began + seconds
        self.list = headers
        self.headers = {}
        for k, v in headers:
            self.headers[k.lower()] = self.headers[k.lower()] + ", " + v if k.lower() in self.headers else v

    def __getitem__(self, name):
        return self.headers.get(name.lower())

    @property
    def text(self):
        return self.body.decode("utf-8", "replace")


def request(p, method="GET", path="/", headers=None, body=None, source=None, timeout=30, tls=False):
    """One request on a connection of its own. `source`: a loopback address to come from (127.0.0.9)."""
    started = time.monotonic()
    kw = {"timeout": timeout}
    if source:
        kw["source_address"] = (source, 0)
    if tls:
        context = ssl.create_default_context()
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        c = http.client.HTTPSConnection("127.0.0.1", p, context=context, **kw)
    else:
        c = http.client.HTTPConnection("127.0.0.1", p, **kw)
    try:
        c.request(method, path, body=body, headers=headers or {})
        r = c.getresponse()
        return Answer(r.status, r.getheaders(), r.read(), time.monotonic() - started, started)
    finally:
        c.close()


def at_once(n, one):
    """Calls one(i) for i in range(n) from n threads that start together; returns the results in order."""
    results = [None] * n
    gate = threading.Barrier(n)

    def go(i):
        gate.wait()
        try:
            results[i] = one(i)
        except Exception as e:  # the caller asserts on it
            results[i] = e
    threads = [threading.Thread(target=go, args=(i,)) for i in range(n)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    return results


class Bucket:
    """What a token bucket must answer on a machine that may stand still in any place: what it holds is known between two bounds,
    from the times measured around each request. Where both say the same, that is expected; elsewhere either will do.

    rate: tokens a second. passed, refused: the statuses.
    """

    def __init__(self, rate, burst, passed=200, refused=429):
        self.rate, self.burst, self.passed, self.refused = rate, burst, passed, refused
        self.low = self.high = float(burst)
        self.began = self.ended = None
        self.first, self.taken = None, 0

    def _refill(self, began, ended):
        """Up to a decision that was made between these."""
        if self.first is None:
            self.first = began
        else:
            self.low = min(self.burst, self.low + self.rate * max(0.0, began - self.ended))
            self.high = min(self.burst, self.high + self.rate * (ended - self.began))
        self.high = min(self.high, self.burst + self.rate * (ended - self.first) - self.taken)
        self.began, self.ended = began, ended

    def expected(self, answer):
        """The status that this one must have had."""
        self._refill(answer.began, answer.ended)
        must = self.passed if self.low > 1 - 1e-6 else self.refused if self.high < 1 - 1e-6 else answer.status
        if answer.status == self.passed:
            self.low, self.high, self.taken = max(0.0, self.low - 1), max(0.0, self.high - 1), self.taken + 1
        else:
            self.low, self.high = min(self.low, 1.0), min(self.high, 1.0)
        return must

    def check(self, n, one, what):
        """n requests, one after the other."""
        got = [one() for _ in range(n)]
        is_([a.status for a in got], [self.expected(a) for a in got], what)

    def check_at_once(self, n, one, what):
        """n requests of n threads, in the order in which the kernel likes them; the bucket is full before."""
        got = at_once(n, lambda i: one())
        began, ended = min(a.began for a in got), max(a.ended for a in got)
        passed = sum(a.status == self.passed for a in got)
        least, most = min(n, self.burst), min(n, int(self.burst + self.rate * (ended - began)))
        is_((sorted({a.status for a in got} - {self.passed, self.refused}), min(max(passed, least), most)), ([], passed), what)
        self.first, self.began, self.ended, self.taken = began, began, ended, passed
        self.low, self.high = max(0.0, self.burst - passed), self.burst + self.rate * (ended - began) - passed


def in_turn(answers, gap, what):
    """Those that passed left a queue one by one, `gap` seconds apart; numbers count from 0 in the order of their ends."""
    began = min(a.began for a in answers)
    last = max(a.began for a in answers)
    for i, a in enumerate(sorted(answers, key=lambda a: a.ended)):
        # timers have milliseconds; whoever was late in asking may be late in being answered, and so may a busy machine
        within(a.ended, began + gap * i - 0.02, last + gap * i + 2.5, f"{what}: number {i + 1} after {gap * i:g} s")


class Backend:
    """A small real HTTP backend. answer(method, path, headers, body) -> (status, headers, body)."""

    def __init__(self, answer=None):
        import http.server
        self.port = port()
        self.count = 0
        self.seen = []
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True  # headers and body are two writes: no wait for an acknowledgement between them

            def _any(self):
                size = int(self.headers.get("Content-Length") or 0)
                body = self.rfile.read(size) if size else b""
                outer.count += 1
                outer.seen.append((self.command, self.path))
                status, headers, data = 200, {}, b"ok\n"
                if answer:
                    status, headers, data = answer(self.command, self.path, self.headers, body)
                self.send_response(status)
                for k, v in headers.items():
                    self.send_header(k, v)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(data)
            do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = do_OPTIONS = do_PATCH = _any

            def log_message(self, *a):
                pass

        class Server(http.server.ThreadingHTTPServer):
            request_queue_size = 512
            daemon_threads = True

            def handle_error(self, *a):
                pass    # who asked has gone
        self.server = Server(("127.0.0.1", self.port), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


# ---- nginx with the gate -------------------------------------------------------------------------
class Site:
    """A real nginx with weir's module in front of static files, and of `backend` if one is given.

    policy: YAML text. server: extra text inside server{}. locations: replaces the default locations. http: extra text
    inside http{}. main: extra text at top level.
    """

    def __init__(self, policy, server="", locations=None, http="", main="", workers=1, backend=None, table_size="4m",
                 listen="", start_now=True, log_level="info", weir="weir on;"):
        locations = self.places("site", locations, backend)
        self.policy = os.path.join(self.dir, "policy.yaml")
        write(self.policy, policy)
        self.frame(f"load_module {MODULE};", main, f"""log_format weir '$status $weir_status $weir_limit $weir_remaining $request';
    access_log {self.access_log} weir;
    weir_policy {self.policy};
    weir_table {self.table} {table_size};
    {weir}
    {http}""", server, locations, listen, workers, log_level)
        if start_now:
            self.start()

    def places(self, table, locations, backend):
        """Folders, files and a port; the locations if none are given."""
        self.dir, self.shm, self.port = folder(), shm_folder(), port()
        os.chmod(self.dir, 0o755)
        self.table = os.path.join(self.shm, "t", table)
        self.error_log = os.path.join(self.dir, "error.log")
        self.access_log = os.path.join(self.dir, "access.log")
        self.root = os.path.join(self.dir, "www")
        os.mkdir(self.root)
        write(os.path.join(self.root, "index.html"), "hello\n")
        for i in range(30):
            write(os.path.join(self.root, f"f{i}.txt"), f"file {i}\n")
        return locations if locations is not None else "location / { " + (
            f"proxy_pass http://127.0.0.1:{backend};" if backend else f"root {self.root}; try_files $uri /index.html;") + " }"

    def frame(self, load, main, http, server, locations, listen, workers, log_level):
        """Writes nginx.conf."""
        user = "user root;" if os.geteuid() == 0 else ""
        self.conf = os.path.join(self.dir, "nginx.conf")
        self.conf_text = f"""
{load}
{user}
worker_processes {workers};
error_log {self.error_log} {log_level};
pid {self.dir}/nginx.pid;
{main}
events {{ worker_connections 4096; }}
http {{
    client_body_temp_path {self.dir}/body; proxy_temp_path {self.dir}/proxy; fastcgi_temp_path {self.dir}/fcgi;
    uwsgi_temp_path {self.dir}/uwsgi; scgi_temp_path {self.dir}/scgi;
    {http}
    server {{
        listen 127.0.0.1:{self.port} {listen};
        {server}
        {locations}
    }}
}}
"""
        write(self.conf, self.conf_text)
        self.process = None

    def nginx(self, *argv):
        return run("nginx", "-c", self.conf, "-p", self.dir, "-e", self.error_log, *argv, env=san_env())

    def start(self):
        self.process = start(["nginx", "-c", self.conf, "-p", self.dir, "-e", self.error_log, "-g", "daemon off;"],
                             env=san_env(), stderr=open(os.path.join(self.dir, "stderr"), "w"))
        if not wait_until(lambda: self.process.poll() is not None or (listening(self.port) and self.deciding()), 60) \
                or self.process.poll() is not None:
            note("nginx did not start:")
            for line in (self.errors() + open(os.path.join(self.dir, "stderr")).read()).splitlines()[-20:]:
                note(line)
            raise SystemExit("nginx did not start")

    def deciding(self):
        """A policy is in force."""
        return os.path.exists(self.table + ".policy")

    def stop(self, sig=signal.SIGQUIT, seconds=30):
        return stop(self.process, sig, seconds)

    def reload(self):
        self.process.send_signal(signal.SIGHUP)

    def workers(self):
        out = run("pgrep", "-P", str(self.process.pid)).stdout.split()
        return [int(x) for x in out]

    def errors(self):
        try:
            with open(self.error_log, errors="replace") as f:
                return f.read()
        except FileNotFoundError:
            return ""

    def access(self):
        with open(self.access_log, errors="replace") as f:
            return f.read()

    def get(self, path="/", **kw):
        return request(self.port, "GET", path, **kw)

    def post(self, path="/", body=b"", **kw):
        return request(self.port, "POST", path, body=body, **kw)

    def statuses(self, n, path="/", **kw):
        return [self.get(path, **kw).status for _ in range(n)]

    def publish(self, text):
        """Edits the policy file and publishes it, as one does without `weir control`."""
        write(self.policy, text)
        return weir("publish", self.policy, "--table", self.table)

    def check_no_alerts(self):
        bad = [l for l in self.errors().splitlines() if "[alert]" in l or "[emerg]" in l or "ERROR: AddressSanitizer" in l or "runtime error" in l]
        is_(bad, [], "no alert in the error log")
