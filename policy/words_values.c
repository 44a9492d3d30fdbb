/* SPDX-License-Identifier: BSD-2-Clause */
/* words_values: the values of words that have a fixed set of them. */
#include "policy/words.h"
#include "table/table.h"

const struct word_value word_values[] = {
	{"from", "peer", IMAGE_FROM_PEER, true, "the address that holds the connection"},
	{"from", "x-forwarded-for", IMAGE_FROM_X_FORWARDED_FOR, true,
	 "the X-Forwarded-For header, read from the right past every trusted proxy"},
	{"from", "forwarded", IMAGE_FROM_FORWARDED, true,
	 "the Forwarded header (RFC 7239), read the same way"},
	{"from", "proxy-protocol", IMAGE_FROM_PROXY_PROTOCOL, true,
	 "what the PROXY protocol names, where the door speaks it"},
	{"from", "header.NAME", IMAGE_FROM_HEADER, true,
	 "one address in a header that the trusted proxy always sets, such as `header.cf-connecting-ip`"},

	{"api_keys.from", "header.NAME", IMAGE_SAID_HEADER, true, "a request header"},
	{"api_keys.from", "bearer", IMAGE_SAID_BEARER, true,
	 "`Authorization: Bearer KEY`, with the scheme in any case"},
	{"api_keys.from", "query.NAME", IMAGE_SAID_QUERY, true,
	 "a parameter of the query string, which proxies and logs see"},
	{"api_keys.from", "cookie.NAME", IMAGE_SAID_COOKIE, true, "a cookie"},
	{"unknown", "ip", IMAGE_UNKNOWN_IP, true,
	 "as if there were none: whoever invents keys is the address that they come from"},
	{"unknown", "deny", IMAGE_UNKNOWN_DENY, true, "the request is refused with 401"},

	{"jwt.from", "bearer", IMAGE_SAID_BEARER, true, "`Authorization: Bearer TOKEN`"},
	{"jwt.from", "cookie.NAME", IMAGE_SAID_COOKIE, true, "a cookie"},
	{"jwt.from", "header.NAME", IMAGE_SAID_HEADER, true, "a request header"},
	{"algorithms", "RS256", IMAGE_JWT_RS256, true, "RSA, 2048 bits or more, with SHA-256"},
	{"algorithms", "ES256", IMAGE_JWT_ES256, true, "ECDSA on the curve P-256, with SHA-256"},
	{"algorithms", "EdDSA", IMAGE_JWT_EDDSA, true, "Ed25519"},
	{"algorithms", "HS256", IMAGE_JWT_HS256, true,
	 "HMAC with SHA-256: whoever can verify such a token can make one"},
	{"invalid", "ip", IMAGE_UNKNOWN_IP, true, "as if there were none: the client is its address"},
	{"invalid", "deny", IMAGE_UNKNOWN_DENY, true, "the request is refused with 401"},

	{"session", "cookie.NAME", IMAGE_SAID_COOKIE, true, "a cookie"},
	{"session", "header.NAME", IMAGE_SAID_HEADER, true, "a request header"},

	{"user", "header.NAME", IMAGE_SAID_HEADER, true,
	 "a request header, believed from `clients.address.trusted` only"},

	{"plan.from", "api-key", IMAGE_SAID_KEY, true, "the plan in the API key's record"},
	{"plan.from", "jwt.NAME", IMAGE_SAID_CLAIM, true, "a claim of the verified token"},
	{"plan.from", "header.NAME", IMAGE_SAID_HEADER, true,
	 "a request header, believed from `clients.address.trusted` only"},

	{"privacy", "hash", 1, true,
	 "no name of a client is kept or shown, neither its address nor its key: only digests"},

	{"key", "ip", IMAGE_KEY_IP, true,
	 "the client's address; IPv6 counts by prefix (`clients.ipv6_prefix`). `ip/24/56` counts IPv4 and "
	 "IPv6 by other prefixes"},
	{"key", "header.NAME", IMAGE_KEY_HEADER, true, "a request header; can be missing"},
	{"key", "cookie.NAME", IMAGE_KEY_COOKIE, true, "a cookie; can be missing"},
	{"key", "query.NAME", IMAGE_KEY_QUERY, true,
	 "a parameter of the query string, whose names are read as a form's: `k[]` and `K` are `k`; can be "
	 "missing"},
	{"key", "host", IMAGE_KEY_HOST, true, "the host that was asked for"},
	{"key", "path", IMAGE_KEY_PATH, true, "the normalised path"},
	{"key", "method", IMAGE_KEY_METHOD, true, "the method"},
	{"key", "route", IMAGE_KEY_ROUTE, true,
	 "the pattern that matched: all paths under it share one counter"},
	{"key", "site", IMAGE_KEY_SITE, true,
	 "nothing: one counter for everyone. Stands alone, or last as in `header.x-tenant | site`"},
	{"key", "var.NAME", IMAGE_KEY_VAR, true,
	 "a variable of the door, such as nginx's `$ssl_client_s_dn`; can be missing"},
	{"key", "api-key", IMAGE_KEY_API_KEY, true,
	 "a known API key (`clients.api_keys`), whichever of its secrets was sent; can be missing"},
	{"key", "api-key.owner", IMAGE_KEY_API_KEY, true, "the owner in its record; can be missing"},
	{"key", "api-key.tenant", IMAGE_KEY_API_KEY, true, "the tenant in its record; can be missing"},
	{"key", "api-key.plan", IMAGE_KEY_API_KEY, true, "the plan in its record; can be missing"},
	{"key", "user", IMAGE_KEY_USER, true,
	 "the owner of the known API key, else the subject (`sub`) of the verified token, else what a "
	 "trusted proxy "
	 "says (`clients.user`); can be missing"},
	{"key", "jwt.NAME", IMAGE_KEY_JWT, true,
	 "a claim of the verified token (`clients.jwt`), such as `jwt.sub`; `jwt.a.b` is b inside the claim "
	 "a; "
	 "can be missing"},
	{"key", "session", IMAGE_KEY_SESSION, true, "the session (`clients.session`); can be missing"},
	{"key", "body.NAME", IMAGE_KEY_BODY, true,
	 "a field of a form or JSON body, in its first 16 KiB; without white space around it, in one "
	 "spelling of "
	 "upper and lower case; `body.a.b` is b inside the JSON object a; can be missing"},
	{"key", "descriptor.NAME", 0, false, "an entry of a rate limit service's descriptor"},
	{"key", "given", 0, false, "what the caller hands in"},

	{"missing", "ip", IMAGE_MISSING_IP, true, "the client's address takes the place of the missing part"},
	{"missing", "skip", IMAGE_MISSING_SKIP, true, "the limit does not apply"},
	{"missing", "deny", IMAGE_MISSING_DENY, true, "the request is refused"},
	{"missing", "anonymous", IMAGE_MISSING_ANONYMOUS, true,
	 "all such requests share one counter, whatever their other parts"},
	{"missing", "inner", 0, false, "the next door knows"},

	{"algorithm", "token-bucket", ALGO_TOKEN_BUCKET, true,
	 "up to `burst` at once, then refilled evenly at the rate; the default below a day"},
	{"algorithm", "leaky-bucket", ALGO_LEAKY_BUCKET, true,
	 "too many too fast wait their turn: a queue of `queue` requests, let through evenly at the rate"},
	{"algorithm", "fixed-window", ALGO_FIXED_WINDOW, true,
	 "N in each window; the default from a day up. Around the edge of two windows up to 2N can pass "
	 "within one window's length"},
	{"algorithm", "sliding-window", ALGO_SLIDING_WINDOW, true,
	 "about N in any window, in one slot of the table: the window before counts by the part of it that "
	 "is "
	 "still in sight"},
	{"algorithm", "sliding-log", ALGO_SLIDING_LOG, true,
	 "at most N in every window, wherever it starts, exactly; up to N + 1 slots a key"},
	{"algorithm", "nginx", ALGO_LIMIT_REQ, true,
	 "nginx's `limit_req` to the bit, roundings included: burst=`queue`, delay=`at_once`; N/s or N/min, "
	 "at most "
	 "1,000 a second"},

	{"align", "first-request", ALGO_FIRST_REQUEST, true,
	 "a key's window begins with its first request; the default below a day"},
	{"align", "clock", ALGO_CLOCK, true,
	 "windows begin at multiples of the period on the clock, UTC: 5min at :00, :05, :10"},
	{"align", "calendar", ALGO_CALENDAR_DAY, true,
	 "windows are calendar hours, days, weeks from Monday, months, years, in UTC; the default from a day "
	 "up. `calendar Europe/Berlin` follows the clocks of that zone"},
	{"align", "billing-day", ALGO_BILLING, true,
	 "a month begins on the day in the API key's record, or on the last of a month that has no such day; "
	 "without "
	 "one on the first. In UTC, or by the clocks of a zone: `billing-day Europe/Berlin`"},

	{"count", "all", IMAGE_COUNT_ALL, true, "every request that is let through"},
	{"count", "failures", IMAGE_COUNT_FAILURES, true,
	 "only those that the application answers with a `failure`"},
	{"count", "successes", IMAGE_COUNT_SUCCESSES, true, "only the others; a 5xx is neither"},

	{"on_full", "evict", TABLE_EVICT, true,
	 "the counter that holds the least is forgotten: someone gets a fresh allowance"},
	{"on_full", "allow", TABLE_ALLOW, true, "the request passes, uncounted"},
	{"on_full", "deny", TABLE_DENY, true, "the request is refused"},

	{"mode", "enforce", IMAGE_ENFORCE, true,
	 "requests over the limit are refused; with `enforce 25%` those of a quarter of the keys, always the "
	 "same "
	 "ones, and for the others it is a shadow"},
	{"mode", "shadow", IMAGE_SHADOW, true,
	 "the limit counts and reports what it would have refused, and refuses nothing"},
	{"mode", "disabled", IMAGE_DISABLED, true,
	 "the limit does nothing; its counters are kept for when it comes back"},

	{"instead", "challenge", IMAGE_INSTEAD_CHALLENGE, true,
	 "`challenge /verify` sends the client there with 303: a path of this site, or an `https://` URL"},
	{"instead", "cached", IMAGE_INSTEAD_CACHED, true,
	 "a stored answer, be it stale; where there is none the request is refused"},
	{"instead", "slow", IMAGE_INSTEAD_SLOW, true,
	 "`slow 50KB/s` lets the request pass, and its answer out no faster than that"},
	{"instead", "close", IMAGE_INSTEAD_CLOSE, true, "the connection is closed without an answer"},

	{"paths", "folded", false, true,
	 "case and a trailing slash make no difference: matching too much is safe"},
	{"paths", "exact", true, true, "they do"},

	{"headers", "x-ratelimit", IMAGE_HEADERS_X_RATELIMIT, true,
	 "`X-RateLimit-Limit`, `X-RateLimit-Remaining` and `X-RateLimit-Reset`, a time in seconds since "
	 "1970"},
	{"headers", "x-ratelimit-delta", IMAGE_HEADERS_DELTA, true,
	 "the same, but `X-RateLimit-Reset` is the seconds from now"},
	{"headers", "github", IMAGE_HEADERS_GITHUB, true,
	 "GitHub's: those of `x-ratelimit`, `X-RateLimit-Used` and `X-RateLimit-Resource`, the limit's name"},
	{"headers", "ratelimit", IMAGE_HEADERS_RATELIMIT, true,
	 "`RateLimit-Policy` and `RateLimit` (the IETF draft, 11)"},
	{"headers", "draft-7", IMAGE_HEADERS_DRAFT_7, true,
	 "the draft's older form: `RateLimit: limit=, remaining=, reset=` and `RateLimit-Policy`"},
	{"headers", "draft-6", IMAGE_HEADERS_DRAFT_6, true,
	 "one older still: `RateLimit-Limit`, `RateLimit-Remaining`, `RateLimit-Reset` and "
	 "`RateLimit-Policy`"},
	{"headers", "none", 0, true, "none of them; `Retry-After` is always sent with a refusal"},

	{"body", "json", IMAGE_BODY_JSON, true,
	 "`{\"error\": …, \"retryAfter\": …, \"limit\": …}`; plain text for clients that do not take JSON"},
	{"body", "problem", IMAGE_BODY_PROBLEM, true, "`application/problem+json` (RFC 9457)"},
	{"body", "text", IMAGE_BODY_TEXT, true, "one plain sentence"},

	{"cors", "mirror", true, true,
	 "a browser application of another origin can read the refusal and the rate fields"},
	{"cors", "none", false, true, "no CORS header is added"},
	{0},
};
