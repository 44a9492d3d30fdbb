#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# The news site of examples/news.yaml in an nginx that caches: readers, subscribers, crawlers, copiers, and a rush.
import sys; sys.path.insert(0, "tests/examples")
from starterlib import *

asked, login = collections.Counter(), Es256()


def answer(method, path, headers, body):
    asked[path] += 1
    return 200, {"Cache-Control": "max-age=1"}, f"{path} number {asked[path]}\n".encode()


backend, cache = Backend(answer), folder()
os.chmod(cache, 0o755)
fresh = write(f"{cache}/fresh", "news\n")
site = Starter("examples/news.yaml", [("192.0.2.0/24", "127.0.9.0/24")], public=[("news-keys.json", login.set)],
               http=f"proxy_cache_path {cache}/c keys_zone=c:1m; upstream behind {{ server 127.0.0.1:{backend.port}; keepalive 8; }}", locations=f"""
    location / {{ proxy_pass http://behind; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_cache c; proxy_cache_valid 10m; proxy_cache_lock on;
                 add_header X-Cache $upstream_cache_status; }}
    location /live/fresh {{ alias {fresh}; }}""")


def read(what, sid=None, token=None, **kw):
    cookie = "; ".join(f"{k}={v}" for k, v in (("sid", sid), ("token", token)) if v)
    return site.get(what, headers={"Cookie": cookie} if cookie else {}, **kw)


# ---- readers ----
is_(load_page(site.port, [f"/img/{i}.jpg" for i in range(100)], source="127.0.1.1"), 101 * [200], "a front page of a hundred files loads whole")
got = [read(f"/articles/{i}", "ann", source="127.0.1.1").status for i in range(10)] + [read("/articles/3", "ann", source="127.0.1.1").status for _ in range(5)]
is_(got, 15 * [200], "ten different articles, one of them six times")
a = read("/articles/11", "ann", source="127.0.1.1")
is_((a.status, a["location"]), (303, "/subscribe"), "for the eleventh there is an offer")
is_([read("/articles/3", "ann", source="127.0.1.1").status, read("/articles/12", "ann", source="127.0.1.2").status], [200, 303],
    "the ten can be read again, and another address makes no difference")
token = login.token(sub="sue")
is_([read(f"/articles/{i}", "sue", token, source="127.0.1.3").status for i in range(25)], 25 * [200], "a subscriber reads on")
is_(read("/articles/13", "ann", token[:-6] + "AAAAAA", source="127.0.1.1").status, 303, "... with a token that the login has signed")
is_({read(f"/articles/{i}", source="127.0.9.9").status for i in range(100)}, {200}, "a search engine reads everything")

# ---- who copies ----
Bucket(300 / HOUR, 60).check(65, lambda: read("/articles/1", "bot", token, source="127.0.2.1"), "a copier has sixty at once, then one every twelve seconds")

# ---- feeds ----
Bucket(12 / HOUR, 12).check(12, lambda: read("/feeds/all", source="127.0.3.1"), "a feed reader: twelve")
time.sleep(2.2)
n = asked["/feeds/all"]
got = [read("/feeds/all", source="127.0.3.1") for _ in range(10)]
is_([(a.status, a["x-cache"]) for a in got], 10 * [(200, "STALE")], "then it gets the last one again")
is_(asked["/feeds/all"], n, "... and the backend is not asked")

# ---- a rush ----
is_(read("/live/vote", source="127.0.4.1").status, 200, "something happens")
before, began = asked["/live/vote"], time.monotonic()
got = sum((many(site.port, 190, "/live/fresh", source=f"127.0.4.{i}") for i in range(10, 20)), [])
flood(got, 999, 500, "a thousand at once, then 500 a second")
rush = sum((many(site.port, 190, "/live/vote", source=f"127.0.4.{i}") for i in range(20, 30)), [])
is_(statuses(rush), {200: 1900}, "1,900 more all see the stored page")
within(asked["/live/vote"] - before, 0, 1 + int(time.monotonic() - began), "... for which the backend was asked once a second at most")
ok(any(l.startswith("200 REJECTED") for l in logged(site, "/live/vote")), "... beyond the 500 a second, too")
site.check_no_alerts()
site.stop()
done()
