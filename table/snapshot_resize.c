/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * snapshot_resize: a table in place of another, with traffic on.
 *
 * The new one has the same id and secrets, so the ledger at the path is both tables': nothing is renamed but the table.
 * Under the ledger's lock nobody publishes: rows and generation stand still. Who decides looks at `moved` with each
 * decision (table_replaced), and goes over before the next one.
 */
#include <time.h>
#include <unistd.h>

#include "table/atomic.h"
#include "table/clock.h"
#include "table/make.h"
#include "table/snapshot_carry.h"

#define PAUSE_MS 20u
#define QUIET	 3u /* looks in a row without a change */

/* The file that was at the path until now. */
static void say_moved(int fd)
{
	const uint64_t moved = 1;
	if (pwrite(fd, &moved, sizeof moved, offsetof(struct layout_header, published.moved)) < 0)
		return; /* they look once a second anyway */
}

static enum weir_error make_at(const struct snapshot *snapshot, const struct table_options *options,
			       int folder, const char *name, bool replace, const struct why *why)
{
	struct table_options look = {.path = options->path, .read_only = true};
	struct table *old = NULL;
	bool taken = false;
	int fd = -1;
	if (replace && table_open(&look, &old, NULL, 0) == WEIR_OK && old->table_id != snapshot->table_id)
		table_close(&old);
	if (replace && file_open(folder, name, true, &fd, &(struct why){0}) != WEIR_OK)
		fd = -1;
	enum weir_error error = make_from(options, folder, name, snapshot, old, replace, &taken, why);
	if (error == WEIR_OK && taken)
		error = why_error(why, WEIR_EXISTS, "there is a table already");
	if (error == WEIR_OK && fd >= 0)
		say_moved(fd);
	if (fd >= 0)
		close(fd);
	table_close(&old);
	return error;
}

enum weir_error snapshot_make_table(const struct snapshot *snapshot, const struct table_options *options,
				    bool replace, char *text, size_t size)
{
	char sentence[256] = "";
	const struct why inner = {sentence, sizeof sentence}, why = {text, size};
	const char *name;
	int folder;
	enum weir_error error = file_folder(options->path, true, &folder, &name, &inner);
	if (error == WEIR_OK) {
		make_lock(folder);
		int fd;
		if (!replace && file_open(folder, name, false, &fd, &(struct why){0}) == WEIR_OK) {
			close(fd);
			error = why_error(&inner, WEIR_EXISTS, "there is a table already");
		}
		if (error == WEIR_OK)
			error = make_at(snapshot, options, folder, name, replace, &inner);
		make_unlock(folder);
		close(folder);
	}
	return error == WEIR_OK ? error
				: why_error(&why, error, "%s: %s", options->path,
					    sentence[0] ? sentence : weir_error_sentence(error));
}

/* ---- with traffic on ---- */

static void carry(struct table *table, struct table *fresh, struct snapshot *before, unsigned patience_ms)
{
	unsigned quiet = 0, waited = 0;
	while (quiet < QUIET) {
		struct snapshot after;
		if (snapshot_take(table, false, &after) != WEIR_OK)
			return;
		quiet = snapshot_carry(before, &after, fresh) ? 0 : quiet + 1;
		snapshot_free(before);
		*before = after;
		if (quiet == QUIET || waited >= patience_ms)
			return;
		nanosleep(&(struct timespec){0, (long)PAUSE_MS * 1000000}, NULL);
		waited += PAUSE_MS;
	}
}

static enum weir_error resize(struct table *table, const struct table_options *options, unsigned patience_ms,
			      const struct why *why)
{
	struct table_options open_new = {.path = table->path}, made = *options;
	struct table *fresh;
	struct snapshot before;
	bool taken;
	enum weir_error error = snapshot_take(table, false, &before);
	if (error != WEIR_OK)
		return error;
	made.path = table->path;
	if (made.process_slots == 0)
		made.process_slots = table->process_slots;
	make_lock(table->folder);
	error = make_from(&made, table->folder, table->name, &before, table, true, &taken, why);
	make_unlock(table->folder);
	if (error == WEIR_OK) {
		atomic_set(&table->header->published.moved, 1);
		error = table_open(&open_new, &fresh, NULL, 0);
		if (error == WEIR_OK) {
			carry(table, fresh, &before, patience_ms);
			table_close(&fresh);
		} else {
			why_error(why, error, "the new table is in place, but cannot be opened: %s",
				  weir_error_sentence(error));
		}
	}
	snapshot_free(&before);
	return error;
}

enum weir_error table_resize(struct table *table, const struct table_options *options, unsigned patience_ms,
			     char *text, size_t size)
{
	char sentence[256] = "";
	const struct why inner = {sentence, sizeof sentence}, why = {text, size};
	struct algo_time t;
	table_time(table, &t);
	table->look_again = 0;
	enum weir_error error = table_replaced(table, t.now)
					? why_error(&inner, WEIR_NOT_FOUND, "it is not at its path any more")
					: ledger_lock(table, patience_ms);
	if (error == WEIR_OK) {
		error = resize(table, options, patience_ms, &inner);
		ledger_unlock(table);
	} else if (error == WEIR_BUSY) {
		why_error(&inner, error, "somebody else is publishing in it or changing its size");
	}
	return error == WEIR_OK ? error
				: why_error(&why, error, "%s: %s", table->path,
					    sentence[0] ? sentence : weir_error_sentence(error));
}
