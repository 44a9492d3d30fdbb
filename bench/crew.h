/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * crew: worker processes that do the same job at the same time, a short run each, on command.
 *
 * They live through all runs, so that pages are mapped and caches are warm, and runs of different jobs
 * can be interleaved: on a machine shared with others only ratios taken that way mean anything. A run in
 * which the kernel took a worker's processor away measures the neighbours, and is made again.
 */
#ifndef WEIR_BENCH_CREW_H
#define WEIR_BENCH_CREW_H

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CREW_MAX 2u

struct crew {
	_Atomic unsigned turn, ready, done;
	unsigned job, workers; /* of this turn; job 0 ends the crew */
	double ns[CREW_MAX];   /* per operation, of each worker */
	bool clean[CREW_MAX];  /* it had its processor to the end */
	pid_t child[CREW_MAX];
	void *context;
};

/* Does `count` operations of the job (from 1). */
typedef void crew_job(void *own, unsigned job, unsigned worker, uint64_t count);

static inline void *crew_memory(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED) {
		fprintf(stderr, "bench: no memory for %zu bytes\n", size);
		exit(1);
	}
	return memory;
}

static inline double crew_now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* The workers of a turn begin together and each stops after about `length_ns`. */
static inline double crew_measure(struct crew *crew, crew_job *job, void *own, unsigned worker,
				  double length_ns)
{
	const uint64_t batch = 200;
	struct rusage before, after;
	atomic_fetch_add(&crew->ready, 1);
	while (atomic_load(&crew->ready) < crew->workers)
		;
	getrusage(RUSAGE_SELF, &before);
	double begin = crew_now(), end = begin;
	uint64_t count = 0;
	for (; end - begin < length_ns; end = crew_now(), count += batch)
		job(own, crew->job, worker, batch);
	getrusage(RUSAGE_SELF, &after);
	crew->clean[worker] = after.ru_nivcsw == before.ru_nivcsw;
	return (end - begin) / (double)count;
}

/* Each worker has a processor of its own, as far as there are any. */
static inline void crew_spread(unsigned worker)
{
	cpu_set_t allowed, mine;
	if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
		return;
	unsigned nth = worker % (unsigned)CPU_COUNT(&allowed);
	for (unsigned cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &allowed) && nth-- == 0) {
			CPU_ZERO(&mine);
			CPU_SET(cpu, &mine);
			sched_setaffinity(0, sizeof mine, &mine);
			return;
		}
}

/* `begin` makes the worker's own context after fork (a handle, for one). */
static inline struct crew *crew_new(void *(*begin)(void *context, unsigned worker), crew_job *job,
				    void *context, double length_ns)
{
	struct crew *crew = crew_memory(sizeof *crew);
	for (unsigned worker = 0; worker < CREW_MAX; worker++) {
		crew->child[worker] = fork();
		if (crew->child[worker] < 0) {
			perror("bench: fork");
			exit(1);
		}
		if (crew->child[worker] > 0)
			continue;
		crew_spread(worker);
		void *own = begin(context, worker);
		for (unsigned turn = 0;; turn++) {
			while (atomic_load(&crew->turn) == turn)
				usleep(100);
			if (crew->job == 0)
				_exit(0);
			if (worker < crew->workers)
				crew->ns[worker] = crew_measure(crew, job, own, worker, length_ns);
			atomic_fetch_add(&crew->done, 1);
		}
	}
	return crew;
}

/* ns per operation and worker: the mean of the workers. *clean: nobody lost its processor. */
static inline double crew_once(struct crew *crew, unsigned job, unsigned workers, bool *clean)
{
	double sum = 0;
	crew->job = job;
	crew->workers = workers;
	atomic_store(&crew->ready, 0);
	atomic_store(&crew->done, 0);
	atomic_fetch_add(&crew->turn, 1);
	while (job && atomic_load(&crew->done) < CREW_MAX) {
		int status;
		if (waitpid(-1, &status, WNOHANG) > 0) {
			fprintf(stderr, "bench: a worker died\n");
			exit(1);
		}
		usleep(200);
	}
	*clean = true;
	for (unsigned worker = 0; job && worker < workers; worker++) {
		sum += crew->ns[worker];
		*clean &= crew->clean[worker];
	}
	return sum / workers;
}

/* The first clean run, or the best of ten if there is none. */
static inline double crew_run(struct crew *crew, unsigned job, unsigned workers)
{
	double best = 0;
	for (unsigned try = 0; try < 10; try++) {
		bool clean;
		double ns = crew_once(crew, job, workers, &clean);
		if (try == 0 || ns < best)
			best = ns;
		if (clean)
			return ns;
	}
	return best;
}

static inline void crew_free(struct crew *crew)
{
	bool clean;
	crew_once(crew, 0, 1, &clean);
	for (unsigned worker = 0; worker < CREW_MAX; worker++)
		waitpid(crew->child[worker], NULL, 0);
	munmap(crew, sizeof *crew);
}

#endif
