/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * promote: what the text of a policy file becomes when a limit that was tried is put in force. Spliced at its marks, so comments,
 * order and quoting stay as they are.
 *
 * A limit with a candidate gets the candidate's words in place of its own, and the candidate goes; `mode: shadow` goes; `mode:
 * enforce 10%` becomes `enforce`. One of these at a time: the candidate first.
 */
#ifndef WEIR_POLICY_PROMOTE_H
#define WEIR_POLICY_PROMOTE_H

#include "policy/text.h"

enum promote_result {
	PROMOTE_CANDIDATE,
	PROMOTE_SHADOW,
	PROMOTE_SHARE,	   /* of its keys: now all */
	PROMOTE_NOTHING,   /* the limit is in force as it stands */
	PROMOTE_DISABLED,  /* ... or switched off, which is no trial */
	PROMOTE_ELSEWHERE, /* no such limit in this text */
	PROMOTE_UNREADABLE /* no YAML, or out of memory */
};
/* `text` is one file's; *out is malloc()ed and NUL-terminated for the first three, else NULL. The result has not been checked: load it. */
enum promote_result policy_promote(struct text text, struct text limit, char **out);

#endif
