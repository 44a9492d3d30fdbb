/* SPDX-License-Identifier: BSD-2-Clause */
/* suggest: what is near enough to be meant. */
#include "policy/suggest.h"

#include "tests/tap.h"

static const struct {
	const char *wrong, *candidates[4], *best;
} cases[] = {
	{"brust", {"rate", "burst"}, "burst"},	/* neighbours swapped */
	{"bursst", {"rate", "burst"}, "burst"}, /* a letter too many */
	{"BURST", {"burst"}, "burst"},		/* case */
	{"keey", {"key", "exempt"}, "key"},
	{"ke", {"key"}, "key"},
	{"k", {"key"}, ""},		    /* one letter says nothing */
	{"code", {"body", "mode"}, "mode"}, /* the nearest, in any order */
	{"code", {"mode", "body"}, "mode"},
	{"code", {"body"}, ""},			       /* half of the letters */
	{"algo", {"align", "algorithm"}, "algorithm"}, /* begins it */
	{"status_code", {"status"}, "status"},	       /* goes on behind it */
	{"x-forwarded", {"forwarded", "x-forwarded-for"}, "x-forwarded-for"},
	{"fixed_windw", {"fixed-window"}, "fixed-window"},
	{"completely", {"different"}, ""},
	{"", {"key"}, ""},
	{"0123456789012345678901234567890123456789012345678901234567890123456789", {"key"}, ""},
};

int main(void)
{
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct suggest suggest = suggest_begin(text_of(cases[i].wrong));
		char best[80];
		for (size_t k = 0; k < 4 && cases[i].candidates[k]; k++)
			suggest_offer(&suggest, text_of(cases[i].candidates[k]));
		snprintf(best, sizeof best, "%.*s", (int)suggest.best.size,
			 suggest.best.size ? suggest.best.data : "");
		is_str(best, cases[i].best, cases[i].wrong);
	}
	return done_testing();
}
