/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * clock: table time (T12): CLOCK_BOOTTIME, which counts sleep and never steps, plus an offset in the header.
 *
 * Table time belongs to the table, not to the boot: states are written in it. A table that outlives a
 * reboot (a file on disk) goes on from its last stamp. Only calendar windows look at the wall clock.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/timex.h>
#include <time.h>
#include <unistd.h>

#include "table/atomic.h"
#include "table/clock.h"

#define SECOND	 CLOCK_SECOND
#define MS_NS	 1000000
#define BEGIN_NS (UINT64_C(1) << 40) /* 18 minutes: far from 0, so that early times subtract without care */
#define LOCK_AT	 (offsetof(struct layout_header, clock))

static int64_t read_clock(clockid_t id)
{
	struct timespec now;
	clock_gettime(id, &now);
	return (int64_t)now.tv_sec * (int64_t)SECOND + now.tv_nsec;
}

/* How far a time namespace shifts our CLOCK_BOOTTIME from the host's: containers with different shifts may
 * share a table. */
static int64_t namespace_shift(void)
{
	FILE *file = fopen("/proc/self/timens_offsets", "re");
	char name[16];
	long long s, ns, shift = 0;
	if (!file)
		return 0;
	while (fscanf(file, "%15s %lld %lld", name, &s, &ns) == 3)
		if (strcmp(name, "boottime") == 0)
			shift = s * (long long)SECOND + ns;
	fclose(file);
	return shift;
}

/* The kernel's name for this boot; {0, 0} if it has none, and then every boot is the same. */
static void boot_id(uint64_t id[2])
{
	static const struct siphash_key key = {0, 0};
	char text[64];
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	ssize_t size = fd >= 0 ? read(fd, text, sizeof text) : 0;
	if (fd >= 0)
		close(fd);
	id[0] = id[1] = 0;
	if (size > 0) {
		struct siphash_128 hash = siphash_1_3(&key, text, (size_t)size);
		id[0] = hash.lo;
		id[1] = hash.hi;
	}
}

void clock_read(struct clock_reading *out)
{
	struct timex kernel = {0}; /* modes 0: only looks */
	boot_id(out->boot);
	out->boottime = read_clock(CLOCK_BOOTTIME) - namespace_shift();
	out->wall = read_clock(CLOCK_REALTIME);
	int state = adjtimex(&kernel);
	out->synced = state >= 0 && state != TIME_ERROR && !(kernel.status & STA_UNSYNC);
}

void clock_begin(struct layout_header *header)
{
	struct layout_clock *clock = &header->clock;
	boot_id(clock->boot);
	int64_t offset = (int64_t)BEGIN_NS - (read_clock(CLOCK_BOOTTIME) - namespace_shift());
	/* Whole ms, rounded up: then a ms of table time is one of the kernel's, as nginx counts them (algo/limit_req.h). */
	int64_t over = (offset % MS_NS + MS_NS) % MS_NS;
	clock->offset = offset + (over ? MS_NS - over : 0);
	clock->stamp = BEGIN_NS;
	clock->wall = (uint64_t)read_clock(CLOCK_REALTIME);
}

void clock_go_on(struct layout_header *header, const struct clock_then *then,
		 const struct clock_reading *reading, const struct clock_bridge *bridge)
{
	header->clock = (struct layout_clock){
		.boot = {reading->boot[0], reading->boot[1]},
		.offset = bridge->offset,
		.stamp = bridge->now,
		.wall = (uint64_t)reading->wall,
		.then = then->time,
		.then_wall = then->wall,
		.pending = !bridge->believed,
	};
}

/* Held by openers only, for microseconds, and dropped by the kernel if one is killed. */
static bool lock(int fd, short type)
{
	struct flock range = {.l_type = type, .l_whence = SEEK_SET, .l_start = LOCK_AT, .l_len = 1};
	int failed;
	do
		failed = fcntl(fd, F_OFD_SETLKW, &range);
	while (failed != 0 && errno == EINTR);
	return failed == 0;
}

enum weir_error clock_open(struct table *table)
{
	struct layout_clock *clock = &table->header->clock;
	int64_t shift = namespace_shift(), offset;
	uint64_t boot[2];
	boot_id(boot);

	if (!table->read_only && !lock(table->fd, F_WRLCK))
		return WEIR_SYSTEM;
	offset = (int64_t)atomic_get((const uint64_t *)&clock->offset);
	/* Without boot ids, a clock that would step back tells it. */
	bool booted = atomic_get(&clock->boot[0]) != boot[0] || atomic_get(&clock->boot[1]) != boot[1];
	if (!(boot[0] | boot[1]))
		booted |= (__int128)read_clock(CLOCK_BOOTTIME) - shift + offset <
			  (__int128)atomic_get(&clock->stamp);
	if (booted) {
		/* The first opening since a boot. The stamp is at most a second behind the last charge; two
		 * more and time has not stepped back for anyone. If we die in here, the next one does it
		 * again from the same stamp: the boot id is written last. */
		uint64_t stamp = atomic_get(&clock->stamp);
		bool damaged = stamp >= ALGO_TIME_MAX; /* INT64_MAX is refused below */
		offset = damaged ? INT64_MAX
				 : (int64_t)(stamp + 2 * SECOND) - (read_clock(CLOCK_BOOTTIME) - shift);
		if (!table->read_only && !damaged) {
			atomic_set((uint64_t *)&clock->offset, (uint64_t)offset);
			atomic_set(&clock->boot[0], boot[0]);
			atomic_set(&clock->boot[1], boot[1]);
		}
	}
	if (!table->read_only)
		lock(table->fd, F_UNLCK);

	__int128 now = (__int128)read_clock(CLOCK_BOOTTIME) - shift + offset;
	if (now < 0 || now >= (__int128)ALGO_TIME_MAX)
		return WEIR_DAMAGED;
	table->clock.offset = offset - shift;
	table->clock.shift = shift;
	table->clock.next = 0;
	table->clock.last = 0;
	return WEIR_OK;
}

/* Table time may have jumped forward (table_catch_up). Only forward (I9), and not beyond what algo can count. */
static void adopt(struct table *table)
{
	int64_t ours = table->clock.offset, offset;
	offset = (int64_t)atomic_get((const uint64_t *)&table->header->clock.offset);
	__int128 jump = (__int128)offset - table->clock.shift - ours;
	if (jump > 0 && jump < (__int128)(ALGO_TIME_MAX - 1 - table->clock.last)) {
		table->clock.offset = ours + (int64_t)jump;
		table->clock.last += (uint64_t)jump;
	}
}

/* Once a second: the wall clock may have been set, and the stamp must not fall behind. */
static uint64_t refresh(struct table *table, uint64_t now)
{
	adopt(table);
	if (table->clock.last > now)
		now = table->clock.last;
	table->clock.wall = read_clock(CLOCK_REALTIME) - (int64_t)now;
	table->clock.next = now + SECOND;
	if (!table->process) /* one that has retired but has tickets still charges */
		return now;
	struct layout_clock *clock = &table->header->clock;
	uint64_t stamp = atomic_peek(&clock->stamp);
	/* I9: forward only. If it fails, another process has just done it. */
	if (stamp < now && atomic_cas(&clock->stamp, stamp, now))
		atomic_poke(&clock->wall, (uint64_t)(table->clock.wall + (int64_t)now));
	return now;
}

void table_time(struct table *table, struct algo_time *out)
{
	uint64_t now = (uint64_t)(read_clock(CLOCK_BOOTTIME) + table->clock.offset);
	if (__builtin_expect(now < table->clock.last, 0))
		now = table->clock.last;
	table->clock.last = now;
	if (__builtin_expect(now >= table->clock.next, 0))
		now = refresh(table, now);
	out->now = now;
	out->wall = table->clock.wall;
}

uint64_t clock_catch_up(struct table *table, struct table_watch *watch, const struct clock_reading *reading)
{
	struct layout_clock *clock = &table->header->clock;
	uint64_t jump = 0;
	struct algo_time t;
	bool settled;

	if (table->read_only || !atomic_get(&clock->pending) || !lock(table->fd, F_WRLCK))
		return 0;
	uint64_t wall = atomic_peek(&clock->then_wall), time = atomic_peek(&clock->then);
	table->clock.next = 0;
	table_time(table, &t);
	if (atomic_get(&clock->pending) && wall <= INT64_MAX && time <= t.now) {
		const struct clock_then then = {.time = time, .wall = wall};
		jump = clock_earned(&then, reading, t.now, watch, &settled);
		/* I9: the offset grows. Killed in between: the next one finds nothing more to make up. */
		if (jump)
			atomic_set((uint64_t *)&clock->offset,
				   (uint64_t)(table->clock.offset + table->clock.shift + (int64_t)jump));
		if (settled)
			atomic_set(&clock->pending, 0);
		table->clock.next = 0;
	}
	lock(table->fd, F_UNLCK);
	return jump;
}

uint64_t table_catch_up(struct table *table, struct table_watch *watch)
{
	struct clock_reading reading;
	if (!atomic_get(&table->header->clock.pending))
		return 0;
	clock_read(&reading);
	return clock_catch_up(table, watch, &reading);
}
