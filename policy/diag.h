/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * diag: findings while they are collected. All are counted; the first POLICY_FINDINGS_MAX in order of place
 * are kept, and an error never gives way to a warning, so a file of a million mistakes costs no memory.
 */
#ifndef WEIR_POLICY_DIAG_H
#define WEIR_POLICY_DIAG_H

#include "policy/model.h"
#include "policy/policy.h"

struct load;

struct diag_finding {
	enum policy_severity severity;
	unsigned order; /* of the file among those read */
	struct model_mark mark;
	const char *message;
};

struct diag {
	struct diag_finding kept[POLICY_FINDINGS_MAX];
	size_t count;
	size_t errors, warnings;
};

/* One sentence, without a full stop. Control characters and broken UTF-8 in it are shown as '?'. */
void diag_error(struct load *load, struct model_mark mark, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void diag_warning(struct load *load, struct model_mark mark, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* For "%.*s": at most 60 bytes of a text. */
#define SHOW(text) (int)((text).size < 60 ? (text).size : 60), ((text).data ? (text).data : "")

/* Moves what was collected into *out, malloc()ed. Memory running out leaves fewer findings, never a wrong
 * count. */
void diag_hand_over(const struct load *load, struct policy *out);

#endif
