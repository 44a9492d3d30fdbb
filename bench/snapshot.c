/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * snapshot: what deciders notice of a keeper. 1,000,000 live keys; one process decides about random ones and times every
 * single decision, another keeps the table: not at all, or without a pause (it takes a tenth of the time otherwise).
 * Slices of both take turns; each has a median and a 99.9th percentile, and of these the medians are told. What
 * reading, writing and loading cost, besides.
 */
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "table/ledger.h"
#include "table/snapshot.h"

#define KEYS   1000000u
#define SLICES 15u
#define EACH   200000u /* decisions of a slice */
#define SECOND UINT64_C(1000000000)

enum mode { IDLE, KEEPING, MODES };

struct shared {
	volatile uint32_t mode, works;
};

static char folder[64] = "/dev/shm/weir-bench-XXXXXX", path[96], file[96];
static uint32_t row;

_Noreturn static void fail(const char *what, enum weir_error error)
{
	fprintf(stderr, "bench: %s: %s\n", what, weir_error_sentence(error));
	exit(1);
}

static uint64_t ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * SECOND + (uint64_t)t.tv_nsec;
}

static uint64_t mix(uint64_t z)
{
	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

static struct table *open_table(const char *at, const char *snapshot)
{
	struct table_options options = {.path = at,
					.size = KEYS * UINT64_C(40),
					.create = true,
					.process_slots = 4,
					.snapshot = snapshot};
	struct table *table;
	char why[256];
	enum weir_error error = table_open(&options, &table, why, sizeof why);
	if (error)
		fail(why, error);
	return table;
}

static void decide(struct table *table, uint64_t id)
{
	uint64_t bytes[2] = {id, mix(id + 1)};
	struct table_key key = table_key(table, bytes, sizeof bytes);
	struct table_look look;
	struct algo_time t;
	table_time(table, &t);
	if (table_charge(table, &key, row, &t, 1, &look) == TABLE_NO_ROOM)
		fail("a key found no room", WEIR_SYSTEM);
}

static void pin(unsigned processor)
{
	cpu_set_t set;
	CPU_ZERO(&set);
	CPU_SET(processor, &set);
	sched_setaffinity(0, sizeof set, &set); /* where there is only one they take turns */
}

static void keep(struct shared *shared)
{
	struct table *table = open_table(path, NULL);
	struct keeper *keeper;
	uint64_t now = 0;
	enum weir_error error = keeper_open(file, &keeper, NULL, 0);
	if (error)
		fail("keeper", error);
	pin(1);
	for (;;) {
		if (shared->mode == IDLE) {
			nanosleep(&(struct timespec){0, 100000}, NULL);
			continue;
		}
		error = keeper_work(keeper, table, now += 600000, NULL, 0);
		if (error)
			fail("keeper", error);
		shared->works++;
	}
}

static int by_size(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	return x < y ? -1 : x > y;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return x < y ? -1 : x > y;
}

static void slice(struct table *table, uint64_t *at, double *median, double *p999)
{
	static uint32_t took[EACH];
	uint64_t before = ns();
	for (unsigned i = 0; i < EACH; i++) {
		decide(table, mix(++*at) % KEYS);
		uint64_t after = ns();
		took[i] = (uint32_t)(after - before);
		before = after;
	}
	qsort(took, EACH, sizeof *took, by_size);
	*median = took[EACH / 2];
	*p999 = took[EACH - EACH / 1000];
}

static double middle(double *values)
{
	qsort(values, SLICES, sizeof *values, by_value);
	return values[SLICES / 2];
}

static void measure_keeping(struct table *table)
{
	struct shared *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
				     -1, 0);
	double median[MODES][SLICES], p999[MODES][SLICES];
	uint64_t at = 7;
	pid_t child = fork();
	if (child == 0)
		keep(shared);
	pin(0);
	for (unsigned i = 0; i < SLICES; i++)
		for (enum mode mode = IDLE; mode < MODES; mode++) {
			shared->mode = mode;
			uint32_t works = shared->works;
			while (mode == KEEPING && shared->works == works) /* in the middle of it */
				;
			slice(table, &at, &median[mode][i], &p999[mode][i]);
		}
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	double quiet = middle(median[IDLE]), kept = middle(median[KEEPING]);
	printf("a decision, clock included    median %5.0f ns alone, %5.0f ns while it is kept: %+.0f %%\n",
	       quiet, kept, 100 * (kept / quiet - 1));
	quiet = middle(p999[IDLE]);
	kept = middle(p999[KEEPING]);
	printf("                              99.9 %% %5.0f ns alone, %5.0f ns while it is kept: %+.0f %%\n",
	       quiet, kept, 100 * (kept / quiet - 1));
}

static void measure_files(struct table *table)
{
	struct snapshot snapshot;
	struct stat st;
	char other[96];
	uint64_t begin = ns();
	enum weir_error error = snapshot_take(table, true, &snapshot);
	uint64_t taken = ns();
	if (!error)
		error = snapshot_write(&snapshot, file, NULL, 0);
	uint64_t written = ns();
	if (error)
		fail("snapshot", error);
	snprintf(other, sizeof other, "%s/other", folder);
	struct table *loaded = open_table(other, file);
	uint64_t opened = ns();
	struct table_restored told;
	if (!table_restored(loaded, &told) || told.entries + told.expired != snapshot.entry_count)
		fail("loaded is not what was taken", WEIR_DAMAGED);
	stat(file, &st);
	printf("%zu counters: read in %.0f ms, written in %.0f ms (%.0f MB, in memory), loaded in %.0f ms\n",
	       snapshot.entry_count, (double)(taken - begin) / 1e6, (double)(written - taken) / 1e6,
	       (double)st.st_size / 1e6, (double)(opened - written) / 1e6);
	snapshot_free(&snapshot);
	table_close(&loaded);
	unlink(other);
	strcat(other, ".ledger");
	unlink(other);
}

static void clean(const char *suffix)
{
	char text[128];
	snprintf(text, sizeof text, "%s%s", strcmp(suffix, ".ledger") == 0 || !*suffix ? path : file, suffix);
	unlink(text);
}

int main(void)
{
	struct algo_numbers numbers;
	if (!mkdtemp(folder))
		fail(folder, WEIR_SYSTEM);
	snprintf(path, sizeof path, "%s/table", folder);
	snprintf(file, sizeof file, "%s/snap", folder);
	struct table *table = open_table(path, NULL);
	if (!algo_token_bucket(1000, 24 * 3600 * SECOND, ALGO_BURST_MAX, &numbers) ||
	    ledger_lock(table, 1000) || ledger_row_for(table, 1, 0, &numbers, 0, "bench", 1, &row))
		fail("ledger", WEIR_SYSTEM);
	ledger_unlock(table);
	for (uint64_t id = 0; id < KEYS; id++)
		decide(table, id);
	measure_files(table);
	unlink(file);
	measure_keeping(table);
	table_close(&table);
	static const char *const suffixes[] = {"", ".ledger", ".journal", ".lock", ".new"};
	for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
		clean(suffixes[i]);
	unlink(file);
	rmdir(folder);
	return 0;
}
