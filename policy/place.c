/* SPDX-License-Identifier: BSD-2-Clause */
/* place: a file's absolute name, and the table that belongs to it. */
#include "policy/place.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "table/table.h"

/* Appends the segments of `path` to `out` (which holds `used` bytes, no trailing slash), taking one off for
 * each "..". */
static bool append(const char *path, char *out, size_t size, size_t *used)
{
	while (*path != '\0') {
		size_t n = strcspn(path, "/");
		if (n == 2 && path[0] == '.' && path[1] == '.') {
			while (*used > 0 && out[--*used] != '/')
				;
		} else if (n > 0 && !(n == 1 && path[0] == '.')) {
			if (*used + 1 + n >= size)
				return false;
			out[(*used)++] = '/';
			memcpy(out + *used, path, n);
			*used += n;
		}
		path += n;
		path += *path == '/';
	}
	return true;
}

bool policy_absolute_path(const char *path, char *out, size_t size)
{
	size_t used = 0;
	char here[PLACE_MAX];
	if (size < 2)
		return false;
	out[0] = '\0';
	if (path[0] == '\0')
		return false;
	if (path[0] != '/' &&
	    (!getcwd(here, sizeof here) || here[0] != '/' || !append(here, out, size, &used)))
		return out[0] = '\0', false;
	if (!append(path, out, size, &used))
		return out[0] = '\0', false;
	if (used == 0)
		out[used++] = '/';
	out[used] = '\0';
	return true;
}

bool policy_table_path(const char *policy_path, unsigned uid, char *out, size_t size)
{
	char name_space[PLACE_MAX + 8] = "policy:";
	if (size == 0)
		return false;
	out[0] = '\0';
	if (!policy_absolute_path(policy_path, name_space + 7, sizeof name_space - 7))
		return false;
	table_default_path(name_space, uid, out, size);
	return true;
}
