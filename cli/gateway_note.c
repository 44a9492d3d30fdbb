/* SPDX-License-Identifier: BSD-2-Clause */
/* gateway_note: a small file beside the table. */
#include "cli/gateway_note.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/out.h"
#include "control/owner.h"
#include "control/single.h"
#include "policy/place.h"

static bool place(const char *table_path, char *out, size_t size)
{
	return snprintf(out, size, "%s.gateway", table_path) < (int)size;
}

void gateway_note_write(const char *table_path, const char *why)
{
	char path[PLACE_MAX], trouble[2 * PLACE_MAX];
	if (!place(table_path, path, sizeof path) || !owner_become(path, trouble, sizeof trouble))
		return;
	unlink(path);
	int descriptor = why ? open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600) : -1;
	if (descriptor >= 0 && write(descriptor, why, strlen(why)) < 0)
		unlink(path);
	if (descriptor >= 0)
		close(descriptor);
	owner_return();
}

bool gateway_note_read(const char *table_path, char *out, size_t size)
{
	char path[PLACE_MAX], text[1024];
	int pid;
	/* whoever was killed left it behind */
	if (!single_runs(table_path, &pid) || !place(table_path, path, sizeof path))
		return false;
	/* not to wait for a writer, should somebody have put a pipe there */
	int descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	ssize_t n = descriptor >= 0 ? read(descriptor, text, sizeof text) : 0;
	if (descriptor >= 0)
		close(descriptor);
	if (n <= 0)
		return false;
	out_escape((struct text){text, (size_t)n}, out, size);
	return true;
}
