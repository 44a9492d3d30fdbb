/* SPDX-License-Identifier: BSD-2-Clause */
/* doctor: findings about an installation, each with its cure. */
#ifndef WEIR_CLI_DOCTOR_H
#define WEIR_CLI_DOCTOR_H

#include <jansson.h>

#include "cli/live.h"

/* GOOD and NOTE need no hand; WRONG does. */
enum doctor_level { DOCTOR_GOOD, DOCTOR_NOTE, DOCTOR_WRONG };

struct doctor {
	json_t *findings; /* [{what, level, sentence, cure}] */
	unsigned wrong;
};

/* `cure` may be NULL. */
void doctor_say(struct doctor *doctor, enum doctor_level level, const char *what, const char *cure,
		const char *format, ...) __attribute__((format(printf, 5, 6)));

void doctor_machine(struct doctor *doctor);		    /* nginx, module, shared memory */
void doctor_table(struct doctor *doctor, const char *path); /* one table with everything beside it */
void doctor_policy(struct doctor *doctor,
		   const char *path); /* its policy, control, proxies (called by doctor_table) */
/* What that policy knows clients by: API keys, tokens (called by doctor_policy). */
void doctor_clients(struct doctor *doctor, const struct live *live);

#endif
