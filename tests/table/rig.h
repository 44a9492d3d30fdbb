/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rig: what the hard tests of the table share: a table in a folder of its own on /dev/shm, rows, keys, a
 * census that must find nothing, and a random number generator of their own.
 *
 * Whatever cannot be set up ends the program at once: a test that goes on without its table tests nothing.
 */
#ifndef WEIR_TESTS_TABLE_RIG_H
#define WEIR_TESTS_TABLE_RIG_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "table/census.h"
#include "table/ledger.h"
#include "table/stats.h"
#include "table/table.h"

#define RIG_SECOND UINT64_C(1000000000)
#define RIG_YEAR   (UINT64_C(366) * 24 * 3600 * RIG_SECOND)

struct rig {
	char folder[64], path[96];
	uint64_t size;
	uint32_t process_slots;
};

_Noreturn static inline void rig_die(const char *what, const char *why)
{
	fprintf(stderr, "%s: %s\n", what, why);
	_exit(99);
}

static inline struct rig rig_new(uint64_t size, uint32_t process_slots)
{
	struct rig rig = {
		.folder = "/dev/shm/weir-test-XXXXXX", .size = size, .process_slots = process_slots};
	if (!mkdtemp(rig.folder))
		rig_die("mkdtemp", rig.folder);
	snprintf(rig.path, sizeof rig.path, "%s/table", rig.folder);
	return rig;
}

/* Files in the rig's folder; `each` (may be NULL) is called with the path of each. */
static inline unsigned rig_files(const struct rig *rig, int (*each)(const char *path))
{
	unsigned count = 0;
	DIR *folder = opendir(rig->folder);
	for (struct dirent *entry; folder && (entry = readdir(folder));) {
		char path[400];
		if (entry->d_name[0] == '.' && (!entry->d_name[1] || !strcmp(entry->d_name, "..")))
			continue;
		snprintf(path, sizeof path, "%s/%s", rig->folder, entry->d_name);
		count++;
		if (each)
			each(path);
	}
	if (folder)
		closedir(folder);
	return count;
}

static inline void rig_free(const struct rig *rig)
{
	rig_files(rig, unlink);
	rmdir(rig->folder);
}

static inline enum weir_error rig_try_open(const struct rig *rig, bool read_only, struct table **out)
{
	struct table_options options = {.path = rig->path,
					.size = rig->size,
					.create = !read_only,
					.read_only = read_only,
					.process_slots = rig->process_slots};
	return table_open(&options, out, NULL, 0);
}

static inline struct table *rig_open_as(const struct rig *rig, bool read_only)
{
	struct table *table;
	enum weir_error error = rig_try_open(rig, read_only, &table);
	if (error)
		rig_die(rig->path, weir_error_sentence(error));
	return table;
}

static inline struct table *rig_open(const struct rig *rig)
{
	return rig_open_as(rig, false);
}

static inline uint32_t rig_row(struct table *table, uint64_t identity, const struct algo_numbers *numbers,
			       uint32_t generation)
{
	uint32_t row;
	enum weir_error error = ledger_lock(table, 10000);
	if (!error)
		error = ledger_row_for(table, identity, 0, numbers, 0, "rig", generation, &row);
	if (error)
		rig_die("ledger", weir_error_sentence(error));
	ledger_unlock(table);
	return row;
}

static inline struct table_key rig_key(const struct table *table, uint64_t kind, uint64_t id)
{
	uint64_t words[2] = {kind, id};
	return table_key(table, words, sizeof words);
}

/* Numbers of the three kinds; a value out of range is a mistake in the test. */
static inline struct algo_numbers rig_token(uint32_t count, uint64_t period_ns, uint32_t burst)
{
	struct algo_numbers numbers;
	if (!algo_token_bucket(count, period_ns, burst, &numbers))
		rig_die("algo_token_bucket", "numbers refused");
	return numbers;
}

static inline struct algo_numbers rig_leaky(uint32_t count, uint64_t period_ns, uint32_t queue)
{
	struct algo_numbers numbers;
	if (!algo_leaky_bucket(count, period_ns, queue, queue / 2, 0, &numbers))
		rig_die("algo_leaky_bucket", "numbers refused");
	return numbers;
}

static inline struct algo_numbers rig_window(uint32_t count, uint64_t period_ns, enum algo_align align)
{
	struct algo_numbers numbers;
	if (!algo_fixed_window(count, period_ns, align, &numbers))
		rig_die("algo_fixed_window", "numbers refused");
	return numbers;
}

static inline void rig_say(void *context, const char *sentence)
{
	(void)context;
	fprintf(stderr, "# census: %s\n", sentence);
}

/* Broken invariants of the rig's table, each told on standard error. */
static inline uint64_t rig_broken(const struct rig *rig)
{
	struct table *table = rig_open_as(rig, true);
	uint64_t broken = census_check(table, rig_say, NULL);
	table_close(&table);
	return broken;
}

static inline struct stats_process rig_stats(const struct rig *rig)
{
	struct stats_process sum;
	struct table *table = rig_open_as(rig, true);
	stats_process_sum(table, &sum);
	table_close(&table);
	return sum;
}

/* Zeroed memory that children share. */
static inline void *rig_shared(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		rig_die("mmap", "no shared memory");
	return memory;
}

/* splitmix64: the same numbers on every run, for the same seed. */
static inline uint64_t rig_random(uint64_t *seed)
{
	uint64_t z = *seed += UINT64_C(0x9e3779b97f4a7c15);
	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

#endif
