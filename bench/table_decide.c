/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * table_decide: what one decision in the table costs, as ratios in one run: to the physical limit (a bare
 * 64-bit compare-and-swap on a random line of as many cache lines) and to the usual way (a red-black tree
 * under one mutex in shared memory). With 1,000 and 1,000,000 keys, `--large` also 10,000,000; with one
 * process and two; best of three short runs, interleaved.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "bench/crew.h"
#include "bench/rbtree.h"
#include "table/census.h"
#include "table/ledger.h"
#include "table/table.h"

enum job { STOP, BARE, TREE, CHARGE, WHOLE, REFUSED, HOT, JOBS };

#define ROUNDS	  3
#define RUN_NS	  20e6
#define TRACE_MAX (1u << 22)
#define SECOND	  UINT64_C(1000000000)

enum kind { OPEN, SHUT, KINDS }; /* keys that are always admitted, keys that are always refused */

struct field { /* what all workers of one size share; a table for each kind */
	char folder[64], path[KINDS][96];
	uint32_t keys, trace_size, lines, row[KINDS];
	uint64_t begin;	 /* table time at which the keys were charged */
	uint32_t *trace; /* ids, in random order */
	struct rb_tree *tree;
	uint64_t *bare; /* one word a line */
	uint64_t live, slots, file_bytes;
	_Atomic uint64_t count[JOBS], wrong[JOBS];
};

struct worker {
	struct field *field;
	struct table *table[KINDS];
	struct table_key *keys[KINDS]; /* of the trace */
	uint64_t at;
};

struct result {
	double ns[JOBS][CREW_MAX + 1];
};

static uint64_t mix(uint64_t z)
{
	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

static void key_bytes(uint64_t id, uint64_t out[2])
{
	out[0] = id;
	out[1] = mix(id + 1);
}

_Noreturn static void fail(const char *what, enum weir_error error)
{
	fprintf(stderr, "bench: %s: %s\n", what, weir_error_sentence(error));
	exit(1);
}

/* Two and a half slots a key: what is recommended. */
static struct table *open_table(const struct field *field, enum kind kind)
{
	uint64_t size = field->keys * UINT64_C(40);
	struct table_options options = {.path = field->path[kind],
					.create = true,
					.process_slots = 4,
					.size = size > TABLE_SIZE_MIN ? size : TABLE_SIZE_MIN};
	struct table *table;
	enum weir_error error = table_open(&options, &table, NULL, 0);
	if (error)
		fail(field->path[kind], error);
	return table;
}

/* ---- the jobs ------------------------------------------------------------------------------------ */

/* Every page mapped before anything is measured: a first touch costs a hundred decisions. */
static void touch(void *memory, size_t size)
{
	for (size_t at = 0; at < size; at += 4096)
		__sync_fetch_and_add((unsigned char *)memory + at, 0);
}

static void *worker_begin(void *context, unsigned index)
{
	struct worker *worker = calloc(1, sizeof *worker);
	struct field *field = context;
	if (!worker)
		fail("worker", WEIR_NO_MEMORY);
	worker->field = field;
	worker->at = index * (field->trace_size / 2);
	for (enum kind kind = OPEN; kind < KINDS; kind++) {
		worker->table[kind] = open_table(field, kind);
		worker->keys[kind] = malloc(field->trace_size * sizeof **worker->keys);
		if (!worker->keys[kind])
			fail("trace", WEIR_NO_MEMORY);
		for (uint32_t i = 0; i < field->trace_size; i++) {
			uint64_t bytes[2];
			key_bytes(field->trace[i], bytes);
			worker->keys[kind][i] = table_key(worker->table[kind], bytes, sizeof bytes);
			struct algo_time t = {.now = field->begin};
			struct table_look look;
			table_peek(worker->table[kind], &worker->keys[kind][i], field->row[kind], &t, 1,
				   &look);
		}
	}
	touch(field->bare, (size_t)field->lines * 64);
	touch(field->tree->nodes, (size_t)field->keys * sizeof(struct rb_node));
	return worker;
}

/* One loop a job, so that nothing but the job is in it. Returns how many were decided wrongly. */
static uint64_t work_bare(struct worker *worker, uint64_t count)
{
	struct field *field = worker->field;
	for (; count; count--, worker->at++) {
		uint64_t *word = &field->bare[(mix(worker->at) * (unsigned __int128)field->lines >> 64) * 8];
		__sync_bool_compare_and_swap(word, *(volatile uint64_t *)word, worker->at);
	}
	return 0;
}

static uint64_t work_tree(struct worker *worker, uint64_t count)
{
	struct field *field = worker->field;
	uint64_t wrong = 0, bytes[2];
	for (; count; count--, worker->at++) {
		key_bytes(field->trace[worker->at & (field->trace_size - 1)], bytes);
		wrong += !rb_decide(field->tree, (uint32_t)bytes[1], (unsigned char *)bytes, 0, 0, INT64_MAX);
	}
	return wrong;
}

static uint64_t work_charge(struct worker *worker, uint64_t count, enum kind kind, bool hot)
{
	struct field *field = worker->field;
	struct table_look look;
	struct algo_time t = {.now = field->begin};
	uint64_t wrong = 0;
	if (kind == OPEN)
		table_time(worker->table[kind], &t);
	for (; count; count--, worker->at++, t.now += kind == OPEN) {
		uint64_t at = hot ? 0 : worker->at & (field->trace_size - 1);
		enum table_charge result = table_charge(worker->table[kind], &worker->keys[kind][at],
							field->row[kind], &t, 1, &look);
		wrong += (result == TABLE_CHARGED) != (kind == OPEN);
	}
	return wrong;
}

static uint64_t work_whole(struct worker *worker, uint64_t count)
{
	struct field *field = worker->field;
	struct table *table = worker->table[OPEN];
	uint64_t wrong = 0, bytes[2];
	for (; count; count--, worker->at++) {
		struct table_look look;
		struct algo_time t;
		key_bytes(field->trace[worker->at & (field->trace_size - 1)], bytes);
		struct table_key key = table_key(table, bytes, sizeof bytes);
		table_time(table, &t);
		wrong += table_charge(table, &key, field->row[OPEN], &t, 1, &look) != TABLE_CHARGED;
	}
	return wrong;
}

static void work(void *own, unsigned job, unsigned index, uint64_t count)
{
	struct worker *worker = own;
	uint64_t wrong = 0;
	(void)index;
	switch ((enum job)job) {
	case BARE:
		wrong = work_bare(worker, count);
		break;
	case TREE:
		wrong = work_tree(worker, count);
		break;
	case CHARGE:
		wrong = work_charge(worker, count, OPEN, false);
		break;
	case WHOLE:
		wrong = work_whole(worker, count);
		break;
	case REFUSED:
		wrong = work_charge(worker, count, SHUT, false);
		break;
	case HOT:
		wrong = work_charge(worker, count, SHUT, true);
		break;
	case STOP:
	case JOBS:
		break;
	}
	atomic_fetch_add(&worker->field->count[job], count);
	if (wrong)
		atomic_fetch_add(&worker->field->wrong[job], wrong);
}

/* ---- one size ------------------------------------------------------------------------------------ */

static void field_fill(struct field *field, enum kind kind)
{
	struct table *table = open_table(field, kind);
	struct algo_numbers numbers;
	struct algo_time t;
	if (!(kind == OPEN ? algo_token_bucket(1000000, SECOND, ALGO_BURST_MAX, &numbers)
			   : algo_token_bucket(1, 366 * 24 * 3600 * SECOND, 1, &numbers)))
		fail("numbers", WEIR_BAD_SIZE);
	enum weir_error error = ledger_lock(table, 1000);
	if (!error)
		error = ledger_row_for(table, 1 + kind, 0, &numbers, 0, "bench", 1, &field->row[kind]);
	if (error)
		fail("ledger", error);
	ledger_unlock(table);
	table_time(table, &t);
	field->begin = t.now;
	for (uint32_t id = 0; id < field->keys; id++) {
		struct table_look look;
		uint64_t bytes[2];
		key_bytes(id, bytes);
		struct table_key key = table_key(table, bytes, sizeof bytes);
		table_charge(table, &key, field->row[kind], &t, 1, &look);
		if (kind == OPEN)
			rb_decide(field->tree, (uint32_t)bytes[1], (unsigned char *)bytes, 0, 0, INT64_MAX);
	}
	struct census census;
	census_take(table, &census);
	field->slots = census.slots;
	field->live = census.live; /* at last: of the keys that never recover */
	field->file_bytes = census.bytes;
	table_close(&table);
}

static struct field *field_new(uint32_t keys)
{
	struct field *field = crew_memory(sizeof *field);
	snprintf(field->folder, sizeof field->folder, "/dev/shm/weir-bench-XXXXXX");
	if (!mkdtemp(field->folder))
		fail(field->folder, WEIR_SYSTEM);
	snprintf(field->path[OPEN], sizeof field->path[OPEN], "%s/open", field->folder);
	snprintf(field->path[SHUT], sizeof field->path[SHUT], "%s/shut", field->folder);
	field->keys = keys;
	for (field->trace_size = 1 << 16; field->trace_size < keys && field->trace_size < TRACE_MAX;)
		field->trace_size *= 2;
	field->trace = crew_memory(field->trace_size * sizeof *field->trace);
	for (uint32_t i = 0; i < field->trace_size; i++)
		field->trace[i] = (uint32_t)(mix(i + UINT64_C(1) * keys) % keys);
	field->tree = crew_memory(sizeof *field->tree);
	rb_init(field->tree, crew_memory((size_t)keys * sizeof(struct rb_node)));
	field_fill(field, OPEN);
	field_fill(field, SHUT);
	field->lines = (uint32_t)(field->slots / 4);
	field->bare = crew_memory((size_t)field->lines * 64);
	return field;
}

static void field_free(struct field *field)
{
	for (enum kind kind = OPEN; kind < KINDS; kind++) {
		char ledger[128];
		snprintf(ledger, sizeof ledger, "%s.ledger", field->path[kind]);
		unlink(field->path[kind]);
		unlink(ledger);
	}
	rmdir(field->folder);
	munmap(field->tree->nodes, (size_t)field->keys * sizeof(struct rb_node));
	munmap(field->bare, (size_t)field->lines * 64);
	munmap(field->trace, field->trace_size * sizeof *field->trace);
	munmap(field->tree, sizeof *field->tree);
	munmap(field, sizeof *field);
}

static const char *const job_names[JOBS] = {
	[BARE] = "bare 64-bit CAS", [TREE] = "rbtree under a mutex",	 [CHARGE] = "table decision",
	[WHOLE] = "whole decision", [REFUSED] = "refused, uniform keys", [HOT] = "refused, one hot key",
};

static struct result run_size(uint32_t keys)
{
	struct field *field = field_new(keys);
	struct crew *crew = crew_new(worker_begin, work, field, RUN_NS);
	struct result result = {0};
	for (unsigned round = 0; round < ROUNDS + 1; round++) /* the first maps pages and is not counted */
		for (unsigned job = BARE; job < JOBS; job++)
			for (unsigned workers = 1; workers <= CREW_MAX; workers++) {
				double ns = crew_run(crew, job, workers), *best = &result.ns[job][workers];
				if (round == 1 || (round > 1 && ns < *best))
					*best = ns;
			}
	crew_free(crew);

	printf("\n%u keys: %" PRIu64
	       " slots, %.2f of them live, %.1f bytes of slots a live key (%.1f of file); "
	       "rbtree %zu bytes; %.2f %% of the keys found no place\n",
	       keys, field->slots, (double)field->live / (double)field->slots,
	       (double)field->slots * 16 / (double)field->live,
	       (double)field->file_bytes / (double)field->live, sizeof(struct rb_node),
	       100.0 * (double)(keys - field->live) / keys);
	printf("%-24s|%32s |%32s\n", "", "1 process", "2 processes");
	printf("%-24s|%8s %11s %11s |%8s %11s %11s\n", "", "ns", "x bare CAS", "rbtree is x", "ns",
	       "x bare CAS", "rbtree is x");
	for (unsigned job = BARE; job < JOBS; job++) {
		printf("%-24s|", job_names[job]);
		for (unsigned workers = 1; workers <= CREW_MAX; workers++) {
			double ns = result.ns[job][workers];
			printf("%8.1f %11.2f %11.1f%s", ns, ns / result.ns[BARE][workers],
			       result.ns[TREE][workers] / ns, workers == 1 ? " |" : "\n");
		}
	}
	for (unsigned job = BARE; job < JOBS; job++) /* a benchmark of wrong answers measures nothing */
		if (atomic_load(&field->wrong[job]) * 50 > atomic_load(&field->count[job])) {
			fprintf(stderr, "bench: %s: more than 2 %% of the answers are wrong\n",
				job_names[job]);
			exit(1);
		}
	field_free(field);
	return result;
}

/* ---- goals --------------------------------------------------------------------------------------- */

enum unit { NS, PER_SECOND, TO_BARE };

static const struct goal {
	uint32_t keys;
	enum job job;
	unsigned workers;
	enum unit unit;
	double bound; /* at most; PER_SECOND: at least, in millions by all workers together */
	const char *name;
} goals[] = {
	{1000000, CHARGE, 1, NS, 30, "table decision, 1 M keys, 1 process: at most 30 ns"},
	{1000000, CHARGE, 2, PER_SECOND, 70, "table decision, 1 M keys, 2 processes: at least 70 M/s"},
	{10000000, CHARGE, 1, TO_BARE, 2.0, "table decision, 10 M keys: at most 2.0 bare CAS"},
	{1000000, WHOLE, 1, NS, 85, "whole decision, 1 M keys: at most 85 ns"},
	{10000000, WHOLE, 1, NS, 190, "whole decision, 10 M keys: at most 190 ns"},
	{1000, HOT, 2, PER_SECOND, 300, "refused hot key, 2 processes: at least 300 M/s"},
};

static void judge(uint32_t keys, const struct result *result)
{
	for (size_t i = 0; i < sizeof goals / sizeof *goals; i++) {
		const struct goal *goal = &goals[i];
		double ns = result->ns[goal->job][goal->workers];
		double got = goal->unit == NS		? ns
			     : goal->unit == PER_SECOND ? goal->workers * 1000 / ns
							: ns / result->ns[BARE][goal->workers];
		if (goal->keys != keys)
			continue;
		bool met = goal->unit == PER_SECOND ? got >= goal->bound : got <= goal->bound;
		printf("goal %-6s %s: %.1f\n", met ? "met" : "MISSED", goal->name, got);
	}
}

int main(int argc, char **argv)
{
	static const uint32_t sizes[] = {1000, 1000000, 10000000};
	unsigned count = argc > 1 && !strcmp(argv[1], "--large") ? 3 : 2;
	printf("Best of %u runs of %.0f ms, interleaved. Figures in ns depend on the machine and its "
	       "neighbours; ratios "
	       "are of one run.\nThe goals in ns are for a 2-core Xeon guest with nobody else on it.\n",
	       ROUNDS, RUN_NS / 1e6);
	for (unsigned i = 0; i < count; i++) {
		struct result result = run_size(sizes[i]);
		judge(sizes[i], &result);
		fflush(stdout);
	}
	return 0;
}
