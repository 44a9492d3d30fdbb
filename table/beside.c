/* SPDX-License-Identifier: BSD-2-Clause */
/* beside: read and replace a file beside the table. */
#include "table/beside.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "table/file.h"

static enum weir_error write_all(int fd, const char *bytes, size_t size, const struct why *why)
{
	for (size_t at = 0; at < size;) {
		ssize_t put = pwrite(fd, bytes + at, size - at, (off_t)at);
		if (put < 0 && errno != EINTR)
			return why_error(why, errno == ENOSPC ? WEIR_NO_SPACE : WEIR_SYSTEM, "write: %s",
					 strerror(errno));
		if (put > 0)
			at += (size_t)put;
	}
	return WEIR_OK;
}

static enum weir_error read_all(int fd, char *bytes, size_t size, const struct why *why)
{
	for (size_t at = 0; at < size;) {
		ssize_t got = pread(fd, bytes + at, size - at, (off_t)at);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return why_error(why, WEIR_SYSTEM, "%s", got < 0 ? strerror(errno) : "it ends early");
		at += (size_t)got;
	}
	return WEIR_OK;
}

static enum weir_error tell(const struct table *table, const char *suffix, enum weir_error error,
			    const char *sentence, const struct why *why)
{
	return error == WEIR_OK ? error
				: why_error(why, error, "%s%s: %s", table->path, suffix,
					    *sentence ? sentence : weir_error_sentence(error));
}

enum weir_error table_beside_replace(struct table *table, const char *suffix, const void *bytes, size_t size,
				     const struct why *why)
{
	char sentence[256] = "", name[NAME_MAX + 1];
	const struct why inner = {sentence, sizeof sentence};
	struct file_new file;
	bool taken;
	enum weir_error error = file_make(table->folder, size, &file, &inner);

	if (error == WEIR_OK) {
		error = write_all(file.fd, bytes, size, &inner);
		snprintf(name, sizeof name, "%s%s", table->name, suffix);
		if (error == WEIR_OK)
			error = file_name(&file, name, true, &taken, &inner);
		file_drop(&file);
	}
	return tell(table, suffix, error, sentence, why);
}

static enum weir_error read_whole(int fd, size_t max, void **bytes, size_t *size, const struct why *why)
{
	struct stat st;
	if (fstat(fd, &st) != 0)
		return why_error(why, WEIR_SYSTEM, "fstat: %s", strerror(errno));
	if ((uint64_t)st.st_size > max)
		return why_error(why, WEIR_BAD_SIZE, "it has %lld bytes, more than %zu",
				 (long long)st.st_size, max);
	char *memory = malloc((size_t)st.st_size + !st.st_size);
	if (!memory)
		return WEIR_NO_MEMORY;
	enum weir_error error = read_all(fd, memory, (size_t)st.st_size, why);
	if (error != WEIR_OK) {
		free(memory);
		return error;
	}
	*bytes = memory;
	*size = (size_t)st.st_size;
	return WEIR_OK;
}

enum weir_error table_beside_read(const struct table *table, const char *suffix, size_t max, void **bytes,
				  size_t *size, const struct why *why)
{
	char sentence[256] = "";
	const struct why inner = {sentence, sizeof sentence};
	int fd;

	*bytes = NULL;
	*size = 0;
	enum weir_error error = file_open_beside(table, suffix, false, &fd);
	if (error == WEIR_OK) {
		error = read_whole(fd, max, bytes, size, &inner);
		close(fd);
	}
	return tell(table, suffix, error, sentence, why);
}
