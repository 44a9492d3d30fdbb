/* SPDX-License-Identifier: BSD-2-Clause */
/* loaded: the image of a policy's text, for tests of what its words mean. */
#ifndef WEIR_TESTS_POLICY_LOADED_H
#define WEIR_TESTS_POLICY_LOADED_H

#include <stdlib.h>

#include "policy/policy.h"
#include "tests/tap.h"

static struct policy policy;

/* The image of a text; the last one is freed. */
static inline const struct image *load(const char *text)
{
	struct policy_options options = {.path = "policy.yaml", .text = text, .wall = 1780272000};
	policy_free(&policy);
	policy_load(&options, &policy);
	if (policy.errors) {
		char *findings = policy_findings_text(&policy);
		ok(false, "it loads");
		printf("# %s\n", findings);
		exit(1);
	}
	return policy.image;
}

static inline const struct image_limit *limit(const char *words)
{
	char text[1024];
	snprintf(text, sizeof text, "limits: {a: {%s}}", words);
	return image_limit_at(load(text), 0);
}

#endif
