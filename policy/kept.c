/* SPDX-License-Identifier: BSD-2-Clause */
/* kept: a place on disk for a snapshot. */
#include "policy/kept.h"

#include <errno.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "policy/place.h"
#include "table/siphash.h"
#include "table/why.h"

#define SYSTEM_FOLDER "/var/lib/weir"

/* The path without a trailing ".v2": another layout has another table file, but the same counters to begin with. */
static size_t without_version(const char *path)
{
	size_t size = strlen(path), digits = size;
	while (digits > 0 && path[digits - 1] >= '0' && path[digits - 1] <= '9')
		digits--;
	return digits < size && digits >= 2 && path[digits - 1] == 'v' && path[digits - 2] == '.' ? digits - 2
												  : size;
}

/* The folder of one user, into `out`. False: none. */
static bool folder_of(unsigned uid, char *out, size_t size)
{
	const char *state = getenv("STATE_DIRECTORY");
	struct stat st;
	int n;

	if (state && state[0] == '/') { /* a list, if the unit names several */
		n = snprintf(out, size, "%.*s/%u", (int)strcspn(state, ":"), state, uid);
		return n > 0 && (size_t)n < size;
	}
	n = snprintf(out, size, SYSTEM_FOLDER "/%u", uid);
	if (n > 0 && (size_t)n < size && (geteuid() == 0 || (stat(out, &st) == 0 && S_ISDIR(st.st_mode))))
		return true;
	const struct passwd *user = getpwuid(uid);
	if (!user || !user->pw_dir || user->pw_dir[0] != '/' || stat(user->pw_dir, &st) != 0)
		return false;
	n = snprintf(out, size, "%s/.local/state/weir", user->pw_dir);
	return n > 0 && (size_t)n < size;
}

bool policy_kept_path(const char *table_path, unsigned uid, char *out, size_t size)
{
	/* Not a secret: whoever may write there may write anything there. */
	static const struct siphash_key key = {UINT64_C(0x7765697220736e61), UINT64_C(0x7073686f74203100)};
	char folder[PLACE_MAX];
	uint64_t name = siphash_2_4(&key, table_path, without_version(table_path)).lo;

	if (size == 0)
		return false;
	out[0] = '\0';
	if (!folder_of(uid, folder, sizeof folder))
		return false;
	int n = snprintf(out, size, "%s/%016" PRIx64 ".snapshot", folder, name);
	if (n > 0 && (size_t)n < size)
		return true;
	out[0] = '\0';
	return false;
}

enum weir_error policy_kept_folder(const char *path, unsigned uid, unsigned gid, char *why, size_t size)
{
	const struct why out = {why, size};
	const char *last = strrchr(path, '/');
	char folder[PLACE_MAX];

	if (!last || last == path || (size_t)(last - path) >= sizeof folder)
		return why_error(&out, WEIR_SYSTEM, "%s: no folder for a snapshot", path);
	for (const char *end = path + 1; end <= last; end++) {
		if (*end != '/')
			continue;
		snprintf(folder, sizeof folder, "%.*s", (int)(end - path), path);
		if (mkdir(folder, end == last ? 0700 : 0755) != 0) {
			if (errno == EEXIST)
				continue;
			return why_error(&out, WEIR_SYSTEM, "%s: %s", folder, strerror(errno));
		}
		if (end == last && geteuid() == 0 && uid != 0 && lchown(folder, uid, gid) != 0)
			return why_error(&out, WEIR_SYSTEM, "%s: %s", folder, strerror(errno));
	}
	return WEIR_OK;
}
