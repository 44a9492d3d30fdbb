/* SPDX-License-Identifier: BSD-2-Clause */
/* publish, with company: two publishers at once, one of them killed again and again, readers mapping all the
 * time. Every mapping is whole, never older than the last, and says of itself what its publisher said. */
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "policy/policy.h"
#include "tests/policy/models.h"
#include "tests/tap.h"

#define PUBLICATIONS 400u
#define KILLS	     60u
#define READERS	     2

struct shared {
	uint64_t maps, broken, backwards, strange; /* of the readers, summed */
	uint64_t published[2], failed;
	bool stop;
};

static char folder[64], path[96];
static struct shared *shared;

static struct table *open_table(void)
{
	struct table_options options = {.path = path, .size = 1 << 20, .create = true};
	struct table *table = NULL;

	if (table_open(&options, &table, NULL, 0) != WEIR_OK)
		_exit(9);
	return table;
}

/* A policy that can be told by its parts: hash H, H % 7 + 1 limits, each H per hour. */
static struct image *numbered(uint32_t hash)
{
	static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g"};
	struct limit_spec specs[7];
	struct arena arena = {0};
	struct model *model;
	struct image *image;

	memset(specs, 0, sizeof specs);
	if (setjmp(arena.out_of_memory))
		_exit(8);
	for (uint32_t i = 0; i < 7; i++)
		specs[i] = (struct limit_spec){.name = names[i], .rates = {0, hash}};
	model = models_model(&arena, specs, hash % 7 + 1);
	model->source_hash = hash;
	image = models_compile(model);
	arena_free(&arena);
	return image;
}

static bool is_numbered(const struct image *image)
{
	if (image->limits.count != image->source_hash % 7 + 1 || image->counters.count != image->limits.count)
		return false;
	for (uint32_t i = 0; i < image->counters.count; i++)
		if (image_counter_at(image, i)->numbers.quantity != image->source_hash)
			return false;
	return true;
}

static void add(uint64_t *counter)
{
	__atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
}

static void publisher(unsigned who, uint32_t from, uint32_t count)
{
	struct table *table = open_table();

	for (uint32_t i = 0; i < count; i++) {
		struct image *image = numbered(2 * (from + i) + who + 1);
		struct publish_report report;

		if (!image || policy_publish(table, image, &report, NULL, 0) != WEIR_OK)
			add(&shared->failed);
		else
			add(&shared->published[who]);
		free(image);
	}
	table_close(&table);
	_exit(0);
}

static void reader(void)
{
	struct table *table = open_table();
	uint64_t last = 0;

	while (!__atomic_load_n(&shared->stop, __ATOMIC_RELAXED)) {
		struct policy_image *image = NULL;
		uint64_t seen = table_generation(table);
		char why[256] = "";

		if (policy_current(table, &image, why, sizeof why) != WEIR_OK) {
			add(&shared->broken);
			printf("# %s\n", why);
			continue;
		}
		add(&shared->maps);
		if (image->image->generation < last || image->image->generation < seen)
			add(&shared->backwards);
		if (!is_numbered(image->image))
			add(&shared->strange);
		last = image->image->generation;
		table_hold_generation(table, last);
		policy_drop(&image);
	}
	table_close(&table);
	_exit(0);
}

static pid_t start(void (*run)(unsigned, uint32_t, uint32_t), unsigned who, uint32_t from, uint32_t count)
{
	pid_t child;

	fflush(stdout);
	child = fork();
	if (child == 0) {
		if (run)
			run(who, from, count);
		reader();
	}
	return child;
}

static int wait_for(pid_t child)
{
	int status = -1;

	waitpid(child, &status, 0);
	return status;
}

int main(void)
{
	struct publish_report report;
	struct table *table;
	struct image *image;
	pid_t readers[READERS], steady;
	uint64_t state = 12345, whole = 0;

	snprintf(folder, sizeof folder, "/dev/shm/weir-race-XXXXXX");
	if (!mkdtemp(folder))
		return 1;
	snprintf(path, sizeof path, "%s/table", folder);
	shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		return 1;
	table = open_table();
	image = numbered(1000000);
	is_u64(policy_publish(table, image, &report, NULL, 0), WEIR_OK, "a first policy");
	free(image);
	for (unsigned i = 0; i < READERS; i++)
		readers[i] = start(NULL, 0, 0, 0);

	steady = start(publisher, 0, 0, PUBLICATIONS);
	for (unsigned i = 0; i < KILLS; i++) {
		pid_t victim = start(publisher, 1, i * PUBLICATIONS, PUBLICATIONS);

		state = state * 6364136223846793005u + 1442695040888963407u;
		nanosleep(&(struct timespec){0, (long)(state >> 33) % 20000000}, NULL);
		kill(victim, SIGKILL);
		whole += WIFSIGNALED(wait_for(victim));
	}
	is_u64(wait_for(steady), 0, "one publisher ends as it should");
	ok(whole > KILLS / 2, "the other was killed while publishing");
	__atomic_store_n(&shared->stop, true, __ATOMIC_RELAXED);
	for (unsigned i = 0; i < READERS; i++)
		is_u64(wait_for(readers[i]), 0, "a reader ends as it should");

	note("%" PRIu64 " + %" PRIu64 " publications, %" PRIu64 " mappings", shared->published[0],
	     shared->published[1], shared->maps);
	is_u64(shared->published[0], PUBLICATIONS, "every publication of the survivor worked");
	is_u64(shared->failed, 0, "none failed");
	ok(shared->published[1] > 0, "the killed ones got some done");
	ok(shared->maps > 1000, "readers mapped more than 1,000 times");
	is_u64(shared->broken, 0, "each time something was there");
	is_u64(shared->strange, 0, "it was whole");
	is_u64(shared->backwards, 0, "and never older than the last");

	image = numbered(77);
	is_u64(policy_publish(table, image, &report, NULL, 0), WEIR_OK, "after all that it works");
	ok(report.generation > PUBLICATIONS && table_generation(table) == report.generation, "in order");
	free(image);
	table_close(&table);
	for (unsigned i = 0; i < 4; i++) {
		static const char *const names[] = {"table", "table.ledger", "table.policy",
						    "table.policy.new"};
		char name[128];

		snprintf(name, sizeof name, "%s/%s", folder, names[i]);
		unlink(name);
	}
	ok(rmdir(folder) == 0, "nothing else lies about");
	return done_testing();
}
