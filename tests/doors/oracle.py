# SPDX-License-Identifier: BSD-2-Clause
"""oracle: an nginx whose clock the test holds (oracle_clock.c), asked over a unix socket, one trace after the other.

A trace is a list of (gap in ms, action). What came of it is everything that can be seen: each answer byte by byte with the ms
in which it ended, the lines of the access log, and the lines that the error log has for these requests.
"""
import mmap, re, select, struct
from weirtest import *

SHIM = os.path.join(BUILD, "tests/doors/oracle_clock.so")
BEGIN = 1_000_000  # ms of virtual uptime: more than a minute, since nginx takes a key that it has seen but never charged for one charged at 0
WALL = 1_700_000_000_000 - BEGIN


def build():
    os.makedirs(os.path.dirname(SHIM), exist_ok=True)
    made = run("cc", "-std=gnu11", "-O2", "-D_GNU_SOURCE", "-shared", "-fPIC", "-fvisibility=hidden", "-o", SHIM, "tests/doors/oracle_clock.c")
    if made.returncode:
        raise SystemExit(made.stderr)


class Lost(Exception):
    """nginx died."""


class Nginx:
    """Starts with `text` as http block. main: text at top level."""

    def __init__(self, text, main="", name="nginx", env=None, pages={}):
        self.dir, self.name, self.traces = folder(), name, 0
        self.now = BEGIN
        self.memory = os.memfd_create("clock")
        os.truncate(self.memory, 4096)
        self.page = mmap.mmap(self.memory, 4096)
        self._set(BEGIN)
        wake, self.wake = os.pipe()
        self.answer, answer = os.pipe()
        self.conf = os.path.join(self.dir, "nginx.conf")
        self.frame = f"""
{main}
{"user root;" if os.geteuid() == 0 else ""}
worker_processes 1;
error_log {self.dir}/error.log info;
pid {self.dir}/nginx.pid;
events {{ worker_connections 1024; }}
http {{
    client_body_temp_path {self.dir}/body; proxy_temp_path {self.dir}/proxy; fastcgi_temp_path {self.dir}/fcgi;
    uwsgi_temp_path {self.dir}/uwsgi; scgi_temp_path {self.dir}/scgi;
    log_format all '$request_uri|$status|$limit_req_status|$limit_conn_status|$request_time|$bytes_sent|$msec|$uri';
    access_log {self.dir}/access.log all;
    keepalive_timeout 1d; client_header_timeout 1d; client_body_timeout 1d; send_timeout 1d; proxy_read_timeout 1d;
    TEXT
}}
"""
        self.configure(text)
        env = san_env(env)
        env["LD_PRELOAD"] = " ".join([*env.get("LD_PRELOAD", "").split(), os.path.abspath(SHIM)])
        env["WEIR_ORACLE"] = f"{self.memory} {wake} {answer}"
        files = os.path.join(self.dir, "www")
        os.mkdir(files)
        for page, words in pages.items():
            path = write(os.path.join(files, page), words)
            os.utime(path, (1_600_000_000, 1_600_000_000))
        self.argv = ["nginx", "-c", self.conf, "-p", self.dir, "-e", f"{self.dir}/error.log", "-g", "daemon off;"]
        self.stderr = os.path.join(self.dir, "stderr")
        self.process = start(self.argv, env=env, stderr=open(self.stderr, "w"), pass_fds=[self.memory, wake, answer])
        os.close(wake), os.close(answer)
        self.open, self.count, self.logs = {}, 0, [0, 0]
        self._settle({})
        self._lines("error.log", 0), self._lines("access.log", 1)

    def _set(self, ms):
        """Anywhere within a millisecond: those of a table's clock begin where the kernel's do."""
        self.now = ms
        self.page[:16] = struct.pack("<qq", ms * 1_000_000 + ms * 2654435761 % 1_000_000, WALL * 1_000_000)

    def configure(self, text):
        write(self.conf, self.frame.replace("TEXT", text.replace("$DIR", self.dir)))

    def reload(self, text):
        """At this time, while nobody is connected."""
        old = self.worker()
        self.configure(text)
        self.process.send_signal(signal.SIGHUP)
        if not wait_until(lambda: len(self.worker()) > 1):
            raise Lost(f"{self.name}: nginx did not reload")
        while set(old) & set(self.worker()):  # whoever of the two has the byte goes on, and the old one leaves
            os.write(self.wake, b"x")
            if select.select([self.answer], [], [], 0.1)[0]:
                os.read(self.answer, 8)
        time.sleep(0.05)
        while select.select([self.answer], [], [], 0)[0]:
            os.read(self.answer, 8)
        self._settle({})

    def _wake(self):
        """Lets nginx do all there is to do at this time; the ms until its next timer, or -1."""
        os.write(self.wake, b"x")
        while True:
            if select.select([self.answer], [], [], 20)[0]:
                said = os.read(self.answer, 8)
                if len(said) == 8:
                    return struct.unpack("<q", said)[0]
            if self.process.poll() is not None or not self.worker():
                raise Lost(f"{self.name}: nginx has ended: " + open(self.stderr).read() + "\n".join(self._lines("error.log", 0)[-5:]))

    def worker(self):
        return run("pgrep", "-P", str(self.process.pid)).stdout.split()

    def _lines(self, name, which):
        with open(os.path.join(self.dir, name), "rb") as f:
            f.seek(self.logs[which])
            text = f.read()
        self.logs[which] += len(text)
        return text.decode("latin-1").splitlines()

    def _settle(self, done):
        """Until nobody has anything to do at this time."""
        self.timer = self._wake()
        while self._read(done):  # that we close a connection is something to do
            self.timer = self._wake()

    def _read(self, done):
        """What has been answered; closed connections go into `done`. Whether there were any."""
        before = len(self.open)
        for number in list(self.open):
            s, got = self.open[number]
            while True:
                try:
                    data = s.recv(65536)
                except BlockingIOError:
                    break
                except ConnectionError:
                    data = b""
                if not data:
                    s.close()
                    del self.open[number]
                    done[number] = (self.now, bytes(got))
                    break
                got += data
        return len(self.open) != before

    def _until(self, ms, done):
        """Lets the time pass up to ms, each timer of nginx in its turn; without ms: until all is answered."""
        while self.timer >= 0 and (ms is None and self.open or ms is not None and self.now + self.timer <= ms):
            self._set(self.now + self.timer)
            self._settle(done)
        if ms is not None and ms > self.now:
            self._set(ms)
            self._settle(done)

    def play(self, trace, again=False):
        """(answers: number of the action -> (ms, bytes), access lines, error lines). again: goes on where the last one ended."""
        # Each trace begins long after the last one ended, at a time that does not depend on what came of it.
        self.traces += 1
        self._set(self.now if again else (self.now // 10_000_000 + 1) * 10_000_000 + self.traces * 104729 % 999983)
        done, begin = {}, self.now
        self._settle(done)
        for number, (gap, action) in enumerate(trace):
            self._until(self.now + gap, done)
            if isinstance(action, int):  # the client of that earlier action leaves
                if action in self.open:
                    self.open.pop(action)[0].close()
                    done[action] = (self.now, b"(left)")
            else:
                s = socket.socket(socket.AF_UNIX)
                s.connect(os.path.join(self.dir, "s"))
                s.setblocking(False)
                s.sendall(action)
                self.open[number] = (s, bytearray())
            self._settle(done)
        self._until(None, done)
        for number in self.open:
            done[number] = (-1, b"(hangs)")
            self.open[number][0].close()
        self.open.clear()
        self._settle({})
        errors = [re.sub(r" \d+#\d+: ", " ", l).replace(self.dir, "") for l in self._lines("error.log", 0) if re.search(r"#\d+: \*", l) or
                  re.search(r"\[(alert|emerg|crit)\]", l)]
        return [(n, at - begin, text) for n, (at, text) in sorted(done.items())], [l for l in self._lines("access.log", 1)], errors

    def stop(self):
        os.close(self.wake), os.close(self.answer), os.close(self.memory)
        return stop(self.process, signal.SIGKILL if self.process.poll() is None and not self.worker() else signal.SIGTERM)
