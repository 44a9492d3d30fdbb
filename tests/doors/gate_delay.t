#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Waiting one's turn blocks nobody: the worker goes on, a client that leaves is noticed, bodies and limit_rate are as without, a stop and an
# edit in the middle harm no one.
import json, signal, sys, threading, time; sys.path[:0] = ["tests/lib", "tests/doors"]
from gatelib import *

backend = Backend(lambda method, path, headers, body: (200, {}, body or b"ok\n"))
LEAKY = "algorithm: leaky-bucket, queue: 50"
site = Site(policy=f"limits: {{slow: {{match: /slow/**, key: query.k, missing: ip, {LEAKY}, rate: 2/s}}, long: {{match: /long/**, key: query.k, missing: ip, {LEAKY}, "
            f"rate: 1/8s}}, fast: {{key: ip, rate: 1000/s}}}}\n", backend=backend.port,
            start_now=False, locations=f"""
    root $W;
    location / {{ }}
    location /long/ {{ proxy_pass http://127.0.0.1:{backend.port}; }}
    location /slow/ {{ proxy_pass http://127.0.0.1:{backend.port}; }}
    location /slow/file/ {{ alias $W/; limit_rate 40k; }}
    location /slow/ssi {{ ssi on; default_type text/html; alias $W/ssi.html; }}
""", http="log_format time '$status $weir_status $request_time $request_uri'; access_log $D/time.log time;", server="listen 127.0.0.1:$H2 http2;")
h2 = port()
write(site.conf, site.conf_text.replace("$W", site.root).replace("$D", site.dir).replace("$H2", str(h2)))
write(os.path.join(site.root, "big.bin"), "z" * 120_000)
write(os.path.join(site.root, "ssi.html"), '<!--# include virtual="/f1.txt" -->\n')
site.start()
times = lambda: open(os.path.join(site.dir, "time.log")).read()

answers = at_once(4, lambda i: site.get("/slow/?k=a"))
is_([a.status for a in answers], 4 * [200], "four at once pass, in turn")
in_turn(answers, 0.5, "four at once")
wait_until(lambda: times().count(" /slow/?k=a") == 4)
# three; fewer if the last of them came when the first had had its half second
within(times().count("200 DELAYED"), 3 - int(2 * (max(a.began for a in answers) + 0.3 - min(a.began for a in answers))), 3, "$weir_status says DELAYED")

# one worker: while some wait the others are served
waiting = [threading.Thread(target=lambda: site.get("/slow/?k=b")) for _ in range(3)]
[t.start() for t in waiting]
time.sleep(0.1)
ok(sorted(site.get("/f1.txt").seconds for _ in range(20))[10] < 0.2, "while three wait, others are served at once")
[t.join() for t in waiting]

# the client leaves
w = [Wire(site.port) for _ in range(3)]
for one in w:
    one.send("GET /long/?k=c HTTP/1.1\r\nHost: a\r\n\r\n")
is_(w[0].read().status, 200, "of three the first is served")
time.sleep(0.2)
left = time.monotonic()
for one in w[1:]:
    one.s.shutdown(2)
    one.close()
ok(wait_until(lambda: times().count("499 ") == 2), "clients that leave while waiting are noticed: 499")

# bodies
w = Wire(site.port)
body = b"b" * 50_000
w.send(b"POST /slow/?k=d HTTP/1.1\r\nHost: a\r\nContent-Length: 50000\r\n\r\n" + body)
is_(w.read().body == body, True, "a body at its turn")
w.send(b"POST /slow/?k=d HTTP/1.1\r\nHost: a\r\nContent-Length: 50000\r\n\r\n" + body[:100])
time.sleep(0.1)
w.send(body[100:])
is_(w.read().body == body, True, "a body that arrives while its request waits")
w.send("GET /slow/?k=d HTTP/1.1\r\nHost: a\r\n\r\nGET /f2.txt HTTP/1.1\r\nHost: a\r\n\r\n")
is_([w.read().status, w.read().text], [200, "file 2\n"], "a request pipelined behind a delayed one")

site.get("/slow/file/f1.txt?k=e")
a = site.get("/slow/file/big.bin?k=e")
is_(len(a.body), 120_000, "a delayed response under limit_rate is whole")
within(a.seconds, 1.2, 30, "and takes its delay and its rate")
site.get("/slow/ssi?k=f")
is_(site.get("/slow/ssi?k=f").text, "file 1\n\n", "a delayed page with a subrequest")

# HTTP/2
answers = at_once(3, lambda i: curl(f"http://127.0.0.1:{h2}/slow/?k=g", "--http2-prior-knowledge", "--data-binary", "@" + os.path.join(site.root, "big.bin")))
is_([(a.status, len(a.body), a.version) for a in answers], 3 * [(200, 120_000, "2")], "HTTP/2: bodies of delayed requests are whole")
in_turn(answers, 0.5, "in turn")
c = H2(h2)
streams = [c.begin("GET", "/slow/?k=h" if i in (1, 3) else "/long/?k=h") for i in range(4)]
seen = times().count("499 ")
c.reset(streams[2])
ok(wait_until(lambda: times().count("499 ") == seen + 1), "HTTP/2: a stream that is reset while it waits is noticed")
is_([c.answer(s)[0] for s in (streams[1], streams[3])], [200, 200], "the others of its connection have their turn")
is_(c.answer(c.begin("GET", "/f1.txt")), (200, b"file 1\n"), "and the connection goes on")
streams = [c.begin("GET", "/long/?k=H") for _ in range(3)]
time.sleep(0.2)
c.s.close()
ok(wait_until(lambda: times().count("499 ") == seen + 3), "one that closes while two wait, too")
site.check_no_alerts()

# an edit while a request waits: it ends in the world in which it began
result = []
t = threading.Thread(target=lambda: result.append([site.get("/slow/?k=i").status for _ in range(2)]))
t.start()
time.sleep(0.2)
is_(site.publish("limits: {other: {key: ip, rate: 7/s}}\n").returncode, 0, "another policy is published while it waits")
is_(site.get("/f1.txt")["X-RateLimit-Limit"], "7", "it is in force at the next request")
t.join()
is_(result, [[200, 200]], "the one that waited is answered")
is_(site.publish(f"limits: {{slow: {{match: /slow/**, key: query.k, missing: ip, {LEAKY}, rate: 1/s}}}}\n").returncode, 0, "and back")

# a graceful stop waits for it
result = []
decided = lambda: sum(l["allowed"] for l in json.loads(weir("show", "--json", "--table", site.table).stdout)["limits"] if l["name"] == "slow")
before, began = decided(), time.monotonic()
threads = [threading.Thread(target=lambda: result.append(site.get("/slow/?k=j").status)) for _ in range(3)]
[t.start() for t in threads]
ok(wait_until(lambda: decided() == before + 3), "three are admitted")
is_(site.stop(seconds=60), 0, "a graceful stop")
within(time.monotonic() - began, 1.98, 12, "takes as long as those who wait")
[t.join() for t in threads]
is_(result, [200, 200, 200], "who are all answered")
time.sleep(max(0, left + 17 - time.monotonic()))
is_([p for _, p in backend.seen if p == "/long/?k=c"], ["/long/?k=c"], "nothing was sent to the backend for those who left long ago")
site.check_no_alerts()
done()
