/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hold: what it costs to take a place in flight and give it back, and to reserve and settle, as ratios to a bucket's
 * charge in the same run: 10,000 keys in any order, and one hot key that everybody wants. With one process and two, and
 * with some more that only have the table open, since each process slot in use is one more look.
 */
#include <inttypes.h>
#include <string.h>

#include "bench/crew.h"
#include "table/ledger.h"
#include "table/table.h"

enum job { STOP, CHARGE, FLIGHT, RESERVE, HOT_CHARGE, HOT_FLIGHT, HOT_RESERVE, JOBS };

#define ROUNDS 3
#define RUN_NS 20e6
#define KEYS   10000u
#define IDLE   6u /* processes that have the table open besides */
#define SECOND UINT64_C(1000000000)

struct field {
	char folder[64], path[96];
	uint32_t bucket, window, flight; /* no bucket refills as fast as one key is asked here */
	_Atomic uint64_t count[JOBS], wrong[JOBS];
};

struct worker {
	struct field *field;
	struct table *table;
	struct table_key keys[KEYS];
	uint64_t at;
};

_Noreturn static void fail(const char *what, enum weir_error error)
{
	fprintf(stderr, "bench: %s: %s\n", what, weir_error_sentence(error));
	exit(1);
}

static struct table *open_table(const struct field *field)
{
	struct table_options options = {
		.path = field->path, .create = true, .process_slots = 16, .size = UINT64_C(4) << 20};
	struct table *table;
	enum weir_error error = table_open(&options, &table, NULL, 0);
	if (error)
		fail(field->path, error);
	return table;
}

static void *worker_begin(void *context, unsigned index)
{
	struct worker *worker = calloc(1, sizeof *worker);
	if (!worker)
		fail("worker", WEIR_NO_MEMORY);
	worker->field = context;
	worker->table = open_table(worker->field);
	worker->at = index * (KEYS / 2);
	for (uint64_t i = 0; i < KEYS; i++) {
		uint64_t bytes[2] = {i * 7919 % KEYS, 1};
		worker->keys[i] = table_key(worker->table, bytes, sizeof bytes);
	}
	return worker;
}

static bool once(struct worker *worker, enum job job, const struct table_key *key, struct algo_time *t)
{
	const struct field *field = worker->field;
	struct table_ticket ticket;
	struct table_look look;
	uint32_t rate = job < HOT_CHARGE ? field->bucket : field->window;
	bool flight = job == FLIGHT || job == HOT_FLIGHT;
	if (job == CHARGE || job == HOT_CHARGE)
		return table_charge(worker->table, key, rate, t, 1, &look) == TABLE_CHARGED;
	return table_take(worker->table, key, flight ? field->flight : rate, t, 1, TABLE_RESERVE, &ticket,
			  &look) == TABLE_CHARGED &&
	       table_settle(worker->table, &ticket, t, 1);
}

static void work(void *own, unsigned job, unsigned index, uint64_t count)
{
	struct worker *worker = own;
	struct algo_time t;
	uint64_t wrong = 0;
	(void)index;
	table_time(worker->table, &t);
	for (uint64_t i = 0; i < count; i++, worker->at++, t.now++)
		wrong += !once(worker, (enum job)job, &worker->keys[job < HOT_CHARGE ? worker->at % KEYS : 0],
			       &t);
	atomic_fetch_add(&worker->field->count[job], count);
	if (wrong)
		atomic_fetch_add(&worker->field->wrong[job], wrong);
}

static const char *const names[JOBS] = {
	[CHARGE] = "bucket charge, 10,000 keys",
	[FLIGHT] = "take a place and give it back",
	[RESERVE] = "reserve and settle",
	[HOT_CHARGE] = "window charge, one key",
	[HOT_FLIGHT] = "take a place and give it back",
	[HOT_RESERVE] = "reserve and settle",
};

static void run(struct field *field, const char *what)
{
	double best[JOBS][CREW_MAX + 1] = {{0}};
	struct crew *crew = crew_new(worker_begin, work, field, RUN_NS);
	for (unsigned round = 0; round < ROUNDS + 1;
	     round++) /* the first makes the keys and is not counted */
		for (unsigned job = CHARGE; job < JOBS; job++)
			for (unsigned workers = 1; workers <= CREW_MAX; workers++) {
				double ns = crew_run(crew, job, workers);
				if (round == 1 || (round > 1 && ns < best[job][workers]))
					best[job][workers] = ns;
			}
	crew_free(crew);
	printf("\n%-32s|%20s |%20s\n", what, "1 process", "2 processes");
	printf("%-32s|%8s %11s |%8s %11s\n", "", "ns", "x charge", "ns", "x charge");
	for (unsigned job = CHARGE; job < JOBS; job++) {
		unsigned base = job < HOT_CHARGE ? CHARGE : HOT_CHARGE;
		printf("%-32s|", names[job]);
		for (unsigned workers = 1; workers <= CREW_MAX; workers++)
			printf("%8.1f %11.2f%s", best[job][workers], best[job][workers] / best[base][workers],
			       workers == 1 ? " |" : "\n");
		if (atomic_load(&field->wrong[job])) { /* a benchmark of wrong answers measures nothing */
			fprintf(stderr, "bench: %s: %" PRIu64 " refused\n", names[job],
				atomic_load(&field->wrong[job]));
			exit(1);
		}
	}
	fflush(stdout);
}

int main(void)
{
	struct field *field = crew_memory(sizeof *field);
	struct algo_numbers bucket, window, flight;
	struct table *idle[IDLE + 1];
	char ledger[128];
	snprintf(field->folder, sizeof field->folder, "/dev/shm/weir-bench-XXXXXX");
	if (!mkdtemp(field->folder))
		fail(field->folder, WEIR_SYSTEM);
	snprintf(field->path, sizeof field->path, "%s/table", field->folder);
	snprintf(ledger, sizeof ledger, "%s.ledger", field->path);
	struct table *table = open_table(field);
	if (!algo_token_bucket(1000000, SECOND, ALGO_BURST_MAX, &bucket) || !algo_concurrent(1000, &flight) ||
	    !algo_fixed_window(ALGO_COUNT_MAX, 1000 * SECOND, ALGO_FIRST_REQUEST, &window) ||
	    ledger_lock(table, 1000) ||
	    ledger_row_for(table, 1, 0, &bucket, 0, "bucket", 1, &field->bucket) ||
	    ledger_row_for(table, 3, 0, &window, 0, "window", 1, &field->window) ||
	    ledger_row_for(table, 2, 0, &flight, 0, "flight", 1, &field->flight))
		fail("rows", WEIR_BAD_SIZE);
	ledger_unlock(table);
	table_close(&table);

	run(field, "nobody else");
	for (unsigned i = 0; i < IDLE; i++)
		idle[i] = open_table(field);
	run(field, "6 more process slots in use");
	for (unsigned i = 0; i < IDLE; i++)
		table_close(&idle[i]);
	unlink(field->path);
	unlink(ledger);
	rmdir(field->folder);
	return 0;
}
