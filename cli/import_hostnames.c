/* SPDX-License-Identifier: BSD-2-Clause */
/* import_hostnames: a map with `hostnames`: a name is meant before a wildcard, and a longer wildcard before a shorter one; ".name" is
 * the name and all below it. */
#include <stdlib.h>

#include "cli/import_switch.h"

struct ordered {
	struct import_case entry;
	size_t order;
};

static int rank(const struct import_case *entry)
{
	if (entry->value.size && entry->value.data[0] == '*')
		return 1;
	return entry->regex ? 2 : 0;
}

static int by_rank(const void *left, const void *right)
{
	const struct ordered *a = left, *b = right;
	int ranks = rank(&a->entry) - rank(&b->entry);
	if (ranks)
		return ranks;
	if (rank(&a->entry) == 1 && a->entry.value.size != b->entry.value.size)
		return a->entry.value.size > b->entry.value.size ? -1 : 1;
	return a->order < b->order ? -1 : 1;
}

void import_hostnames_order(struct import_model *model, struct import_switch *decided)
{
	struct ordered *all = arena_alloc(model->arena, (decided->count + 1) * sizeof *all);
	for (size_t i = 0; i < decided->count; i++)
		all[i] = (struct ordered){decided->cases[i], i};
	if (decided->count)
		qsort(all, decided->count, sizeof *all, by_rank);
	for (size_t i = 0; i < decided->count; i++)
		decided->cases[i] = all[i].entry;
}

bool import_host_below(struct text wide, struct text host)
{
	return wide.size > 1 && wide.data[0] == '*' && host.size > wide.size - 1 &&
	       text_equal_folded((struct text){host.data + host.size - (wide.size - 1), wide.size - 1},
				 (struct text){wide.data + 1, wide.size - 1});
}

bool import_hostnames_dot(struct import_model *model, struct import_switch *out, struct import_case entry)
{
	struct text name = entry.value;
	if (name.size < 2 || name.data[0] != '.')
		return false;
	entry.value = (struct text){name.data + 1, name.size - 1};
	import_case_add(model, out, entry);
	entry.value = arena_format(model->arena, "*%.*s", (int)name.size, name.data);
	import_case_add(model, out, entry);
	return true;
}
