/* SPDX-License-Identifier: BSD-2-Clause */
/* zone_names: zones are the files whose names begin with a capital letter; posix/, right/ and lists do not. */
#include "policy/zone_names.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "policy/suggest.h"

#define DEEPEST 3 /* America/Argentina/Ushuaia */

/* The best candidate of `suggest`, copied: names live no longer than the walk is in their folder. */
struct guess {
	struct suggest suggest;
	char best[ZONE_NAME_MAX + 1];
};

struct walk {
	size_t count;
	struct guess whole, part;
};

static void offer(struct guess *guess, struct text candidate, const char *name)
{
	unsigned before = guess->suggest.distance;
	suggest_offer(&guess->suggest, candidate);
	if (guess->suggest.distance < before)
		snprintf(guess->best, sizeof guess->best, "%s", name);
}

static int capital(const struct dirent *entry)
{
	return entry->d_name[0] >= 'A' && entry->d_name[0] <= 'Z';
}

static void walk_folder(struct walk *walk, const char *folder, const char *prefix, unsigned depth)
{
	struct dirent **entries;
	int count = scandir(folder, &entries, capital, alphasort);
	for (int i = 0; i < count; i++) {
		char path[PATH_MAX], name[ZONE_NAME_MAX + 1];
		const char *last = entries[i]->d_name;
		struct stat is;
		bool fits = (size_t)snprintf(path, sizeof path, "%s/%s", folder, last) < sizeof path &&
			    (size_t)snprintf(name, sizeof name, "%s%s%s", prefix, *prefix ? "/" : "", last) <
				    sizeof name;
		if (fits && lstat(path, &is) == 0 && S_ISDIR(is.st_mode)) {
			if (depth < DEEPEST)
				walk_folder(walk, path, name, depth + 1);
		} else if (fits) {
			walk->count++;
			offer(&walk->whole, text_of(name), name);
			offer(&walk->part, text_of(last), name);
		}
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
}

size_t zone_names_nearest(const char *folder, struct text wrong, char nearest[ZONE_NAME_MAX + 1])
{
	struct walk walk = {.whole.suggest = suggest_begin(wrong), .part.suggest = suggest_begin(wrong)};
	walk_folder(&walk, folder, "", 1);
	const struct guess *better = walk.whole.suggest.distance <= walk.part.suggest.distance ? &walk.whole
											       : &walk.part;
	snprintf(nearest, ZONE_NAME_MAX + 1, "%s", *better->best ? better->best : walk.part.best);
	return walk.count;
}
