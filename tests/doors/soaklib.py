# SPDX-License-Identifier: BSD-2-Clause
"""soaklib: reloads and killed workers under load, and whether the limits held: what was refused that should not have been, what was let in
that should not have been, what was left behind."""
import collections, json, random
from suitelib import *

HARD, BURST = 0.5, 5  # requests a second, and its burst: what must refuse
PLACES = 3            # of limit_conn
CONF = """
limit_req_zone $arg_k zone=free:1m rate=1000r/s;
limit_req_zone $host zone=hard:1m rate=30r/m;
limit_conn_zone $arg_k zone=freeconn:1m;
limit_conn_zone $host zone=held:1m;
limit_req_status 429; limit_conn_status 429; limit_req_log_level info; limit_conn_log_level info;
server {{
    listen 127.0.0.1:PORT backlog=4096;
    location /free {{ limit_req zone=free burst={burst} nodelay; limit_conn freeconn 60000; }}
    location /hard {{ limit_req zone=hard burst=5 nodelay; }}
    location /held {{ limit_conn held 3; limit_rate 1000; }}
    location /plain {{ }}
}}
"""
FILES = {"free": "free", "hard": "hard", "held": "x" * 2500, "plain": "plain"}
# What nginx itself says when a worker is killed: that it was, and that what was being sent to its channel just then could not be.
NOTICE = re.compile(r"\[alert\] \d+#\d+: (worker process \d+ exited on signal 9|sendmsg\(\) failed \(\d+: (Broken pipe|Connection reset by peer|"
                    r"Connection refused|Bad file descriptor)\)|shared memory zone \"\w+\" was locked by \d+)$")


class Asked(collections.namedtuple("Asked", "path began head last ended status")):
    """Monotonic times; head: when the answer began; last: when its last bytes but those of the end came; status None: broken off."""


class Load:
    """Clients that ask until they are told to stop."""

    def __init__(self, site, clients):
        self.site, self.over, self.asked = site, False, []
        self.threads = [threading.Thread(target=self._client, args=(path, i), daemon=True) for i, path in enumerate(clients)]
        [t.start() for t in self.threads]

    def _client(self, path, number):
        mine = []
        while not self.over:
            mine.append(self._one(path, f"{path}?k={number}"))
            if path == "/hard":
                time.sleep(0.005)
            elif path == "/held" and mine[-1].status != 200:
                time.sleep(0.02)
        self.asked.extend(mine)

    def _one(self, path, uri):
        began = time.monotonic()
        head = last = None
        status = None
        try:
            with socket.create_connection(("127.0.0.1", self.site.port), 30) as s:
                s.sendall(f"GET {uri} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n".encode())
                got, chunks = b"", []
                while (data := s.recv(65536)):
                    chunks.append(time.monotonic())
                    got += data
                first, _, body = got.partition(b"\r\n\r\n")
                size = re.search(rb"Content-Length: (\d+)", first)
                if chunks:
                    head, last = chunks[0], chunks[-2] if len(chunks) > 1 else chunks[0]
                if size and len(body) == int(size[1]):
                    status = int(first.split()[1])
        except OSError:
            pass
        return Asked(path, began, head, last, time.monotonic(), status)

    def stop(self):
        self.over = True
        [t.join() for t in self.threads]
        return self.asked


def most_at_once(spans):
    """How many of these (from, to) there were at one moment."""
    at = sorted([(b, 1) for b, _ in spans] + [(e, -1) for _, e in spans], key=lambda x: (x[0], x[1]))
    now = most = 0
    for _, step in at:
        now += step
        most = max(most, now)
    return most


def generation(site, old, workers):
    """The workers that a reload has started are there."""
    return wait_until(lambda: len(set(site.workers()) - old) >= workers, 60, 0.01)


def soak(who, reloads, kills, workers=2, seconds=0, tell=lambda *_: None, seed=1):
    """Runs to the end of all; checks as it goes with ok() and is_(); returns what was counted."""
    rng = random.Random(seed)
    site = Plain(who, CONF.format(burst=100000), FILES, workers=workers, log_level="info", main="worker_rlimit_nofile 8192;")
    load = Load(site, ["/free"] * 3 + ["/hard"] * 1 + ["/held"] * 5)
    began = time.monotonic()
    killed, slow = [], 0
    left = ["reload"] * reloads + ["kill"] * kills
    rng.shuffle(left)
    left_of = lambda: left.pop() if left else rng.choice(["reload"] * 10 + ["kill"])
    n = 0
    while left or time.monotonic() - began < seconds:
        n += 1
        if left_of() == "reload":
            old = set(site.workers())
            site.configure(CONF.format(burst=100000 + n % 2))
            site.process.send_signal(signal.SIGHUP)
            slow += not generation(site, old, workers)
        else:
            while True:  # an old worker may be gone before it is met
                victim = rng.choice(site.workers())
                moment = time.monotonic()
                if alive(victim):
                    os.kill(victim, signal.SIGKILL)
                    break
            killed.append((moment, time.monotonic()))
            wait_until(lambda: victim not in site.workers() and len(site.workers()) >= workers, 30, 0.01)
        time.sleep(rng.uniform(0, 0.08))
        if n % 50 == 0:
            tell(f"{n} done, {time.monotonic() - began:.0f} s")
    time.sleep(1)
    asked = load.stop()
    lasted = time.monotonic() - began
    of = lambda path, *status: [a for a in asked if a.path == path and a.status in status]
    broken = [a for a in asked if a.status is None]
    counted = {"reloads": n - len(killed), "kills": len(killed), "seconds": round(lasted), "requests": len(asked), "broken by a kill": len(broken),
               "hard: passed": len(of("/hard", 200)), "hard: refused": len(of("/hard", 429)), "held: passed": len(of("/held", 200)),
               "held: refused": len(of("/held", 429))}
    is_(slow, 0, f"{who}: each reload started its workers")
    is_([a for a in asked if a.path == "/free" and a.status not in (200, None)][:3], [], f"{who}: none was refused that should have passed")
    within(len(of("/free", 200)), 100, 10**9, f"{who}: many of those were asked")
    is_([a for a in broken if not any(a.began <= after and before <= a.ended for before, after in killed)][:3], [], f"{who}: none broke off but at a kill")
    is_(sorted({a.status for a in asked} - {None}), [200, 429], f"{who}: all others were answered as the limits say")
    on_hard = len([a for a in broken if a.path == "/hard"])
    within(len(of("/hard", 200)), int(BURST + HARD * lasted) - on_hard - 2, int(BURST + 1 + HARD * lasted),
           f"{who}: no more passed the hard limit, and no less, than it allows")
    within(most_at_once([(a.head, a.last) for a in asked if a.path == "/held" and a.head and a.status in (200, None)]), 1, PLACES,
           f"{who}: no more had a place at once than there are")
    within(len(of("/held", 429)), 1, len(asked), f"{who}: and some found none")
    no_leak(site, who, workers, counted)
    stop(site.process, signal.SIGQUIT)
    bad = [l for l in site.alerts() if not NOTICE.search(l)]
    is_(bad[:5], [], f"{who}: no alert but nginx's own that a worker was killed")
    # one that had just ended by itself, and was not buried yet, takes a kill too
    within(site.lines("error.log", "exited on signal 9"), len(killed) - 1 - len(killed) // 20, len(killed), f"{who}: it says so of each kill")
    is_([l for l in site.text("error.log").splitlines() if "[error]" in l][:3], [], f"{who}: no error line")
    return counted


def no_leak(site, who, workers, counted):
    """After the load: as many process slots as workers, and all places of limit_conn are free again."""
    wait_until(lambda: len(site.workers()) == workers, 60)
    is_(len(site.workers()), workers, f"{who}: the old workers have gone")
    if who == OURS:
        def info():
            return json.loads(weir("table", "info", "--json", "--table", site.table).stdout or "{}")
        wait_until(lambda: info().get("processes") == workers)
        counted["process slots"] = info().get("processes")
        is_(counted["process slots"], workers, f"{who}: no process slot is left behind")
    wires = [Wire(site.port) for _ in range(PLACES + 1)]
    got = [w.send("GET /held?k=x HTTP/1.1\r\nHost: a\r\n\r\n").f.readline().split()[1] for w in wires]
    is_(got, [b"200"] * PLACES + [b"429"], f"{who}: all places are free again, and no more than all")
    [w.close() for w in wires]
