/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * keeper: a table written down while it lives.
 *
 * It reads the table, compares with what it wrote last, of which it has a copy, and appends the difference. The order in
 * which files change leaves a readable pair whenever it is killed: a base is whole before it has its name and on
 * disk before a journal begins that names it; until then the old journal names a base that is gone, and all that it
 * said is in the new one.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "table/journal.h"

#define PAUSE_MS     1000u
#define SHARE	     10u		 /* reading takes at most this part of the time */
#define GROWN	     (UINT64_C(1) << 20) /* a journal may outgrow its base by this */
#define HEARTBEAT_MS 60000u		 /* so that the wall clock in the file is not too old */
#define COMPACT_MS   10000u		 /* after a failure: not at once again */

struct keeper {
	char *path;
	struct snapshot_place place;
	int lock;
	struct journal journal;
	struct snapshot last; /* what base and journal say */
	bool written;	      /* they do */
	bool found;	      /* there was a base of table `found_id` when we came */
	uint64_t found_id;
	uint64_t base_bytes;
	uint64_t next_ms, told_ms, compact_ms;
	bool began;
	unsigned pause_ms;
	enum weir_error said;
};

static enum weir_error look(struct keeper *keeper, const struct why *why)
{
	struct snapshot_head head;
	uint64_t bytes;
	int fd;
	enum weir_error error = snapshot_open(&keeper->place, "", false, &fd, why);
	if (error == WEIR_NOT_FOUND)
		return WEIR_OK;
	if (error != WEIR_OK)
		return error;
	error = snapshot_read_head(fd, &bytes, &head, why);
	close(fd);
	keeper->found = error == WEIR_OK;
	keeper->found_id = head.table_id;
	return error == WEIR_DAMAGED ? WEIR_OK : error;
}

enum weir_error keeper_open(const char *path, struct keeper **out, char *text, size_t size)
{
	char sentence[256] = "";
	const struct why inner = {sentence, sizeof sentence}, why = {text, size};
	struct keeper *keeper = calloc(1, sizeof *keeper);
	enum weir_error error = WEIR_NO_MEMORY;
	*out = NULL;
	if (keeper) {
		*keeper = (struct keeper){.place.folder = -1,
					  .lock = -1,
					  .journal.fd = -1,
					  .pause_ms = PAUSE_MS,
					  .path = strdup(path)};
		if (keeper->path)
			error = snapshot_place(keeper->path, &keeper->place, &inner);
		if (error == WEIR_OK)
			error = snapshot_lock(&keeper->place, &keeper->lock, &inner);
		if (error == WEIR_OK)
			error = look(keeper, &inner);
	}
	if (error != WEIR_OK) {
		keeper_close(&keeper, NULL, NULL, 0);
		return why_error(&why, error, "%s: %s", path,
				 sentence[0] ? sentence : weir_error_sentence(error));
	}
	*out = keeper;
	return WEIR_OK;
}

unsigned keeper_pause_ms(const struct keeper *keeper)
{
	return keeper->pause_ms;
}

/* What another table had counted is not thrown away: somebody may have made this one without loading it. */
static void put_aside(const struct keeper *keeper)
{
	static const char *const suffix[] = {SNAPSHOT_JOURNAL, ""};
	for (size_t i = 0; i < sizeof suffix / sizeof *suffix; i++) {
		char from[NAME_MAX + 1], to[NAME_MAX + 1];
		snprintf(from, sizeof from, "%s%s", keeper->place.name, suffix[i]);
		snprintf(to, sizeof to, "%s" SNAPSHOT_OLD "%s", keeper->place.name, suffix[i]);
		unlinkat(keeper->place.folder, to, 0);
		if (linkat(keeper->place.folder, from, keeper->place.folder, to, 0) != 0)
			errno = 0; /* there may be none */
	}
}

static enum weir_error compact(struct keeper *keeper, const struct snapshot *now, const struct why *why)
{
	uint64_t base;
	if (getrandom(&base, sizeof base, 0) != sizeof base)
		return why_error(why, WEIR_SYSTEM, "getrandom: %s", strerror(errno));
	if (keeper->found && keeper->found_id != now->table_id)
		put_aside(keeper);
	keeper->found = false;
	enum weir_error error = snapshot_put_base(&keeper->place, now, base, &keeper->base_bytes, why);
	if (error != WEIR_OK)
		return error;
	/* The base stands: from here on the old journal says nothing, with or without a new one. */
	keeper->written = true;
	return journal_begin(&keeper->journal, &keeper->place, base, why);
}

static bool same_table(const struct snapshot *a, const struct snapshot *b)
{
	return a->table_id == b->table_id && a->pairs == b->pairs &&
	       memcmp(a->secret, b->secret, sizeof a->secret) == 0 && a->time <= b->time;
}

static enum weir_error put(struct keeper *keeper, const struct snapshot *now, uint64_t now_ms, bool last,
			   const struct why *why)
{
	bool must = !keeper->written || keeper->journal.fd < 0 || !same_table(&keeper->last, now);
	bool grown = keeper->journal.end > keeper->base_bytes + GROWN && now_ms >= keeper->compact_ms;
	enum weir_error error = WEIR_OK;
	uint64_t changes;
	if (must || grown) {
		error = compact(keeper, now, why);
		keeper->compact_ms = now_ms + COMPACT_MS;
		if (error == WEIR_OK)
			keeper->told_ms = now_ms;
		/* Where a base has no room, a batch may. */
		if (error == WEIR_OK || must || keeper->journal.fd < 0)
			return error;
	}
	bool due = last || now_ms - keeper->told_ms >= HEARTBEAT_MS;
	error = journal_append(&keeper->journal, &keeper->last, now, due, &changes, why);
	if (error == WEIR_OK && (due || changes))
		keeper->told_ms = now_ms;
	return error;
}

/* What this thread has had of a processor: a walk that waits for one costs nobody anything. */
static uint64_t spent_ms(void)
{
	struct timespec spent = {0};
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
	return (uint64_t)spent.tv_sec * 1000 + (uint64_t)spent.tv_nsec / 1000000;
}

static enum weir_error work(struct keeper *keeper, struct table *table, uint64_t now_ms, bool last,
			    const struct why *why)
{
	struct snapshot now;
	uint64_t begun = spent_ms();
	enum weir_error error = snapshot_take(table, true, &now);
	if (error != WEIR_OK)
		return why_error(why, error, "%s", weir_error_sentence(error));
	uint64_t pause = (spent_ms() - begun) * SHARE;
	keeper->pause_ms = pause < PAUSE_MS	  ? PAUSE_MS
			   : pause > HEARTBEAT_MS ? HEARTBEAT_MS
						  : (unsigned)pause;
	error = put(keeper, &now, now_ms, last, why);
	if (error == WEIR_OK) {
		snapshot_free(&keeper->last);
		keeper->last = now;
	} else {
		snapshot_free(&now);
	}
	return error;
}

enum weir_error keeper_work(struct keeper *keeper, struct table *table, uint64_t now_ms, char *text,
			    size_t size)
{
	char sentence[256] = "";
	const struct why inner = {sentence, sizeof sentence}, why = {text, size};
	if (text && size)
		*text = '\0';
	if (keeper->began && now_ms < keeper->next_ms)
		return WEIR_OK;
	keeper->began = true;
	enum weir_error error = work(keeper, table, now_ms, false, &inner);
	keeper->next_ms = now_ms + keeper->pause_ms;
	if (error != WEIR_OK && error != keeper->said)
		why_error(&why, error, "%s: %s", keeper->path, sentence);
	keeper->said = error;
	return error;
}

enum weir_error keeper_close(struct keeper **handle, struct table *table, char *text, size_t size)
{
	char sentence[256] = "";
	const struct why inner = {sentence, sizeof sentence}, why = {text, size};
	struct keeper *keeper = *handle;
	enum weir_error error = WEIR_OK;
	*handle = NULL;
	if (!keeper)
		return WEIR_OK;
	if (table)
		error = work(keeper, table, keeper->next_ms, true, &inner);
	if (error != WEIR_OK)
		why_error(&why, error, "%s: %s", keeper->path, sentence);
	journal_end(&keeper->journal);
	snapshot_leave(&keeper->place);
	if (keeper->lock >= 0)
		close(keeper->lock);
	snapshot_free(&keeper->last);
	free(keeper->path);
	free(keeper);
	return error;
}
