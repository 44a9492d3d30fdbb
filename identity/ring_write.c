/* SPDX-License-Identifier: BSD-2-Clause */
/* ring_write: the lock, and changes to the ring that is there. */
#include "identity/ring_write.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "identity/ring_writer.h"
#include "table/atomic.h"

#define STEP_MS 5u

static enum weir_error open_lock(struct ring_writer *writer, const struct why *why)
{
	char name[NAME_MAX + 16];
	struct file_new file;
	bool taken;
	snprintf(name, sizeof name, "%s.lock", writer->name);
	enum weir_error error = file_open(writer->folder, name, true, &writer->lock, why);
	if (error != WEIR_NOT_FOUND)
		return error;
	error = file_make(writer->folder, 0, &file, why);
	if (error != WEIR_OK)
		return error;
	error = file_name(&file, name, false, &taken, why);
	file_drop(&file);
	return error != WEIR_OK ? error : file_open(writer->folder, name, true, &writer->lock, why);
}

static enum weir_error take_lock(struct ring_writer *writer, unsigned wait_ms, const struct why *why)
{
	for (unsigned waited = 0; flock(writer->lock, LOCK_EX | LOCK_NB) != 0; waited += STEP_MS) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			return why_error(why, WEIR_SYSTEM, "%s.lock: %s", writer->path, strerror(errno));
		if (waited >= wait_ms)
			return why_error(why, WEIR_BUSY, "%s.lock: another process is changing API keys",
					 writer->path);
		nanosleep(&(struct timespec){.tv_nsec = STEP_MS * 1000000L}, NULL);
	}
	return WEIR_OK;
}

/* What a writer relies on and a reader does not: every word leads to a record. A file where that is not so was not written by
 * us to its end: it is made anew. */
static bool sound(const struct ring_writer *writer)
{
	const struct ring_header *header = ring_writer_header(writer);
	const uint64_t *index = ring_writer_index(writer);
	uint64_t used = 0;
	if (header->used_units > writer->shape.units)
		return false;
	for (uint64_t i = 0; i < writer->shape.places; i++) {
		uint64_t record = (uint32_t)index[i];
		if (index[i] && (record == 0 || record + 1 > header->used_units))
			return false;
		used += index[i] != 0;
	}
	return used == header->used_places;
}

void ring_writer_map(struct ring_writer *writer)
{
	struct stat st;
	int fd;
	if (writer->map)
		munmap(writer->map, writer->size);
	writer->map = NULL;
	writer->size = 0;
	if (file_open(writer->folder, writer->name, true, &fd, &(struct why){0}) != WEIR_OK)
		return;
	if (fstat(fd, &st) == 0 && st.st_size >= (off_t)RING_PAGE) {
		void *map = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		writer->map = map == MAP_FAILED ? NULL : map;
		writer->size = (uint64_t)st.st_size;
	}
	close(fd);
	const struct ring_header *header = ring_writer_header(writer);
	if (writer->map && (header->magic != RING_MAGIC || header->version != RING_VERSION ||
			    !ring_shape_of(header, writer->size, &writer->shape) || !sound(writer))) {
		munmap(writer->map, writer->size);
		writer->map = NULL;
	}
	writer->added = writer->map ? ring_writer_header(writer)->used_units : 0;
}

enum weir_error ring_write_open(const char *database, unsigned wait_ms, struct ring_writer **out, char *text,
				size_t size)
{
	const struct why why = {text, size};
	struct ring_writer *writer = calloc(1, sizeof *writer);
	*out = NULL;
	if (!writer)
		return why_error(&why, WEIR_NO_MEMORY, "out of memory");
	writer->folder = writer->lock = -1;
	enum weir_error error = WEIR_SYSTEM;
	if (snprintf(writer->path, sizeof writer->path, "%s%s", database, RING_SUFFIX) >=
	    (int)sizeof writer->path)
		why_error(&why, error, "%s: too long", database);
	else
		error = file_folder(writer->path, false, &writer->folder, &writer->name, &why);
	if (error == WEIR_OK)
		error = open_lock(writer, &why);
	if (error == WEIR_OK)
		error = take_lock(writer, wait_ms, &why);
	if (error == WEIR_OK) {
		ring_writer_map(writer);
		*out = writer;
	} else {
		ring_write_close(&writer);
	}
	return error;
}

void ring_write_close(struct ring_writer **writer)
{
	struct ring_writer *w = *writer;
	if (!w)
		return;
	if (w->map)
		munmap(w->map, w->size);
	if (w->lock >= 0)
		close(w->lock);
	if (w->folder >= 0)
		close(w->folder);
	free(w);
	*writer = NULL;
}

bool ring_write_current(const struct ring_writer *writer, const struct ring_state *state)
{
	const struct ring_header *header = ring_writer_header(writer);
	return writer->map && header->moved == 0 && header->change == state->change &&
	       header->token == state->token && memcmp(header->pepper, state->pepper, RING_PEPPER) == 0;
}

bool ring_write_fits(const struct ring_writer *writer, uint64_t rows, uint64_t max_id)
{
	if (!writer->map)
		return false;
	uint64_t units = writer->shape.units - writer->added, most = RING_ROW_MAX / RING_UNIT;
	uint64_t places = writer->shape.places / 8 * 5, used = ring_writer_header(writer)->used_places;
	return rows <= units / most && used <= places && rows <= places - used &&
	       max_id <= writer->shape.stamps;
}

enum weir_error ring_write_add(struct ring_writer *writer, const struct ring_row *row, char *text,
			       size_t size)
{
	uint8_t bytes[RING_ROW_MAX];
	const struct why why = {text, size};
	uint64_t units = ring_row_write(row, bytes);
	if (!units)
		return why_error(&why, WEIR_DAMAGED, "a key without a name, or with a text that is too long");
	if (!writer->map || units > writer->shape.units - writer->added || row->id > writer->shape.stamps)
		return why_error(&why, WEIR_NO_SPACE, "%s: no room for another key", writer->path);
	memcpy(writer->map + writer->shape.units_at + writer->added * RING_UNIT, bytes, units * RING_UNIT);
	writer->added += units;
	return WEIR_OK;
}

static enum weir_error sync_all(struct ring_writer *writer, const struct why *why)
{
	if (msync(writer->map, writer->size, MS_SYNC) == 0)
		return WEIR_OK;
	return why_error(why, WEIR_SYSTEM, "%s: %s", writer->path, strerror(errno));
}

static bool link_record(struct ring_writer *writer, uint64_t unit)
{
	struct ring_header *header = ring_writer_header(writer);
	const uint8_t *units = writer->map + writer->shape.units_at, *hash = units + unit * RING_UNIT;
	uint64_t *word = ring_word_of(ring_writer_index(writer), writer->shape.places, units, hash);
	if (!word || (*word == 0 && header->used_places >= writer->shape.places / 8 * 7))
		return false;
	if (*word == 0)
		header->used_places++;
	atomic_set(word, (uint64_t)ring_tag_of(hash) << 32 | (unit + 1)); /* the record is whole before */
	return true;
}

enum weir_error ring_write_link(struct ring_writer *writer, const struct ring_state *state, char *text,
				size_t size)
{
	const struct why why = {text, size};
	if (!writer->map)
		return why_error(&why, WEIR_NOT_FOUND, "%s: no ring", writer->path);
	struct ring_header *header = ring_writer_header(writer);
	uint64_t unit = header->used_units;
	enum weir_error error = sync_all(writer, &why);
	header->used_units = writer->added; /* before the first word: nobody writes over what is linked */
	while (error == WEIR_OK && unit < writer->added) {
		const struct ring_record *record = (const void *)(writer->map + writer->shape.units_at +
								  unit * RING_UNIT);
		if (!link_record(writer, unit))
			error = why_error(&why, WEIR_NO_SPACE, "%s: no room for another key", writer->path);
		unit += ring_record_units(record);
	}
	if (error == WEIR_OK)
		error = sync_all(writer, &why);
	if (error != WEIR_OK)
		return error;
	atomic_poke(&header->keys, state->keys);
	header->token = state->token;
	header->change = state->change;
	return WEIR_OK;
}
