/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * top: counting who asks (Space-Saving). A key that is there counts on; a new one takes the place of one that has asked least, and
 * what that had asked is its error.
 *
 * Which entry has asked least is not searched each time: counts only grow, so a cursor that stops at each entry of the least
 * count has, when it comes to the end, passed the last of them.
 */
#include "table/top.h"

#include "table/atomic.h"
#include "table/handle.h"

#define NONE	   UINT8_MAX
#define SHARE_EACH 16u

static uint32_t low(uint64_t word)
{
	return (uint32_t)word;
}

static uint32_t high(uint64_t word)
{
	return (uint32_t)(word >> 32);
}

static uint64_t both(uint32_t at_low, uint32_t at_high)
{
	return (uint64_t)at_high << 32 | at_low;
}

/* The top of a slot is its tag's: a keyed hash already. */
static uint8_t *bucket(struct handle_top *top, uint64_t slot)
{
	return &top->head[(slot >> 32) % TOP_KEYS];
}

static void link_in(struct handle_top *top, uint8_t at, uint64_t slot)
{
	uint8_t *head = bucket(top, slot);

	top->slots[at] = slot;
	top->next[at] = *head;
	*head = (uint8_t)(at + 1);
}

static void unlink_from(struct handle_top *top, uint8_t at)
{
	uint8_t *link = bucket(top, top->slots[at]);

	while (*link && *link != at + 1)
		link = &top->next[*link - 1];
	if (*link)
		*link = top->next[at];
}

static uint8_t find(struct handle_top *top, uint64_t slot)
{
	for (uint8_t i = *bucket(top, slot); i; i = top->next[i - 1])
		if (top->slots[i - 1] == slot)
			return (uint8_t)(i - 1);
	return NONE;
}

/* ---- epochs ---- */

/* What is sure of the epoch that ends is kept beside the next one's counts. */
static void age(struct top_entry *entry)
{
	uint64_t counts = atomic_peek(&entry->counts), further = atomic_peek(&entry->further);
	uint32_t sure = low(counts) > low(further) ? low(counts) - low(further) : 0;

	atomic_set(&entry->counts, 0);
	atomic_set(&entry->further, both(0, sure));
	atomic_set(&entry->old, both(high(counts), high(atomic_peek(&entry->old))));
}

static void clear(struct top_entry *entry)
{
	atomic_set(&entry->slot, 0);
	for (size_t word = 1; word < sizeof *entry / sizeof(uint64_t); word++)
		if (&((uint64_t *)entry)[word] != &entry->version)
			atomic_set(&((uint64_t *)entry)[word], 0);
}

/* One's own side from what stands there: another owner's, or what an epoch's end has left. */
static void learn(struct handle_top *top)
{
	top->named = 0;
	top->used = top->cursor = 0;
	top->least = 0;
	memset(top->head, 0, sizeof top->head);
	for (uint8_t i = 0; i < TOP_KEYS; i++)
		if (atomic_peek(&top->area->entries[i].slot))
			top->used = (uint8_t)(i + 1);
	for (uint8_t i = 0; i < top->used; i++) {
		const struct top_entry *entry = &top->area->entries[i];

		link_in(top, i, atomic_peek(&entry->slot));
		top->asked[i] = low(atomic_peek(&entry->counts));
		top->before[i] = high(atomic_peek(&entry->further));
		top->named |= (uint64_t)((atomic_peek(&entry->about) >> 48 & 0xff) != 0) << i;
	}
}

static __attribute__((noinline)) void turn(struct handle_top *top, uint64_t now)
{
	struct top_area *area = top->area;
	uint64_t epoch = now / TOP_EPOCH_NS + 1, was = atomic_peek(&area->epoch);
	uint64_t began = atomic_peek(&area->began), start = (epoch - 1) * TOP_EPOCH_NS;

	atomic_set(&area->epoch, 0); /* nobody reads meanwhile; a death here leaves nothing to read */
	if (was == 0 || (was != epoch && was + 1 != epoch)) {
		for (size_t i = 0; i < TOP_KEYS; i++)
			clear(&area->entries[i]);
		atomic_set(&area->requests, 0);
		atomic_set(&area->before, 0);
		atomic_set(&area->began, now);
	} else if (was != epoch) {
		for (size_t i = 0; i < TOP_KEYS; i++)
			age(&area->entries[i]);
		atomic_set(&area->before, atomic_peek(&area->requests));
		atomic_set(&area->requests, 0);
		if (began + TOP_EPOCH_NS < start)
			atomic_set(&area->began, start - TOP_EPOCH_NS);
	}
	learn(top);
	top->exact = TOP_EXACT;
	top->skip = 1;
	top->chance = (uint32_t)now | 1;
	top->until = epoch * TOP_EPOCH_NS;
	atomic_set(&area->epoch, epoch);
}

/* ---- counting ---- */

/* Of those that have not asked in this epoch, the one that asked least before: until all have, a key that was busy is not lost. */
static uint8_t idle(const struct handle_top *top)
{
	uint8_t best = NONE;

	for (uint8_t i = 0; i < TOP_KEYS; i++)
		if (top->asked[i] == 0 && (best == NONE || top->before[i] < top->before[best]))
			best = i;
	return best;
}

static uint8_t victim(struct handle_top *top)
{
	uint8_t at;

	if (top->least == 0 && (at = idle(top)) != NONE)
		return at;
	for (;;) {
		while (top->cursor < TOP_KEYS) {
			at = top->cursor++;
			if (top->asked[at] == top->least)
				return at;
		}
		top->cursor = 0;
		top->least = top->asked[0];
		for (size_t i = 1; i < TOP_KEYS; i++)
			top->least = top->asked[i] < top->least ? top->asked[i] : top->least;
	}
}

static uint8_t admit(struct handle_top *top, uint64_t slot, uint32_t generation)
{
	uint8_t at = top->used;
	uint32_t error = 0;
	struct top_entry *entry;

	if (at < TOP_KEYS) {
		top->used++;
	} else {
		at = victim(top);
		error = top->asked[at];
		unlink_from(top, at);
	}
	entry = &top->area->entries[at];
	link_in(top, at, slot);
	top->asked[at] = error;
	top->before[at] = 0;
	top->named &= ~(UINT64_C(1) << at);
	atomic_set(&entry->slot, 0);
	atomic_set(&entry->version, atomic_peek(&entry->version) + 1);
	atomic_set(&entry->counts, error);
	atomic_set(&entry->further, error);
	atomic_set(&entry->old, both(0, generation));
	atomic_set(&entry->about, 0);
	atomic_set(&entry->slot, slot);
	return at;
}

/* How many requests this one stands for; 0: it is passed over. Gaps of 1 to 7, so one in four. */
static uint32_t weight(struct handle_top *top)
{
	if (top->exact) {
		top->exact--;
		return 1;
	}
	if (--top->skip)
		return 0;
	top->chance ^= top->chance << 13; /* xorshift32: Marsaglia, 2003 */
	top->chance ^= top->chance >> 17;
	top->chance ^= top->chance << 5;
	top->skip = 1 + (uint32_t)((uint64_t)top->chance * (2 * TOP_STRIDE - 1) >> 32);
	return TOP_STRIDE;
}

unsigned top_count(struct table *table, uint64_t now, const struct top_seen *seen)
{
	struct handle_top *top = &table->top;
	uint64_t slot = seen->slot | !seen->slot, counts, about;
	struct top_entry *entry;
	uint32_t many;
	uint8_t at;

	if (!top->area)
		return 0;
	if (now >= top->until || now + TOP_EPOCH_NS < top->until)
		turn(top, now);
	if (!(many = weight(top)))
		return 0;
	at = find(top, slot);
	if (at == NONE)
		at = admit(top, slot, seen->generation);
	entry = &top->area->entries[at];
	top->last = at;
	top->asked[at] += many;
	counts = atomic_peek(&entry->counts);
	about = atomic_peek(&entry->about);
	atomic_set(&entry->counts, both(top->asked[at], high(counts) + (seen->refused ? many : 0)));
	atomic_set(&entry->last, now);
	about = (about & UINT64_C(0xffffff00000000)) | (seen->limit & 0xffffff) | (uint64_t)seen->plan << 24;
	if (seen->share != TOP_SHARE_KEEP)
		about = (about & ~(UINT64_C(0xffff) << 32)) |
			(uint64_t)(seen->share < TOP_FULL ? seen->share : TOP_FULL) << 32;
	atomic_set(&entry->about, about);
	if (high(atomic_peek(&entry->old)) != seen->generation)
		atomic_set(&entry->old, both(low(atomic_peek(&entry->old)), seen->generation));
	atomic_add_own(&top->area->requests, many);
	uint32_t error = low(atomic_peek(&entry->further)), sure = top->asked[at] - error;
	bool again = sure > many, named = top->named >> at & 1;
	return (!named && (again || error == 0) ? TOP_WANTS_NAME : 0) |
	       (sure < SHARE_EACH || sure % SHARE_EACH < many ? TOP_WANTS_SHARE : 0);
}

void top_name(struct table *table, const char *name, size_t size)
{
	struct handle_top *top = &table->top;
	uint64_t words[TOP_NAME_MAX / sizeof(uint64_t)] = {0};
	struct top_entry *entry;

	if (!top->area || !size)
		return;
	entry = &top->area->entries[top->last];
	size = size < TOP_NAME_MAX ? size : TOP_NAME_MAX;
	memcpy(words, name, size);
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		atomic_set(&entry->name[i], words[i]);
	/* its size last: who reads it finds the name */
	atomic_set(&entry->about,
		   (atomic_peek(&entry->about) & ~(UINT64_C(0xff) << 48)) | (uint64_t)size << 48);
	top->named |= UINT64_C(1) << top->last;
}

void top_share(struct table *table, uint16_t share)
{
	uint64_t *about = table->top.area ? &table->top.area->entries[table->top.last].about : NULL;

	if (about)
		atomic_set(about, (atomic_peek(about) & ~(UINT64_C(0xffff) << 32)) |
					  (uint64_t)(share < TOP_FULL ? share : TOP_FULL) << 32);
}
