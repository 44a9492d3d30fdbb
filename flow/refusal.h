/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * refusal: the id that every refusal carries. It says all that `weir why` needs, so nothing has to be remembered for a client that is
 * refused a million times: when, by which limit and counter, why, how long to wait, and the slot.
 *
 * 27 characters of Crockford's base32: 128 bits under a key of the table's, so that nobody learns from ids where counters lie, nor makes
 * ids up; and a check that any one wrong character, and any two that have changed places, does not pass.
 */
#ifndef WEIR_FLOW_REFUSAL_H
#define WEIR_FLOW_REFUSAL_H

#include "flow/flow.h"

#define REFUSAL_SIZE  27u
#define REFUSAL_NEVER UINT64_MAX

struct refusal {
	int64_t at; /* wall clock, s; 2024 to 2058 */
	uint64_t
		wait_s; /* what Retry-After said, at most 3 % off; 0: nothing; REFUSAL_NEVER: it never fits */
	uint64_t slot;	/* REFUSAL_SLOT of the counter's key; 0: it has none (a list, a missing key) */
	uint16_t
		stat; /* statistics index of the limit; 0: none, or one without an entry of its own. Of FLOW_UNKNOWN: enum
			 * ring_found of its key, or REFUSAL_TOKEN + enum jwt_result of its token */
	uint8_t status;	    /* enum flow_status */
	uint8_t what;	    /* enum image_what of the counter */
	uint8_t generation; /* of the policy, its lower 8 bits */
};
#define REFUSAL_TOKEN 16u
/* Of top_slot (table/top.h) what an id has room for: 32 bits of the tag, 24 of the place. */
#define REFUSAL_SLOT(slot) ((slot)&UINT64_C(0xffffffffffffff))

/* Fills verdict.refusal of a refusal; "" for a request that passes. */
void flow_refusal(struct flow *flow);

enum refusal_result {
	REFUSAL_READ,
	REFUSAL_MISTYPED, /* the check fails, or it is no id at all */
	REFUSAL_FOREIGN /* well typed, but another table's; one in 2,000 of those is taken for this table's */
};
/* Case, dashes and blanks do not matter; O is 0, I and L are 1. */
enum refusal_result refusal_read(const struct table *table, struct text id, struct refusal *out);
/* The other way round; `id` gets REFUSAL_SIZE characters and a NUL. */
void refusal_write(const struct table *table, const struct refusal *refusal, char *id);

#endif
