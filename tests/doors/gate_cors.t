#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# A browser's script can read why it was refused and what is left; nobody gets rights that the site did not give.
import sys; sys.path[:0] = ["tests/lib", "tests/doors"]
from gatelib import *

backend = Backend(lambda method, path, headers, body: (200, {"Access-Control-Allow-Origin": "https://app.example", "Access-Control-Expose-Headers": "X-Own",
                                                            "Vary": "Accept-Encoding"} if path.startswith("/cors") else {}, b"ok\n"))
FEW = "{key: ip, rate: 1/hour, burst: 1}"
site = Site(policy=f"""
limits:
  plain: {{match: /plain/**, key: ip, rate: 1/hour, burst: 1}}
  cors: {{match: /cors/**, key: ip, rate: 1/hour, burst: 1}}
  added: {{match: [/added/**, /star/**, /ret/**], key: [ip, path], rate: 1/hour, burst: 1}}
  off: {{match: /off/**, key: ip, rate: 1/hour, burst: 1, respond: {{cors: none}}}}
""", backend=backend.port, locations=f"""
    location / {{ proxy_pass http://127.0.0.1:{backend.port}; }}
    location /added/ {{ add_header Access-Control-Allow-Origin https://app.example always; add_header Access-Control-Allow-Credentials true always;
                       proxy_pass http://127.0.0.1:{backend.port}/; }}
    location /star/ {{ add_header Access-Control-Allow-Origin *; add_header Access-Control-Expose-Headers "X-A"; proxy_pass http://127.0.0.1:{backend.port}/; }}
    location /ret/ {{ add_header Access-Control-Allow-Origin * always; return 200 'x'; }}
""")
ORIGIN = {"Origin": "https://app.example"}
NAMES = "X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, RateLimit-Policy, RateLimit"
cors = lambda a: sorted((k, v) for k, v in a.list if k.lower().startswith("access-control") or k.lower() == "vary")

is_(cors(site.get("/plain/", headers=ORIGIN)), [], "an allowed answer is opened to nobody by weir")
a = site.get("/plain/", headers=ORIGIN)
is_(cors(a), [("Access-Control-Allow-Origin", "https://app.example"), ("Access-Control-Expose-Headers", NAMES + ", Retry-After, Weir-Refusal"), ("Vary", "Origin")],
    "a refusal can be read by the script that asked, headers too")
is_(cors(site.get("/plain/")), [], "without an Origin there is nothing to say")
a = site.get("/cors/", headers=ORIGIN)
is_(cors(a), [("Access-Control-Allow-Origin", "https://app.example"), ("Access-Control-Expose-Headers", "X-Own, " + NAMES), ("Vary", "Accept-Encoding")],
    "where the backend allowed the origin, the rate headers are exposed beside its own")
a = site.get("/added/", headers=ORIGIN)
is_(cors(a), [("Access-Control-Allow-Credentials", "true"), ("Access-Control-Allow-Origin", "https://app.example"), ("Access-Control-Expose-Headers", NAMES)],
    "where add_header did, too")
a = site.get("/added/", headers=ORIGIN)
is_((a.status, cors(a)), (429, [("Access-Control-Allow-Credentials", "true"), ("Access-Control-Allow-Origin", "https://app.example"),
                               ("Access-Control-Expose-Headers", NAMES + ", Retry-After, Weir-Refusal")]), "what add_header says on a refusal is not doubled")
a = site.get("/star/", headers=ORIGIN)
is_(cors(a), [("Access-Control-Allow-Origin", "*"), ("Access-Control-Expose-Headers", "X-A, " + NAMES)], "add_header without `always`, allowed")
a = site.get("/star/", headers=ORIGIN)
is_(cors(a), [("Access-Control-Allow-Origin", "https://app.example"), ("Access-Control-Expose-Headers", NAMES + ", Retry-After, Weir-Refusal"), ("Vary", "Origin")],
    "and refused, where nginx leaves it out")
site.get("/ret/", headers=ORIGIN)
a = site.get("/ret/", headers=ORIGIN)
is_((a.status, cors(a)), (429, [("Access-Control-Allow-Origin", "*"), ("Access-Control-Expose-Headers", NAMES + ", Retry-After, Weir-Refusal")]), "in place of `return`")
site.get("/off/", headers=ORIGIN)
is_(cors(site.get("/off/", headers=ORIGIN)), [], "cors: none")
a = request(site.port, "OPTIONS", "/added/", headers=dict(ORIGIN, **{"Access-Control-Request-Method": "PUT"}))
is_(a.status, 200, "a preflight is not counted by a limit with such a key")
site.check_no_alerts()
done()
