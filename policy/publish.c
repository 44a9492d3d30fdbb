/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * publish: put an image in force.
 *
 * The rename is the moment of publication; the generation word only tells that it happened. A publisher
 * killed before the rename has changed nothing that anyone reads (rows that no image names are freed by
 * census), one killed after it is completed by the next.
 */
#include "policy/publish.h"

#include <stdio.h>
#include <stdlib.h>

#include "table/beside.h"
#include "table/ledger.h"

#define PATIENCE_MS 5000u

static struct image *copy_of(const struct image *image)
{
	struct image *copy = malloc(image->size);

	if (copy)
		memcpy(copy, image, image->size);
	return copy;
}

static bool clear_row(const struct publish_row *row, void *context)
{
	(void)context;
	*row->row = TABLE_ROW_NONE;
	if (row->stat)
		*row->stat = 0;
	return true;
}

/* What publication and the moment of compiling put into an image, and nothing else. */
static void clear_publication(struct image *image)
{
	struct image_counter *counters = (struct image_counter *)(void *)((char *)image +
									  image->counters.offset);

	image->checksum = image->generation = 0;
	image->compiled_at = 0;
	for (uint32_t i = 0; i < image->counters.count; i++)
		counters[i].stat = 0; /* of those without a row, too */
	publish_rows_each(image, clear_row, NULL);
}

/* The same policy: equal in every byte that publication does not set. */
static bool same_policy(const struct image *a, const struct image *b)
{
	struct image *x, *y;
	bool same = false;

	if (a->size != b->size || a->source_hash != b->source_hash)
		return false;
	x = copy_of(a);
	y = copy_of(b);
	if (x && y) {
		clear_publication(x);
		clear_publication(y);
		same = memcmp(x, y, a->size) == 0;
	}
	free(x);
	free(y);
	return same;
}

struct assigning {
	struct table *table;
	uint32_t generation;
	const struct why *why;
	bool *known; /* by counter: does the ledger know it from before? */
	enum weir_error error;
};

static bool assign_row(const struct publish_row *row, void *context)
{
	struct assigning *a = context;
	const struct ledger_row *there;
	char name[LEDGER_NAME_MAX];

	snprintf(name, sizeof name, "%.*s",
		 (int)(row->name.size < sizeof name ? row->name.size : sizeof name), row->name.data);
	if (row->main)
		a->known[row->counter] = ledger_knows(a->table, row->identity, row->plan);
	a->error = ledger_row_for(a->table, row->identity, row->plan, &row->numbers, row->flags, name,
				  a->generation, row->row);
	if (a->error != WEIR_OK) {
		why_error(a->why, a->error, "%s: no ledger row for limit '%s': %s", table_path(a->table),
			  name, weir_error_sentence(a->error));
		return false;
	}
	there = ledger_row(a->table, *row->row);
	if (there && row->stat)
		*row->stat = there->stat;
	if (!there)
		a->error = why_error(a->why, WEIR_DAMAGED, "%s: the ledger lost the row of limit '%s'",
				     table_path(a->table), name);
	return there != NULL;
}

static enum weir_error assign_rows(struct table *table, struct image *image, bool *known,
				   const struct why *why)
{
	struct assigning a = {table, (uint32_t)image->generation, why, known, WEIR_OK};
	struct image_counter *counters = (struct image_counter *)(void *)((char *)image +
									  image->counters.offset);

	if (!publish_rows_each(image, assign_row, &a))
		return a.error != WEIR_OK
			       ? a.error
			       : why_error(why, WEIR_BAD_IMAGE, "a counter has no numbers for a billing day");
	for (uint32_t i = 0; i < image->counters.count; i++) /* it counts nothing; told where its limit is */
		if (counters[i].what == IMAGE_BANDWIDTH)
			counters[i].stat = i > 0 && counters[i - 1].limit == counters[i].limit
						   ? counters[i - 1].stat
						   : 0;
	return WEIR_OK;
}

/* A policy that takes the place of an nginx's own zones, or they its, would end the limits of whoever decides by them. */
static enum weir_error refuse_other_kind(const struct table *table, const struct image *old,
					 const struct why *why)
{
	struct text source = image_text(old, old->source);

	return old->kind == IMAGE_OF_ZONES
		       ? why_error(why, WEIR_OTHER_KIND,
				   "%s serves the limit_req and limit_conn zones of %.*s: a policy needs "
				   "another table",
				   table_path(table), (int)source.size, source.data)
		       : why_error(why, WEIR_OTHER_KIND,
				   "%s serves the policy %.*s: nginx's own zones need another table",
				   table_path(table), (int)source.size, source.data);
}

/* Under the lock. `old`: what lies there now, NULL if that is nothing sound. */
static enum weir_error publish(struct table *table, const struct image *image, const struct image *old,
			       struct publish_report *report, const struct why *why)
{
	uint64_t last = table_last_generation(table);
	struct image *copy;
	bool *known;
	enum weir_error error;

	if (old && table_generation(table) != 0 && old->kind != image->kind)
		return refuse_other_kind(table, old, why);
	if (old && old->generation >= last && same_policy(old, image) && publish_rows_stand(table, old)) {
		/* a publisher may have been killed between rename and telling */
		table_set_generation(table, old->generation);
		report->generation = old->generation;
		report->unchanged = true;
		return WEIR_OK;
	}
	if (old && old->generation > last && old->generation < UINT32_MAX && publish_rows_stand(table, old))
		last = old->generation;
	if (last >= UINT32_MAX)
		return why_error(why, WEIR_LEDGER_FULL,
				 "%s: generation %llu was the last that fits a ledger row", table_path(table),
				 (unsigned long long)last);
	copy = copy_of(image);
	known = calloc(image->counters.count + 1, sizeof *known);
	if (!copy || !known) {
		free(copy);
		free(known);
		return why_error(why, WEIR_NO_MEMORY, "out of memory");
	}
	copy->generation = last + 1;
	error = assign_rows(table, copy, known, why);
	if (error == WEIR_OK) {
		copy->checksum = image_checksum(copy);
		error = table_beside_replace(table, BESIDE_POLICY, copy, copy->size, why);
	}
	if (error == WEIR_OK) {
		table_set_generation(table, copy->generation);
		publish_trials(table, copy);
		report->generation = copy->generation;
		publish_tell(known, old, copy, report);
		if (!report->words[0])
			snprintf(report->words, sizeof report->words, "no counter is affected");
	}
	free(known);
	free(copy);
	return error;
}

enum weir_error policy_publish_within(struct table *table, const struct image *image, unsigned wait_ms,
				      struct publish_report *report, char *why, size_t size)
{
	const struct why reason = {why, size};
	struct policy_image *old = NULL;
	enum weir_error error;

	memset(report, 0, sizeof *report);
	error = ledger_lock(table, wait_ms);
	if (error == WEIR_BUSY)
		return why_error(&reason, error,
				 "%s" BESIDE_LEDGER ": another publisher has held the lock for %u ms",
				 table_path(table), wait_ms);
	if (error != WEIR_OK)
		return why_error(&reason, error, "%s" BESIDE_LEDGER ": %s", table_path(table),
				 weir_error_sentence(error));
	if (publish_read(table, &old, NULL, 0) == WEIR_NO_MEMORY)
		error = why_error(&reason, WEIR_NO_MEMORY, "out of memory");
	if (error == WEIR_OK)
		error = publish(table, image, old ? old->image : NULL, report, &reason);
	ledger_unlock(table);
	policy_drop(&old);
	return error;
}

enum weir_error policy_publish(struct table *table, const struct image *image, struct publish_report *report,
			       char *why, size_t size)
{
	return policy_publish_within(table, image, PATIENCE_MS, report, why, size);
}
