/* SPDX-License-Identifier: BSD-2-Clause */
/* import_include: the files of a configuration. Whatever file an include stands in, its name is relative to the folder of the first
 * one, and a pattern that finds nothing is fine, as in nginx. */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/import_conf.h"

struct conf_stack {
	dev_t device;
	ino_t inode;
	const struct conf_stack *below;
	unsigned depth;
};

static void unread(struct conf *conf, struct conf_place place, const char *name, const char *why)
{
	struct conf_unread *entry = arena_alloc(conf->arena, sizeof *entry);
	*entry = (struct conf_unread){place, name, why, conf->unread};
	conf->unread = entry;
}

/* The whole file; NULL: an error, why in *why. */
static const char *slurp(struct conf *conf, const char *path, struct text *out, struct stat *st)
{
	int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	const char *why = NULL;
	if (descriptor < 0)
		return strerror(errno);
	if (fstat(descriptor, st) != 0)
		why = strerror(errno);
	else if (!S_ISREG(st->st_mode))
		why = "it is no file";
	else if ((size_t)st->st_size > CONF_FILE_MAX)
		why = "it is larger than 16 MiB";
	if (!why) {
		size_t size = (size_t)st->st_size, used = 0;
		char *bytes = arena_alloc(conf->arena, size + 1);
		for (ssize_t n = 1; used < size && n > 0; used += n > 0 ? (size_t)n : 0)
			if ((n = read(descriptor, bytes + used, size - used)) < 0)
				why = strerror(errno);
		*out = (struct text){bytes, used};
	}
	close(descriptor);
	return why;
}

/* Reads one file; false only after a mistake in it. */
static bool read_file(struct conf *conf, const char *path, struct conf_place from,
		      struct conf_directive ***tail)
{
	struct text text = {0};
	struct stat st = {0};
	const char *why = conf->files >= CONF_FILES_MAX ? "more than 2,000 files"
							: slurp(conf, path, &text, &st);
	if (why) {
		unread(conf, from, path, why);
		return true;
	}
	struct conf_stack here = {st.st_dev, st.st_ino, conf->stack,
				  conf->stack ? conf->stack->depth + 1 : 1};
	for (const struct conf_stack *below = conf->stack; below; below = below->below)
		if (below->device == here.device && below->inode == here.inode)
			return conf_wrong(conf, from, "this file includes itself");
	if (here.depth > CONF_DEPTH_MAX)
		return conf_wrong(conf, from, "files that include files, more than %u deep", CONF_DEPTH_MAX);
	unsigned depth = conf->depth;
	conf->stack = &here;
	bool good = conf_parse(conf, text, path, tail);
	conf->stack = here.below;
	conf->depth = depth;
	return good;
}

bool conf_include(struct conf *conf, const struct conf_directive *line, struct conf_directive ***tail)
{
	struct text name = line->words[1];
	const char *path =
		name.size && name.data[0] == '/'
			? arena_text(conf->arena, name.data, name.size).data
			: arena_format(conf->arena, "%s%.*s", conf->folder, (int)name.size, name.data).data;
	glob_t found;
	bool good = true;

	if (conf->no_files || name.size == 0 || memchr(name.data, '\0', name.size)) {
		unread(conf, line->place, path, "it is not looked for");
		return true;
	}
	if (!strpbrk(path, "*?["))
		return read_file(conf, path, line->place, tail);
	/* an arena that runs out jumps over globfree: the process ends then anyway */
	if (glob(path, 0, NULL, &found) == 0) {
		for (size_t i = 0; i < found.gl_pathc && good; i++)
			good = read_file(
				conf,
				arena_text(conf->arena, found.gl_pathv[i], strlen(found.gl_pathv[i])).data,
				line->place, tail);
		globfree(&found);
	}
	return good;
}

static struct conf_directive *top(struct conf *conf, struct conf_directive ***tail)
{
	struct conf_directive *all = arena_alloc(conf->arena, sizeof *all);
	all->words = arena_alloc(conf->arena, sizeof *all->words);
	all->words[0] = TEXT("");
	all->count = 1;
	all->block = true;
	*tail = &all->children;
	return all;
}

struct conf_directive *conf_read(struct conf *conf, const char *path)
{
	struct conf_directive **tail, *all = top(conf, &tail);
	const char *slash = strrchr(path, '/');
	conf->folder = slash ? arena_text(conf->arena, path, (size_t)(slash + 1 - path)).data : "";
	bool good = read_file(conf, path, (struct conf_place){.file = path, .line = 0}, &tail);
	return good && conf->files > 0 ? all : NULL;
}

struct conf_directive *conf_read_text(struct conf *conf, struct text text, const char *name)
{
	struct conf_directive **tail, *all = top(conf, &tail);
	if (!conf->folder)
		conf->folder = "";
	return conf_parse(conf, text, name, &tail) ? all : NULL;
}
