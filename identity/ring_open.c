/* SPDX-License-Identifier: BSD-2-Clause */
/* ring_open: mapping a ring, and seeing that another one has its name. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "identity/ring_handle.h"
#include "table/atomic.h"
#include "table/trust.h"

#define LOOK_NS UINT64_C(1000000000)

/* `count` things of `each` bytes from `at` on, before `end`. */
static bool fits(uint64_t at, uint64_t count, uint64_t each, uint64_t end)
{
	return at % RING_PAGE == 0 && at <= end && count <= (end - at) / each;
}

bool ring_shape_of(const struct ring_header *header, uint64_t bytes, struct ring_shape *out)
{
	*out = (struct ring_shape){
		.places = header->places,
		.stamps_at = header->stamps_at,
		.stamps = header->stamps,
		.units_at = header->units_at,
		.units = header->units,
	};
	return header->bytes == bytes && bytes >= RING_PAGE && out->places &&
	       out->places <= RING_PLACES_MAX && (out->places & (out->places - 1)) == 0 &&
	       out->units <= RING_UNITS_MAX && fits(RING_PAGE, out->places, 8, out->stamps_at) &&
	       fits(out->stamps_at, out->stamps, 4, out->units_at) &&
	       fits(out->units_at, out->units, RING_UNIT, bytes);
}

static enum weir_error attach(struct ring *ring, const uint8_t *bytes, uint64_t size)
{
	const struct ring_header *header = (const void *)bytes;
	if (size < RING_PAGE || header->magic != RING_MAGIC)
		return WEIR_FOREIGN;
	if (header->version != RING_VERSION)
		return WEIR_VERSION;
	if (!ring_shape_of(header, size, &ring->shape))
		return WEIR_DAMAGED;
	ring->header = header;
	ring->index = (const void *)(bytes + RING_PAGE);
	ring->units = bytes + ring->shape.units_at;
	ring->stamps_read = (const void *)(bytes + ring->shape.stamps_at);
	hmac_key_init(&ring->pepper, header->pepper, sizeof header->pepper);
	return WEIR_OK;
}

enum weir_error ring_over(void *bytes, size_t size, struct ring **out)
{
	struct ring *ring = calloc(1, sizeof *ring);
	*out = NULL;
	if (!ring)
		return WEIR_NO_MEMORY;
	enum weir_error error = attach(ring, bytes, size);
	if (error != WEIR_OK) {
		free(ring);
		return error;
	}
	ring->stamps = (void *)((uint8_t *)bytes + ring->shape.stamps_at);
	*out = ring;
	return WEIR_OK;
}

static const char *sentence(enum weir_error error)
{
	switch (error) {
	case WEIR_FOREIGN:
		return "is not a ring of API keys";
	case WEIR_VERSION:
		return "was written by another version of weir; `weir keys list` writes it again";
	case WEIR_DAMAGED:
		return "is damaged; remove it, and `weir keys list` writes it again";
	default:
		return weir_error_sentence(error);
	}
}

/* Everything for reading; of the stamps a second mapping, if the file may be written. */
static enum weir_error map(struct ring *ring, int fd, bool write, const struct why *why)
{
	struct stat st;
	if (fstat(fd, &st) != 0)
		return why_error(why, WEIR_SYSTEM, "%s%s: %s", ring->database, RING_SUFFIX, strerror(errno));
	if (st.st_size < (off_t)RING_PAGE)
		return why_error(why, WEIR_FOREIGN, "%s%s %s", ring->database, RING_SUFFIX,
				 sentence(WEIR_FOREIGN));
	ring->device = st.st_dev;
	ring->inode = st.st_ino;
	void *all = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
	if (all == MAP_FAILED)
		return why_error(why, WEIR_SYSTEM, "%s%s: mmap: %s", ring->database, RING_SUFFIX,
				 strerror(errno));
	ring->map = all;
	/* read ahead; and fewer, larger pages where the file system can do that (tmpfs): hints, no more */
	madvise(all, (size_t)st.st_size, MADV_WILLNEED);
	madvise(all, (size_t)st.st_size, MADV_HUGEPAGE);
	ring->map_size = (size_t)st.st_size;
	enum weir_error error = attach(ring, all, (uint64_t)st.st_size);
	if (error != WEIR_OK)
		return why_error(why, error, "%s%s %s", ring->database, RING_SUFFIX, sentence(error));
	if (write && ring->shape.stamps) {
		void *stamps = mmap(NULL, ring->shape.stamps * 4, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
				    (off_t)ring->shape.stamps_at);
		ring->stamps = stamps == MAP_FAILED ? NULL : stamps;
	}
	return WEIR_OK;
}

enum weir_error ring_open(const char *database, struct ring **out, char *text, size_t size)
{
	const struct why why = {text, size};
	char path[PATH_MAX];
	const char *name;
	int folder, fd = -1;
	*out = NULL;
	if (size)
		text[0] = '\0';
	if (snprintf(path, sizeof path, "%s%s", database, RING_SUFFIX) >= (int)sizeof path)
		return why_error(&why, WEIR_SYSTEM, "%s: too long", database);
	struct ring *ring = calloc(1, sizeof *ring);
	if (!ring)
		return WEIR_NO_MEMORY;
	strcpy(ring->database, database);
	enum weir_error error = file_folder(path, false, &folder, &name, &why);
	if (error == WEIR_OK) {
		bool write = true;
		error = file_open(folder, name, true, &fd, &why);
		if (error == WEIR_SYSTEM || error == WEIR_OWNER) { /* a read-only file system, perhaps */
			write = false;
			error = file_open(folder, name, false, &fd, &why);
		}
		if (error == WEIR_OK) {
			error = map(ring, fd, write, &why);
			close(fd);
		}
		close(folder);
	}
	if (error == WEIR_OK)
		*out = ring;
	else
		ring_close(&ring);
	return error;
}

void ring_close(struct ring **ring)
{
	struct ring *r = *ring;
	if (!r)
		return;
	if (r->map_size && r->stamps)
		munmap(r->stamps, r->shape.stamps * 4);
	if (r->map_size)
		munmap((void *)(uintptr_t)r->map, r->map_size);
	free(r);
	*ring = NULL;
}

/* Another file under our path, and one that can be opened: else ours goes on serving. */
static bool other_there(const struct ring *ring)
{
	char path[PATH_MAX + sizeof RING_SUFFIX];
	struct stat st;
	struct ring *other;
	snprintf(path, sizeof path, "%s%s", ring->database, RING_SUFFIX);
	if (lstat(path, &st) != 0 || (st.st_dev == ring->device && st.st_ino == ring->inode) ||
	    ring_open(ring->database, &other, NULL, 0) != WEIR_OK)
		return false;
	ring_close(&other);
	return true;
}

bool ring_replaced(struct ring *ring, uint64_t now)
{
	if (!ring->map_size)
		return false;
	/* said by the writer: look at once, but not more than once a millisecond if what is there is no ring */
	bool moved = atomic_get(&ring->header->moved) != 0;
	if (now < ring->look_at && !(moved && now + LOOK_NS - LOOK_NS / 1000 >= ring->look_at))
		return false;
	ring->look_at = now + LOOK_NS;
	return other_there(ring);
}
