# SPDX-License-Identifier: BSD-2-Clause
"""oracle_conf: random configurations with limit_req and limit_conn as nginx knows them, and random traces for them.

What weir does otherwise by design is never made here: keys over 255 bytes, rates over 1,000 r/s, zones that are full, several workers,
clocks that go back, and nginx's forgetting of a key 60 s after its last request: traces with several keys are shorter than that.
"""
import random

PAGES = {f"{size}.html": "x" * size for size in (1, 40, 3000)}
KEYS = ["$http_a", "$http_a", "$http_a", "$http_b", "$http_c", "$http_a$http_b", "$http_a/$host", "$binary_remote_addr$http_b", "$mapped",
        "$host$http_c", "$request_method$http_a"]
STATUS = [403, 408, 429, 429, 444, 500, 501, 503, 598]
LEVEL = ["info", "notice", "warn", "error"]
RATES = ["1r/m", "2r/m", "7r/m", "10r/m", "30r/m", "59r/m", "60r/m", "61r/m", "100r/m", "600r/m", "59999r/m", "60000r/m", "1r/s", "2r/s", "3r/s",
         "5", "7r/s", "10r/s", "50r/s", "100r/s", "333r/s", "500r/s", "999r/s", "1000r/s", "1000"]


def per_second(rate):
    """What nginx makes of it: whole thousandths of a request a second."""
    n = int(rate.split("r/")[0])
    return max(1, n * 1000 // (60 if rate.endswith("r/m") else 1)) / 1000


class Plan:
    """One configuration."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.names, self.pages = 0, dict(PAGES)
        self.zones = {f"z{i}": self._rate() for i in range(14)}
        self.inner = {f"y{i}": f"{self.rng.randint(10, 1000)}r/s" for i in range(3)}  # of the servers behind: full again in a second
        self.conns = [f"c{i}" for i in range(6)]
        self.places = []  # (host, path, zones, methods)
        self.text = self._http()

    def _rate(self):
        r = self.rng
        return r.choice(RATES) if r.random() < 0.7 else f"{r.randint(1, 1000)}r/s" if r.random() < 0.5 else f"{r.randint(1, 3000)}r/m"

    def _chance(self, p):
        return self.rng.random() < p

    def _line(self, zone, most=12):
        r = self.rng
        burst = r.choice([0, 0, 1, 1, 2, 3, 5, 8, most])
        line = f"limit_req zone={zone}" + (f" burst={burst}" if burst else "")
        kind = r.random()
        if kind < 0.25:
            line += " nodelay"
        elif kind < 0.55:
            line += f" delay={r.randint(1, burst + 1)}"
        return line + "; "

    def _limits(self, p_req=0.85, p_conn=0.35, zones=None):
        """The text, and the zones in it."""
        r, text, used = self.rng, "", []
        zones = zones or self.zones
        if self._chance(p_req):
            used = r.sample(list(zones), min(len(zones), r.choice([1, 1, 1, 1, 2, 2, 3, 4])))
            text += "".join(self._line(z) for z in used)
        if self._chance(p_conn):
            text += "".join(f"limit_conn {c} {r.choice([1, 1, 2, 3, 5])}; " for c in r.sample(self.conns, r.choice([1, 1, 2, 3])))
        return text + self._settings(0.12), used

    def _settings(self, p):
        r, text = self.rng, ""
        for what in "req", "conn":
            for name, values in ("status", STATUS), ("log_level", LEVEL), ("dry_run", ["on", "on", "off"]):
                if self._chance(p):
                    text += f"limit_{what}_{name} {r.choice(values)}; "
        return text

    def _name(self, letter):
        self.names += 1
        return f"/{letter}{self.names}"

    def _target(self):
        """A location that others lead to: (path, text)."""
        name, (limits, used) = self._name("M"), self._limits(0.7, 0.2)
        return name, f"location = {name} {{ alias $DIR/www/40.html; {limits} }}\n", used

    def _location(self, host, kind):
        r, name = self.rng, self._name("L")
        limits, used = self._limits()
        few, few_used = self._limits(0.35, 0.2)  # where another place's limits are to be met too
        page, path, more, methods = f"alias $DIR/www/{r.choice([1, 40])}.html; ", name, "", ["GET"]
        other, other_text, other_used = self._target()
        if kind == "plain":
            body, methods = limits + page, ["GET", "GET", "GET", "HEAD", "1.0"]
        elif kind == "slow":
            body = self._limits(0.3, 1)[0] + f"limit_rate {r.choice([300, 1000, 2500])}; alias $DIR/www/3000.html; "
        elif kind == "nested":
            own, own_used = self._limits(0.4, 0.3)
            body, path, used = limits + f"location {name}/in {{ {own} alias $DIR/www/40.html; }}", name + "/in", used + own_used
        elif kind == "if":
            body = limits + "root $DIR/www; if ($http_b) { rewrite ^ /1.html break; } rewrite ^ /40.html break; "
        elif kind == "return":
            body = limits + f"return {r.choice(['204', '200 said', '404'])}; "
        elif kind == "rewrite":
            body, more, used = limits + f"rewrite ^ {other} last; ", other_text, other_used
        elif kind == "try_files":
            body, more, used = few + f"root $DIR/www; try_files /none {other}; ", other_text, few_used + other_used
        elif kind == "not_found":
            body, more, used = few + f"root $DIR/www; error_page 404 = {other}; ", other_text, few_used + other_used
        elif kind == "refused":
            named = r.choice([other, "@" + name[1:]])
            body = limits + page + f"error_page {' '.join(map(str, sorted(set(STATUS) - {444})))} {r.choice(['', '=', '=200'])} {named}; "
            more = other_text + f"location @{name[1:]} {{ {few} root $DIR/www; rewrite ^ /1.html break; }}\n"
        elif kind == "accel":
            body, more, used = few + f"proxy_pass http://unix:$DIR/inner:/accel?to={other}; ", other_text, few_used + other_used
        elif kind in ("auth_request", "mirror", "add_before_body"):
            body, more, used = few + page + f"{kind} {other}; ", other_text, few_used + other_used
        elif kind == "ssi":
            last, last_text, last_used = self._target()
            wait = r.choice(["", ' wait="yes"'])
            self.pages[name[1:] + ".html"] = f'1<!--#include virtual="{other}"{wait} -->2<!--#include virtual="{last}" -->3'
            body = few + f"ssi on; alias $DIR/www{name}.html; "
            more, used = other_text + last_text, few_used + other_used + last_used
        elif kind == "proxy":
            body, methods = limits + f"proxy_pass http://unix:$DIR/inner:{r.choice(['/', '/limited'])}; ", ["GET", "POST"]
        self.places.append((host, path, used or list(self.zones)[:1], methods))
        return f"location {'' if kind == 'nested' else '= '}{name} {{ {body} }}\n{more}"

    KINDS = ["plain"] * 8 + ["slow"] * 4 + ["nested"] * 2 + ["proxy"] * 2 + ["if", "return", "rewrite", "try_files", "not_found", "refused", "refused",
             "accel", "auth_request", "mirror", "add_before_body", "ssi"]

    def _server(self, host, own):
        text = f"server {{ listen unix:$DIR/s; server_name {host}; {own}\n"
        text += "add_header X-Req $limit_req_status always; add_header X-Conn $limit_conn_status always;\n"
        for kind in self.KINDS:
            text += self._location(host, kind)
        return text + "}\n"

    def _http(self):
        r = self.rng
        text = "map $http_b $mapped { default $http_b; '' ''; ~1$ ''; }\n"
        for name, rate in [*self.zones.items(), *self.inner.items()]:
            words = [f"zone={name}:1m", f"rate={rate}"]
            r.shuffle(words)
            text += f"limit_req_zone {r.choice(KEYS)} {' '.join(words)};\n"
        for name in self.conns:
            text += f"limit_conn_zone {r.choice(KEYS)} zone={name}:1m;\n"
        text += (self._limits(0.7, 0.4, self.inner)[0] if self._chance(0.3) else self._settings(0.1)) + "\n"
        text += self._server("s0", "")
        text += self._server("s1", self._limits(1, 0.4)[0])
        text += self._server("s2", self._settings(0.4))
        text += f"""server {{ listen unix:$DIR/inner; {self._settings(0.2)}
            location / {{ return 200 "$request_method $http_a $content_length\\n"; }}
            location /accel {{ add_header X-Accel-Redirect $arg_to; return 200; }}
            location /limited {{ {self._limits(1, 0.2, self.inner)[0]} alias $DIR/www/40.html; error_page 405 = /; }}
        }}\n"""
        return text

    def _gap(self, mode, refill):
        r = self.rng
        if mode == "burst":
            return 0 if r.random() < 0.9 else r.randint(1, 5)
        if mode == "ms":
            return r.choice([0, 0, 1, 1, 2, 3])
        if mode == "refill":
            return max(0, round(refill * r.choice([0, 0.5, 1, 1, 1, 2, 3])) + r.choice([-1, 0, 0, 1]))
        return int(10 ** r.uniform(0, 4.7)) - 1

    def trace(self, number):
        """[(gap ms, bytes of requests on a connection of their own | number of the action whose client leaves)]"""
        r = self.rng
        host, path, used, _ = here = r.choice(self.places)
        refill = 1000 / per_second(self.zones[r.choice(used)])
        mode = r.choice(["burst", "ms", "refill", "refill", "any"])
        lonely = r.random() < 0.4  # one key, one place: the idle time is any
        places = [here] if lonely or r.random() < 0.5 else [here] + r.sample([p for p in self.places if p[0] == host], 2)
        keys = 1 if lonely else r.choice([1, 1, 2])
        trace, total, kept = [], 0, []
        for n in range(r.randint(6, 30)):
            gap = self._gap(mode, refill)
            if not lonely:
                gap = min(gap, 58_000 - total)
            total += gap
            if kept and r.random() < 0.05:
                trace.append((gap, kept.pop(r.randrange(len(kept)))))
                continue
            kept.append(n)
            count = r.choice([1] * 8 + [2, 3]) if lonely else 1  # the next one may wait for minutes
            trace.append((gap, b"".join(self._request(r.choice(places), number, n, keys, lonely, last == count) for last in range(1, count + 1))))
        return trace

    def _request(self, place, number, n, keys, lonely, last):
        r = self.rng
        host, path, _, methods = place
        method, version = r.choice(methods), "1.1"
        if lonely:
            method = methods[0]
        if method == "1.0":
            method, version = "GET", "1.0"
            last = True
        head = f"{method} {path}?t={number}.{n} HTTP/{version}\r\nHost: {host}\r\n"
        for letter in "abc":
            if lonely or r.random() > 0.08:
                head += f"{letter}: {number}-{letter}{r.randrange(keys)}\r\n"
        body = "body of it" if method == "POST" else ""
        if body:
            head += f"Content-Length: {len(body)}\r\n"
        return (head + ("Connection: close\r\n" if last and version == "1.1" else "") + "\r\n" + body).encode()
