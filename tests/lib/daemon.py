# SPDX-License-Identifier: BSD-2-Clause
"""daemon: a Site's nginx as the system starts it, in the background: one in the foreground ignores USR2 while its parent lives."""
from weirtest import *


class Daemon:
    def __init__(self, site):
        self.pidfile = f"{site.dir}/nginx.pid"
        # by its whole path: USR2 starts what nginx was started as
        r = run(shutil.which("nginx"), "-c", site.conf, "-p", site.dir, "-e", site.error_log, env=san_env())
        if r.returncode:
            raise SystemExit(f"nginx did not start: {r.stderr}")
        self.first = self.pid()
        atexit.register(self._clean)
        wait_until(lambda: listening(site.port) and os.path.exists(site.table + ".policy"))

    def pid(self):
        """The master that came last; 0 while there is none."""
        try:
            with open(self.pidfile) as f:
                return int(f.read() or 0)
        except FileNotFoundError:
            return 0

    def workers(self, master):
        return [int(x) for x in run("pgrep", "-P", str(master)).stdout.split() if x != str(self.pid())]

    def upgrade(self):
        """USR2: a second master, from the files that are there now, beside the first; its number."""
        old = self.pid()
        os.kill(old, signal.SIGUSR2)
        wait_until(lambda: self.pid() not in (0, old) and self.workers(self.pid()))
        return self.pid()

    def end(self, master):
        """QUIT: what is under way may finish. True: it is gone."""
        os.kill(master, signal.SIGQUIT)
        return wait_until(lambda: not alive(master))

    def _clean(self):
        # masters and workers are one group, whose number is the first one's
        try:
            os.killpg(self.first, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass
