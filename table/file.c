/* SPDX-License-Identifier: BSD-2-Clause */
/* file: open what can be trusted, make what appears whole or not at all. */
#include "table/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "table/beside.h"

static bool others_write(const struct stat *st)
{
	return st->st_mode & (S_IWGRP | S_IWOTH);
}

/* The folder that root makes as another user's default one (weir-UID, as table_default_path names it) is for
 * that user; made by that user, it would be his anyway. */
static void give_default_folder(const char *path, const char *end)
{
	const char *name = end;
	while (name > path && name[-1] != '/')
		name--;
	if (geteuid() != 0 || strncmp(name, "weir-", 5) != 0)
		return;
	char *rest;
	errno = 0;
	unsigned long uid = strtoul(name + 5, &rest, 10);
	if (name[5] >= '0' && name[5] <= '9' && rest == end && errno == 0 && uid <= INT_MAX) {
		char folder[PATH_MAX];
		snprintf(folder, sizeof folder, "%.*s", (int)(end - path), path);
		/* If it fails the folder stays root's, and the user's own opening says so. */
		if (lchown(folder, (uid_t)uid, (gid_t)-1) != 0)
			errno = 0;
	}
}

enum weir_error file_folder(const char *path, bool create, int *folder, const char **name,
			    const struct why *why)
{
	const char *slash = strrchr(path, '/');
	char text[PATH_MAX];
	struct stat st;

	*folder = -1;
	*name = slash ? slash + 1 : path;
	if (**name == '\0')
		return why_error(why, WEIR_FOREIGN, "%s: names a folder, not a file", path);
	if (strlen(path) + sizeof BESIDE_LEDGER > sizeof text || strlen(*name) > NAME_MAX - 16)
		return why_error(why, WEIR_SYSTEM, "%s: too long", path);
	if (!slash)
		strcpy(text, ".");
	else if (slash == path)
		strcpy(text, "/");
	else
		snprintf(text, sizeof text, "%.*s", (int)(slash - path), path);

	if (create && slash && slash != path && mkdir(text, 0700) == 0)
		give_default_folder(path, slash);
	int fd = open(text, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT)
		return why_error(why, create ? WEIR_SYSTEM : WEIR_NOT_FOUND, "%s: no such folder", text);
	if (fd < 0 && lstat(text, &st) == 0 && S_ISLNK(st.st_mode))
		return why_error(why, WEIR_OWNER, "%s: the folder is a symbolic link", text);
	if (fd < 0)
		return why_error(why, WEIR_SYSTEM, "%s: %s", text, strerror(errno));
	if (fstat(fd, &st) != 0 || others_write(&st) ||
	    (geteuid() != 0 && st.st_uid != geteuid() && st.st_uid != 0)) {
		close(fd);
		return why_error(why, WEIR_OWNER,
				 "%s: the folder must be owned by uid %u and mode 0700, it is %u and %04o",
				 text, (unsigned)geteuid(), (unsigned)st.st_uid, st.st_mode & 07777u);
	}
	*folder = fd;
	return WEIR_OK;
}

enum weir_error file_open(int folder, const char *name, bool write, int *fd, const struct why *why)
{
	struct stat st, of_folder;

	/* O_NONBLOCK: a FIFO in its place must not hold us. */
	*fd = openat(folder, name, (write ? O_RDWR : O_RDONLY) | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	if (*fd < 0 && errno == ENOENT)
		return why_error(why, WEIR_NOT_FOUND, "%s: no such file", name);
	if (*fd < 0 && errno == ELOOP)
		return why_error(why, WEIR_OWNER, "%s: is a symbolic link", name);
	if (*fd < 0 && (errno == EACCES || errno == EPERM))
		return why_error(why, WEIR_OWNER, "%s: %s", name, strerror(errno));
	if (*fd < 0 && (errno == EISDIR || errno == ENXIO))
		return why_error(why, WEIR_FOREIGN, "%s: is not a file", name);
	if (*fd < 0)
		return why_error(why, WEIR_SYSTEM, "%s: %s", name, strerror(errno));

	enum weir_error error = WEIR_OK;
	uid_t me = geteuid();
	if (fstat(*fd, &st) != 0 || fstat(folder, &of_folder) != 0)
		error = why_error(why, WEIR_SYSTEM, "%s: %s", name, strerror(errno));
	else if (!S_ISREG(st.st_mode))
		error = why_error(why, WEIR_FOREIGN, "%s: is not a file", name);
	else if (st.st_uid != me && !(me == 0 && st.st_uid == of_folder.st_uid))
		error = why_error(why, WEIR_OWNER, "%s: belongs to uid %u, not to %u", name,
				  (unsigned)st.st_uid, (unsigned)me);
	else if (others_write(&st))
		error = why_error(why, WEIR_OWNER, "%s: others may write to it (mode %04o)", name,
				  st.st_mode & 07777u);
	if (error != WEIR_OK) {
		close(*fd);
		*fd = -1;
	}
	return error;
}

enum weir_error file_open_beside(const struct table *table, const char *suffix, bool write, int *fd)
{
	char name[NAME_MAX + 1];
	snprintf(name, sizeof name, "%s%s", table->name, suffix);
	return file_open(table->folder, name, write, fd, &(struct why){0});
}

enum weir_error file_reserve(int fd, uint64_t size, const struct why *why)
{
	int failed;
	do
		failed = posix_fallocate(fd, 0, (off_t)size);
	while (failed == EINTR);
	if (failed == ENOSPC || failed == EFBIG || failed == ENOMEM || failed == EDQUOT)
		return why_error(why, WEIR_NO_SPACE, "%llu bytes: %s", (unsigned long long)size,
				 strerror(failed));
	if (failed)
		return why_error(why, WEIR_SYSTEM, "posix_fallocate: %s", strerror(failed));
	return WEIR_OK;
}

static int make_named(struct file_new *file)
{
	uint64_t random;
	if (getrandom(&random, sizeof random, 0) != sizeof random)
		return -1;
	snprintf(file->temporary, sizeof file->temporary, ".weir-%016llx", (unsigned long long)random);
	return openat(file->folder, file->temporary, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		      0600);
}

enum weir_error file_make(int folder, uint64_t size, struct file_new *file, const struct why *why)
{
	struct stat st;
	*file = (struct file_new){.folder = folder, .fd = -1};
	bool nameless = access("/proc/self/fd", X_OK) == 0; /* what link_as needs */
	if (nameless)
		file->fd = openat(folder, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (file->fd < 0 && (!nameless || errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL))
		file->fd = make_named(file);
	if (file->fd < 0) {
		int reason = errno;
		file->temporary[0] = '\0';
		return why_error(why, reason == ENOSPC || reason == EDQUOT ? WEIR_NO_SPACE : WEIR_SYSTEM,
				 "cannot create a file: %s", strerror(reason));
	}
	enum weir_error error = WEIR_OK;
	if (fchmod(file->fd, 0600) != 0 || fstat(folder, &st) != 0 ||
	    (geteuid() == 0 && st.st_uid != 0 && fchown(file->fd, st.st_uid, st.st_gid) != 0))
		error = why_error(why, WEIR_SYSTEM, "owner of a new file: %s", strerror(errno));
	if (error == WEIR_OK && size)
		error = file_reserve(file->fd, size, why);
	if (error != WEIR_OK)
		file_drop(file);
	return error;
}

static int link_as(struct file_new *file, const char *name)
{
	if (file->temporary[0])
		return linkat(file->folder, file->temporary, file->folder, name, 0);
	char self[64];
	snprintf(self, sizeof self, "/proc/self/fd/%d", file->fd);
	return linkat(AT_FDCWD, self, file->folder, name, AT_SYMLINK_FOLLOW);
}

enum weir_error file_name(struct file_new *file, const char *name, bool replace, bool *taken,
			  const struct why *why)
{
	int failed;
	*taken = false;
	if (replace) {
		/* rename(2) replaces, link(2) does not: a passing name first. */
		char passing[NAME_MAX + 1];
		snprintf(passing, sizeof passing, "%s.new", name);
		unlinkat(file->folder, passing, 0);
		failed = link_as(file, passing);
		if (failed == 0)
			failed = renameat(file->folder, passing, file->folder, name);
	} else {
		failed = link_as(file, name);
		if (failed != 0 && errno == EEXIST) {
			*taken = true;
			return WEIR_OK;
		}
	}
	if (failed != 0)
		return why_error(why, errno == ENOSPC ? WEIR_NO_SPACE : WEIR_SYSTEM, "%s: cannot name it: %s",
				 name, strerror(errno));
	return WEIR_OK;
}

void file_drop(struct file_new *file)
{
	if (file->temporary[0])
		unlinkat(file->folder, file->temporary, 0);
	if (file->fd >= 0)
		close(file->fd);
	file->fd = -1;
	file->temporary[0] = '\0';
}
