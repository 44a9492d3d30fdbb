/* SPDX-License-Identifier: BSD-2-Clause */
/* words_people: the words of clients.api_keys, clients.jwt and clients.plan, and a plan's numbers. */
#include "policy/words.h"

/* A plan of numbers, beside the limit that they replace. */
#define PLAN(limit, numbers)                                                                                 \
	"clients: {api_keys: {}}\n"                                                                          \
	"plans:\n"                                                                                           \
	"  pro: {jobs: {" numbers "}}\n"                                                                     \
	"limits:\n"                                                                                          \
	"  jobs: {match: /jobs/*, key: api-key | ip, " limit "}\n"

const struct word words_people[] = {
	{SECTION_API_KEYS, "from", TYPE_WHERES, 0, "`[header.x-api-key, bearer]`",
	 "Where the key is sent: the first that is there counts.",
	 "clients:\n"
	 "  api_keys: {from: [header.x-api-key, query.key]}\n"},
	{SECTION_API_KEYS, "unknown", TYPE_CHOICE, 0, "`ip`",
	 "What a key means that is unknown, has expired or was revoked.",
	 "clients:\n"
	 "  api_keys: {unknown: deny}\n"},
	{SECTION_API_KEYS, "database", TYPE_TEXT, 0, "`keys.db`",
	 "The database of `weir keys`, relative to the policy. Doors read a copy that lies beside it, with "
	 "`.ring` behind its name.",
	 "clients:\n"
	 "  api_keys: {database: /var/lib/weir/keys.db}\n"},

	{SECTION_JWT, "algorithms", TYPE_CHOICES, 0, "",
	 "The algorithms that are believed. It must be said: a token does not choose how it is verified. A "
	 "key is only used for the algorithm of its kind.",
	 "clients:\n"
	 "  jwt: {jwks_file: keys.json, algorithms: [RS256, ES256]}\n"},
	{SECTION_JWT, "jwks_file", TYPE_TEXT, 0, "",
	 "The keys, as a JSON Web Key Set (RFC 7517), relative to the policy. A change is noticed within a "
	 "second; a file that cannot be read leaves the keys as they were.",
	 "clients:\n"
	 "  jwt: {jwks_file: keys.json, algorithms: EdDSA}\n"},
	{SECTION_JWT, "secret_file", TYPE_TEXT, 0, "",
	 "The secret of HS256: the file's bytes, without a line end behind them. Nobody else should be able "
	 "to "
	 "read it.",
	 "clients:\n"
	 "  jwt: {secret_file: secret, algorithms: HS256}\n"},
	{SECTION_JWT, "issuer", TYPE_TEXT, 0, "any", "What the claim `iss` must be, to the letter.",
	 "clients:\n"
	 "  jwt: {jwks_file: keys.json, algorithms: ES256, issuer: 'https://id.example'}\n"},
	{SECTION_JWT, "audience", TYPE_TEXTS, 0, "any",
	 "One of these must be in the claim `aud`. At most 16.",
	 "clients:\n"
	 "  jwt: {jwks_file: keys.json, algorithms: ES256, audience: [api, mobile]}\n"},
	{SECTION_JWT, "leeway", TYPE_DURATION, 0, "`60s`",
	 "By how much clocks may differ when `exp` and `nbf` are judged; at most an hour.",
	 "clients:\n"
	 "  jwt: {jwks_file: keys.json, algorithms: ES256, leeway: 10s}\n"},
	{SECTION_JWT, "from", TYPE_WHERES, 0, "`bearer`",
	 "Where the token is sent: the first that is there counts.",
	 "clients:\n"
	 "  jwt: {jwks_file: keys.json, algorithms: ES256, from: [bearer, cookie.token]}\n"},
	{SECTION_JWT, "invalid", TYPE_CHOICE, 0, "`ip`", "What a token means that is not believed.",
	 "clients:\n"
	 "  jwt: {jwks_file: keys.json, algorithms: ES256, invalid: deny}\n"},

	{SECTION_PLAN, "from", TYPE_WHERES, 0, "`api-key`",
	 "Where the plan is said: the first that names one of `plans` counts.",
	 "clients:\n"
	 "  jwt: {jwks_file: keys.json, algorithms: ES256}\n"
	 "  plan: {from: jwt.tier}\n"
	 "plans: {pro: {hourly: 10000/hour}}\n"
	 "limits: {hourly: {key: jwt.sub | ip, rate: 1000/hour}}\n"},
	{SECTION_PLAN, "unknown", TYPE_TEXT, 0, "none: the limits' own numbers",
	 "The plan of who is known, by key, token or trusted proxy, but has no plan that there is.",
	 "clients:\n"
	 "  api_keys: {}\n"
	 "  plan: {unknown: free}\n"
	 "plans: {free: {hourly: 500/hour}}\n"
	 "limits: {hourly: {key: api-key | ip, rate: 1000/hour}}\n"},
	{SECTION_PLAN, "none", TYPE_TEXT, 0, "none: the limits' own numbers", "The plan of who is not known.",
	 "clients:\n"
	 "  api_keys: {}\n"
	 "  plan: {none: guest}\n"
	 "plans: {guest: {hourly: 100/hour}}\n"
	 "limits: {hourly: {key: api-key | ip, rate: 1000/hour}}\n"},

	{SECTION_NUMBERS, "rate", TYPE_RATE, 0, "the limit's",
	 "How much, per how long, as in a limit. All rates of the limit are replaced by those here.",
	 PLAN("rate: 20/min", "rate: [100/min, 1000/day]")},
	{SECTION_NUMBERS, "burst", TYPE_NUMBER, 0, "the limit's", "As in a limit.",
	 PLAN("rate: 20/min", "rate: 100/min, burst: 10")},
	{SECTION_NUMBERS, "algorithm", TYPE_CHOICE, 0, "the limit's", "As in a limit.",
	 PLAN("rate: 20/min", "rate: 100/min, algorithm: sliding-window")},
	{SECTION_NUMBERS, "align", TYPE_CHOICE, 0, "the limit's", "As in a limit.",
	 PLAN("rate: 20/day", "rate: 100/day, align: clock")},
	{SECTION_NUMBERS, "queue", TYPE_NUMBER, 0, "the limit's", "As in a limit.",
	 PLAN("concurrent: 2", "concurrent: 4, queue: 20")},
	{SECTION_NUMBERS, "at_once", TYPE_NUMBER, 0, "the limit's", "As in a limit.",
	 PLAN("rate: 2/s, algorithm: leaky-bucket, queue: 5", "queue: 10, at_once: 5")},
	{SECTION_NUMBERS, "wait", TYPE_DURATION, 0, "the limit's", "As in a limit.",
	 PLAN("concurrent: 2, queue: 20", "wait: 30s")},
	{SECTION_NUMBERS, "concurrent", TYPE_NUMBER, 0, "the limit's", "As in a limit.",
	 PLAN("concurrent: 2, bandwidth: 1MiB/s", "concurrent: 8")},
	{SECTION_NUMBERS, "bandwidth", TYPE_BYTES, 0, "the limit's", "As in a limit.",
	 PLAN("concurrent: 2, bandwidth: 1MiB/s", "bandwidth: 10MiB/s")},
	{SECTION_NUMBERS, "total", TYPE_BYTES, 0, "the limit's", "As in a limit.",
	 PLAN("total: 1MiB/s", "total: 10MiB/s")},
	{0},
};
