/* SPDX-License-Identifier: BSD-2-Clause */
/* zone: from a name to a file to the clocks. */
#include "policy/zone.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "policy/zone_clocks.h"
#include "policy/zone_file.h"
#include "policy/zone_names.h"

#define DATABASE "/usr/share/zoneinfo"

static const char *database(void)
{
	const char *folder = secure_getenv("TZDIR");
	return folder && *folder ? folder : DATABASE;
}

static bool good_character(char c)
{
	return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' ||
	       c == '+' || c == '-';
}

/* Parts of good characters with one slash between them: the path stays below the folder. */
static bool good_name(struct text name)
{
	bool in_part = false;
	for (size_t i = 0; i < name.size; i++) {
		if (!good_character(name.data[i]) && !(in_part && name.data[i] == '/'))
			return false;
		in_part = name.data[i] != '/';
	}
	return in_part && name.size <= ZONE_NAME_MAX;
}

/* The name as a sentence may show it. */
static void printable(struct text name, char out[ZONE_NAME_MAX + 1])
{
	size_t size = 0;
	for (; size < name.size && size < ZONE_NAME_MAX; size++)
		out[size] = name.data[size] >= ' ' && name.data[size] <= '~' ? name.data[size] : '?';
	out[size] = '\0';
}

static void why_unknown(struct text name, char *why, size_t size)
{
	char shown[ZONE_NAME_MAX + 1], nearest[ZONE_NAME_MAX + 1];
	printable(name, shown);
	if (zone_names_nearest(database(), name, nearest) == 0)
		snprintf(why, size, "no time zones are installed in %s; install the package tzdata",
			 database());
	else if (*nearest)
		snprintf(why, size, "unknown time zone '%s'; did you mean '%s'?", shown, nearest);
	else
		snprintf(why, size,
			 "unknown time zone '%s'; zones have names like Europe/Berlin, America/New_York or "
			 "UTC",
			 shown);
}

/* Bytes read from `path`, at most `size`; -1 and errno. A folder or a device is no such file. */
static ssize_t read_file(const char *path, unsigned char *bytes, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return -1;
	struct stat is;
	size_t got = 0;
	ssize_t more = 0;
	if (fstat(fd, &is) == 0 && !S_ISREG(is.st_mode)) {
		errno = ENOENT;
		more = -1;
	}
	while (more >= 0 && got < size && (more = read(fd, bytes + got, size - got)) != 0)
		if (more > 0)
			got += (size_t)more;
		else if (errno == EINTR)
			more = 0;
	int error = errno;
	close(fd);
	errno = error;
	return more < 0 ? -1 : (ssize_t)got;
}

bool zone_read(struct text name, int64_t now_s, uint64_t zone[2], char *why, size_t size)
{
	char path[PATH_MAX];
	unsigned char bytes[ZONE_FILE_MAX];
	if (text_equal_folded(name, TEXT("UTC"))) {
		zone[0] = zone[1] = 0;
		return true;
	}
	if (!good_name(name) || (size_t)snprintf(path, sizeof path, "%s/%.*s", database(), (int)name.size,
						 name.data) >= sizeof path) {
		why_unknown(name, why, size);
		return false;
	}
	ssize_t got = read_file(path, bytes, sizeof bytes);
	if (got < 0 && (errno == ENOENT || errno == ENOTDIR)) {
		why_unknown(name, why, size);
		return false;
	}
	if (got < 0) {
		snprintf(why, size, "cannot read the time zone file %s: %s", path, strerror(errno));
		return false;
	}
	const char *wrong = got == sizeof bytes ? "is too large for a time zone"
						: zone_clocks(bytes, (size_t)got, now_s, zone);
	if (wrong)
		snprintf(why, size, "the time zone file %s %s", path, wrong);
	return !wrong;
}
