/* SPDX-License-Identifier: BSD-2-Clause */
/* owner: the effective user follows the table's folder. */
#include "control/owner.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "policy/place.h"

bool owner_become(const char *path, char *why, size_t size)
{
	char folder[PLACE_MAX];
	struct stat st;
	char *slash;
	if (geteuid() != 0)
		return true;
	snprintf(folder, sizeof folder, "%s", path);
	slash = strrchr(folder, '/');
	if (!slash || slash == folder)
		return true;
	*slash = '\0';
	if (lstat(folder, &st) != 0 || !S_ISDIR(st.st_mode) || st.st_uid == 0)
		return true;
	if (setegid(st.st_gid) == 0 && seteuid(st.st_uid) == 0)
		return true;
	snprintf(why, size, "cannot act as user %u, who owns %s: %s", (unsigned)st.st_uid, folder,
		 strerror(errno));
	owner_return();
	return false;
}

void owner_return(void)
{
	/* going on as somebody else, or as half of them, would leave files that nobody expects */
	if ((geteuid() != getuid() && seteuid(getuid()) != 0) ||
	    (getegid() != getgid() && setegid(getgid()) != 0))
		abort();
}
