/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * current: the image that is in force.
 *
 * It is copied into memory of our own rather than mapped: it is small, and a file that somebody cuts short
 * would otherwise kill the worker that looks at it (SIGBUS).
 */
#include <stdlib.h>

#include "policy/builder.h"
#include "policy/publish.h"
#include "table/beside.h"
#include "table/ledger.h"

#define TRIES	   20u
#define TAKE_UP_MS 20u

/* A published image? Takes `bytes` over. */
static enum weir_error adopt(void *bytes, size_t size, struct policy_image **out, const struct why *why)
{
	struct image *image = bytes;
	struct policy_image *made = NULL;
	enum weir_error error = WEIR_OK;

	if (size < sizeof *image)
		error = why_error(why, WEIR_BAD_IMAGE, "%zu bytes are no policy image", size);
	else if (!image_check(image, size, why->text, why->size))
		error = WEIR_BAD_IMAGE;
	else if (image->checksum != image_checksum(image))
		error = why_error(why, WEIR_BAD_IMAGE, "its checksum is wrong");
	else if (image->generation == 0)
		error = why_error(why, WEIR_BAD_IMAGE, "it was never published");
	else if (!(made = calloc(1, sizeof *made)))
		error = why_error(why, WEIR_NO_MEMORY, "out of memory");
	if (!made) {
		free(image);
		return error;
	}
	*made = (struct policy_image){.image = image, .size = size, .references = 1};
	*out = made;
	return WEIR_OK;
}

enum weir_error publish_read(struct table *table, struct policy_image **out, char *why, size_t size)
{
	char sentence[256] = "";
	const struct why inner = {sentence, sizeof sentence}, outer = {why, size};
	void *bytes;
	size_t got;
	enum weir_error error = table_beside_read(table, BESIDE_POLICY, BUILDER_SIZE_MAX, &bytes, &got,
						  &outer);

	*out = NULL;
	if (error == WEIR_BAD_SIZE)
		return WEIR_BAD_IMAGE;
	if (error == WEIR_NOT_FOUND)
		return why_error(&outer, WEIR_NO_POLICY, "%s" BESIDE_POLICY ": %s", table_path(table),
				 weir_error_sentence(WEIR_NO_POLICY));
	if (error != WEIR_OK)
		return error;
	error = adopt(bytes, got, out, &inner);
	if (error != WEIR_OK)
		why_error(&outer, error, "%s" BESIDE_POLICY ": %s", table_path(table), sentence);
	return error;
}

static bool row_stands(const struct publish_row *row, void *table)
{
	const struct ledger_row *there = ledger_row(table, *row->row);

	return there && there->identity == row->identity && there->plan == row->plan &&
	       there->flags == row->flags && (!row->stat || there->stat == *row->stat) &&
	       memcmp(&there->numbers, &row->numbers, sizeof there->numbers) == 0;
}

bool publish_rows_stand(struct table *table, const struct image *image)
{
	return publish_rows_each((struct image *)(uintptr_t)image, row_stands, table);
}

enum weir_error policy_current(struct table *table, struct policy_image **out, char *why, size_t size)
{
	const struct why reason = {why, size};
	enum weir_error error = WEIR_OK;
	uint64_t generation = 0;

	*out = NULL;
	for (unsigned try = 0; try < TRIES; try++) {
		/* before the file: it is renamed first, so what lies there is never older than this */
		generation = table_generation(table);
		if (generation == 0)
			return why_error(&reason, WEIR_NO_POLICY, "%s: no policy has been published",
					 table_path(table));
		error = publish_read(table, out, why, size);
		if (error != WEIR_OK || !*out)
			return error;
		if ((*out)->image->generation >= generation && publish_rows_stand(table, (*out)->image))
			return WEIR_OK;
		/* Two publications passed meanwhile, and the second reused rows that the first no longer
		 * named: once more. Otherwise it belongs to another table, or an old copy was put there. */
		policy_drop(out);
		if (table_generation(table) == generation)
			break;
	}
	return why_error(&reason, WEIR_BAD_IMAGE,
			 "%s" BESIDE_POLICY ": it is not generation %llu of this table", table_path(table),
			 (unsigned long long)generation);
}

bool policy_take_up(struct table *table, const struct image *image)
{
	if (ledger_lock(table, TAKE_UP_MS) != WEIR_OK)
		return false;
	/* nobody frees rows meanwhile: a census holds the lock, too */
	bool stands = publish_rows_stand(table, image);
	if (stands)
		table_hold_generation(table, image->generation);
	ledger_unlock(table);
	return stands;
}

struct policy_image *policy_hold(struct policy_image *image)
{
	image->references++;
	return image;
}

void policy_drop(struct policy_image **image)
{
	if (*image && --(*image)->references == 0) {
		free((void *)(uintptr_t)(*image)->image);
		free(*image);
	}
	*image = NULL;
}
