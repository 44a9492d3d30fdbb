/* SPDX-License-Identifier: BSD-2-Clause */
/* policy: any text is either a policy that compiles to a sound image, or has findings. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "policy/policy.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char folder[] = "/tmp/weir-fuzz-policy-XXXXXX";

static void leave(void)
{
	rmdir(folder);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	/* Nothing to be found by the names that texts come up with; corpora are named by absolute paths
	 * (scripts/fuzz). */
	if (!mkdtemp(folder))
		abort();
	atexit(leave);
	setenv("FUZZ_RATE", "50/s", 1);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[sizeof folder + 16], why[256];
	char *text = malloc(size + 1);
	memcpy(text, data, size);
	text[size] = '\0';
	/* An include may walk the whole file system; it has a test of its own. */
	if (strstr(text, "include") && strchr(text, '/')) {
		free(text);
		return -1;
	}
	snprintf(path, sizeof path, "%s/policy.yaml", folder);
	struct policy_options options = {.path = path, .text = text, .wall = 1780272000};
	struct policy policy;
	policy_load(&options, &policy);
	if (!policy.image != !!policy.errors)
		abort();
	if (policy.image && !image_check(policy.image, policy.image->size, why, sizeof why))
		abort();
	free(policy_findings_text(&policy));
	if (policy.image)
		free(policy_read_aloud(policy.image));
	policy_free(&policy);
	free(text);
	return 0;
}
