/* SPDX-License-Identifier: BSD-2-Clause */
/* words_limit: the words of a limit and of its match. */
#include "policy/words.h"

#define LATER(section, name, help)                                                                           \
	{                                                                                                    \
		SECTION_##section, name, TYPE_TEXT, 0, "", help, NULL                                        \
	}

const struct word words_limit[] = {
	{SECTION_LIMIT, "rate", TYPE_RATE, 0, "",
	 "How much, per how long. A list sets several at once, each with a unit of its own. A limit of "
	 "several "
	 "numbers has a counter for each, called by the limit's name and the unit or word: `api/s`, "
	 "`api/hour`, `api/concurrent`. 0 refuses everything. `10 distinct body.username/hour` counts "
	 "different "
	 "values of what a key can name: a value that was counted in that time costs nothing more, and a "
	 "request "
	 "without one passes.",
	 "limits:\n"
	 "  api: {match: /api/*, rate: [20/s, 1000/hour]}\n"
	 "  guesses: {match: POST /login, rate: 10 distinct query.user/hour}\n"},
	{SECTION_LIMIT, "match", TYPE_CLAUSES, 0, "every request",
	 "Which requests. See *Which requests* below.",
	 "limits:\n"
	 "  login: {match: POST /login, rate: 5/min}\n"},
	{SECTION_LIMIT, "key", TYPE_KEY, 0, "`ip`",
	 "Who is counted together. A list combines parts, `a | b` falls back to the next where the first is "
	 "missing. See *Who is "
	 "counted* below.",
	 "limits:\n"
	 "  search: {match: GET /search, key: [ip, route], rate: 30/min}\n"
	 "  api: {match: /api/*, key: header.x-api-key | ip, rate: 100/min}\n"
	 "  edge: {rate: 50/s, burst: 100}\n"},
	{SECTION_LIMIT, "missing", TYPE_CHOICE, 0, "",
	 "What happens when a part of the key is not there, or empty, or said several times and not always "
	 "the same: which of them an "
	 "application takes nobody can tell. A key that can be missing must say it, "
	 "or end in `| ip`.",
	 "limits:\n"
	 "  per-tenant: {key: header.x-tenant, missing: deny, rate: 1000/min}\n"
	 "  edge: {rate: 50/s, burst: 100}\n"},
	{SECTION_LIMIT, "new_keys", TYPE_TEXT, 0, "",
	 "For a key that clients can make up: how many keys that are not in the table one address may bring; "
	 "beyond "
	 "that, a request with a new key is refused. A rate, `30/min`; IPv6 counts by prefix, or `30/min per "
	 "ip/24/56` says which. Its counter is called LIMIT/new_keys.",
	 "limits:\n"
	 "  sessions: {key: cookie.sid, missing: ip, rate: 100/min, new_keys: 30/min}\n"
	 "  tenants:\n"
	 "    key: header.x-tenant\n"
	 "    missing: deny\n"
	 "    rate: 1000/min\n"
	 "    new_keys: 30/min per ip/24/56\n"},
	{SECTION_LIMIT, "burst", TYPE_NUMBER, 0, "N of the rate",
	 "Token bucket: how much may come at once, 1 to 1,000,000. `burst: 1` spaces requests evenly. "
	 "(nginx's `burst=N nodelay` is "
	 "N + 1 here.) It goes with a single rate.",
	 "limits:\n"
	 "  per-ip: {rate: 50/s, burst: 100}\n"},
	{SECTION_LIMIT, "algorithm", TYPE_CHOICE, 0, "`token-bucket`; from a day up `fixed-window`",
	 "How the counting is done. See *How it is counted* below.",
	 "limits:\n"
	 "  quota: {rate: 1000/hour, algorithm: fixed-window, align: clock}\n"},
	{SECTION_LIMIT, "concurrent", TYPE_NUMBER, 0, "",
	 "How many requests of a key may be in flight at the same time, 0 to 65,535, alone or beside a "
	 "`rate`. "
	 "A request takes one place, from the moment it is let through until its answer has been sent; 0 "
	 "refuses everything. Such a refusal says `Retry-After: 1`, as a hint.",
	 "limits:\n"
	 "  downloads: {match: /files/*, concurrent: 2}\n"
	 "  render: {match: POST /render, rate: 100/hour, concurrent: 2}\n"},
	{SECTION_LIMIT, "queue", TYPE_NUMBER, 0, "`0`",
	 "Leaky bucket and nginx: how many may wait, besides the one that is let through. A full queue "
	 "refuses. In a "
	 "limit with `concurrent`: how many may wait for a place in flight, 0 to 65,535.",
	 "limits:\n"
	 "  reports: {match: /reports/*, key: site, algorithm: leaky-bucket, rate: 2/s, queue: 5}\n"
	 "  render: {match: POST /render, concurrent: 2, queue: 20}\n"},
	{SECTION_LIMIT, "at_once", TYPE_NUMBER, 0, "`0`",
	 "Leaky bucket and nginx: the first so many of the queue need not wait.",
	 "limits:\n"
	 "  reports: {match: /reports/*, key: site, algorithm: leaky-bucket, rate: 2/s, queue: 5, at_once: "
	 "2}\n"},
	{SECTION_LIMIT, "wait", TYPE_DURATION, 0, "as long as the queue takes; `10s` with `concurrent`",
	 "Leaky bucket: who would wait longer is refused at once. In a limit with `concurrent`: who has "
	 "waited "
	 "so long for a place is refused; at most an hour.",
	 "limits:\n"
	 "  reports: {match: /reports/*, key: site, algorithm: leaky-bucket, rate: 2/s, queue: 50, wait: "
	 "3s}\n"
	 "  render: {match: POST /render, concurrent: 2, queue: 20, wait: 30s}\n"},
	{SECTION_LIMIT, "bandwidth", TYPE_BYTES, 0, "",
	 "How fast each response may be sent; `after` lets its beginning go without a brake. It refuses "
	 "nothing and counts nothing. See *How much* below for the units.",
	 "limits:\n"
	 "  downloads: {match: /files/*, bandwidth: 1MiB/s after 500KiB}\n"},
	{SECTION_LIMIT, "total", TYPE_BYTES, 0, "",
	 "How fast all responses of a key together may be sent, at most 1,000,000 KiB/s. One second's worth "
	 "(at least 64 KiB) may go at once. It refuses nothing: responses wait for each other.",
	 "limits:\n"
	 "  downloads: {match: /files/*, concurrent: 4, bandwidth: 1MiB/s, total: 2MiB/s}\n"},
	{SECTION_LIMIT, "align", TYPE_CHOICE, 0, "`first-request`; from a day up `calendar UTC`",
	 "Fixed window: where windows begin. A rate of one day, week, month or year takes the calendar's; of "
	 "several (`10/2day`) the clock's. `calendar` names whose clocks it follows, as the system's time "
	 "zones "
	 "are called, through changes to and from summer time.",
	 "limits:\n"
	 "  daily: {rate: 1000/day, align: calendar UTC}\n"
	 "  hourly: {rate: 100/hour, algorithm: fixed-window, align: calendar UTC}\n"},
	{SECTION_LIMIT, "cost", TYPE_BRIEF, SECTION_COST, "`1`",
	 "How many units a request takes of the rate, 1 to 1,000,000: a number, or what the request itself "
	 "says: "
	 "`header.NAME`, believed from `clients.address.trusted` only; `body.FIELD`, a number in its form or "
	 "JSON "
	 "body; `body.FIELD.count`, how many elements an array in it has, and `body.count` if the body is "
	 "that "
	 "array. Who does not say it takes 1; whose body cannot be read to where it says it, `at_most`. A "
	 "cost that is larger than the limit ever holds can never fit: "
	 "such "
	 "requests are refused without `Retry-After`, and `weir check` warns. What an answer says is settled "
	 "afterwards, in a section.",
	 "limits:\n"
	 "  search: {match: GET /api/search, rate: 100/min, cost: 5}\n"
	 "  batch:  {match: POST /api/batch, rate: 1000/min, cost: body.items.count}\n"},
	{SECTION_LIMIT, "overdraw", TYPE_FLAG, 0, "`no`",
	 "With a `cost` that is settled: all that the answer said is charged, into debt if it is more than "
	 "there "
	 "was, and the next request waits until that is paid off. Otherwise no more is charged than was "
	 "reserved.",
	 "limits:\n"
	 "  tokens:\n"
	 "    match: POST /v1/chat\n"
	 "    rate: 90000/min\n"
	 "    cost: {reserve: body.max_tokens, at_most: 8192, settle: response.body.usage.total_tokens}\n"
	 "    overdraw: yes\n"},
	{SECTION_LIMIT, "count", TYPE_CHOICE, 0, "`all`",
	 "Which requests are charged to the rate. Of `failures` and `successes` each request holds its cost "
	 "until it is answered, so that no race gets more through, and the answer decides whether it is "
	 "kept. "
	 "A request that never got an answer (the client hung up) is charged.",
	 "limits:\n"
	 "  login: {match: POST /login, rate: 5/min, count: failures}\n"
	 "  sign-up: {match: POST /users, rate: 3/day, count: successes}\n"},
	{SECTION_LIMIT, "failure", TYPE_STATUSES, 0, "`[400-499]`",
	 "With `count: failures` or `successes`: which statuses of an answer are a failure, 100 to 599; "
	 "`4xx` is "
	 "400-499. A site that answers a wrong password with 200 says `[200]`, and redirects to the account.",
	 "limits:\n"
	 "  login: {match: POST /login, rate: 5/min, count: failures, failure: [401, 403, 5xx]}\n"},
	{SECTION_LIMIT, "count_denied", TYPE_FLAG, 0, "`no`",
	 "Refused requests are charged too: who hammers on keeps being refused until they pause.",
	 "limits:\n"
	 "  login: {match: POST /login, rate: 5/min, count_denied: yes}\n"},
	{SECTION_LIMIT, "on_full", TYPE_CHOICE, 0, "`evict`",
	 "What a key that is not in the table yet meets when the table has no room for it but by forgetting "
	 "another counter.",
	 "limits:\n"
	 "  login: {match: POST /login, rate: 5/min, on_full: deny}\n"},
	{SECTION_LIMIT, "mode", TYPE_CHOICE, 0, "`enforce`",
	 "Whether the limit acts. A shadow limit never affects the others or the answer.",
	 "limits:\n"
	 "  stricter: {rate: 20/s, burst: 40, mode: shadow}\n"
	 "  some: {match: /api/*, rate: 30/s, burst: 60, mode: enforce 25%}\n"},
	{SECTION_LIMIT, "then", TYPE_SECTION, SECTION_THEN, "",
	 "Who is refused again and again is banned from the limit's requests for a while, whatever its "
	 "counter says. A "
	 "ban is kept as counters are, through a reload and a reboot.",
	 "limits:\n"
	 "  login: {match: POST /login, rate: 5/min, then: {ban: 15min, after: 20 refusals in 5min}}\n"},
	{SECTION_LIMIT, "instead", TYPE_CHOICE, 0, "a refusal",
	 "What a client over the limit gets in place of a refusal.",
	 "limits:\n"
	 "  login: {match: POST /login, rate: 5/min, instead: challenge /verify}\n"
	 "  feed: {match: GET /feed, rate: 1/s, instead: cached}\n"
	 "  files: {match: /files/*, rate: 100/hour, concurrent: 4, instead: slow 50KB/s}\n"},
	{SECTION_LIMIT, "over", TYPE_SECTION, SECTION_OVER, "",
	 "For quotas, which count in windows: how much more than the number passes, and when an event tells "
	 "that it "
	 "is nearly, or quite, used up. Clients are told the number itself.",
	 "limits:\n"
	 "  monthly: {rate: 100000/month, over: {allow: 20%, notify: [80%, 100%]}}\n"},
	{SECTION_LIMIT, "usage", TYPE_FLAG, 0, "`yes` for months by `api-key`",
	 "Whether `weir usage` can say what each API key has been charged, month by month, for the bill: "
	 "those of the "
	 "calendar, or from its billing day on. For a limit with `key: api-key`; counted in the counter "
	 "LIMIT/usage.",
	 "clients: {api_keys: {}}\n"
	 "limits:\n"
	 "  tokens: {match: POST /v1/chat, key: api-key, missing: deny, rate: 90000/min, usage: yes}\n"},
	{SECTION_LIMIT, "candidate", TYPE_BRIEF, SECTION_CANDIDATE, "",
	 "Other numbers beside those in force, for the same requests and keys, with counters of their own, "
	 "called "
	 "LIMIT/candidate: in a shadow, so that it can be seen whom they would refuse before they do. `weir "
	 "shadow "
	 "report` tells, and `weir promote LIMIT` writes them into the file. Plans do not change them.",
	 "limits:\n"
	 "  search: {match: GET /api/search, rate: 100/min, candidate: {rate: 60/min, mode: shadow}}\n"},
	{SECTION_LIMIT, "paths", TYPE_CHOICE, 0, "`folded`", "How this limit's patterns look at a path.",
	 "limits:\n"
	 "  objects: {match: GET /objects/*, paths: exact, rate: 50/s, burst: 100}\n"},
	{SECTION_LIMIT, "exempt", TYPE_LIST, SECTION_EXCEPTION, "",
	 "Requests that this limit does not apply to, as `clients.exempt`.",
	 "limits:\n"
	 "  per-ip:\n"
	 "    rate: 50/s\n"
	 "    burst: 100\n"
	 "    exempt: [{ip: 10.0.0.0/8, reason: monitoring}]\n"},
	{SECTION_LIMIT, "respond", TYPE_SECTION, SECTION_RESPOND, "the file's `respond`",
	 "What a client refused by this limit gets.",
	 "limits:\n"
	 "  login:\n"
	 "    match: POST /login\n"
	 "    rate: 5/min\n"
	 "    respond: {status: 403, body: text}\n"},
	{SECTION_LIMIT, "was", TYPE_TEXT, 0, "",
	 "The limit's name before a rename, so that its counters stay.",
	 "limits:\n"
	 "  sign-in: {match: POST /login, rate: 5/min, was: login}\n"},
	LATER(LIMIT, "store", "where the limit's counters are"),
	LATER(LIMIT, "at", "which doors keep the limit"),
	{SECTION_LIMIT, "for", TYPE_TEXTS, 0, "everybody",
	 "Which clients it is for, by who they are: `anonymous` (neither a known API key nor a verified "
	 "token), "
	 "`identified`, `plan NAME`, or a list of them.",
	 "clients: {api_keys: {}}\n"
	 "limits:\n"
	 "  guests: {for: anonymous, rate: 20/s, burst: 40}\n"
	 "  customers: {for: identified, key: api-key | ip, rate: 50/s, burst: 100}\n"},

	{SECTION_MATCH, "path", TYPE_TEXTS, 0, "every path", "A path pattern, or a list of them.",
	 "limits:\n"
	 "  api: {match: {host: api.example.com, path: [/v1/*, /v2/*]}, rate: 50/s, burst: 100}\n"},
	{SECTION_MATCH, "method", TYPE_TEXTS, 0, "every method",
	 "A method, or a list of them. GET is HEAD too.",
	 "limits:\n"
	 "  writes: {match: {path: /api/*, method: [POST, PUT, DELETE]}, rate: 10/s}\n"},
	{SECTION_MATCH, "host", TYPE_TEXTS, 0, "every host",
	 "A host, or a list; `*.example.com` is every host below it.",
	 "limits:\n"
	 "  shop: {match: {host: [shop.example.com, '*.shop.example.com']}, rate: 50/s, burst: 100}\n"},
	{SECTION_MATCH, "ip", TYPE_ADDRESSES, 0, "every address",
	 "The client's address: addresses, networks, names of `networks`.",
	 "limits:\n"
	 "  abroad: {match: {not: {ip: 10.0.0.0/8}}, rate: 50/s, burst: 100}\n"},
	{SECTION_MATCH, "header.NAME", TYPE_TEXTS, 0, "",
	 "A header's value, or a list of them; a `*` at one end stands for anything, `\"*\"` alone for any "
	 "value that is not empty.",
	 "limits:\n"
	 "  bots: {match: {header.user-agent: [curl/*, python-requests/*]}, rate: 10/min}\n"
	 "  keyless: {match: {not: {header.x-api-key: \"*\"}}, rate: 1/min}\n"},
	{SECTION_MATCH, "not", TYPE_CLAUSES, 0, "", "None of these may hold.",
	 "limits:\n"
	 "  api: {match: {path: /api/*, not: {path: /api/status}}, rate: 50/s, burst: 100}\n"},
	{SECTION_MATCH, "for", TYPE_TEXTS, 0, "everybody",
	 "Who sends it: `anonymous`, `identified`, `plan NAME`, or a list of them.",
	 "clients: {api_keys: {}}\n"
	 "limits:\n"
	 "  search: {match: [{path: /search, for: anonymous}, /export], rate: 5/min}\n"},
	{0},
};
