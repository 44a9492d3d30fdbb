#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The backend of the demo: a page, a login that always fails, a little API. `demo_backend.py PORT`; 0 takes a free one.

Prints the port as its first line and stops on SIGTERM or SIGINT.
"""
import http.server
import json
import signal
import sys


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self, status, kind, text):
        data = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def do_GET(self):
        path = self.path.split("?", 1)[0]
        if path.startswith("/api/"):
            self.answer(200, "application/json", json.dumps({"path": path, "for": self.headers.get("X-Forwarded-For")}) + "\n")
        elif path == "/healthz":
            self.answer(200, "text/plain", "ok\n")
        else:
            self.answer(200, "text/html", "<!doctype html><title>demo</title><h1>The demo backend</h1>\n")

    do_HEAD = do_GET

    def do_POST(self):
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.path.split("?", 1)[0] == "/login":
            self.answer(401, "application/json", '{"error": "wrong password"}\n')
        else:
            self.answer(200, "application/json", '{"ok": true}\n')

    def log_message(self, *words):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 512


def main():
    server = Server(("127.0.0.1", int(sys.argv[1]) if len(sys.argv) > 1 else 0), Handler)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    print(server.server_address[1], flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass


main()
