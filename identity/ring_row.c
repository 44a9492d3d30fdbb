/* SPDX-License-Identifier: BSD-2-Clause */
/* ring_row: a row as the bytes of a record, and its word in the index. */
#include <string.h>

#include "identity/ring_writer.h"

static bool put(struct text text, size_t most, uint8_t **to, uint8_t *size)
{
	if (text.size > most)
		return false;
	if (text.size)
		memcpy(*to, text.data, text.size);
	*to += text.size;
	*size = (uint8_t)text.size;
	return true;
}

uint64_t ring_row_write(const struct ring_row *row, uint8_t room[RING_ROW_MAX])
{
	struct ring_record record = {
		.id = row->id,
		.expires = row->expires,
		.ends = row->ends,
		.plan_until = row->plan_until,
		.billing_day = row->billing_day,
		.flags = row->revoked ? RING_REVOKED_BIT : 0,
	};
	uint8_t *to = room + sizeof record;
	memset(room, 0, RING_ROW_MAX);
	memcpy(record.hash, row->hash, HMAC_SIZE);
	if (!row->id || !row->name.size || !put(row->name, RING_NAME_MAX, &to, &record.name_size) ||
	    !put(row->owner, RING_OWNER_MAX, &to, &record.owner_size) ||
	    !put(row->tenant, RING_TENANT_MAX, &to, &record.tenant_size) ||
	    !put(row->plan, RING_PLAN_MAX, &to, &record.plan_size) ||
	    !put(row->after, RING_PLAN_MAX, &to, &record.after_size))
		return 0;
	memcpy(room, &record, sizeof record);
	return ring_record_units(&record);
}

uint64_t *ring_word_of(uint64_t *index, uint64_t places, const uint8_t *units, const uint8_t *hash)
{
	uint64_t place = ring_place_of(hash);
	for (uint64_t i = 0; i < RING_PROBES; i++) {
		uint64_t *word = &index[(place + i) & (places - 1)];
		if (*word == 0)
			return word;
		if (*word >> 32 == ring_tag_of(hash) && units &&
		    memcmp(units + ((uint32_t)*word - UINT64_C(1)) * RING_UNIT, hash, HMAC_SIZE) == 0)
			return word;
	}
	return NULL;
}
