/* SPDX-License-Identifier: BSD-2-Clause */
/* file_whole: bytes to and from a file, all of them or an error. */
#include <errno.h>
#include <unistd.h>

#include "table/file.h"

enum weir_error file_write_all(int fd, const void *bytes, size_t size, uint64_t at, const struct why *why)
{
	for (size_t done = 0; done < size;) {
		ssize_t put = pwrite(fd, (const char *)bytes + done, size - done, (off_t)(at + done));
		if (put < 0 && errno != EINTR)
			return why_error(why,
					 errno == ENOSPC || errno == EDQUOT || errno == EFBIG ? WEIR_NO_SPACE
											      : WEIR_SYSTEM,
					 "write: %s", strerror(errno));
		if (put > 0)
			done += (size_t)put;
	}
	return WEIR_OK;
}

enum weir_error file_read_all(int fd, void *bytes, size_t size, uint64_t at, const struct why *why)
{
	for (size_t done = 0; done < size;) {
		ssize_t got = pread(fd, (char *)bytes + done, size - done, (off_t)(at + done));
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return why_error(why, WEIR_SYSTEM, "%s", got < 0 ? strerror(errno) : "it ends early");
		done += (size_t)got;
	}
	return WEIR_OK;
}
