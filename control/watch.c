/* SPDX-License-Identifier: BSD-2-Clause */
/* watch: inotify as the bell, stat as the judge. */
#include "control/watch.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "policy/place.h"

#define LINKS_MAX 16 /* further links in one path are left to the comparison */
#define EVENTS	  (IN_CLOSE_WRITE | IN_MODIFY | IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_ATTRIB)

struct watch {
	int inotify; /* -1: none */
	char **files, **folders;
	int *set; /* inotify's watch numbers */
	size_t watched;
	uint64_t signature;
	bool stale; /* the next comparison says "changed" whatever it sees */
};

static void drop_list(char **files)
{
	for (size_t i = 0; files && files[i]; i++)
		free(files[i]);
	free(files);
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
	free((*watch)->set);
	free(*watch);
	*watch = NULL;
}

static void add_folder(struct watch *watch, const char *folder, int **set, size_t *count)
{
	int number = inotify_add_watch(watch->inotify, folder, EVENTS | IN_ONLYDIR);
	int *grown;
	for (size_t i = 0; i < *count; i++)
		if ((*set)[i] == number)
			return;
	/* no watch left, no such folder, no memory: the comparison finds the change a second later */
	if (number < 0 || !(grown = realloc(*set, (*count + 1) * sizeof **set)))
		return;
	*set = grown;
	grown[(*count)++] = number;
}

/* Every folder that holds a link on the way to the file, and the one that holds the file in the end. */
static void add_path(struct watch *watch, const char *file, int **set, size_t *count)
{
	char path[PLACE_MAX], target[PLACE_MAX], rest[PLACE_MAX];
	int links = 0;
	if (strlen(file) >= sizeof path)
		return;
	strcpy(path, file);
	for (char *slash = path; (slash = strchr(slash + 1, '/')) || true;) {
		if (slash)
			*slash = '\0';
		ssize_t n = readlink(path, target, sizeof target - 1);
		char *last = strrchr(path, '/');
		if (n > 0 || !slash) {
			*last = '\0';
			add_folder(watch, *path ? path : "/", set, count);
			*last = '/';
		}
		if (n > 0 && links++ < LINKS_MAX) {
			target[n] = '\0';
			size_t head = target[0] == '/' ? 0 : (size_t)(last + 1 - path);
			const char *tail = slash ? slash + 1 : "";
			if (head + (size_t)n + 1 + strlen(tail) >= sizeof rest)
				return;
			memcpy(rest, path, head);
			strcpy(rest + head, target);
			if (slash) {
				strcat(rest, "/");
				strcat(rest, tail);
			}
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
		if (!(copy[i] = strdup(files[i]))) {
			drop_list(copy);
			return NULL;
		}
	}
	return copy;
}

/* Watches the folders of `set` only. */
static void swap_set(struct watch *watch, int *set, size_t count)
{
	for (size_t i = 0; i < watch->watched; i++) {
		size_t j = 0;
		while (j < count && set[j] != watch->set[i])
			j++;
		if (j == count)
			inotify_rm_watch(watch->inotify, watch->set[i]);
	}
	free(watch->set);
	watch->set = set;
	watch->watched = count;
}

bool watch_files(struct watch *watch, char *const *files, char *const *folders)
{
	size_t count = 0;
	int *set = NULL;
	char **file_list = copy_list(files), **folder_list = copy_list(folders);
	if (!file_list || !folder_list) {
		drop_list(file_list);
		drop_list(folder_list);
		return false;
	}
	if (watch->inotify >= 0) {
		for (char **path = file_list; *path; path++)
			add_path(watch, *path, &set, &count);
		for (char **path = folder_list; *path; path++) {
			add_path(watch, *path, &set, &count);
			add_folder(watch, *path, &set, &count);
		}
		swap_set(watch, set, count);
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

enum watch_news watch_read(struct watch *watch)
{
	enum watch_news news = WATCH_QUIET;
	char buffer[4096] __attribute__((aligned(__alignof__(struct inotify_event))));
	ssize_t n;
	while (watch->inotify >= 0 &&
	       ((n = read(watch->inotify, buffer, sizeof buffer)) > 0 || (n < 0 && errno == EINTR))) {
		for (ssize_t at = 0; at < n;) {
			const struct inotify_event *event = (const void *)(buffer + at);
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
