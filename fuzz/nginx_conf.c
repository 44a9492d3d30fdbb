/* SPDX-License-Identifier: BSD-2-Clause */
/* nginx_conf: any text is either no nginx configuration, or becomes a policy without errors, and every limit of it is carried over or
 * dropped with a remark. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "policy/policy.h"
#include "tests/cli/import_fate.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	memcpy(text, data, size);
	text[size] = '\0';
	struct import import;
	bool good = import_run(&(struct import_options){.path = "nginx.conf", .text = {text, size}}, &import);
	if (good != (import.policy != NULL) || good != (import.wrong == NULL))
		abort();
	if (good) {
		struct policy policy;
		struct policy_options options = {
			.path = "policy.yaml", .text = import.policy, .wall = 1780272000};
		policy_load(&options, &policy);
		if (policy.errors || !fate_is_told(&import))
			abort();
		policy_free(&policy);
	}
	import_free(&import);
	free(text);
	return 0;
}
