/* SPDX-License-Identifier: BSD-2-Clause */
/* aloud_words: costs, bans, quotas and the like as they are read out. */
#include "tests/policy/loaded.h"

static const struct {
	const char *words, *says; /* of a limit */
} cases[] = {
	{"rate: 100/min, cost: 5",
	 "20 at once, then one every 3 s; at most 39 in any minute; each request costs 5"},
	{"rate: 100/min, cost: header.X-Cost", "100 at once, then one every 0.6 s; at most 199 in any "
					       "minute; each request costs what its header x-cost says, "
					       "at most 100"},
	{"rate: 100/min, cost: body.n", "100 at once, then one every 0.6 s; at most 199 in any minute; each "
					"request costs what n in its body says, at "
					"most 100"},
	{"rate: 100/min, cost: {reserve: body.rows.count, at_most: 50}",
	 "100 at once, then one every 0.6 s; at most 199 in any minute; each request costs the number of "
	 "elements in "
	 "its body's rows, at most 50"},
	{"rate: 100/min, cost: body.count", "100 at once, then one every 0.6 s; at most 199 in any minute; "
					    "each request costs the number of elements in "
					    "its body, at most 100"},
	{"rate: 100/min, cost: {reserve: body.max_tokens, settle: response.body.usage.total_tokens}, "
	 "overdraw: yes",
	 "100 at once, then one every 0.6 s; at most 199 in any minute; each request costs what "
	 "usage.total_tokens in "
	 "the answer says, into debt if need be; reserved is what max_tokens in its body says, at most 100"},
	{"rate: 100/min, cost: {reserve: 5, settle: response.header.x-cost}",
	 "100 at once, then one every 0.6 s; at most 199 in any minute; each request costs what the answer's "
	 "header "
	 "x-cost says, but no more than was reserved: 5"},
	{"rate: 10 distinct query.user/hour", "different values of query parameter user: 10 at once, then "
					      "one every 6 min; at most 19 in any hour"},
	{"rate: 10 distinct ip/24/56/day", "different values of client network (IPv4 /24, IPv6 /56): at most "
					   "10 in a day (UTC); around midnight at most "
					   "20 in any 24 hours"},
	{"rate: 5/min, then: {ban: 15min, after: 20 refusals in 5min, double_up_to: 1day}",
	 "5 at once, then one every 12 s; at most 9 in any minute; after 20 refusals within 5 minutes banned "
	 "for 15 "
	 "minutes, doubling up to a day"},
	{"rate: 5/min, then: {ban: 1hour, after: 1 refusal}",
	 "5 at once, then one every 12 s; at most 9 in any minute; who is refused is banned for an hour"},
	{"rate: 5/min, instead: challenge /verify",
	 "5 at once, then one every 12 s; at most 9 in any minute; who is over it is sent to /verify"},
	{"rate: 5/min, instead: cached", "5 at once, then one every 12 s; at most 9 in any minute; who is "
					 "over it gets a stored answer where there is "
					 "one"},
	{"rate: 5/min, instead: slow 50KB/s",
	 "5 at once, then one every 12 s; at most 9 in any minute; who is over it passes at 50 KB/s"},
	{"rate: 5/min, instead: close",
	 "5 at once, then one every 12 s; at most 9 in any minute; who is over it gets no answer"},
	{"rate: 5/min, mode: enforce 25%", "5 at once, then one every 12 s; at most 9 in any minute; "
					   "enforced for 25% of its keys, a shadow for the "
					   "others"},
	{"rate: 100/day, over: {allow: 25%, notify: [100%, 80%]}",
	 "at most 125 in a day (UTC); around midnight at most 250 in any 24 hours; the quota is 100, the "
	 "rest is beyond "
	 "it; told at 80%, 100%"},
	{"rate: 100/day, over: {notify: 80%}",
	 "at most 100 in a day (UTC); around midnight at most 200 in any 24 hours; told at 80%"},
};

static void check(const char *text, const char *expected, const char *what)
{
	char *said = policy_read_aloud(load(text));

	is_str(said, expected, what);
	free(said);
}

int main(void)
{
	char text[1024], expected[1024];

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		snprintf(text, sizeof text,
			 "clients: {address: {from: x-forwarded-for, trusted: [10.0.0.0/8]}}\n"
			 "limits: {a: {match: POST /a, %s}}",
			 cases[i].words);
		snprintf(expected, sizeof expected, "a: POST /a, by client address: %s\n", cases[i].says);
		check(text, expected, cases[i].words);
	}
	check("limits: {a: {match: POST /a, rate: 5/min, candidate: 3/min}}",
	      "a: POST /a, by client address: 5 at once, then one every 12 s; at most 9 in any minute\n"
	      "a/candidate: POST /a, by client address: 3 at once, then one every 20 s; at most 5 in any "
	      "minute; in "
	      "shadow mode: counted, never refused\n",
	      "a candidate");
	check("limits: {a: {match: POST /a, key: cookie.sid, missing: ip, rate: 5/min, new_keys: 3/min}}",
	      "a: POST /a, by cookie sid: 5 at once, then one every 12 s; at most 9 in any minute; and new "
	      "keys by "
	      "client address: 3 at once, then one every 20 s; at most 5 in any minute; without a key by "
	      "client "
	      "address\n",
	      "new keys");
	check("limits: {a: {match: POST /a, key: cookie.sid, missing: ip, rate: 5/min, new_keys: 3/min per "
	      "ip/24/56}}",
	      "a: POST /a, by cookie sid: 5 at once, then one every 12 s; at most 9 in any minute; and new "
	      "keys by "
	      "client network (IPv4 /24, IPv6 /56): 3 at once, then one every 20 s; at most 5 in any minute; "
	      "without "
	      "a key by client address\n",
	      "new keys of a network");
	check("clients: {api_keys: {from: bearer}}\n"
	      "limits: {a: {key: api-key, missing: skip, rate: 100/month, align: billing-day Europe/Berlin}}",
	      "a: every request, by API key: at most 100 in a month (from each key's billing day, "
	      "Europe/Berlin); "
	      "around that day at most 200 in any 27 days; and charged to the bill of each billing month; "
	      "not for "
	      "requests without a key\n"
	      "API keys: from Authorization: Bearer; an unknown one is its client's address\n",
	      "a billing day");
	policy_free(&policy);
	return done_testing();
}
