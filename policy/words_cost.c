/* SPDX-License-Identifier: BSD-2-Clause */
/* words_cost: the words inside a limit's `cost`. */
#include "policy/words.h"

const struct word words_cost[] = {
	{SECTION_COST, "reserve", TYPE_AMOUNT, 0, "`1`",
	 "What is taken before the request is passed on, as `cost` outside of this section.",
	 "limits:\n"
	 "  tokens:\n"
	 "    match: POST /v1/chat\n"
	 "    rate: 90000/min\n"
	 "    cost: {reserve: body.max_tokens, at_most: 8192, settle: response.body.usage.total_tokens}\n"},
	{SECTION_COST, "at_most", TYPE_NUMBER, 0, "the least that a rate of the limit holds",
	 "What is reserved is cut to this, 1 to 1,000,000. So much is taken, too, for a body that cannot be "
	 "read, is cut off before it has "
	 "said it, or says no number. With `settle`, a request that does not say what "
	 "to "
	 "reserve has so much reserved: to say nothing is not cheaper.",
	 "limits:\n"
	 "  upload: {match: POST /import, rate: 10000/hour, cost: {reserve: body.rows.count, at_most: "
	 "500}}\n"},
	{SECTION_COST, "settle", TYPE_AMOUNT, 0, "",
	 "Where the answer says what it cost: `response.header.NAME`, or `response.body.FIELD`, a number in "
	 "a JSON "
	 "answer or, the last one, in an event stream, which is passed on untouched. Until then the reserve "
	 "is "
	 "held. An answer that does not say it is charged the reserve.",
	 "limits:\n"
	 "  query: {match: POST /graphql, rate: 10000/min, cost: {reserve: 10, settle: "
	 "response.header.x-query-cost}}\n"},
	{0},
};
