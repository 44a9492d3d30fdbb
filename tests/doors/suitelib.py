# SPDX-License-Identifier: BSD-2-Clause
"""suitelib: an nginx with a configuration of its own, written as its users write it: stock, or with one line more that loads the module."""
import re
from gatelib import *

OURS = "the module"
STOCK = "stock nginx"


class Plain:
    """http: the http block's text; PORT, BACK, OTHER and DIR in it stand for two ports and a folder. files: name -> text, of the root."""

    def __init__(self, who, http, files=None, main="", workers=1, size="", log_level="debug"):
        self.who, self.dir, self.port, self.back, self.other = who, folder(), port(), port(), port()
        os.chmod(self.dir, 0o755)
        os.mkdir(os.path.join(self.dir, "html"))
        for name, text in (files or {}).items():
            write(os.path.join(self.dir, "html", name), text)
        self.table = os.path.join(shm_folder(), "limits")
        load = f"load_module {MODULE};\n" if who == OURS else ""
        table = f"weir_limit_table {self.table}{size and ' ' + size};\n" if who == OURS else ""
        self.conf = os.path.join(self.dir, "nginx.conf")
        self.head = f"""{load}{main}
{"user root;" if os.geteuid() == 0 else ""}
worker_processes {workers};
error_log {self.dir}/error.log {log_level};
pid {self.dir}/nginx.pid;
events {{ worker_connections 4096; }}
http {{
    client_body_temp_path {self.dir}/body; proxy_temp_path {self.dir}/proxy; fastcgi_temp_path {self.dir}/fcgi;
    uwsgi_temp_path {self.dir}/uwsgi; scgi_temp_path {self.dir}/scgi;
    access_log off; root {self.dir}/html;
    {table}"""
        self.configure(http)
        self.stderr = os.path.join(self.dir, "stderr")
        self.process = start(["nginx", "-c", self.conf, "-p", self.dir, "-e", f"{self.dir}/error.log", "-g", "daemon off;"], env=san_env(),
                             stderr=open(self.stderr, "w"))
        if not wait_until(lambda: self.process.poll() is not None or listening(self.port), 60) or self.process.poll() is not None:
            raise SystemExit(f"nginx did not start ({who}): " + self.text("error.log")[-2000:] + open(self.stderr).read())

    def configure(self, http):
        text = http.replace("PORT", str(self.port)).replace("BACK", str(self.back)).replace("OTHER", str(self.other)).replace("DIR", self.dir)
        write(self.conf, self.head + text + "\n}\n")

    def get(self, path="/", **kw):
        return request(self.port, "GET", path, **kw)

    def text(self, name):
        try:
            with open(os.path.join(self.dir, name), errors="replace") as f:
                return f.read()
        except FileNotFoundError:
            return ""

    def lines(self, name, *words):
        """How many lines have all these words."""
        return sum(all(w in l for w in words) for l in self.text(name).splitlines())

    def workers(self):
        return [int(x) for x in run("pgrep", "-P", str(self.process.pid)).stdout.split()]

    def alerts(self):
        return [l for l in self.text("error.log").splitlines() if "[alert]" in l or "[emerg]" in l or "[crit]" in l]

    def stop(self):
        return stop(self.process, signal.SIGQUIT)


class Frames(H2):
    """HTTP/2 that can stop after an answer's head. window: how many bytes of each body may come."""

    def __init__(self, port, window=None, **kw):
        super().__init__(port, **kw)
        if window is not None:
            self.frame(4, 0, 0, struct.pack(">HI", 4, window))

    def status(self, stream):
        while True:
            head = self._exactly(9)
            size, kind, flags, number = int.from_bytes(head[:3], "big"), head[3], head[4], int.from_bytes(head[5:], "big")
            payload = self._exactly(size)
            if kind == 4 and not flags & 1:
                self.frame(4, 1, 0)
            if number == stream and kind == 3:
                return f"reset {int.from_bytes(payload, 'big')}"
            if number == stream and kind == 1:
                while payload[0] & 0xe0 == 0x20:
                    payload = payload[1:]
                return {0x88: 200, 0x89: 204, 0x8c: 400, 0x8d: 404, 0x8e: 500}.get(payload[0]) or int(payload[2:5])
