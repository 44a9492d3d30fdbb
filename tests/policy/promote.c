/* SPDX-License-Identifier: BSD-2-Clause */
/* promote: a tried limit put in force by cutting its text: comments, order, quotes and everything else stay. */
#include <stdlib.h>

#include "policy/policy.h"
#include "policy/promote.h"
#include "tests/tap.h"

static const struct {
	const char *name, *text, *limit;
	enum promote_result result;
	const char *becomes; /* NULL: nothing is cut */
} cases[] = {
	{"a candidate in brackets, last",
	 "limits: # all\n  search: {match: /s, rate: 100/min, candidate: {rate: 60/min, mode: shadow}} # "
	 "why\n",
	 "search", PROMOTE_CANDIDATE, "limits: # all\n  search: {match: /s, rate: 60/min} # why\n"},
	{"first", "limits: {a: {candidate: {rate: 6/s}, rate: 1/s}, b: {rate: 2/s}}\n", "a",
	 PROMOTE_CANDIDATE, "limits: {a: {rate: 6/s}, b: {rate: 2/s}}\n"},
	{"a word that the limit has not", "limits: {a: {rate: 1/s, candidate: {rate: 6/s, burst: 20}}}\n",
	 "a", PROMOTE_CANDIDATE, "limits: {a: {rate: 6/s, burst: 20}}\n"},
	{"a bare number", "limits: {a: {rate: 1/s, candidate: 6/s, key: ip}}\n", "a", PROMOTE_CANDIDATE,
	 "limits: {a: {rate: 6/s, key: ip}}\n"},
	{"several rates", "limits: {a: {rate: 1/s, candidate: {rate: [6/s, \"9/min\"]}}}\n", "a",
	 PROMOTE_CANDIDATE, "limits: {a: {rate: [6/s, \"9/min\"]}}\n"},
	{"quotes", "limits: {a: {rate: \"1/s\", candidate: {rate: '6/s'}, key: \"ip\"}}\n", "a",
	 PROMOTE_CANDIDATE, "limits: {a: {rate: '6/s', key: \"ip\"}}\n"},
	{"on lines",
	 "# head\nlimits:\n  a:\n    # how much\n    rate: 1/s # old\n    candidate: # try\n      rate: 6/s\n"
	 "      mode: shadow\n    key: ip # who\n  b: 2/s\n# end\n",
	 "a", PROMOTE_CANDIDATE,
	 "# head\nlimits:\n  a:\n    # how much\n    rate: 6/s # old\n    key: ip # who\n  b: 2/s\n# end\n"},
	{"on lines, the last of the file, without its newline",
	 "limits:\n  a:\n    rate: 1/s\n    candidate:\n      rate: 6/s", "a", PROMOTE_CANDIDATE,
	 "limits:\n  a:\n    rate: 6/s\n"},
	{"brackets among lines",
	 "limits:\n  a:\n    rate: 1/s\n    candidate: {rate: 6/s, burst: 20, queue: 3} # new\n    key: ip\n",
	 "a", PROMOTE_CANDIDATE,
	 "limits:\n  a:\n    rate: 6/s\n    burst: 20\n    queue: 3 # new\n    key: ip\n"},
	{"lists on lines",
	 "limits:\n  a:\n    rate: 1/s\n    candidate:\n      rate:\n        - 6/s\n        - 9/min # or\n"
	 "    key: ip\n",
	 "a", PROMOTE_CANDIDATE, "limits:\n  a:\n    rate:\n      - 6/s\n      - 9/min\n    key: ip\n"},
	{"a list in place of a list",
	 "limits:\n  a:\n    rate:\n    - 1/s\n    - 2/min\n    candidate:\n      rate: [6/s]\n    key: ip\n",
	 "a", PROMOTE_CANDIDATE, "limits:\n  a:\n    rate: [6/s]\n    key: ip\n"},
	{"a block that the limit has not",
	 "limits:\n  a:\n    rate: 1/s\n    candidate:\n      over:\n        allow: 20%\n      rate: 6/s\n   "
	 " key: ip\n",
	 "a", PROMOTE_CANDIDATE, "limits:\n  a:\n    rate: 6/s\n    over:\n      allow: 20%\n    key: ip\n"},
	{"brackets over several lines",
	 "limits:\n  a: {rate: 1/s, # one\n      candidate: {rate: 6/s,\n        burst: 9}, # try\n      "
	 "key: ip}\n",
	 "a", PROMOTE_CANDIDATE, "limits:\n  a: {rate: 6/s, # one\n      burst: 9, # try\n      key: ip}\n"},
	{"brackets over several lines, a shadow with a comment",
	 "limits:\n  a: {rate: 1/s, mode: shadow, # trial\n      key: ip}\n", "a", PROMOTE_SHADOW,
	 "limits:\n  a: {rate: 1/s, # trial\n      key: ip}\n"},
	{"... and without one", "limits:\n  a: {rate: 1/s, mode: shadow,\n      key: ip}\n", "a",
	 PROMOTE_SHADOW, "limits:\n  a: {rate: 1/s,\n      key: ip}\n"},
	{"... on a line of its own",
	 "limits:\n  a: {rate: 1/s, # one\n      mode: shadow, # trial\n      key: ip}\n", "a",
	 PROMOTE_SHADOW, "limits:\n  a: {rate: 1/s, # one\n      # trial\n      key: ip}\n"},
	{"... and nothing else there",
	 "limits:\n  a: {rate: 1/s, # one\n      mode: shadow,\n      key: ip}\n", "a", PROMOTE_SHADOW,
	 "limits:\n  a: {rate: 1/s, # one\n      key: ip}\n"},
	{"... the last", "limits:\n  a: {rate: 1/s, # one\n      mode: shadow # trial\n     }\n", "a",
	 PROMOTE_SHADOW, "limits:\n  a: {rate: 1/s # one\n       # trial\n     }\n"},
	{"... the first", "limits:\n  a: {mode: shadow, # trial\n      rate: 1/s}\n", "a", PROMOTE_SHADOW,
	 "limits:\n  a: { # trial\n      rate: 1/s}\n"},
	{"CR LF", "limits:\r\n  a:\r\n    rate: 1/s\r\n    candidate:\r\n      rate: 6/s\r\n    key: ip\r\n",
	 "a", PROMOTE_CANDIDATE, "limits:\r\n  a:\r\n    rate: 6/s\r\n    key: ip\r\n"},
	{"another limit's candidate is not touched",
	 "limits: {a: {rate: 1/s, candidate: 2/s}, b: {rate: 1/s, candidate: 3/s}}\n", "b", PROMOTE_CANDIDATE,
	 "limits: {a: {rate: 1/s, candidate: 2/s}, b: {rate: 3/s}}\n"},
	{"letters beyond ASCII before it", "# größer — 限制\nlimits: {a: {rate: 1/s, candidate: 2/s}}\n", "a",
	 PROMOTE_CANDIDATE, "# größer — 限制\nlimits: {a: {rate: 2/s}}\n"},

	{"a shadow in brackets", "limits: {a: {rate: 1/s, mode: shadow, key: ip}}\n", "a", PROMOTE_SHADOW,
	 "limits: {a: {rate: 1/s, key: ip}}\n"},
	{"a shadow on a line", "limits:\n  a:\n    rate: 1/s\n    mode: shadow # for now\n    key: ip\n", "a",
	 PROMOTE_SHADOW, "limits:\n  a:\n    rate: 1/s\n    key: ip\n"},
	{"a shadow with a candidate: the candidate first",
	 "limits: {a: {rate: 1/s, mode: shadow, candidate: 2/s}}\n", "a", PROMOTE_CANDIDATE,
	 "limits: {a: {rate: 2/s, mode: shadow}}\n"},
	{"a share", "limits: {a: {rate: 1/s, mode: enforce 10%, key: ip}}\n", "a", PROMOTE_SHARE,
	 "limits: {a: {rate: 1/s, mode: enforce, key: ip}}\n"},
	{"a share in quotes", "limits:\n  a:\n    mode: \"enforce 10%\" # ten\n    rate: 1/s\n", "a",
	 PROMOTE_SHARE, "limits:\n  a:\n    mode: enforce # ten\n    rate: 1/s\n"},

	{"in force", "limits: {a: {rate: 1/s}}\n", "a", PROMOTE_NOTHING, NULL},
	{"in force, said so", "limits: {a: {rate: 1/s, mode: enforce}}\n", "a", PROMOTE_NOTHING, NULL},
	{"a number", "limits: {a: 1/s}\n", "a", PROMOTE_NOTHING, NULL},
	{"switched off", "limits: {a: {rate: 1/s, mode: disabled}}\n", "a", PROMOTE_DISABLED, NULL},
	{"not here", "limits: {a: 1/s}\n", "b", PROMOTE_ELSEWHERE, NULL},
	{"no limits", "clients: {}\n", "a", PROMOTE_ELSEWHERE, NULL},
	{"nothing", "", "a", PROMOTE_ELSEWHERE, NULL},
	{"no YAML", "limits: {a: {rate: 1/s\n", "a", PROMOTE_UNREADABLE, NULL},
	{"no text", "limits: \xff\n", "a", PROMOTE_UNREADABLE, NULL},
};

int main(void)
{
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char *out = NULL, what[200];
		enum promote_result result = policy_promote(text_of(cases[i].text), text_of(cases[i].limit),
							    &out);

		snprintf(what, sizeof what, "%s: what was done", cases[i].name);
		is_u64(result, cases[i].result, what);
		if (!cases[i].becomes) {
			ok(out == NULL, cases[i].name);
			continue;
		}
		is_str(out, cases[i].becomes, cases[i].name);
		char *again = NULL;
		if (result == PROMOTE_CANDIDATE && out &&
		    policy_promote(text_of(out), text_of(cases[i].limit), &again) == PROMOTE_CANDIDATE)
			ok(false, "a candidate is promoted once");
		free(again);
		free(out);
	}

	/* a text in place of a file's */
	struct policy policy;
	policy_load(&(struct policy_options){.path = "nowhere/policy.yaml",
					     .instead_of = "nowhere/policy.yaml",
					     .instead = "limits: {a: 1/s}\n"},
		    &policy);
	ok(policy.image != NULL && policy.image->limits.count == 1, "a policy is loaded as it would be");
	policy_free(&policy);
	return done_testing();
}
