/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A writer that adds, changes, revokes and makes anew, beside readers: threads of its process and processes of their own. No reader
 * may miss a key that was always there, see half a record, or go back to what was before.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>

#include "identity/ring_handle.h"
#include "table/atomic.h"
#include "tests/identity/ring_rig.h"

#define KEYS	 64u /* always there */
#define THREADS	 2u
#define CHILDREN 2u
#define RUN_NS	 (UINT64_C(1500) * 1000000)
#define NOW	 INT64_C(1900000000)

struct shared {
	_Atomic bool stop;
	_Atomic uint64_t version[KEYS + 1]; /* that is linked for certain */
	_Atomic uint64_t looks, missed, torn, back, unrevoked, swaps;
};

static struct rig rig;
static struct shared *shared;

static uint64_t now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

/* Plan, owner and tenant all say the version. */
static void row_of(uint64_t id, uint64_t version, char text[32], char name[32], struct ring_row *row)
{
	snprintf(text, 32, "%llu", (unsigned long long)version);
	snprintf(name, 32, "k%llu", (unsigned long long)id);
	*row = rig_row(&rig, id, name, text);
	row->owner = row->tenant = text_of(text);
}

static uint64_t number(const char *digits, uint8_t size)
{
	uint64_t n = 0;
	for (uint8_t i = 0; i < size; i++)
		n = n * 10 + (uint64_t)(digits[i] - '0');
	return n;
}

static void look(struct ring *ring, uint64_t id)
{
	struct ring_key key;
	uint64_t floor = atomic_load(&shared->version[id]);
	enum ring_found found = rig_find(ring, id, NOW, &key);
	atomic_fetch_add(&shared->looks, 1);
	if (found != RING_KNOWN) {
		atomic_fetch_add(&shared->missed, 1);
		return;
	}
	char name[32];
	snprintf(name, sizeof name, "k%llu", (unsigned long long)id);
	/* a file that was moved away may be behind: its readers look for the new one */
	if (key.id != id || !rig_says(key.name, key.name_size, name) || key.plan_size != key.owner_size ||
	    key.plan_size != key.tenant_size || memcmp(key.plan, key.owner, key.plan_size) != 0 ||
	    memcmp(key.plan, key.tenant, key.plan_size) != 0)
		atomic_fetch_add(&shared->torn, 1);
	else if (number(key.plan, key.plan_size) < floor && atomic_get(&ring->header->moved) == 0)
		atomic_fetch_add(&shared->back, 1);
	ring_used(ring, &key, NOW + (int64_t)(floor & 1) * 60);
}

static void *read_all(void *unused)
{
	struct ring *ring = NULL;
	struct ring_key key;
	(void)unused;
	while (!atomic_load(&shared->stop)) {
		if (ring && ring_replaced(ring, now_ns())) {
			ring_close(&ring);
			atomic_fetch_add(&shared->swaps, 1);
		}
		if (!ring && ring_open(rig.database, &ring, NULL, 0) != WEIR_OK)
			continue;
		for (uint64_t id = 1; id < KEYS; id++)
			look(ring, id);
		if (rig_find(ring, KEYS, NOW, &key) != RING_REVOKED)
			atomic_fetch_add(&shared->unrevoked, 1);
	}
	ring_close(&ring);
	return NULL;
}

static bool remake(struct ring_writer *writer, const uint64_t *versions)
{
	struct ring_build *build;
	char text[32], name[32];
	bool good = ring_build_begin(writer, &rig.state, KEYS, 0, KEYS, &build, rig.why, sizeof rig.why) ==
		    WEIR_OK;
	for (uint64_t id = 1; good && id <= KEYS; id++) {
		struct ring_row row;
		row_of(id, versions[id], text, name, &row);
		row.revoked = id == KEYS;
		good = ring_build_add(build, &row, rig.why, sizeof rig.why) == WEIR_OK;
	}
	return good && ring_build_end(&build, true, rig.why, sizeof rig.why) == WEIR_OK;
}

static uint64_t write_all(struct ring_writer *writer, uint64_t *versions)
{
	uint64_t end = now_ns() + RUN_NS, changes = 0, extra = KEYS;
	while (now_ns() < end) {
		char text[2][32], name[2][32];
		struct ring_row row;
		uint64_t id = 1 + changes % (KEYS - 1);
		if (changes % 20 == 19 || !ring_write_fits(writer, 2, extra + 1)) {
			if (!remake(writer, versions))
				return 0;
			extra = KEYS;
		}
		row_of(id, ++versions[id], text[0], name[0], &row);
		if (ring_write_add(writer, &row, rig.why, sizeof rig.why) != WEIR_OK)
			return 0;
		row_of(++extra, 1, text[1], name[1], &row);
		ring_write_add(writer, &row, rig.why, sizeof rig.why);
		rig.state.change++;
		if (ring_write_link(writer, &rig.state, rig.why, sizeof rig.why) != WEIR_OK)
			return 0;
		atomic_store(&shared->version[id], versions[id]);
		changes++;
	}
	return changes;
}

int main(void)
{
	struct ring_writer *writer;
	uint64_t versions[KEYS + 1] = {0};
	pthread_t threads[THREADS];
	pid_t children[CHILDREN];
	rig_begin(&rig);
	shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	is_u64(ring_write_open(rig.database, 0, &writer, rig.why, sizeof rig.why), 0, "a writer");
	ok(remake(writer, versions), "a ring");
	for (unsigned i = 0; i < CHILDREN; i++)
		if ((children[i] = fork()) == 0) {
			read_all(NULL);
			_exit(0);
		}
	for (unsigned i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, read_all, NULL);
	uint64_t changes = write_all(writer, versions);
	atomic_store(&shared->stop, true);
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (unsigned i = 0; i < CHILDREN; i++)
		waitpid(children[i], NULL, 0);
	note("%llu changes, %llu looks, %llu files followed", (unsigned long long)changes,
	     (unsigned long long)atomic_load(&shared->looks),
	     (unsigned long long)atomic_load(&shared->swaps));
	ok(changes > 10, "the writer wrote");
	ok(atomic_load(&shared->looks) > 1000, "readers read");
	ok(atomic_load(&shared->swaps) > 0, "and followed to files made anew");
	is_u64(atomic_load(&shared->missed), 0, "a key that was always there was always found");
	is_u64(atomic_load(&shared->torn), 0, "nobody saw half a record");
	is_u64(atomic_load(&shared->back), 0, "nor went back");
	is_u64(atomic_load(&shared->unrevoked), 0, "a revoked key stayed revoked");
	struct ring *ring;
	struct ring_key key;
	uint64_t wrong = 0;
	ring_open(rig.database, &ring, NULL, 0);
	for (uint64_t id = 1; id < KEYS; id++)
		wrong += rig_find(ring, id, NOW, &key) != RING_KNOWN ||
			 number(key.plan, key.plan_size) != versions[id];
	is_u64(wrong, 0, "in the end all is as it was written last");
	ring_close(&ring);
	ring_write_close(&writer);
	rig_end(&rig);
	return done_testing();
}
