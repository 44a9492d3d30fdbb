/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * race_threads: the races of the table, between threads with a handle each. Under ThreadSanitizer this is the
 * proof that every access to shared memory is ordered as table/atomic.h means it.
 *
 * ThreadSanitizer knows memory by its address, and each handle maps the file at another one: it would watch
 * without seeing anything. There, second mappings of a file share the first one's address.
 */
#include <pthread.h>

#include "tests/table/race.h"
#include "tests/table/race_ban.h"
#include "tests/table/race_bound.h"
#include "tests/table/race_change.h"
#include "tests/table/race_hold.h"
#include "tests/table/race_insert.h"
#include "tests/table/race_log.h"
#include "tests/table/race_rate.h"

#if defined(__SANITIZE_THREAD__)
#include <dlfcn.h>
#include <sys/stat.h>
#include <sys/syscall.h>

static pthread_mutex_t mappings_lock = PTHREAD_MUTEX_INITIALIZER;
static struct mapping {
	dev_t device;
	ino_t file;
	off_t offset;
	size_t size;
	int protection;
	unsigned users;
	void *address;
} mappings[64];
static unsigned mappings_shared;
static bool mappings_used;

static void *mapping_add(void *address, size_t size, int protection, int flags, int fd, off_t offset)
{
	void *(*real)(void *, size_t, int, int, int,
		      off_t) = (void *(*)(void *, size_t, int, int, int, off_t))dlsym(RTLD_NEXT, "mmap");
	struct mapping *found = NULL, *empty = NULL;
	struct stat st;
	if (fstat(fd, &st) != 0)
		return MAP_FAILED;
	pthread_mutex_lock(&mappings_lock);
	mappings_used = true;
	for (struct mapping *m = mappings; m < mappings + 64; m++) {
		if (!m->users)
			empty = m;
		else if (m->device == st.st_dev && m->file == st.st_ino && m->offset == offset &&
			 m->size == size && (m->protection & protection) == protection)
			found = m;
	}
	if (found) {
		found->users++;
		mappings_shared++;
		address = found->address;
	} else {
		address = real(address, size, protection, flags, fd, offset);
		if (address != MAP_FAILED && empty)
			*empty = (struct mapping){st.st_dev, st.st_ino, offset, size, protection, 1, address};
	}
	pthread_mutex_unlock(&mappings_lock);
	return address;
}

static int mapping_drop(void *address, size_t size)
{
	int (*real)(void *, size_t) = (int (*)(void *, size_t))dlsym(RTLD_NEXT, "munmap");
	bool last = true;
	pthread_mutex_lock(&mappings_lock);
	for (struct mapping *m = mappings; m < mappings + 64; m++)
		if (m->users && m->address == address)
			last = --m->users == 0;
	int result = last ? real(address, size) : 0;
	pthread_mutex_unlock(&mappings_lock);
	return result;
}

/* The runtime itself maps memory before it can watch anything: that call must not be watched. */
__attribute__((no_sanitize("thread"))) void *mmap(void *address, size_t size, int protection, int flags,
						  int fd, off_t offset)
{
	if (fd < 0 || !(flags & MAP_SHARED)) /* not a table */
		return (void *)syscall(SYS_mmap, address, size, protection, flags, fd, offset);
	return mapping_add(address, size, protection, flags, fd, offset);
}

__attribute__((no_sanitize("thread"))) int munmap(void *address, size_t size)
{
	if (!mappings_used)
		return (int)syscall(SYS_munmap, address, size);
	return mapping_drop(address, size);
}
#endif

struct thread {
	pthread_t id;
	struct race *race;
	race_body *body;
	unsigned worker;
};

static void *thread_main(void *argument)
{
	struct thread *thread = argument;
	struct table *table = rig_open(&thread->race->rig);
	race_spread(thread->worker);
	race_meet(thread->race);
	thread->body(thread->race, thread->worker, table);
	race_meet(thread->race); /* so that mappings overlap for the whole race */
	table_close(&table);
	return NULL;
}

static void race_run(struct race *race, race_body *body, unsigned workers)
{
	struct thread threads[RACE_WORKERS];
	race->workers = workers;
	for (unsigned i = 0; i < workers; i++) {
		threads[i] = (struct thread){.race = race, .body = body, .worker = i};
		if (pthread_create(&threads[i].id, NULL, thread_main, &threads[i]) != 0)
			rig_die("pthread_create", "no thread");
	}
	for (unsigned i = 0; i < workers; i++)
		pthread_join(threads[i].id, NULL);
}

int main(void)
{
	rate_all(2);
	rate_all(4);
	insert_all();
	change_all();
	log_all();
	hold_all(2);
	hold_all(4);
	bound_all(2);
	bound_all(4);
	ban_all(2);
	ban_all(4);
#if defined(__SANITIZE_THREAD__)
	ok(mappings_shared > 0, "the threads saw the table at one address");
#endif
	return done_testing();
}
