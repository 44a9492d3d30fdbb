/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * atomic: the only file that names a memory order.
 *
 * Slots change by one 16-byte compare-and-swap and in no other way (I2). It is the __sync builtin:
 * gcc 12 turns a 16-byte `_Atomic` into a call of libatomic, which may take a lock that a killed
 * process would keep; the builtin with -mcx16 is one `lock cmpxchg16b`.
 */
#ifndef WEIR_TABLE_ATOMIC_H
#define WEIR_TABLE_ATOMIC_H

#include <stdbool.h>
#include <stdint.h>

#if !defined(__GCC_HAVE_SYNC_COMPARE_AND_SWAP_16)
#error "weir needs a 16-byte compare-and-swap: compile with -mcx16 on x86-64"
#endif

typedef unsigned __int128 __attribute__((may_alias)) atomic_pair; /* seen through two uint64_t elsewhere */

/* Acquire: what is read afterwards is at least as new. Slots, generation, epochs. */
static inline uint64_t atomic_get(const uint64_t *p)
{
	return __atomic_load_n(p, __ATOMIC_ACQUIRE);
}

/* Release: what was written before is seen by whoever gets this value. */
static inline void atomic_set(uint64_t *p, uint64_t value)
{
	__atomic_store_n(p, value, __ATOMIC_RELEASE);
}

/* Relaxed: counters and hints that order nothing. */
static inline uint64_t atomic_peek(const uint64_t *p)
{
	return __atomic_load_n(p, __ATOMIC_RELAXED);
}

static inline void atomic_poke(uint64_t *p, uint64_t value)
{
	__atomic_store_n(p, value, __ATOMIC_RELAXED);
}

static inline uint32_t atomic_get32(const uint32_t *p)
{
	return __atomic_load_n(p, __ATOMIC_ACQUIRE);
}

static inline void atomic_set32(uint32_t *p, uint32_t value)
{
	__atomic_store_n(p, value, __ATOMIC_RELEASE);
}

/* A single-writer counter: no lock prefix, the line is its owner's. */
static inline void atomic_add_own(uint64_t *p, uint64_t n)
{
	__atomic_store_n(p, __atomic_load_n(p, __ATOMIC_RELAXED) + n, __ATOMIC_RELAXED);
}

/* Counts to a number that nobody else gets. A full barrier on x86-64, an acquire and release everywhere. */
static inline uint64_t atomic_count(uint64_t *p)
{
	return __atomic_add_fetch(p, 1, __ATOMIC_ACQ_REL);
}

static inline uint32_t atomic_count32(uint32_t *p)
{
	return __atomic_add_fetch(p, 1, __ATOMIC_ACQ_REL);
}

static inline bool atomic_cas32(uint32_t *p, uint32_t from, uint32_t to)
{
	return __atomic_compare_exchange_n(p, &from, to, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

static inline bool atomic_cas(uint64_t *p, uint64_t from, uint64_t to)
{
	return __atomic_compare_exchange_n(p, &from, to, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

#if defined(__SANITIZE_THREAD__)
void __tsan_acquire(void *address);
void __tsan_release(void *address);

/* libtsan (gcc 12) does the builtin's work under a lock of its own process, with two plain stores: between
 * processes that is no compare-and-swap at all. So the instruction itself, and its order told by hand. */
static inline bool atomic_cas_pair(uint64_t *p, uint64_t from0, uint64_t from1, uint64_t to0, uint64_t to1)
{
	bool done;
	__tsan_release(p);
	__asm__ volatile("lock cmpxchg16b %1"
			 : "=@ccz"(done), "+m"(*(atomic_pair *)(void *)p), "+a"(from0), "+d"(from1)
			 : "b"(to0), "c"(to1)
			 : "memory");
	__tsan_acquire(p);
	return done;
}
#else
/* The one transition of a slot: both words or neither. `p` is 16-byte aligned. A full barrier. */
static inline bool atomic_cas_pair(uint64_t *p, uint64_t from0, uint64_t from1, uint64_t to0, uint64_t to1)
{
	atomic_pair from = (atomic_pair)from1 << 64 | from0;
	atomic_pair to = (atomic_pair)to1 << 64 | to0;
	return __sync_bool_compare_and_swap((atomic_pair *)(void *)p, from, to);
}
#endif

/* One order for all of these, whoever makes them: of two processes that each store and then look at the
 * other's word, at least one sees what the other stored. Not fences: ThreadSanitizer does not know them. */
static inline void atomic_set_ordered(uint64_t *p, uint64_t value)
{
	__atomic_store_n(p, value, __ATOMIC_SEQ_CST);
}

static inline uint64_t atomic_get_ordered(const uint64_t *p)
{
	return __atomic_load_n(p, __ATOMIC_SEQ_CST);
}

/* Fetch the line for writing, or for reading only. The builtin's "write" flag needs -mprfchw; the
 * instruction is a no-op where it is not known. */
static inline void atomic_prefetch_write(const void *p)
{
#if defined(__x86_64__)
	__asm__ volatile("prefetchw %0" : : "m"(*(const char *)p));
#else
	__builtin_prefetch(p, 1);
#endif
}

static inline void atomic_prefetch_read(const void *p)
{
	__builtin_prefetch(p, 0);
}

static inline void atomic_pause(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#endif
}

#endif
