/* SPDX-License-Identifier: BSD-2-Clause */
/* usage: weir usage: the lines of a bill as people, spreadsheets and programs read them. */
#ifndef WEIR_CLI_USAGE_H
#define WEIR_CLI_USAGE_H

#include "cli/live.h"
#include "cli/out.h"
#include "control/usage_bill.h"
#include "table/ledger.h"

enum usage_by { USAGE_BY_KEY, USAGE_BY_OWNER, USAGE_BY_TENANT, USAGE_BY_PLAN, USAGE_BY_LIMIT };

struct usage_paper { /* zeroed at first */
	enum usage_by by;
	bool csv;
	int64_t month, now; /* 12 * year + 0..11; s since 1970 */
	uint64_t lines, units;
	json_t *rows;	/* --json, by key */
	json_t *groups; /* the others: "group\nlimit" to units */
};

/* One key's month of one limit. months: of the limit; NULL: the policy has it no more. */
void usage_paper_add(struct usage_paper *paper, const struct keys_key *key, struct text limit,
		     const struct usage_months *months, const struct usage_line *line);
/* What is left to be printed. */
void usage_paper_end(struct usage_paper *paper);

#endif
