/* SPDX-License-Identifier: BSD-2-Clause */
/* tap: our test framework: TAP on standard output, run by prove. One program, one story. Not for threads:
 * collect there, assert here. */
#ifndef WEIR_TESTS_TAP_H
#define WEIR_TESTS_TAP_H

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static int tap_count, tap_failed;

static inline bool tap_ok(bool good, const char *file, int line, const char *what)
{
	printf("%sok %d - %s\n", good ? "" : "not ", ++tap_count, what);
	if (!good) {
		tap_failed++;
		printf("#   failed at %s:%d\n", file, line);
	}
	fflush(stdout);
	return good;
}

static inline bool tap_u64(uint64_t got, uint64_t expected, const char *file, int line, const char *what)
{
	bool good = tap_ok(got == expected, file, line, what);
	if (!good)
		printf("#   got %" PRIu64 ", expected %" PRIu64 "\n", got, expected);
	return good;
}

static inline bool tap_str(const char *got, const char *expected, const char *file, int line,
			   const char *what)
{
	bool good = tap_ok(got && expected && strcmp(got, expected) == 0, file, line, what);
	if (!good)
		printf("#   got      '%s'\n#   expected '%s'\n", got ? got : "(null)",
		       expected ? expected : "(null)");
	return good;
}

/* what: any expression that becomes a description */
#define ok(condition, what)	    tap_ok((condition), __FILE__, __LINE__, (what))
#define is_u64(got, expected, what) tap_u64((uint64_t)(got), (uint64_t)(expected), __FILE__, __LINE__, (what))
#define is_str(got, expected, what) tap_str((got), (expected), __FILE__, __LINE__, (what))
#define note(...)		    (printf("# "), printf(__VA_ARGS__), printf("\n"))

static inline int done_testing(void)
{
	printf("1..%d\n", tap_count);
	return tap_failed ? 1 : 0;
}

#endif
