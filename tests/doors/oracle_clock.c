/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * oracle_clock: preloaded into nginx, it takes the clock away from it. Time is what stands in a page that the test
 * writes, and epoll_wait waits for the test alone: neither for time to pass nor for a client, so that what happens at one
 * time happens in one order.
 *
 * The test writes a byte to the wake pipe and reads 8 from the answer pipe. The answer comes when nothing is left to be
 * done at this time, and says in how many ms nginx wants to be woken (-1: by no timer). So a delay of minutes is read
 * exactly, and takes no time. Without WEIR_ORACLE ("page wake answer": descriptors) nothing changes.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

struct page {
	volatile int64_t now;  /* ns: CLOCK_MONOTONIC and CLOCK_BOOTTIME */
	volatile int64_t wall; /* ns to add for CLOCK_REALTIME */
};

static struct page *page;
static int wake, answer;

__attribute__((constructor)) static void begin(void)
{
	const char *text = getenv("WEIR_ORACLE");
	int memory;
	if (!text || sscanf(text, "%d %d %d", &memory, &wake, &answer) != 3)
		return;
	void *at = mmap(NULL, sizeof *page, PROT_READ, MAP_SHARED, memory, 0);
	if (at != MAP_FAILED)
		page = at;
}

static int64_t wall_now(void)
{
	return page->now + page->wall;
}

__attribute__((visibility("default"))) int clock_gettime(clockid_t id, struct timespec *out)
{
	int64_t ns;
	if (!page)
		return (int)syscall(SYS_clock_gettime, id, out);
	switch (id) {
	case CLOCK_MONOTONIC:
	case CLOCK_MONOTONIC_RAW:
	case CLOCK_MONOTONIC_COARSE:
	case CLOCK_BOOTTIME:
		ns = page->now;
		break;
	case CLOCK_REALTIME:
	case CLOCK_REALTIME_COARSE:
		ns = wall_now();
		break;
	default: /* CPU time */
		return (int)syscall(SYS_clock_gettime, id, out);
	}
	out->tv_sec = ns / 1000000000;
	out->tv_nsec = ns % 1000000000;
	return 0;
}

__attribute__((visibility("default"))) int gettimeofday(struct timeval *out, void *zone)
{
	if (!page)
		return (int)syscall(SYS_gettimeofday, out, zone);
	out->tv_sec = wall_now() / 1000000000;
	out->tv_usec = wall_now() % 1000000000 / 1000;
	return 0;
}

__attribute__((visibility("default"))) time_t time(time_t *out)
{
	struct timeval now;
	gettimeofday(&now, NULL);
	if (out)
		*out = now.tv_sec;
	return now.tv_sec;
}

__attribute__((visibility("default"))) int epoll_wait(int epoll, struct epoll_event *events, int size,
						      int timeout)
{
	static int asked; /* the test waits for an answer */
	char byte;
	if (!page)
		return (int)syscall(SYS_epoll_wait, epoll, events, size, timeout);
	int64_t end = page->now / 1000000 + timeout;
	for (;;) {
		int n = (int)syscall(SYS_epoll_wait, epoll, events, size, 0);
		int64_t left = timeout < 0 ? -1 : end - page->now / 1000000;
		if (n != 0 || timeout == 0 || (timeout > 0 && left <= 0))
			return n;
		if (asked && write(answer, &left, sizeof left) != sizeof left)
			_exit(1);
		asked = 0;
		if (read(wake, &byte, 1) != 1) { /* a signal, or the test has ended */
			errno = EINTR;
			return -1;
		}
		asked = 1;
	}
}
