/* SPDX-License-Identifier: BSD-2-Clause */
/* The bearer's token: one client, however the header is spelled; nobody, where it is not exactly that. */
#include "identity/credential.h"
#include "tests/tap.h"

#define NOBODY NULL

static const struct {
	const char *header, *token;
} cases[] = {
	{"Bearer x", "x"},
	{"bearer x", "x"},
	{"BEARER x", "x"},
	{"bEaReR x", "x"},
	{"Bearer  x", "x"},
	{"Bearer \t x", "x"},
	{"Bearer\tx", "x"},
	{"Bearer x ", "x"},
	{"Bearer x\t \t", "x"},
	{" \tBearer x", "x"},
	{"Bearer abcXYZ019-._~+/==", "abcXYZ019-._~+/=="},
	{"Bearer a.b.c", "a.b.c"},
	{"Bearer Bearer", "Bearer"},
	{"Bearer x=", "x="},
	{"", NOBODY},
	{" ", NOBODY},
	{"Bearer", NOBODY},
	{"Bearer ", NOBODY},
	{"Bearer \t ", NOBODY},
	{"Bearerx", NOBODY},
	{"Bearer: x", NOBODY},
	{"Bearer=x", NOBODY},
	{"Beare x", NOBODY},
	{"Basic eDp5", NOBODY},
	{"n1 Bearer x", NOBODY},
	{"Bearer x y", NOBODY},
	{"Bearer x,y", NOBODY},
	{"Bearer x, Bearer y", NOBODY},
	{"Bearer \"x\"", NOBODY},
	{"Bearer token=\"x\"", NOBODY},
	{"Bearer =", NOBODY},
	{"Bearer =x", NOBODY},
	{"Bearer x=y", NOBODY},
	{"Bearer x\n", NOBODY},
	{"Bearer\nx", NOBODY},
	{"Bearer \xc3\xa9", NOBODY},
	{"Bearer\xc2\xa0x", NOBODY},
	{"Bearer x%20", NOBODY},
};

int main(void)
{
	static const char zero[] = "Bearer x\0y";
	struct text token;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		bool want = cases[i].token != NOBODY;
		bool got = credential_bearer(text_of(cases[i].header), &token);

		ok(got == want && text_equal(token, text_of(cases[i].token)), cases[i].header);
	}
	ok(!credential_bearer((struct text){zero, sizeof zero - 1}, &token) && !token.size,
	   "a byte that is zero");
	ok(!credential_bearer((struct text){NULL, 0}, &token) && !token.size, "no header");
	ok(!credential_bearer((struct text){"Bearer x", 7}, &token) && !token.size,
	   "what stands behind its end is not read");
	return done_testing();
}
