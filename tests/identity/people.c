/* SPDX-License-Identifier: BSD-2-Clause */
/* people: a ring that is replaced is swapped for the new one; what cannot be opened takes nobody his key. */
#include "identity/people.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "tests/identity/ring_rig.h"

#define SECOND UINT64_C(1000000000)
#define SWAPS  3000u

static struct rig rig;
static char why[512], ring[160], good[2][176], junk[176];
static atomic_bool ends;

static bool known(struct people *people, uint64_t id)
{
	struct ring_key key;

	return people->ring && rig_find(people->ring, id, 0, &key) == RING_KNOWN;
}

/* A second name for a file, then that in place of the ring. */
static void put(const char *file)
{
	char passing[192];

	snprintf(passing, sizeof passing, "%s.passing", ring);
	if (link(file, passing) != 0 || rename(passing, ring) != 0)
		abort();
	unlink(passing); /* where both were the same file rename did nothing */
}

/* A ring, junk, another ring, junk, … */
static void *swap(void *none)
{
	for (unsigned i = 0; i < SWAPS; i++)
		put(i % 2 ? junk : good[i / 2 % 2]);
	atomic_store(&ends, true);
	return none;
}

static void make(struct ring_writer *writer, uint64_t count, char name[176], const char *suffix)
{
	ok(rig_build(&rig, writer, count, "pro"), "a ring is made");
	snprintf(name, 176, "%s.%s", ring, suffix);
	if (link(ring, name) != 0)
		abort();
}

int main(void)
{
	struct people people = {0};
	struct ring_writer *writer;
	uint64_t now = SECOND, lost = 0, looks = 0;
	pthread_t other;
	FILE *file;

	rig_begin(&rig);
	rig_path(&rig, ".ring", ring);
	snprintf(people.database, sizeof people.database, "%s", rig.database);
	ok(people_refresh(&people, now, why, sizeof why) && strstr(why, "API keys are unknown: "),
	   "no ring, which is told");
	ok(!people_refresh(&people, now += 2 * SECOND, why, sizeof why), "... once");

	is_u64(ring_write_open(rig.database, 0, &writer, rig.why, sizeof rig.why), WEIR_OK, "a writer");
	make(writer, 1, good[0], "one");
	ok(people_refresh(&people, now += 2 * SECOND, why, sizeof why) && strstr(why, ": 1 API keys"),
	   "it came to be");
	ok(known(&people, 1) && !known(&people, 2), "... with its key");
	make(writer, 2, good[1], "two");
	people_refresh(&people, now += 2 * SECOND, why, sizeof why);
	ok(known(&people, 1) && known(&people, 2), "a new one in its place holds from then on");

	snprintf(junk, sizeof junk, "%s.junk", ring);
	file = fopen(junk, "w");
	if (!file || fputs("not a ring\n", file) < 0 || fclose(file) != 0)
		abort();
	put(junk);
	people_refresh(&people, now += 2 * SECOND, why, sizeof why);
	ok(known(&people, 2), "what is no ring takes nobody his key");
	unlink(ring);
	people_refresh(&people, now += 2 * SECOND, why, sizeof why);
	ok(known(&people, 2), "nor does one that was removed");

	pthread_create(&other, NULL, swap, NULL);
	while (!atomic_load(&ends)) {
		people_refresh(&people, now += 2 * SECOND, why, sizeof why);
		lost += !known(&people, 1);
		looks++;
	}
	pthread_join(other, NULL);
	ok(looks > 0, "looked at while the file changes between a look and the next");
	is_u64(lost, 0, "and never without a ring");

	ring_write_close(&writer);
	people_close(&people);
	unlink(good[0]), unlink(good[1]), unlink(junk);
	rig_end(&rig);
	return done_testing();
}
