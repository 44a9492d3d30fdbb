/* SPDX-License-Identifier: BSD-2-Clause */
/* ring_build: a ring made anew, in a file without a name until it is whole. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "identity/ring_writer.h"
#include "table/atomic.h"

#define BUFFER (UINT64_C(1) << 18)
#define SPARE  UINT64_C(1024) /* rows and ids for which there is room at least */

struct ring_build {
	struct ring_writer *writer;
	struct file_new file;
	struct ring_header header;
	uint64_t *index;
	uint8_t *buffer;
	uint64_t written, filled, more; /* units in the file, bytes in the buffer, rows to come */
	bool whole;			/* but for its name */
};

static uint64_t page_up(uint64_t bytes)
{
	return (bytes + RING_PAGE - 1) / RING_PAGE * RING_PAGE;
}

static void drop(struct ring_build **build)
{
	file_drop(&(*build)->file);
	free((*build)->index);
	free((*build)->buffer);
	free(*build);
	*build = NULL;
}

enum weir_error ring_build_begin(struct ring_writer *writer, const struct ring_state *state, uint64_t rows,
				 uint64_t more, uint64_t max_id, struct ring_build **out, char *text,
				 size_t size)
{
	const struct why why = {text, size};
	uint64_t places = SPARE;
	*out = NULL;
	if (rows > RING_PLACES_MAX / 4 || more > RING_PLACES_MAX / 4 || max_id > RING_PLACES_MAX)
		return why_error(&why, WEIR_NO_SPACE, "more keys than a ring can hold");
	more += rows / 16 + SPARE;
	while (places / 8 * 5 < rows + more)
		places *= 2;
	struct ring_build *build = calloc(1, sizeof *build);
	if (!build)
		return why_error(&why, WEIR_NO_MEMORY, "out of memory");
	*build = (struct ring_build){
		.writer = writer,
		.file = {.folder = -1, .fd = -1},
		.index = calloc(places, sizeof *build->index),
		.buffer = malloc(BUFFER),
		.more = more,
		.header = {.magic = RING_MAGIC,
			   .version = RING_VERSION,
			   .places = places,
			   .change = state->change,
			   .token = state->token,
			   .keys = state->keys},
	};
	struct ring_header *header = &build->header;
	memcpy(header->pepper, state->pepper, RING_PEPPER);
	header->stamps_at = page_up(RING_PAGE + places * 8);
	header->stamps = page_up((max_id + more) * 4) / 4;
	header->units_at = page_up(header->stamps_at + header->stamps * 4);
	enum weir_error error = WEIR_NO_MEMORY;
	if (!build->index || !build->buffer)
		why_error(&why, error, "out of memory");
	else
		error = file_make(writer->folder, header->units_at, &build->file, &why);
	*out = build;
	if (error != WEIR_OK)
		drop(out);
	return error;
}

static enum weir_error flush(struct ring_build *build, const struct why *why)
{
	uint64_t at = build->header.units_at + build->written * RING_UNIT;
	enum weir_error error = file_write_all(build->file.fd, build->buffer, build->filled, at, why);
	build->written += build->filled / RING_UNIT;
	build->filled = 0;
	return error;
}

enum weir_error ring_build_add(struct ring_build *build, const struct ring_row *row, char *text, size_t size)
{
	uint8_t bytes[RING_ROW_MAX];
	const struct why why = {text, size};
	uint64_t units = ring_row_write(row, bytes), unit = build->written + build->filled / RING_UNIT;
	uint64_t *word = ring_word_of(build->index, build->header.places, NULL, row->hash);
	if (!units || row->id > build->header.stamps)
		return why_error(&why, WEIR_DAMAGED, "a key without a name, or with a text that is too long");
	if (!word || unit + units >= RING_UNITS_MAX ||
	    build->header.used_places >= build->header.places / 8 * 7)
		return why_error(&why, WEIR_NO_SPACE, "more keys than there were");
	memcpy(build->buffer + build->filled, bytes, units * RING_UNIT);
	build->filled += units * RING_UNIT;
	*word = (uint64_t)ring_tag_of(row->hash) << 32 | (unit + 1);
	build->header.used_places++;
	return build->filled > BUFFER - RING_ROW_MAX ? flush(build, &why) : WEIR_OK;
}

/* All that is missing but stamps and name. */
static enum weir_error complete(struct ring_build *build, const struct why *why)
{
	struct ring_writer *writer = build->writer;
	struct ring_header *header = &build->header;
	int fd = build->file.fd;
	enum weir_error error = flush(build, why);
	header->used_units = build->written;
	header->units = build->written + build->more * (RING_ROW_MAX / RING_UNIT);
	header->bytes = page_up(header->units_at + header->units * RING_UNIT);
	if (error == WEIR_OK) /* what is changed in place later must find its bytes there */
		error = file_reserve(fd, header->bytes, why);
	if (error == WEIR_OK)
		error = file_write_all(fd, build->index, header->places * 8, RING_PAGE, why);
	if (error == WEIR_OK)
		error = file_write_all(fd, header, sizeof *header, 0, why);
	if (error == WEIR_OK && writer->map) {
		uint64_t stamps = writer->shape.stamps < header->stamps ? writer->shape.stamps
									: header->stamps;
		error = file_write_all(fd, writer->map + writer->shape.stamps_at, stamps * 4,
				       header->stamps_at, why);
	}
	if (error == WEIR_OK && fsync(fd) != 0)
		error = why_error(why, errno == ENOSPC ? WEIR_NO_SPACE : WEIR_SYSTEM, "%s: %s", writer->path,
				  strerror(errno));
	return error;
}

/* Whatever has the name now, sound or not, is told that it is no longer the ring. */
static void tell_old(int folder, const char *name, int *fd)
{
	if (file_open(folder, name, true, fd, &(struct why){0}) != WEIR_OK)
		*fd = -1;
}

static void set_moved(int fd)
{
	if (fd < 0)
		return;
	off_t end = lseek(fd, 0, SEEK_END);
	void *map = end >= (off_t)RING_PAGE ? mmap(NULL, RING_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)
					    : MAP_FAILED;
	if (map != MAP_FAILED) {
		struct ring_header *header = map;
		if (header->magic == RING_MAGIC)
			atomic_set(&header->moved, 1);
		munmap(map, RING_PAGE);
	}
	close(fd);
}

/* When keys were last used, as late as possible: what is noted after this is lost. */
static enum weir_error carry_stamps(struct ring_build *build, const struct why *why)
{
	struct ring_writer *writer = build->writer;
	const struct ring_header *header = &build->header;
	if (!writer->map)
		return WEIR_OK;
	uint64_t stamps = writer->shape.stamps < header->stamps ? writer->shape.stamps : header->stamps;
	return file_write_all(build->file.fd, writer->map + writer->shape.stamps_at, stamps * 4,
			      header->stamps_at, why);
}

enum weir_error ring_build_whole(struct ring_build *build, char *text, size_t size)
{
	enum weir_error error = complete(build, &(struct why){text, size});
	build->whole = error == WEIR_OK;
	return error;
}

enum weir_error ring_build_end(struct ring_build **build, bool keep, char *text, size_t size)
{
	const struct why why = {text, size};
	struct ring_writer *writer = (*build)->writer;
	enum weir_error error = keep && !(*build)->whole ? complete(*build, &why) : WEIR_OK;
	if (keep && error == WEIR_OK)
		error = carry_stamps(*build, &why);
	if (keep && error == WEIR_OK) {
		bool taken;
		int old;
		tell_old(writer->folder, writer->name, &old);
		error = file_name(&(*build)->file, writer->name, true, &taken, &why);
		if (error == WEIR_OK)
			fsync(writer->folder);
		if (error == WEIR_OK)
			set_moved(old);
		else if (old >= 0)
			close(old);
	}
	drop(build);
	if (keep && error == WEIR_OK)
		ring_writer_map(writer);
	return error;
}
