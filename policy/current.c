/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * current: the image that is in force.
 *
 * It is copied into memory of our own rather than mapped: it is small, and a file that somebody cuts short
 * would otherwise kill the worker that looks at it (SIGBUS).
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "policy/builder.h"
#include "policy/publish.h"
#include "table/file.h"

#define TRIES 20u

/* All of it, or false with a sentence. */
static bool read_all(int fd, char *bytes, size_t size, const struct why *why)
{
	for (size_t at = 0; at < size;) {
		ssize_t got = pread(fd, bytes + at, size - at, (off_t)at);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0) {
			why_error(why, WEIR_SYSTEM, "%s", got < 0 ? strerror(errno) : "it ends early");
			return false;
		}
		at += (size_t)got;
	}
	return true;
}

static enum weir_error read_image(int fd, struct policy_image *out, const struct why *why)
{
	struct stat st;
	struct image *image;
	enum weir_error error = WEIR_OK;

	if (fstat(fd, &st) != 0) {
		why_error(why, WEIR_SYSTEM, "fstat: %s", strerror(errno));
		return WEIR_SYSTEM;
	}
	if (st.st_size < (off_t)sizeof *image || st.st_size > (off_t)BUILDER_SIZE_MAX) {
		why_error(why, WEIR_BAD_IMAGE, "%lld bytes are no policy image", (long long)st.st_size);
		return WEIR_BAD_IMAGE;
	}
	image = malloc((size_t)st.st_size);
	if (!image)
		return WEIR_NO_MEMORY;
	if (!read_all(fd, (char *)image, (size_t)st.st_size, why))
		error = WEIR_SYSTEM;
	else if (!image_check(image, (size_t)st.st_size, why->text, why->size))
		error = WEIR_BAD_IMAGE;
	else if (image->checksum != image_checksum(image))
		error = why_error(why, WEIR_BAD_IMAGE, "its checksum is wrong");
	else if (image->generation == 0)
		error = why_error(why, WEIR_BAD_IMAGE, "it was never published");
	if (error != WEIR_OK) {
		free(image);
		return error;
	}
	*out = (struct policy_image){.image = image, .size = (size_t)st.st_size, .references = 1};
	return WEIR_OK;
}

enum weir_error publish_read(struct table *table, struct policy_image **out, char *why, size_t size)
{
	char sentence[256] = "";
	const struct why inner = {sentence, sizeof sentence}, outer = {why, size};
	struct policy_image *image = calloc(1, sizeof *image);
	enum weir_error error = WEIR_NO_MEMORY;
	int fd = -1;

	*out = NULL;
	if (image)
		error = file_open_beside(table, PUBLISH_SUFFIX, false, &fd);
	if (error == WEIR_NOT_FOUND)
		error = WEIR_NO_POLICY;
	if (error == WEIR_OK)
		error = read_image(fd, image, &inner);
	if (fd >= 0)
		close(fd);
	if (error != WEIR_OK || !image) {
		free(image);
		return why_error(&outer, error, "%s" PUBLISH_SUFFIX ": %s", table_path(table),
				 *sentence ? sentence : weir_error_sentence(error));
	}
	*out = image;
	return WEIR_OK;
}

bool publish_rows_stand(struct table *table, const struct image *image)
{
	for (uint32_t i = 0; i < image->counters.count; i++) {
		const struct image_counter *counter = image_counter_at(image, i);
		const struct ledger_row *row = ledger_row(table, counter->row);

		if (!row || row->identity != counter->identity || row->stat != counter->stat ||
		    memcmp(&row->numbers, &counter->numbers, sizeof row->numbers) != 0)
			return false;
	}
	return true;
}

enum weir_error policy_current(struct table *table, struct policy_image **out, char *why, size_t size)
{
	const struct why reason = {why, size};
	enum weir_error error = WEIR_OK;
	uint64_t generation = 0;

	*out = NULL;
	for (unsigned try = 0; try < TRIES; try++) {
		/* before the file: it is renamed first, so what lies there is never older than this */
		generation = table_generation(table);
		if (generation == 0)
			return why_error(&reason, WEIR_NO_POLICY, "%s: no policy has been published",
					 table_path(table));
		error = publish_read(table, out, why, size);
		if (error != WEIR_OK || !*out)
			return error;
		if ((*out)->image->generation >= generation && publish_rows_stand(table, (*out)->image))
			return WEIR_OK;
		/* Two publications passed meanwhile, and the second reused rows that the first no longer
		 * named: once more. Otherwise it belongs to another table, or an old copy was put there. */
		policy_drop(out);
		if (table_generation(table) == generation)
			break;
	}
	return why_error(&reason, WEIR_BAD_IMAGE,
			 "%s" PUBLISH_SUFFIX ": it is not generation %llu of this table", table_path(table),
			 (unsigned long long)generation);
}

struct policy_image *policy_hold(struct policy_image *image)
{
	image->references++;
	return image;
}

void policy_drop(struct policy_image **image)
{
	if (*image && --(*image)->references == 0) {
		free((void *)(uintptr_t)(*image)->image);
		free(*image);
	}
	*image = NULL;
}
