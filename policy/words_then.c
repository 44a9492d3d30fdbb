/* SPDX-License-Identifier: BSD-2-Clause */
/* words_then: the words inside a limit's `then` and `over`. */
#include "policy/words.h"

const struct word words_then[] = {
	{SECTION_THEN, "ban", TYPE_DURATION, 0, "", "How long the first ban is, 1 ms to 400 days.",
	 "limits:\n"
	 "  login: {match: POST /login, rate: 5/min, then: {ban: 15min}}\n"},
	{SECTION_THEN, "after", TYPE_TEXT, 0, "`1 refusal`",
	 "How many refusals, within how long from the first of them, lead to a ban.",
	 "limits:\n"
	 "  login: {match: POST /login, rate: 5/min, then: {ban: 15min, after: 20 refusals in 5min}}\n"},
	{SECTION_THEN, "double_up_to", TYPE_DURATION, 0, "the first ban",
	 "A ban that follows another within the length of that one is twice as long, up to this.",
	 "limits:\n"
	 "  login:\n"
	 "    match: POST /login\n"
	 "    rate: 5/min\n"
	 "    then: {ban: 15min, after: 20 refusals in 5min, double_up_to: 1day}\n"},
	{SECTION_OVER, "allow", TYPE_PERCENT, 0, "`0%`", "How much more than the number passes, up to 1000%.",
	 "limits:\n"
	 "  monthly: {rate: 100000/month, over: {allow: 20%}}\n"},
	{SECTION_OVER, "notify", TYPE_PERCENTS, 0, "",
	 "At which shares of the number an event tells, 1% to 200%, at most four.",
	 "limits:\n"
	 "  monthly: {rate: 100000/month, over: {allow: 20%, notify: [80%, 100%, 120%]}}\n"},
	{0},
};
