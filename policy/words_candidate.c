/* SPDX-License-Identifier: BSD-2-Clause */
/* words_candidate: the words inside a limit's `candidate`. */
#include "policy/words.h"

#define EXAMPLE(words)                                                                                       \
	"limits:\n"                                                                                          \
	"  search: {match: GET /api/search, rate: 100/min, candidate: {" words "}}\n"

const struct word words_candidate[] = {
	{SECTION_CANDIDATE, "rate", TYPE_RATE, 0, "the limit's",
	 "As in a limit. `candidate: 60/min` is short for it.", EXAMPLE("rate: 60/min")},
	{SECTION_CANDIDATE, "burst", TYPE_NUMBER, 0, "the limit's", "As in a limit.",
	 EXAMPLE("rate: 60/min, burst: 10")},
	{SECTION_CANDIDATE, "algorithm", TYPE_CHOICE, 0, "the limit's", "As in a limit.",
	 EXAMPLE("algorithm: sliding-window")},
	{SECTION_CANDIDATE, "align", TYPE_CHOICE, 0, "the limit's", "As in a limit.",
	 EXAMPLE("algorithm: fixed-window, align: clock")},
	{SECTION_CANDIDATE, "queue", TYPE_NUMBER, 0, "the limit's", "As in a limit.",
	 EXAMPLE("algorithm: leaky-bucket, queue: 20")},
	{SECTION_CANDIDATE, "at_once", TYPE_NUMBER, 0, "the limit's", "As in a limit.",
	 EXAMPLE("algorithm: leaky-bucket, queue: 20, at_once: 5")},
	{SECTION_CANDIDATE, "wait", TYPE_DURATION, 0, "the limit's", "As in a limit.",
	 EXAMPLE("algorithm: leaky-bucket, queue: 20, wait: 3s")},
	{SECTION_CANDIDATE, "concurrent", TYPE_NUMBER, 0, "none", "As in a limit.",
	 EXAMPLE("rate: 100/min, concurrent: 2")},
	{SECTION_CANDIDATE, "mode", TYPE_CHOICE, 0, "`shadow`",
	 "Whether it acts: `enforce 10%` tries it on a tenth of the keys, beside the limit itself.",
	 EXAMPLE("rate: 60/min, mode: enforce 10%")},
	{0},
};
