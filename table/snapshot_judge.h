/* SPDX-License-Identifier: BSD-2-Clause */
/* snapshot_judge: is a word one that a counter of these numbers may have, and what would be lost with it? */
#ifndef WEIR_TABLE_SNAPSHOT_JUDGE_H
#define WEIR_TABLE_SNAPSHOT_JUDGE_H

#include "table/handle.h"

enum judged {
	JUDGED_LIVE,
	JUDGED_EXPIRED, /* recovered at `now`: as good as absent */
	JUDGED_REFUSED, /* not a word of these numbers, a hold, or one that ends later than any charge could make it */
};

/* A slot as it was at `taken` (table time, not before any charge in it). `numbers` have passed algo_valid. A debt of a
 * bucket larger than settlements leave it (two windows and a day) is cut to that. */
enum judged snapshot_judge(const struct algo_numbers *numbers, uint64_t w0, uint64_t *w1, uint64_t taken,
			   uint64_t now);

/* Two words of one key, perhaps under different numbers: true if `b` says more than `a`, later or more used. If neither
 * can be told from the other of a log's ring, *a will have all cells looked at. */
bool snapshot_later(const struct algo_numbers *a_numbers, uint64_t *a, const struct algo_numbers *b_numbers,
		    uint64_t b, uint64_t now);

/* How long a counter takes from full to recovered; 400 days if only its asker knows (limit_req_asks). */
uint64_t snapshot_recovery_ns(const struct algo_numbers *numbers);

#endif
