/* SPDX-License-Identifier: BSD-2-Clause */
/* words_file: the words of the file itself and of `gateway`. */
#include "policy/words.h"

#define LATER(section, name, help)                                                                           \
	{                                                                                                    \
		SECTION_##section, name, TYPE_TEXT, 0, "", help, NULL                                        \
	}

const struct word words_file[] = {
	{SECTION_FILE, "limits", TYPE_LIMITS, SECTION_LIMIT, "",
	 "The limits, by name. A name is 1 to 64 letters, digits, `-`, `_` and `.`. Several limits may match "
	 "one request: all are "
	 "checked, then all are charged, or none. A name, with its key, is a limit's identity: its counters "
	 "live through every edit "
	 "of its numbers. A bare rate is short for `{rate: …}`.",
	 "limits:\n"
	 "  per-ip: {rate: 50/s, burst: 100}\n"
	 "  login:\n"
	 "    match: POST /login\n"
	 "    rate: 5/min\n"},
	{SECTION_FILE, "clients", TYPE_SECTION, SECTION_CLIENTS, "",
	 "Who the clients are: where their address comes from, and who is exempt or denied.",
	 "clients:\n"
	 "  exempt: [{match: GET /healthz, reason: the load balancer asks every second}]\n"},
	{SECTION_FILE, "respond", TYPE_SECTION, SECTION_RESPOND, "",
	 "What a refused client gets, and which headers everyone gets. The same words inside a limit hold "
	 "for that limit; what it does "
	 "not say holds from here.",
	 "respond: {status: 429, body: problem}\n"},
	{SECTION_FILE, "gateway", TYPE_SECTION, SECTION_GATEWAY, "",
	 "Where `weir run` listens and what it stands in front of. Other doors do not need it.",
	 "gateway: {listen: 8080, to: 'http://127.0.0.1:3000'}\n"},
	{SECTION_FILE, "include", TYPE_TEXTS, 0, "",
	 "Further files, as names or patterns, relative to this one. Their sections are joined with this "
	 "file's: limits and networks "
	 "are put together, lists of `exempt` and `deny` are appended, in the order of the files' names. "
	 "What is said twice is an "
	 "error that names both places. A pattern that finds nothing is fine; a name that does not exist is "
	 "an error. At most 1,000 "
	 "files of 4 MiB.",
	 "include: conf.d/*.yaml\n"},
	{SECTION_FILE, "plans", TYPE_PLANS, SECTION_NUMBERS, "",
	 "Numbers that differ by who the client is. A plan has a name and says, for the limits whose numbers "
	 "are others for it, which: a rate or a list of rates, or a section of the limit's own words for "
	 "numbers; what that does not say is as in the limit. `unlimited` in place of the numbers: this "
	 "limit does not "
	 "hold for the plan. `never`: what the limit matches is refused to it. `like` takes over another "
	 "plan, limit by limit, and what follows replaces it. A plan may be `unlimited` as a whole: that "
	 "lifts rates, "
	 "but not limits that count failures, `concurrent`, `bandwidth` and `total`, nor `deny`. Who has "
	 "which plan `clients.plan` says. At most 60 plans.",
	 "clients:\n"
	 "  api_keys: {}\n"
	 "  plan: {none: guest}\n"
	 "plans:\n"
	 "  guest: {hourly: 100/hour, export: never}\n"
	 "  free: {hourly: 1000/hour, search: {rate: 10/min, burst: 3}}\n"
	 "  pro: {like: free, hourly: 10000/hour, search: unlimited}\n"
	 "  staff: unlimited\n"
	 "limits:\n"
	 "  hourly: {match: /api/*, key: api-key | ip, rate: 1000/hour}\n"
	 "  search: {match: GET /api/search, key: api-key | ip, rate: 20/min}\n"
	 "  export: {match: POST /api/export, key: api-key | ip, rate: 10/day}\n"},
	{SECTION_FILE, "privacy", TYPE_CHOICE, 0, "names are kept",
	 "What logs, lists of the busiest and the command line may say about clients.", "privacy: hash\n"},
	LATER(FILE, "store", "counters shared by many machines"),
	LATER(FILE, "alerts", "webhooks when a client keeps hitting its limit"),
	LATER(FILE, "tests", "requests and expected answers, run by `weir check`"),
	LATER(FILE, "doors", "settings of the other doors"),

	{SECTION_GATEWAY, "listen", TYPE_LISTEN, 0, "`8080`",
	 "Where to listen: a port, an address and a port, or a list of them. A bare port listens on every "
	 "address.",
	 "gateway:\n"
	 "  listen: [8080, '127.0.0.1:8081']\n"
	 "  to: http://127.0.0.1:3000\n"},
	{SECTION_GATEWAY, "to", TYPE_BACKEND, 0, "",
	 "The backend: `http://host:port`. `:3000`, `3000` and `localhost:3000` mean port 3000 on 127.0.0.1. "
	 "Needed unless `routes` "
	 "name one for every path.",
	 "gateway: {to: ':3000'}\n"},
	{SECTION_GATEWAY, "routes", TYPE_LIST, SECTION_ROUTE, "",
	 "Other backends for some paths. The first route whose pattern matches wins; what no route matches "
	 "goes to `to`.",
	 "gateway:\n"
	 "  to: http://127.0.0.1:3000\n"
	 "  routes:\n"
	 "    - {match: /pay/**, to: 'http://127.0.0.1:4000'}\n"},
	{SECTION_GATEWAY, "cache", TYPE_SIZE, 0, "nothing is stored",
	 "Answers that the backend says may be stored (`Cache-Control`, `Expires`) are, up to this size, and "
	 "answered from there; one that is stale too while the backend fails, or for who is over a limit "
	 "with "
	 "`instead: cached`. Nothing is stored of requests with `Authorization`, a cookie or another of the "
	 "credentials that `clients` names, nor are they answered from there: see "
	 "[run.md](run.md#stored-answers). "
	 "At least 1MiB.",
	 "gateway: {to: ':3000', cache: 100MiB}\n"
	 "limits:\n"
	 "  news: {match: GET /news/*, rate: 60/min, instead: cached}\n"},
	LATER(GATEWAY, "panel", "the web panel"),

	{SECTION_ROUTE, "match", TYPE_TEXT, 0, "",
	 "A path pattern, as in a limit's `match`, without methods.",
	 "gateway:\n"
	 "  routes:\n"
	 "    - {match: /pay/**, to: ':4000'}\n"
	 "    - {match: /**, to: ':3000'}\n"},
	{SECTION_ROUTE, "to", TYPE_BACKEND, 0, "", "The backend of these paths.",
	 "gateway:\n"
	 "  to: ':3000'\n"
	 "  routes: [{match: /static/*, to: 'http://files.internal:8000'}]\n"},
	{0},
};
