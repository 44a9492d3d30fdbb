/* SPDX-License-Identifier: BSD-2-Clause */
/* read: the image's records by index, and header values, for the stations. Inside the layer only. */
#ifndef WEIR_FLOW_READ_H
#define WEIR_FLOW_READ_H

#include "flow/flow.h"

static inline const struct image_path *read_path(const struct image *image, uint32_t index)
{
	return (const struct image_path *)image_at(image, image->paths.offset) + index;
}

static inline const struct image_respond *read_respond(const struct image *image, uint32_t index)
{
	return (const struct image_respond *)image_at(image, image->responds.offset) + index;
}

/* It says how fast, not whether: no part in deciding. */
static inline bool read_paces(const struct flow_hit *hit)
{
	return hit->what == IMAGE_BANDWIDTH || hit->what == IMAGE_TOTAL;
}

/* The ledger row of the hit's counter. Hits that were not met (a key that is asked for by name) have none of their own. */
static inline uint32_t read_row(const struct flow *flow, const struct flow_hit *hit)
{
	return hit->row != TABLE_ROW_NONE ? hit->row : image_counter_at(flow->env->image, hit->counter)->row;
}

static inline int64_t read_wall_s(const struct algo_time *t)
{
	return ((int64_t)t->now + t->wall) / 1000000000;
}

/* The hit takes part, refuses, is charged before the request may pass. */
static inline bool read_enforced(const struct flow_hit *hit)
{
	return hit->role == FLOW_ROLE_ENFORCED && hit->what != IMAGE_USAGE &&
	       (!read_paces(hit) || hit->denied || hit->never);
}

/* Held first, and charged when it is known what it was; or, in flight, never. */
static inline bool read_reserves(const struct flow_hit *hit)
{
	return hit->what == IMAGE_CONCURRENT || hit->count != IMAGE_COUNT_ALL || hit->settles;
}

static inline void read_path_into(struct image_subject *subject, const struct flow_path *path)
{
	subject->path_exact = (struct text){path->exact, path->exact_size};
	subject->path_folded = (struct text){path->folded, path->folded_size};
}

static inline struct text read_trim(struct text text)
{
	while (text.size && (text.data[0] == ' ' || text.data[0] == '\t')) {
		text.data++;
		text.size--;
	}
	while (text.size && (text.data[text.size - 1] == ' ' || text.data[text.size - 1] == '\t'))
		text.size--;
	return text;
}

/* The nth line of a header, trimmed. `name` is lower case. */
static inline bool read_header(const struct flow_request *request, struct text name, unsigned nth,
			       struct text *value)
{
	if (!request->header || !request->header(request->door, name, nth, value))
		return false;
	*value = read_trim(*value);
	return true;
}

/* There is such a header and it says something: an empty one counts as missing. */
static inline bool read_present(const struct flow_request *request, struct text name)
{
	struct text value;

	for (unsigned nth = 0; read_header(request, name, nth, &value); nth++)
		if (value.size)
			return true;
	return false;
}

/* Value of a hexadecimal digit, -1 if it is none. */
static inline int read_hex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = text_lower(c);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

#endif
