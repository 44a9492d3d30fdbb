#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# C12 and its kin: a reload with another key, rate, burst or size of a zone is applied, and counters that are the same are kept.
import sys; sys.path[:0] = ["tests/lib", "tests/doors"]
from takelib import *

ZONE = "limit_req_zone {key} zone=z:{size} rate={rate};"
SERVER = "limit_req zone=z burst=4 nodelay;"


def conf(site, **words):
    words = {"key": "$arg_k", "rate": "1r/m", "size": "1m", **words}
    return re.sub(r"limit_req_zone [^;]*;", lambda m: ZONE.format(**words), site.conf_text)


def change(site, text):
    """The new configuration decides when a worker of it has started and the old ones have gone."""
    old = site.workers()
    write(site.conf, text)
    site.reload()
    ok(wait_until(lambda: site.workers() and not set(site.workers()) & set(old) and not any(alive(p) for p in old)), "the workers are new")


def told(site):
    return [l.partition("] ")[2] for l in site.errors().splitlines() if "published generation" in l]


# stock, for comparison: the whole reload is refused, and nginx -t does not see it
site = Native(ZONE.format(key="$arg_k", size="1m", rate="1r/m"), SERVER, stock=True)
is_(site.statuses(6, "/?k=a&j=b"), 5 * [200] + [503], "stock: the key is k")
write(site.conf, conf(site, key="$arg_j"))
is_(site.nginx("-t").returncode, 0, "stock: nginx -t finds nothing wrong with another key")
site.reload()
ok(wait_until(lambda: site.lines(r'\[emerg\].*uses the "\$arg_j" key while previously it used the "\$arg_k" key')), "stock: the reload is refused")
site.stop()

site = Native(ZONE.format(key="$arg_k", size="1m", rate="1r/m"), SERVER)
is_(site.statuses(6, "/?k=a&j=b"), 5 * [200] + [503], "five at once by k")

# nginx -t says what will change, and changes nothing
before = sorted(os.listdir(os.path.dirname(site.table)))
write(site.conf, conf(site, key="$arg_j"))
tested = site.nginx("-t")
is_(tested.returncode, 0, "nginx -t takes another key")
like(tested.stderr, "[warn]", "and warns")
like(tested.stderr, "$arg_k", "of the key that was")
is_(sorted(os.listdir(os.path.dirname(site.table))), before, "it leaves no file behind")
is_(site.get("/?k=a&j=b").status, 503, "and changes nothing")

change(site, conf(site, key="$arg_j"))
is_(site.statuses(6, "/?k=a&j=b"), 5 * [200] + [503], "C12: the new key is applied, its counters begin anew")
ok(any("anew" in l for l in told(site)), "C12: and the log says so")

change(site, conf(site, key="$arg_j", rate="2r/m"))
is_(site.get("/?j=b").status, 503, "another rate: who was refused still is")
is_(site.statuses(6, "/?j=c"), 5 * [200] + [503], "others are counted at the new one")

change(site, conf(site, key="$arg_j", rate="2r/m").replace("burst=4", "burst=6"))
is_(site.statuses(3, "/?j=b"), 2 * [200] + [503], "another burst: what was used is kept, two more fit")

change(site, conf(site, key="$arg_j", rate="100r/h").replace("burst=4", "burst=6"))
is_(site.get("/?j=b").status, 503, "a rate that nginx has no word for: what was used is kept too")
is_(site.statuses(8, "/?j=d"), 7 * [200] + [503], "and it limits")

size = os.path.getsize(site.table)
change(site, conf(site, key="$arg_j", rate="100r/h", size="8m").replace("burst=4", "burst=6"))
is_(site.get("/?j=b").status, 503, "another size: what was used is kept")
within(os.path.getsize(site.table) - size, 7 << 20, 10 << 20, "the table is as much larger")
ok(site.lines(r"the table of the zones has 8388608 bytes now, it had 1048576"), "and the log says so")
is_(weir("table", "resize", "4m", "--table", site.table).returncode, 0, "an operator makes it smaller")
change(site, conf(site, key="$arg_j", rate="101r/h", size="8m").replace("burst=4", "burst=6"))
within(os.path.getsize(site.table) - size, 3 << 20, 6 << 20, "a reload that does not speak of the size leaves it so")
change(site, conf(site, key="$arg_j", rate="100r/h", size="64k").replace("burst=4", "burst=6"))
is_(site.get("/?j=b").status, 503, "a smaller one: too")

is_(weir("table", "check", "--table", site.table).returncode, 0, "the table is sound")

# a restart forgets nobody (nginx: everybody)
site.check_no_alerts()
site.stop()
site.start()
is_(site.get("/?j=b").status, 503, "a restart: what was used is kept")
is_(site.statuses(1, "/?j=e"), [200], "and others pass")

# a zone that goes, and comes back
change(site, conf(site, key="$arg_j", rate="100r/h", size="64k").replace("limit_req zone=z burst=4 nodelay;", ""))
is_(site.statuses(9, "/?j=b"), 9 * [200], "without its line a zone limits nothing")
change(site, conf(site, key="$arg_j", rate="100r/h", size="64k").replace("burst=4", "burst=6"))
is_(site.get("/?j=b").status, 503, "when it comes back soon, its counters are there")
site.check_no_alerts()
done()
