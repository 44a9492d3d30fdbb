/* SPDX-License-Identifier: BSD-2-Clause */
/* ban_told: the name as the limit's key says it, or only its digest. */
#include "flow/ban_told.h"

#include <stdio.h>

#include "algo/ban.h"
#include "flow/read.h"
#include "table/roster.h"

static void copy(char *out, size_t size, struct text text)
{
	size_t n = text.size < size ? text.size : size - 1;

	if (n)
		memcpy(out, text.data, n);
	out[n] = '\0';
}

void ban_told(const struct flow *flow, const struct flow_hit *hit, const struct table_key *ban,
	      const struct table_look *look)
{
	const struct image *image = flow->env->image;
	struct roster_entry entry = {
		.key = *ban,
		.until = ban_until(look->state),
		.made_at = read_wall_s(&flow->time),
		.level = ban_level(look->state),
		.whom = ROSTER_KEY,
		.hashed = image->clients.privacy_hash != 0,
	};

	copy(entry.limit, sizeof entry.limit, image_text(image, image_limit_at(image, hit->limit)->name));
	if (entry.hashed)
		snprintf(entry.name, sizeof entry.name, "%016llx",
			 (unsigned long long)flow_key_digest(flow, hit));
	else /* the rest is zero: it ends */
		flow_key_text(flow, hit, entry.name, sizeof entry.name - 1);
	roster_note(flow->env->table, &entry, flow->time.now);
}
