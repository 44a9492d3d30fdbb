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
		error = file_write_all(file.fd, bytes, size, 0, &inner);
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
	enum weir_error error = file_read_all(fd, memory, (size_t)st.st_size, 0, why);
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
