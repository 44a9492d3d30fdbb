/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * roster: a hash table of entries on disk.
 *
 * An entry has eight places, by its key. Whoever writes holds the file's lock, but a reader holds nothing: a torn entry is known
 * by its check. Nothing that is read from the file is believed further than that its texts end.
 */
#include "table/roster.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "table/beside.h"
#include "table/file.h"
#include "table/siphash.h"

#define MAGIC	 UINT64_C(0x314e414252494557) /* "WEIRBAN1" */
#define WAYS	 8u
#define PAUSE_MS 2u
#define SECOND	 UINT64_C(1000000000)

struct head {
	uint64_t magic, table_id;
	uint32_t entries, size;
	uint8_t spare[sizeof(struct roster_entry) - 24];
};
static_assert(sizeof(struct roster_entry) == 320 && sizeof(struct head) == sizeof(struct roster_entry),
	      "a file format");

static uint64_t check_of(const struct roster_entry *entry)
{
	static const struct siphash_key key = {UINT64_C(0x7765697220626173), UINT64_C(0x7320726f73746572)};
	return siphash_2_4(&key, entry, offsetof(struct roster_entry, check)).lo;
}

static bool whole(const struct roster_entry *entry)
{
	return entry->check == check_of(entry) && memchr(entry->limit, '\0', sizeof entry->limit) &&
	       memchr(entry->name, '\0', sizeof entry->name) &&
	       memchr(entry->reason, '\0', sizeof entry->reason) && entry->whom <= ROSTER_USER;
}

static uint64_t place_of(unsigned i)
{
	return sizeof(struct head) + (uint64_t)i * sizeof(struct roster_entry);
}

static bool ours(const struct table *table, const struct head *head)
{
	return head->magic == MAGIC && head->table_id == table->table_id && head->entries == ROSTER_ENTRIES &&
	       head->size == sizeof(struct roster_entry);
}

/* An empty one, in place of another table's or a damaged one. Two who do so at once: one of them has lost an entry. */
static enum weir_error make(struct table *table)
{
	const struct head head = {MAGIC, table->table_id, ROSTER_ENTRIES, sizeof(struct roster_entry), {0}};
	const struct why none = {NULL, 0};
	char name[NAME_MAX + 1];
	struct file_new file;
	bool taken;
	enum weir_error error = file_make(table->folder, place_of(ROSTER_ENTRIES), &file, &none);
	if (error != WEIR_OK)
		return error;
	error = file_write_all(file.fd, &head, sizeof head, 0, &none);
	snprintf(name, sizeof name, "%s" BESIDE_ROSTER, table->name);
	if (error == WEIR_OK)
		error = file_name(&file, name, true, &taken, &none);
	file_drop(&file);
	return error;
}

/* Opened for writing, locked, and ours. *fd is the caller's to close. */
static enum weir_error open_locked(struct table *table, unsigned wait_ms, int *fd)
{
	const struct why none = {NULL, 0};
	enum weir_error error = WEIR_NOT_FOUND;
	for (unsigned try = 0; try < 2; try++) {
		struct head head;
		struct stat st;
		error = file_open_beside(table, BESIDE_ROSTER, true, fd);
		if (error == WEIR_OK) {
			for (unsigned waited = 0; flock(*fd, LOCK_EX | LOCK_NB) != 0; waited += PAUSE_MS) {
				if ((errno != EWOULDBLOCK && errno != EINTR) || waited >= wait_ms) {
					close(*fd);
					return WEIR_BUSY;
				}
				nanosleep(&(struct timespec){0, PAUSE_MS * 1000000L}, NULL);
			}
			if (fstat(*fd, &st) == 0 && (uint64_t)st.st_size == place_of(ROSTER_ENTRIES) &&
			    file_read_all(*fd, &head, sizeof head, 0, &none) == WEIR_OK && ours(table, &head))
				return WEIR_OK;
			close(*fd);
		} else if (error != WEIR_NOT_FOUND) {
			return error;
		}
		if ((error = make(table)) != WEIR_OK)
			return error;
		error = WEIR_DAMAGED;
	}
	return error;
}

static bool same_key(const struct table_key *a, const struct table_key *b)
{
	return a->tag_word == b->tag_word && a->line_word == b->line_word;
}

/* The same ban's, else one that is over (or damaged), else the one that ends first. */
static unsigned choose(const struct roster_entry ways[WAYS], const struct table_key *key, uint64_t now)
{
	unsigned chosen = 0;
	uint64_t least = UINT64_MAX;
	for (unsigned i = 0; i < WAYS; i++) {
		bool good = whole(&ways[i]);
		if (good && same_key(&ways[i].key, key))
			return i;
		uint64_t worth = good && ways[i].until > now ? ways[i].until : 0;
		if (worth < least) {
			least = worth;
			chosen = i;
		}
	}
	return chosen;
}

static enum weir_error put(struct table *table, const struct roster_entry *entry, uint64_t now,
			   unsigned wait_ms)
{
	const struct why none = {NULL, 0};
	struct roster_entry ways[WAYS], fresh = *entry;
	unsigned first = (unsigned)((entry->key.tag_word ^ entry->key.line_word) % (ROSTER_ENTRIES / WAYS)) *
			 WAYS;
	int fd;
	enum weir_error error = open_locked(table, wait_ms, &fd);
	if (error != WEIR_OK)
		return error;
	fresh.limit[sizeof fresh.limit - 1] = fresh.name[sizeof fresh.name - 1] = '\0';
	fresh.reason[sizeof fresh.reason - 1] = '\0';
	fresh.check = check_of(&fresh);
	error = file_read_all(fd, ways, sizeof ways, place_of(first), &none);
	if (error == WEIR_OK)
		error = file_write_all(fd, &fresh, sizeof fresh,
				       place_of(first + choose(ways, &entry->key, now)), &none);
	close(fd);
	return error;
}

void roster_note(struct table *table, const struct roster_entry *entry, uint64_t now)
{
	if (table->read_only)
		return;
	if (now / SECOND != table->roster_second) {
		table->roster_second = now / SECOND;
		table->roster_noted = 0;
	}
	if (table->roster_noted++ < ROSTER_A_SECOND)
		put(table, entry, now, 0);
}

enum weir_error roster_write(struct table *table, const struct roster_entry *entry, uint64_t now,
			     unsigned wait_ms, const struct why *why)
{
	enum weir_error error = put(table, entry, now, wait_ms);
	return error == WEIR_OK ? error
				: why_error(why, error, "%s" BESIDE_ROSTER ": %s", table->path,
					    error == WEIR_BUSY ? "somebody else writes there"
							       : weir_error_sentence(error));
}

enum weir_error roster_read(const struct table *table, uint64_t now, struct roster_entry **out, size_t *count,
			    const struct why *why)
{
	void *bytes;
	size_t size;
	*out = NULL;
	*count = 0;
	enum weir_error error = table_beside_read(table, BESIDE_ROSTER, place_of(ROSTER_ENTRIES), &bytes,
						  &size, why);
	if (error == WEIR_NOT_FOUND)
		return WEIR_OK;
	if (error != WEIR_OK)
		return error;
	if (size == place_of(ROSTER_ENTRIES) && ours(table, bytes)) {
		struct roster_entry *entries = bytes;
		for (unsigned i = 1; i <= ROSTER_ENTRIES; i++) /* the head is as long as an entry */
			if (whole(&entries[i]) && entries[i].until > now)
				entries[(*count)++] = entries[i];
	}
	*out = bytes;
	return WEIR_OK;
}
