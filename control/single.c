/* SPDX-License-Identifier: BSD-2-Clause */
/* single: an open-file-description lock on a file beside the table: asking about it takes nothing. */
#include "control/single.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "policy/place.h"

static int read_pid(int descriptor)
{
	char text[16] = "";
	ssize_t n = pread(descriptor, text, sizeof text - 1, 0);
	return n > 0 ? atoi(text) : 0;
}

int single_take(const char *path, const char *busy, char *why, size_t size)
{
	char pid[16];
	struct stat mine, there;
	for (;;) {
		int descriptor = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
		if (descriptor < 0) {
			snprintf(why, size, "cannot open %s: %s", path, strerror(errno));
			return -1;
		}
		struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
		if (fcntl(descriptor, F_OFD_SETLK, &lock) != 0) {
			snprintf(why, size, "%s (process %d)", busy, read_pid(descriptor));
			close(descriptor);
			return -1;
		}
		/* one that was leaving may have removed the file between our open and our lock */
		if (fstat(descriptor, &mine) == 0 && lstat(path, &there) == 0 &&
		    mine.st_ino == there.st_ino) {
			int n = snprintf(pid, sizeof pid, "%d\n", (int)getpid());
			/* for people only: a failure here changes nothing */
			if (ftruncate(descriptor, 0) == 0 && pwrite(descriptor, pid, (size_t)n, 0) < 0)
				errno = 0;
			return descriptor;
		}
		close(descriptor);
	}
}

void single_leave(const char *path, int descriptor)
{
	if (descriptor < 0)
		return;
	unlink(path);
	close(descriptor);
}

bool single_held(const char *path, int *pid)
{
	*pid = 0;
	int descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (descriptor < 0)
		return false;
	struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
	bool held = fcntl(descriptor, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
	if (held)
		*pid = read_pid(descriptor);
	close(descriptor);
	return held;
}

bool single_control_path(const char *table_path, char *out, size_t size)
{
	return snprintf(out, size, "%s.control", table_path) < (int)size;
}

bool single_runs(const char *table_path, int *pid)
{
	char path[PLACE_MAX];
	*pid = 0;
	return single_control_path(table_path, path, sizeof path) && single_held(path, pid);
}
