/* SPDX-License-Identifier: BSD-2-Clause */
/* watch: inotify as the bell, stat as the judge. */
#include "control/watch.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "policy/place.h"

#define LINKS_MAX 16 /* further links in one path are left to the comparison */
#define EVENTS	  (IN_CLOSE_WRITE | IN_MODIFY | IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_ATTRIB)

#define LISTED (IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO) /* a folder's list is another one */

/* A name in a watched folder. Only these count: a log that is written beside the policy must not keep us
 * waiting for the quiet after an edit. */
struct entry {
	int number; /* inotify's, of the folder */
	char *name; /* NULL: whatever appears there or goes */
};

struct watch {
	int inotify; /* -1: none */
	char **files, **folders;
	struct entry *entries; /* whose events mean something */
	size_t entry_count;
	uint64_t signature;
	bool stale; /* the next comparison says "changed" whatever it sees */
};

static void drop_list(char **files)
{
	for (size_t i = 0; files && files[i]; i++)
		free(files[i]);
	free(files);
}

static void drop_entries(struct entry *items, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(items[i].name);
	free(items);
}

struct watch *watch_new(void)
{
	struct watch *watch = calloc(1, sizeof *watch);
	if (!watch)
		return NULL;
	watch->inotify = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	watch->stale = true;
	return watch;
}

void watch_free(struct watch **watch)
{
	if (!*watch)
		return;
	if ((*watch)->inotify >= 0)
		close((*watch)->inotify);
	drop_list((*watch)->files);
	drop_list((*watch)->folders);
	drop_entries((*watch)->entries, (*watch)->entry_count);
	free(*watch);
	*watch = NULL;
}

struct entries {
	int inotify;
	struct entry *items;
	size_t count;
};

/* `name` NULL: the folder's list. No watch left, no such folder, no memory: the comparison finds the change
 * later. */
static void add_entry(struct entries *set, const char *folder, const char *name)
{
	struct entry *grown = realloc(set->items, (set->count + 1) * sizeof *grown);
	int number = inotify_add_watch(set->inotify, folder, EVENTS | IN_ONLYDIR);
	if (!grown)
		return;
	set->items = grown;
	grown[set->count] = (struct entry){.number = number, .name = name ? strdup(name) : NULL};
	if (number >= 0 && (!name || grown[set->count].name))
		set->count++;
	else
		free(grown[set->count].name);
}

/* Every link on the way to the file, and the file in the end. */
static void add_path(struct entries *set, const char *file)
{
	char path[PLACE_MAX], target[PLACE_MAX], rest[PLACE_MAX];
	int links = 0;
	if (snprintf(path, sizeof path, "%s", file) >= (int)sizeof path)
		return;
	for (char *slash = path; (slash = strchr(slash + 1, '/')) || true;) {
		if (slash)
			*slash = '\0';
		ssize_t n = readlink(path, target, sizeof target - 1);
		char *last = strrchr(path, '/');
		if (n > 0 || !slash) {
			*last = '\0';
			add_entry(set, *path ? path : "/", last + 1);
			*last = '/';
		}
		if (n > 0 && links++ < LINKS_MAX) {
			target[n] = '\0';
			int head = target[0] == '/' ? 0 : (int)(last + 1 - path);
			if (snprintf(rest, sizeof rest, "%.*s%s%s%s", head, path, target, slash ? "/" : "",
				     slash ? slash + 1 : "") >= (int)sizeof rest)
				return;
			/* begin again: what the link names may hold links, and `..` is cleaned by letters,
			 * which is right for the names that a swap changes */
			if (!policy_absolute_path(rest, path, sizeof path))
				return;
			slash = path;
			continue;
		}
		if (!slash)
			return;
		*slash = '/';
	}
}

static char **copy_list(char *const *files)
{
	size_t count = 0;
	while (files && files[count])
		count++;
	char **copy = calloc(count + 1, sizeof *copy);
	for (size_t i = 0; copy && i < count; i++) {
		size_t size = strlen(files[i]);
		while (size > 1 && files[i][size - 1] == '/')
			size--;
		if (!(copy[i] = strndup(files[i], size))) {
			drop_list(copy);
			return NULL;
		}
	}
	return copy;
}

/* The folders of these entries are watched from now on, others no longer. */
static void swap_entries(struct watch *watch, const struct entries *set)
{
	for (size_t i = 0; i < watch->entry_count; i++) {
		size_t j = 0;
		while (j < set->count && set->items[j].number != watch->entries[i].number)
			j++;
		if (j == set->count) /* twice for the same folder is harmless */
			inotify_rm_watch(watch->inotify, watch->entries[i].number);
	}
	drop_entries(watch->entries, watch->entry_count);
	watch->entries = set->items;
	watch->entry_count = set->count;
}

bool watch_files(struct watch *watch, char *const *files, char *const *folders)
{
	struct entries set = {.inotify = watch->inotify};
	char **file_list = copy_list(files), **folder_list = copy_list(folders);
	if (!file_list || !folder_list) {
		drop_list(file_list);
		drop_list(folder_list);
		return false;
	}
	if (watch->inotify >= 0) {
		for (char **path = file_list; *path; path++)
			add_path(&set, *path);
		for (char **path = folder_list; *path; path++) {
			add_path(&set, *path);
			add_entry(&set, *path, NULL);
		}
		swap_entries(watch, &set);
	}
	drop_list(watch->files);
	drop_list(watch->folders);
	watch->files = file_list;
	watch->folders = folder_list;
	return true;
}

int watch_descriptor(const struct watch *watch)
{
	return watch->inotify;
}

static bool means_something(const struct watch *watch, const struct inotify_event *event)
{
	if (event->mask & IN_Q_OVERFLOW)
		return true;
	for (size_t i = 0; i < watch->entry_count; i++) {
		const struct entry *entry = &watch->entries[i];
		if (entry->number == event->wd &&
		    (entry->name ? event->len > 0 && strcmp(entry->name, event->name) == 0
				 : (event->mask & LISTED) != 0))
			return true;
	}
	return false;
}

enum watch_news watch_read(struct watch *watch)
{
	enum watch_news news = WATCH_QUIET;
	char buffer[4096] __attribute__((aligned(__alignof__(struct inotify_event))));
	ssize_t n;
	while (watch->inotify >= 0 &&
	       ((n = read(watch->inotify, buffer, sizeof buffer)) > 0 || (n < 0 && errno == EINTR))) {
		for (ssize_t at = 0; at < n;) {
			const struct inotify_event *event = (const void *)(buffer + at);
			if (means_something(watch, event))
				news = event->mask & IN_MODIFY ? WATCH_WRITING : WATCH_EVENT;
			at += (ssize_t)(sizeof *event + event->len);
		}
	}
	return news;
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
	for (int i = 0; i < 8; i++, value >>= 8)
		hash = (hash ^ (value & 0xff)) * UINT64_C(0x100000001b3); /* FNV-1a */
	return hash;
}

/* File times have the kernel's tick for a grain: a second edit within it, of the same size, would look like
 * the first. So what is this young (ns) is not believed yet. */
#define GRAIN 20000000

static uint64_t look(struct watch *watch, uint64_t hash, char *const *paths)
{
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	for (; paths && *paths; paths++) {
		struct stat st;
		if (stat(*paths, &st) != 0) {
			hash = mix(hash, (uint64_t)errno);
			continue;
		}
		/* the change time too: an edit within the clock's tick, of the same size, with its old date
		 * put back */
		const int64_t values[] = {(int64_t)st.st_dev, (int64_t)st.st_ino, st.st_size,
					  st.st_mtim.tv_sec,  st.st_mtim.tv_nsec, st.st_ctim.tv_sec,
					  st.st_ctim.tv_nsec};
		for (size_t i = 0; i < sizeof values / sizeof *values; i++)
			hash = mix(hash, (uint64_t)values[i]);
		int64_t age = (now.tv_sec - st.st_ctim.tv_sec) * INT64_C(1000000000) + now.tv_nsec -
			      st.st_ctim.tv_nsec;
		watch->stale |= age >= 0 && age < GRAIN;
	}
	return hash;
}

bool watch_changed(struct watch *watch)
{
	bool stale = watch->stale;
	watch->stale = false;
	uint64_t hash = look(watch, look(watch, UINT64_C(0xcbf29ce484222325), watch->files), watch->folders);
	bool changed = stale || hash != watch->signature;
	watch->signature = hash;
	return changed;
}
