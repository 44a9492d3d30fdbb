/* SPDX-License-Identifier: BSD-2-Clause */
/* key_file: a change is another file, size, mode or time, of contents or of the file; within one tick of the file system's clock
 * a rewrite of the same size could be missed, so what changes while it is read is read again. */
#include "identity/key_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <openssl/crypto.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool same_time(struct timespec a, struct timespec b)
{
	return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

static bool same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       a->st_mode == b->st_mode && same_time(a->st_mtim, b->st_mtim) &&
	       same_time(a->st_ctim, b->st_ctim);
}

bool key_file_changed(const struct key_file *file)
{
	struct stat now;

	if (stat(file->path, &now) != 0)
		return errno != file->error;
	return file->error || !same_file(&now, &file->seen);
}

static bool refuse(char *why, size_t size, const char *reason)
{
	if (size)
		snprintf(why, size, "%s", reason);
	return false;
}

/* The owner of the folder that the file really lies in; who cannot be found out is nobody. */
static uid_t folder_owner(const char *path)
{
	char real[PATH_MAX], *slash;
	struct stat folder;

	if (!realpath(path, real) || !(slash = strrchr(real, '/')))
		return (uid_t)-1;
	slash[slash == real] = '\0';
	return stat(real, &folder) == 0 ? folder.st_uid : (uid_t)-1;
}

static bool trusted(const struct key_file *file, char *why, size_t size)
{
	uid_t owner = file->seen.st_uid;

	if (!S_ISREG(file->seen.st_mode))
		return refuse(why, size, "it is not a file");
	if (file->seen.st_mode & S_IWOTH)
		return refuse(why, size, "everybody may write it (chmod o-w)");
	if (file->seen.st_mode & S_IWGRP)
		return refuse(why, size, "its group may write it (chmod g-w)");
	if (owner != 0 && owner != geteuid() && owner != folder_owner(file->path)) {
		if (size)
			snprintf(why, size,
				 "it belongs to uid %u, who is neither root, nor uid %u, nor the folder's "
				 "owner",
				 (unsigned)owner, (unsigned)geteuid());
		return false;
	}
	return true;
}

static bool read_all(const struct key_file *file, int fd, struct text *bytes, char *why, size_t size)
{
	size_t room = (size_t)file->seen.st_size + 1; /* one more, to see that it ends */
	char *to;
	ssize_t got;

	if (!trusted(file, why, size))
		return false;
	if ((size_t)file->seen.st_size > file->max)
		return refuse(why, size, "it is too large");
	to = malloc(room);
	if (!to)
		return refuse(why, size, "out of memory");
	*bytes = (struct text){to, 0};
	while (bytes->size < room && (got = read(fd, to + bytes->size, room - bytes->size)) != 0) {
		if (got < 0 && errno != EINTR)
			return refuse(why, size, strerror(errno));
		bytes->size += got > 0 ? (size_t)got : 0;
	}
	return bytes->size != room || refuse(why, size, "it grew while it was read");
}

bool key_file_read(struct key_file *file, struct text *bytes, char *why, size_t size)
{
	int fd = open(file->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat after;
	bool good;

	*bytes = (struct text){NULL, 0};
	memset(&file->seen, 0, sizeof file->seen);
	if (fd < 0 || fstat(fd, &file->seen) != 0) {
		file->error = errno;
		refuse(why, size, strerror(errno));
		if (fd >= 0)
			close(fd);
		/* one that is there, but not to be opened, is looked at again when it is another */
		if (stat(file->path, &file->seen) == 0)
			file->error = 0;
		return false;
	}
	file->error = 0;
	good = read_all(file, fd, bytes, why, size);
	if (good && (fstat(fd, &after) != 0 || !same_file(&after, &file->seen)))
		good = refuse(why, size, "it changed while it was read");
	close(fd);
	if (!good)
		key_file_free(bytes);
	return good;
}

void key_file_free(struct text *bytes)
{
	if (bytes->data)
		OPENSSL_cleanse((char *)bytes->data, bytes->size);
	free((char *)bytes->data);
	*bytes = (struct text){NULL, 0};
}

bool key_file_is_open(const struct key_file *file)
{
	return file->seen.st_mode & S_IROTH;
}
