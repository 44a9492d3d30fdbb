/* SPDX-License-Identifier: BSD-2-Clause */
/* words_clients: the words of `clients` and of the lists of exempt and denied. */
#include "policy/words.h"

#define LATER(section, name, help)                                                                           \
	{                                                                                                    \
		SECTION_##section, name, TYPE_TEXT, 0, "", help, NULL                                        \
	}

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
	 "Requests that no limit applies to. Each entry says whom: an `ip`, a `match`, or both.",
	 "clients:\n"
	 "  exempt:\n"
	 "    - {ip: 198.51.100.0/24, reason: our office}\n"
	 "    - {match: GET /healthz}\n"},
	{SECTION_CLIENTS, "deny", TYPE_LIST, SECTION_EXCEPTION, "",
	 "Requests that are refused with 403, whatever the limits say.",
	 "clients:\n"
	 "  deny:\n"
	 "    - {ip: 203.0.113.7, reason: scraper, until: 2099-01-01}\n"},
	LATER(CLIENTS, "api_keys", "where API keys are sent, and what an unknown one means"),
	LATER(CLIENTS, "jwt", "how tokens are verified"),
	LATER(CLIENTS, "session", "which cookie is the session"),
	LATER(CLIENTS, "plan", "where a client's plan comes from"),

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
	LATER(EXCEPTION, "key", "a named API key"),
	{0},
};
