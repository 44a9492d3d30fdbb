/* SPDX-License-Identifier: BSD-2-Clause */
/* words_answer: the words of `respond`. */
#include "policy/words.h"

const struct word words_answer[] = {
	{SECTION_RESPOND, "status", TYPE_NUMBER, 0, "`429`", "The status of a refusal, 400 to 599.",
	 "respond: {status: 503}\n"},
	{SECTION_RESPOND, "headers", TYPE_CHOICES, 0, "`[x-ratelimit, ratelimit]`",
	 "Which rate headers answers carry, allowed and refused ones. Two forms that write the same fields "
	 "(`x-ratelimit`, `x-ratelimit-delta` and `github`; `ratelimit`, `draft-7` and `draft-6`) do not go "
	 "together.",
	 "respond: {headers: [github, draft-7]}\n"},
	{SECTION_RESPOND, "body", TYPE_BODY, SECTION_BODY, "`json`",
	 "What a refusal says. `{file: 429.html}` sends a page of your own.", "respond: {body: problem}\n"},
	{SECTION_RESPOND, "cors", TYPE_CHOICE, 0, "`mirror`", "What browsers of other origins may read.",
	 "respond: {cors: none}\n"},
	{SECTION_RESPOND, "own_limits", TYPE_PLACE, 0, "`/.weir/limits`",
	 "At the file's first level only: the path at which a client reads its own limits, as JSON, free of "
	 "charge; "
	 "`no` for none.",
	 "respond: {own_limits: /api/limits}\n"},
	{SECTION_BODY, "file", TYPE_TEXT, 0, "",
	 "A page, relative to the policy, of at most 64 KiB. Its type comes from its name: .html, .htm, "
	 ".txt, .json, .xml, .svg.",
	 "limits:\n"
	 "  login:\n"
	 "    match: POST /login\n"
	 "    rate: 5/min\n"
	 "    respond: {body: {file: 429.html}}\n"},
	{0},
};
