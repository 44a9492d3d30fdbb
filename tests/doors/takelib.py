# SPDX-License-Identifier: BSD-2-Clause
"""takelib: an nginx whose configuration is an nginx user's own: limit_req and limit_conn, no policy.

Native(http=…, server=…) writes the configuration and starts nginx: with weir's module, or as it comes from Debian (stock=True). Nothing
else differs between the two, but that the zones' table stands in a temporary folder.
"""
import re
from gatelib import *


class Native(Site):
    def __init__(self, http, server="", locations=None, stock=False, main="", workers=1, backend=None, table=True, log_level="info",
                 listen="", start_now=True, log="$status $limit_req_status $limit_conn_status $request"):
        self.stock = stock
        self.dir = folder()
        self.shm = shm_folder()
        os.chmod(self.dir, 0o755)
        self.port = port()
        self.table = os.path.join(self.shm, "t", "zones")
        self.error_log = os.path.join(self.dir, "error.log")
        self.access_log = os.path.join(self.dir, "access.log")
        self.root = os.path.join(self.dir, "www")
        os.mkdir(self.root)
        write(os.path.join(self.root, "index.html"), "hello\n")
        for i in range(30):
            write(os.path.join(self.root, f"f{i}.txt"), f"file {i}\n")
        if locations is None:
            locations = "location / { " + (f"proxy_pass http://127.0.0.1:{backend};" if backend else f"root {self.root}; try_files $uri /index.html;") + " }"
        self.conf = os.path.join(self.dir, "nginx.conf")
        load = "" if stock else f"load_module {MODULE};\n"
        place = f"weir_limit_table {self.table};" if table and not stock else ""
        user = "user root;" if os.geteuid() == 0 else ""
        self.conf_text = f"""{load}{user}
worker_processes {workers};
error_log {self.error_log} {log_level};
pid {self.dir}/nginx.pid;
{main}
events {{ worker_connections 4096; }}
http {{
    client_body_temp_path {self.dir}/body; proxy_temp_path {self.dir}/proxy; fastcgi_temp_path {self.dir}/fcgi;
    uwsgi_temp_path {self.dir}/uwsgi; scgi_temp_path {self.dir}/scgi;
    log_format t '{log}';
    access_log {self.access_log} t;
    {place}
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
        if start_now:
            self.start()

    def deciding(self):
        return self.stock or "limit_" not in self.conf_text or os.path.exists(self.table + ".policy")

    def lines(self, pattern):
        """Lines of the error log that the pattern is found in."""
        return [l for l in self.errors().splitlines() if re.search(pattern, l)]

    def excesses(self, what="limiting requests"):
        return [float(m) for m in re.findall(what + r"(?:, dry run)?, excess: (\d+\.\d{3})", self.errors())]
