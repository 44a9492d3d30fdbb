/* SPDX-License-Identifier: BSD-2-Clause */
/* speed: a policy of 10,000 limits is read, checked and compiled in under a second, and what is hostile in
 * size is refused in time that grows with the size, not with its square. */
#include <stdlib.h>
#include <time.h>

#include "policy/policy.h"
#include "tests/tap.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SLOWER 12 /* instrumented */
#else
#define SLOWER 1
#endif

static double cpu_s(void)
{
	struct timespec now;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* How many times slower than a common machine this one is now, at least 1: a fixed piece of work, a tenth of a second there. */
static double machine(void)
{
	static volatile uint64_t sink;
	double begin = cpu_s();
	uint64_t x = 88172645463325252u;

	for (unsigned i = 0; i < 50000000; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
	}
	sink = x; /* so that it is done */
	(void)sink;
	double slower = (cpu_s() - begin) / 0.1;
	return slower > 1 ? slower : 1;
}

static void load(const char *text, size_t limits, double most_s, const char *what)
{
	struct policy_options options = {.path = "policy.yaml", .text = text, .wall = 1780272000};
	struct policy policy;
	double begin = cpu_s(), slower = 1;
	policy_load(&options, &policy);
	double took = cpu_s() - begin;
	note("%s: %.3f s of processor time, %zu errors", what, took, policy.errors);
	if (took >= most_s)
		slower = machine();
	ok(took < most_s * SLOWER * slower, what);
	if (limits)
		ok(policy.errors == 0 && policy.image && policy.image->limits.count == limits,
		   "all limits are there");
	else
		ok(policy.errors > 0 && !policy.image, "it is refused");
	policy_free(&policy);
}

/* `begin`, then `count` times `part` with its number put in, then `end`. */
static char *repeat(const char *begin, const char *part, unsigned count, const char *end)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	fputs(begin, out);
	for (unsigned i = 0; i < count; i++) {
		const char *hash;
		const char *at = part;
		while ((hash = strchr(at, '#'))) {
			fwrite(at, 1, (size_t)(hash - at), out);
			fprintf(out, "%u", i);
			at = hash + 1;
		}
		fputs(at, out);
	}
	fputs(end, out);
	fclose(out);
	return text;
}

int main(void)
{
	static const struct {
		const char *what, *begin, *part;
		unsigned count;
		const char *end;
		size_t limits;
		double most_s;
	} cases[] = {
		{"10,000 limits", "limits:\n",
		 "  limit-#:\n    match: GET,POST /api/v#/things/{id}/*\n    key: [ip, header.x-tenant]\n    "
		 "missing: ip\n    rate: "
		 "[5/s, 100/hour]\n    exempt: [{ip: 10.0.0.0/8, reason: ours}]\n    respond: {status: "
		 "503}\n",
		 10000, "", 10000, 1.0},
		{"10,000 limits on one line", "limits: {", "limit-#: {match: /x/#, rate: 5/s}, ", 10000,
		 "}\n", 10000, 1.0},
		{"the same word 100,000 times", "limits: {", "a: 5/s, ", 100000, "}\n", 0, 2.0},
		{"100,000 unknown words", "limits: {a: {", "word-#: 5, ", 100000, "}}\n", 0, 3.0},
		{"100,000 addresses", "clients: {exempt: [{ip: [", "10.#.0.0/33, ", 100000, "]}]}\n", 0, 3.0},
		{"100,000 alternatives", "limits: {a: {rate: 5/s, key: [", "header.x-#, ", 100000, "]}}\n", 0,
		 3.0},
		{"100,000 paths and hosts", "limits: {a: {rate: 5/s, match: {host: [a, b, c, d], path: [",
		 "/x/#, ", 100000, "]}}}\n", 0, 3.0},
		{"100,000 brackets", "limits: ", "[", 100000, "", 0, 3.0},
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		char *text = repeat(cases[i].begin, cases[i].part, cases[i].count, cases[i].end);
		load(text, cases[i].limits, cases[i].most_s, cases[i].what);
		free(text);
	}
	return done_testing();
}
