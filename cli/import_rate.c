/* SPDX-License-Identifier: BSD-2-Clause */
/* import_rate: rate= of a zone: nginx's own (10r/s, 5r/m, 10), and what weir's limit_req_zone takes besides (100r/h, 10r/5s). */
#include "cli/import_model.h"

static const struct {
	const char *unit, *word;
	uint64_t nginx_most; /* of a unit: 1,000 r/s; 0: nginx does not know it */
} UNITS[] = {{"r/s", "s", 1000}, {"r/m", "min", 60000}, {"r/h", "hour", 0}, {"r/d", "day", 0}};

const char *import_rate(struct import_model *model, struct text text, bool *nginx, const char **why)
{
	size_t digits = 0, many = 0;
	uint64_t count, every = 1;

	*nginx = false;
	while (digits < text.size && text.data[digits] >= '0' && text.data[digits] <= '9')
		digits++;
	*why = "its rate is no number that a policy can say";
	if (memchr(text.data, '$', text.size))
		*why = "its rate is a variable: a policy has no plans yet";
	if (!import_number((struct text){text.data, digits}, 1000000, &count) || count == 0)
		return NULL;
	struct text unit = {text.data + digits, text.size - digits};
	if (unit.size == 0)
		unit = TEXT("r/s");
	/* 10r/5s */
	while (unit.size > 2 + many && unit.data[2 + many] >= '0' && unit.data[2 + many] <= '9')
		many++;
	if (many && (!import_number((struct text){unit.data + 2, many}, 100000, &every) || every == 0))
		return NULL;
	for (size_t i = 0; i < sizeof UNITS / sizeof *UNITS; i++) {
		struct text rest = {unit.data + 2 + many, unit.size - 2 - many};
		if (unit.size < 3 + many || memcmp(unit.data, "r/", 2) != 0 ||
		    !text_equal(rest, text_of(UNITS[i].unit + 2)))
			continue;
		*why = NULL;
		*nginx = !many && count <= UNITS[i].nginx_most;
		return many ? arena_format(model->arena, "%llu/%llu%s", (unsigned long long)count,
					   (unsigned long long)every, UNITS[i].word)
				       .data
			    : arena_format(model->arena, "%llu/%s", (unsigned long long)count, UNITS[i].word)
				       .data;
	}
	return NULL;
}
