/* SPDX-License-Identifier: BSD-2-Clause */
/* tree: depth first. */
#include "control/tree.h"

#include <ftw.h>
#include <stdio.h>

#define DESCRIPTORS 16

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *where)
{
	(void)st, (void)type, (void)where;
	remove(path);
	return 0;
}

void tree_remove(const char *path)
{
	nftw(path, remove_one, DESCRIPTORS, FTW_DEPTH | FTW_PHYS);
}
