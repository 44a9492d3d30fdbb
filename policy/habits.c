/* SPDX-License-Identifier: BSD-2-Clause */
/* habits: what people write who know other limiters, and what it is here. */
#include "policy/habits.h"

static const struct {
	enum word_section section;
	const char *wrong, *right;
} words[] = {
	{SECTION_LIMIT, "path", "match: /the/path"},
	{SECTION_LIMIT, "url", "match: /the/path"},
	{SECTION_LIMIT, "location", "match: /the/path"},
	{SECTION_LIMIT, "method", "match: POST /the/path"},
	{SECTION_LIMIT, "host", "match: {host: the.host}"},
	{SECTION_LIMIT, "by", "key"},
	{SECTION_LIMIT, "per", "key"},
	{SECTION_LIMIT, "limit", "rate: 50/s"},
	{SECTION_LIMIT, "requests", "rate: 50/s"},
	{SECTION_LIMIT, "max", "rate: 50/s"},
	{SECTION_LIMIT, "window", "rate: 100/15min"},
	{SECTION_LIMIT, "period", "rate: 100/15min"},
	{SECTION_LIMIT, "nodelay", "burst (a token-bucket never delays)"},
	{SECTION_LIMIT, "delay", "at_once"},
	{SECTION_LIMIT, "connections", "concurrent: 10"},
	{SECTION_LIMIT, "max_connections", "concurrent: 10"},
	{SECTION_LIMIT, "limit_req", "rate: 50/s"},
	{SECTION_LIMIT, "limit_conn", "concurrent: 10"},
	{SECTION_LIMIT, "limit_rate", "bandwidth: 1MiB/s"},
	{SECTION_LIMIT, "limit_rate_after", "bandwidth: 1MiB/s after 500KiB"},
	{SECTION_LIMIT, "after", "bandwidth: 1MiB/s after 500KiB"},
	{SECTION_LIMIT, "timezone", "align: calendar ZONE"},
	{SECTION_LIMIT, "tz", "align: calendar ZONE"},
	{SECTION_LIMIT, "dry_run", "mode: shadow"},
	{SECTION_LIMIT, "enabled", "mode: enforce or disabled"},
	{SECTION_LIMIT, "status", "respond: {status: 429}"},
	{SECTION_LIMIT, "ban", "then: {ban: 15min}"},
	{SECTION_LIMIT, "block", "then: {ban: 15min}"},
	{SECTION_LIMIT, "captcha", "instead: challenge /verify"},
	{SECTION_LIMIT, "challenge", "instead: challenge /verify"},
	{SECTION_LIMIT, "redirect", "instead: challenge /verify"},
	{SECTION_LIMIT, "throttle", "instead: slow 50KB/s"},
	{SECTION_LIMIT, "weight", "cost"},
	{SECTION_LIMIT, "unique", "rate: 10 distinct body.NAME/hour"},
	{SECTION_LIMIT, "distinct", "rate: 10 distinct body.NAME/hour"},
	{SECTION_LIMIT, "quota", "rate: 100000/month"},
	{SECTION_LIMIT, "overage", "over: {allow: 20%}"},
	{SECTION_LIMIT, "percent", "mode: enforce 25%"},
	{SECTION_LIMIT, "whitelist", "exempt"},
	{SECTION_CLIENTS, "whitelist", "exempt"},
	{SECTION_CLIENTS, "allow", "exempt"},
	{SECTION_CLIENTS, "blacklist", "deny"},
	{SECTION_CLIENTS, "block", "deny"},
	{SECTION_CLIENTS, "trusted_proxies", "address: {from: x-forwarded-for, trusted: [10.0.0.0/8]}"},
	{SECTION_FILE, "rules", "limits"},
	{SECTION_FILE, "rate_limits", "limits"},
	{SECTION_FILE, "tiers", "plans"},
	{SECTION_CLIENTS, "keys", "api_keys"},
	{SECTION_CLIENTS, "tokens", "jwt: {jwks_file: keys.json, algorithms: [RS256]}"},
	{SECTION_CLIENTS, "plans", "plan, and plans at the file's first level"},
	{SECTION_API_KEYS, "header", "from: header.NAME"},
	{SECTION_JWT, "alg", "algorithms"},
	{SECTION_JWT, "iss", "issuer"},
	{SECTION_JWT, "aud", "audience"},
	{SECTION_JWT, "secret", "secret_file: the name of a file that holds it"},
	{SECTION_JWT, "jwks_url", "jwks_file: the name of a file (nothing is fetched)"},
	{SECTION_JWT, "jwks_uri", "jwks_file: the name of a file (nothing is fetched)"},
	{SECTION_PLAN, "default", "unknown (known clients without a plan) or none (unknown clients)"},
	{SECTION_LIMIT, "plan", "for: plan NAME, or plans at the file's first level"},
	{SECTION_LIMIT, "plans", "plans: {NAME: {THIS-LIMIT: 100/min}} at the file's first level"},
	{SECTION_GATEWAY, "port", "listen"},
	{SECTION_GATEWAY, "backend", "to"},
	{SECTION_GATEWAY, "upstream", "to"},
	{SECTION_EXCEPTION, "address", "ip"},
	{SECTION_EXCEPTION, "path", "match: /the/path"},
	{SECTION_EXCEPTION, "expires", "until"},
};

static const struct {
	const char *of, *wrong, *answer;
} values[] = {
	{"on_full", "reject", "did you mean 'deny'?"},
	{"on_full", "refuse", "did you mean 'deny'?"},
	{"on_full", "block", "did you mean 'deny'?"},
	{"on_full", "drop", "did you mean 'deny'?"},
	{"count", "failed", "did you mean 'failures'?"},
	{"count", "fail", "did you mean 'failures'?"},
	{"count", "errors", "did you mean 'failures'?"},
	{"align", "utc", "write calendar UTC"},
	{"algorithms", "RS384", "it is one of: RS256, ES256, EdDSA, HS256"},
	{"algorithms", "RS512", "it is one of: RS256, ES256, EdDSA, HS256"},
	{"algorithms", "PS256", "it is one of: RS256, ES256, EdDSA, HS256"},
	{"algorithms", "ES384", "it is one of: RS256, ES256, EdDSA, HS256"},
	{"algorithms", "HS512", "it is one of: RS256, ES256, EdDSA, HS256"},
	{"headers", "draft-8", "ratelimit is draft 11"},
	{"headers", "draft-9", "ratelimit is draft 11"},
	{"headers", "draft-10", "ratelimit is draft 11"},
	{"headers", "draft-11", "ratelimit is draft 11"},
};

static const struct { /* of a key */
	const char *wrong, *answer;
} parts[] = {
	{"form.", "did you mean body.NAME? it is a field of forms and of JSON"},
	{"json.", "did you mean body.NAME? it is a field of forms and of JSON"},
	{"post.", "did you mean body.NAME? it is a field of forms and of JSON"},
	{"param.", "did you mean query.NAME?"},
	{"args.", "did you mean query.NAME?"},
	{"claim.", "did you mean jwt.NAME?"},
	{"token.", "did you mean jwt.NAME?"},
};

const char *habits_word(enum word_section section, struct text name)
{
	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
		if (words[i].section == section && text_equal_folded(name, text_of(words[i].wrong)))
			return words[i].right;
	return NULL;
}

const char *habits_value(const char *of, struct text text)
{
	for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
		if (strcmp(values[i].of, of) == 0 && text_equal_folded(text, text_of(values[i].wrong)))
			return values[i].answer;
	/* what has a name behind a dot */
	for (size_t i = 0; strcmp(of, "key") == 0 && i < sizeof parts / sizeof parts[0]; i++) {
		struct text wrong = text_of(parts[i].wrong);

		if (text.size > wrong.size && text_equal_folded((struct text){text.data, wrong.size}, wrong))
			return parts[i].answer;
	}
	return NULL;
}
