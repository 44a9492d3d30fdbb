/* SPDX-License-Identifier: BSD-2-Clause */
/* words_clients: the words of `clients` and of the lists of exempt and denied. */
#include "policy/words.h"

const struct word words_clients[] = {
	{SECTION_CLIENTS, "address", TYPE_SECTION, SECTION_ADDRESS, "the peer's",
	 "Where the client's address comes from when a proxy stands in front. Without it, everyone behind "
	 "the proxy is one client.",
	 "clients:\n"
	 "  address: {from: x-forwarded-for, trusted: [10.0.0.0/8]}\n"},
	{SECTION_CLIENTS, "ipv6_prefix", TYPE_NUMBER, 0, "`64`",
	 "How many leading bits of an IPv6 address are one client, 32 to 128: a customer usually holds a "
	 "whole /64.",
	 "clients: {ipv6_prefix: 56}\n"},
	{SECTION_CLIENTS, "networks", TYPE_NETWORKS, SECTION_NETWORK, "",
	 "Names for lists of networks, to be used wherever an `ip` is asked for.",
	 "clients:\n"
	 "  networks:\n"
	 "    office: [198.51.100.0/24, '2001:db8:7::/48']\n"
	 "  exempt: [{ip: office, reason: ours}]\n"},
	{SECTION_CLIENTS, "exempt", TYPE_LIST, SECTION_EXCEPTION, "",
	 "Requests that no limit applies to. Each entry says whom: an `ip`, a `match`, a `key`, or several "
	 "of them.",
	 "clients:\n"
	 "  exempt:\n"
	 "    - {ip: 198.51.100.0/24, reason: our office}\n"
	 "    - {match: GET /healthz}\n"},
	{SECTION_CLIENTS, "deny", TYPE_LIST, SECTION_EXCEPTION, "",
	 "Requests that are refused with 403, whatever the limits say.",
	 "clients:\n"
	 "  deny:\n"
	 "    - {ip: 203.0.113.7, reason: scraper, until: 2099-01-01}\n"},
	{SECTION_CLIENTS, "api_keys", TYPE_SECTION, SECTION_API_KEYS, "no API keys",
	 "API keys that you hand out (`weir keys add`): where clients send them, and what a key means that "
	 "nobody was given. A key is what `key: api-key` counts by.",
	 "clients:\n"
	 "  api_keys: {from: [header.x-api-key, bearer], unknown: ip}\n"
	 "limits:\n"
	 "  api: {match: /api/*, key: api-key | ip, rate: 600/min}\n"},
	{SECTION_CLIENTS, "jwt", TYPE_SECTION, SECTION_JWT, "no tokens",
	 "Tokens (JSON Web Tokens, RFC 7519) of your login: how they are verified. Nothing in a token is "
	 "believed before.",
	 "clients:\n"
	 "  jwt: {jwks_file: keys.json, algorithms: [RS256], issuer: https://id.example}\n"
	 "limits:\n"
	 "  api: {match: /api/*, key: jwt.sub | ip, rate: 600/min}\n"},
	{SECTION_CLIENTS, "session", TYPE_WHERE, 0, "no sessions",
	 "Which cookie, or header, is the session that `key: session` counts by. It is shown nowhere, only a "
	 "digest of it. A client can invent sessions: `weir check` asks for a limit by `ip` beside it.",
	 "clients: {session: cookie.sid}\n"
	 "limits:\n"
	 "  edge: {rate: 50/s, burst: 100}\n"
	 "  comments: {match: POST /comments, key: session, missing: ip, rate: 5/min}\n"},
	{SECTION_CLIENTS, "user", TYPE_WHERE, 0, "no header",
	 "In which header your proxies name the user that they have let in (an identity-aware proxy, a login "
	 "in "
	 "front). It is believed from `clients.address.trusted` only. `key: user` counts by it where neither "
	 "an "
	 "API key nor a token says who it is, and such a client is identified: the proxy vouches for it.",
	 "clients:\n"
	 "  address: {from: x-forwarded-for, trusted: [10.0.0.0/8]}\n"
	 "  user: header.x-forwarded-user\n"
	 "limits:\n"
	 "  exports: {match: POST /exports, key: user | ip, rate: 10/hour}\n"},
	{SECTION_CLIENTS, "plan", TYPE_SECTION, SECTION_PLAN, "the API key's plan",
	 "Where a client's plan comes from, and which plan holds for who has none. See `plans`.",
	 "clients:\n"
	 "  api_keys: {}\n"
	 "  plan: {from: [api-key], unknown: free, none: guest}\n"
	 "plans:\n"
	 "  guest: {hourly: 100/hour}\n"
	 "  free: {}\n"
	 "limits:\n"
	 "  hourly: {key: api-key | ip, rate: 1000/hour}\n"},

	{SECTION_ADDRESS, "from", TYPE_CHOICE, 0, "`peer`",
	 "The one source of the address. Everything but `peer` is believed only when a trusted proxy sends "
	 "it.",
	 "clients:\n"
	 "  address: {from: header.cf-connecting-ip, trusted: [173.245.48.0/20]}\n"},
	{SECTION_ADDRESS, "trusted", TYPE_ADDRESSES, 0, "nobody",
	 "The proxies whose word counts. Nobody else can choose their own address, so a network of everyone "
	 "is refused here.",
	 "clients:\n"
	 "  networks: {balancers: [10.0.0.0/24, 10.0.1.0/24]}\n"
	 "  address: {from: x-forwarded-for, trusted: [balancers, 127.0.0.1]}\n"},

	{SECTION_NETWORK, "file", TYPE_TEXT, 0, "",
	 "A file with one network a line, relative to the policy; `#` begins a comment. At most 4 MiB.",
	 "clients:\n"
	 "  networks:\n"
	 "    partners: {file: partners.txt}\n"
	 "  exempt: [{ip: partners}]\n"},

	{SECTION_EXCEPTION, "ip", TYPE_ADDRESSES, 0, "any address",
	 "Whose requests: addresses, networks, names of `networks`.",
	 "clients:\n"
	 "  exempt: [{ip: [127.0.0.1, '::1']}]\n"},
	{SECTION_EXCEPTION, "match", TYPE_CLAUSES, 0, "every request",
	 "Which requests, as a limit's `match` says it.",
	 "clients:\n"
	 "  exempt: [{ip: 10.0.0.0/8, match: [GET /healthz, GET /metrics]}]\n"},
	{SECTION_EXCEPTION, "until", TYPE_DATE, 0, "for ever",
	 "The entry ends here: `2027-01-01` (its beginning, UTC) or `2027-01-01T18:30:00Z`.",
	 "clients:\n"
	 "  exempt: [{ip: 192.0.2.10, until: 2099-12-31, reason: load test}]\n"},
	{SECTION_EXCEPTION, "reason", TYPE_TEXT, 0, "", "Why, for whoever reads `weir explain` or the log.",
	 "clients:\n"
	 "  deny: [{ip: 203.0.113.0/24, reason: ticket 4711}]\n"},
	{SECTION_EXCEPTION, "close", TYPE_FLAG, 0, "`no`",
	 "In `deny` only: close the connection without an answer.",
	 "clients:\n"
	 "  deny: [{ip: 203.0.113.7, close: yes}]\n"},
	{SECTION_EXCEPTION, "key", TYPE_TEXTS, 0, "whoever it is",
	 "Whose requests: the name of an API key (`weir keys list`), or a list of names. Only a key that is "
	 "known counts.",
	 "clients:\n"
	 "  api_keys: {}\n"
	 "  exempt: [{key: acme, until: 2099-01-01, reason: migration}]\n"},
	{0},
};
