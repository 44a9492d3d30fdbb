/* SPDX-License-Identifier: BSD-2-Clause */
/* roster: names of who is banned: written by doors and by hand, read whole, bounded, and believed no further than its checks. */
#include "table/roster.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "tests/table/rig.h"
#include "tests/tap.h"

#define NOW (UINT64_C(1) << 41)

static char why[256];
static const struct why reason = {why, sizeof why};

static struct roster_entry entry_of(uint64_t id, uint64_t until)
{
	struct roster_entry entry = {
		.key = {.tag_word = id, .line_word = id << 40}, .until = until, .level = 1};
	snprintf(entry.name, sizeof entry.name, "name %u", (unsigned)id);
	return entry;
}

static size_t read_all(struct table *table, uint64_t now, struct roster_entry **out)
{
	size_t count;
	if (roster_read(table, now, out, &count, &reason) != WEIR_OK)
		rig_die("roster_read", why);
	return count;
}

static size_t count_of(struct table *table, uint64_t now)
{
	struct roster_entry *entries;
	size_t count = read_all(table, now, &entries);
	free(entries);
	return count;
}

static void check_written(struct table *table, const char *path)
{
	struct roster_entry entry = entry_of(7, NOW + RIG_SECOND), *read;
	struct stat st;
	is_u64(count_of(table, NOW), 0, "no file: nobody");
	ok(stat(path, &st) != 0, "  and reading makes none");
	snprintf(entry.reason, sizeof entry.reason, "why not");
	is_u64(roster_write(table, &entry, NOW, 100, &reason), WEIR_OK, "one is written");
	ok(stat(path, &st) == 0 && (st.st_mode & 0777) == 0600, "  the file is private");
	is_u64(st.st_size, 320 * (ROSTER_ENTRIES + 1), "  and as large as it will ever be");
	is_u64(read_all(table, NOW, &read), 1, "and read");
	is_str(read[0].name, "name 7", "  the name");
	is_str(read[0].reason, "why not", "  the reason");
	free(read);
	is_u64(count_of(table, NOW + RIG_SECOND), 0, "when it is over, it is nobody's");
	entry.until = NOW + 9 * RIG_SECOND;
	is_u64(roster_write(table, &entry, NOW, 100, &reason), WEIR_OK, "the same key again");
	is_u64(count_of(table, NOW + RIG_SECOND), 1, "takes the place of the first");
	memset(entry.name, 'x', sizeof entry.name);
	memset(entry.reason, 'y', sizeof entry.reason);
	is_u64(roster_write(table, &entry, NOW, 100, &reason), WEIR_OK, "texts that do not end");
	is_u64(read_all(table, NOW, &read), 1, "are cut");
	is_u64(strlen(read[0].name), sizeof entry.name - 1, "  to what fits");
	free(read);
}

/* More than there is room for: those that end first go. */
static void check_bounded(struct table *table, const char *path)
{
	struct roster_entry *read;
	struct stat st;
	for (uint64_t i = 0; i < 3 * ROSTER_ENTRIES; i++) {
		struct roster_entry entry = entry_of(i * 977, NOW + (i + 1) * RIG_SECOND);
		roster_write(table, &entry, NOW, 100, &reason);
	}
	size_t count = read_all(table, NOW, &read), late = 0;
	for (size_t i = 0; i < count; i++)
		late += read[i].until > NOW + ROSTER_ENTRIES * RIG_SECOND;
	free(read);
	ok(count > ROSTER_ENTRIES * 9 / 10 && count <= ROSTER_ENTRIES, "full");
	ok(late > count * 9 / 10, "of those that end late");
	is_u64(stat(path, &st) == 0 ? st.st_size : 0, 320 * (ROSTER_ENTRIES + 1), "and no larger");
}

/* A door notes some a second, and never waits. */
static void check_door(struct table *table, const char *path)
{
	unlink(path);
	for (uint64_t i = 0; i < 50; i++) {
		struct roster_entry entry = entry_of(1 + i, NOW + 3600 * RIG_SECOND);
		roster_note(table, &entry, NOW);
	}
	is_u64(count_of(table, NOW), ROSTER_A_SECOND, "of fifty in a second some are noted");
	struct roster_entry entry = entry_of(100, NOW + 3600 * RIG_SECOND);
	roster_note(table, &entry, NOW + RIG_SECOND);
	is_u64(count_of(table, NOW), ROSTER_A_SECOND + 1, "in the next second others");
	int fd = open(path, O_RDWR | O_CLOEXEC);
	ok(fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0, "somebody writes there");
	entry = entry_of(101, NOW + 3600 * RIG_SECOND);
	roster_note(table, &entry, NOW + 2 * RIG_SECOND);
	is_u64(count_of(table, NOW), ROSTER_A_SECOND + 1, "then a door does without");
	is_u64(roster_write(table, &entry, NOW, 10, &reason), WEIR_BUSY,
	       "and a command waits no longer than it says");
	ok(strstr(why, ".bans: somebody else writes there") != NULL, "  and says so");
	close(fd);
	is_u64(roster_write(table, &entry, NOW, 10, &reason), WEIR_OK, "until he is done");
}

/* What is damaged is nobody; what is another table's is made anew. */
static void check_hostile(struct rig *rig, struct table *table, const char *path)
{
	struct table *looks = rig_open_as(rig, true);
	struct roster_entry entry = entry_of(5, NOW + 3600 * RIG_SECOND);
	uint64_t seed = 5;
	roster_note(looks, &entry, NOW);
	unlink(path);
	roster_note(looks, &entry, NOW + RIG_SECOND);
	is_u64(count_of(looks, NOW), 0, "who only looks writes nothing");
	table_close(&looks);

	roster_write(table, &entry, NOW, 10, &reason);
	int fd = open(path, O_RDWR | O_CLOEXEC);
	for (uint64_t at = 320; at < 320 * (ROSTER_ENTRIES + 1); at += 64) {
		uint64_t words[8];
		for (unsigned i = 0; i < 8; i++)
			words[i] = rig_random(&seed);
		if (pwrite(fd, words, sizeof words, (off_t)at) != sizeof words)
			rig_die("pwrite", path);
	}
	is_u64(count_of(table, NOW), 0, "noise is nobody");
	is_u64(roster_write(table, &entry, NOW, 10, &reason), WEIR_OK, "and can be written over");
	is_u64(count_of(table, NOW), 1, "  one");
	uint64_t other = 99;
	if (pwrite(fd, &other, sizeof other, 8) != sizeof other)
		rig_die("pwrite", path);
	is_u64(count_of(table, NOW), 0, "another table's: nobody here");
	is_u64(roster_write(table, &entry, NOW, 10, &reason), WEIR_OK, "it is replaced");
	is_u64(count_of(table, NOW), 1, "  one");
	close(fd);
	if (truncate(path, 1000) != 0)
		rig_die("truncate", path);
	is_u64(count_of(table, NOW), 0, "cut short: nobody");
	is_u64(roster_write(table, &entry, NOW, 10, &reason), WEIR_OK, "it is made anew");
	is_u64(count_of(table, NOW), 1, "  one");
	unlink(path);
	if (symlink("/etc/passwd", path) != 0)
		rig_die("symlink", path);
	is_u64(roster_write(table, &entry, NOW, 10, &reason) == WEIR_OK, 0,
	       "a symbolic link is not followed");
}

int main(void)
{
	struct rig rig = rig_new(TABLE_SIZE_MIN, 2);
	struct table *table = rig_open(&rig);
	char path[120];
	snprintf(path, sizeof path, "%s" BESIDE_ROSTER, rig.path);
	check_written(table, path);
	check_bounded(table, path);
	check_door(table, path);
	check_hostile(&rig, table, path);
	table_close(&table);
	rig_free(&rig);
	return done_testing();
}
