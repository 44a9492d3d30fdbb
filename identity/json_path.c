/* SPDX-License-Identifier: BSD-2-Clause */
/* json_path: the names of a path, one after the other. */
#include "identity/json_path.h"

/* The nth name of the path; *last: none follows. */
static struct text segment(struct text path, unsigned n, bool *last)
{
	for (;;) {
		const char *dot = memchr(path.data, '.', path.size);
		size_t size = dot ? (size_t)(dot - path.data) : path.size;
		if (n-- == 0 || !dot) {
			*last = !dot;
			return (struct text){path.data, size};
		}
		path.data += size + 1;
		path.size -= size + 1;
		if (!path.size) {
			*last = true;
			return path;
		}
	}
}

void json_path_begin(struct json_path *path)
{
	*path = (struct json_path){.path = path->path};
}

void json_path_follow(struct json_path *path, unsigned depth)
{
	path->follow = (uint16_t)depth;
	if (depth)
		path->wanted = segment(path->path, depth - 1u, &path->last);
}
