/* SPDX-License-Identifier: BSD-2-Clause */
/* keys_follow: looking whether database and ring still fit. */
#include "control/keys_follow.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "control/keys_db.h"
#include "control/owner.h"

static void mark(struct keys_follow *follow, const char *database)
{
	static const char *const SUFFIX[] = {"", "-wal", RING_SUFFIX};
	memset(follow->marks, 0, sizeof follow->marks);
	for (size_t i = 0; i < 3; i++) {
		char path[PATH_MAX];
		struct stat st;
		snprintf(path, sizeof path, "%s%s", database, SUFFIX[i]);
		if (lstat(path, &st) != 0)
			continue;
		follow->marks[i].inode = st.st_ino;
		if (i == 2)
			continue; /* doors write stamps there all the time */
		follow->marks[i].size = (uint64_t)st.st_size;
		follow->marks[i].time_ns = (uint64_t)st.st_mtim.tv_sec * UINT64_C(1000000000) +
					   (uint64_t)st.st_mtim.tv_nsec;
	}
}

static enum weir_error mend(const char *database, bool *made, struct keys_trouble *trouble)
{
	struct keys_db *db = NULL;
	*made = false;
	enum weir_error error = WEIR_SYSTEM;
	trouble->cure[0] = '\0';
	if (owner_become(database, trouble->why, sizeof trouble->why))
		error = keys_db_open(database, KEYS_CHANGE, 0, &db, trouble);
	if (error == WEIR_OK)
		error = keys_ring_mend(db, 0, made, trouble);
	keys_db_close(&db);
	owner_return();
	return error;
}

void keys_follow(struct keys_follow *follow, const char *database,
		 void (*say)(void *context, const char *line), void *context)
{
	struct keys_follow now = {.said = ""};
	struct keys_trouble trouble;
	char line[PATH_MAX + 1600];
	bool made;
	if (!database || !*database)
		return;
	mark(&now, database);
	if (follow->looked && memcmp(now.marks, follow->marks, sizeof now.marks) == 0)
		return;
	enum weir_error error = mend(database, &made, &trouble);
	if (error == WEIR_BUSY)
		return; /* who has the lock writes the ring; the next look tells */
	if (made)	/* what the ring is now is not what it was */
		mark(&now, database);
	memcpy(follow->marks, now.marks, sizeof now.marks);
	follow->looked = true;
	if (error == WEIR_OK) {
		follow->said[0] = '\0';
		snprintf(line, sizeof line, "%s%s: written anew from the database", database, RING_SUFFIX);
		if (made)
			say(context, line);
		return;
	}
	if (strncmp(follow->said, trouble.why, sizeof follow->said - 1) == 0)
		return;
	snprintf(follow->said, sizeof follow->said, "%s", trouble.why);
	snprintf(line, sizeof line, "%s%s%s", trouble.why, trouble.cure[0] ? "; cure: " : "", trouble.cure);
	say(context, line);
}
