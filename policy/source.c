/* SPDX-License-Identifier: BSD-2-Clause */
/* source: reading files. Everything a YAML parser might stumble over without saying so is refused here. */
#include "policy/source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "policy/load.h"
#include "policy/utf8.h"

static bool slurp(struct load *load, bool any, size_t max, struct text *out, struct source *source,
		  const char **why)
{
	struct stat status;
	if (fstat(load->fd, &status) != 0)
		return *why = strerror(errno), false;
	if (S_ISDIR(status.st_mode))
		return *why = "it is a folder", false;
	if (!any && !S_ISREG(status.st_mode))
		return *why = "it is not a regular file", false;
	if (source) {
		source->device = status.st_dev;
		source->inode = S_ISREG(status.st_mode) ? status.st_ino : 0;
	}
	/* The size is only a hint: a pipe has none and a file may grow while it is read. */
	size_t capacity = S_ISREG(status.st_mode) && (size_t)status.st_size < max ? (size_t)status.st_size + 2
										  : 8192;
	char *bytes = arena_alloc(&load->arena, capacity);
	size_t used = 0;
	for (;;) {
		bytes = arena_grow(&load->arena, bytes, used + 1, &capacity, 1);
		ssize_t got = read(load->fd, bytes + used, capacity - 1 - used);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return *why = strerror(errno), false;
		if (got == 0)
			break;
		used += (size_t)got;
		if (used > max)
			return *why = arena_format(&load->arena, "it is larger than %zu KiB", max >> 10).data,
			       false;
	}
	bytes[used] = '\0';
	*out = (struct text){bytes, used};
	return true;
}

bool source_slurp(struct load *load, const char *path, size_t max, struct text *out, struct source *source,
		  const char **why)
{
	/* The policy itself may be a pipe. What it names may not: a loader that hangs is worse than a
	 * finding. */
	bool any = source && !source->includer, standard_input = any && strcmp(path, "-") == 0;
	load->fd = standard_input ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | (any ? 0 : O_NONBLOCK));
	if (load->fd < 0)
		return *why = strerror(errno), false;
	bool good = slurp(load, any, max, out, source, why);
	if (!standard_input)
		close(load->fd);
	load->fd = -1;
	return good;
}

/* Where a byte is, as line and column. */
static struct model_mark place_of(const struct source *source, size_t offset)
{
	struct model_mark mark = {source->name, 1, 1, 1};
	struct text text = source->text;
	for (size_t at = 0; at < offset;) {
		uint32_t code = 0;
		size_t length = utf8_next(text.data + at, text.size - at, &code);
		bool pair = code == '\r' && at + 1 < text.size && text.data[at + 1] == '\n';
		at += length ? length : 1;
		if (code == '\n' || (code == '\r' && !pair)) {
			mark.line++;
			mark.column = 1;
		} else if (!pair) {
			mark.column++;
		}
	}
	return mark;
}

static bool check_text(struct load *load, const struct source *source)
{
	struct text text = source->text;
	if (text.size >= 2 &&
	    (memcmp(text.data, "\xff\xfe", 2) == 0 || memcmp(text.data, "\xfe\xff", 2) == 0)) {
		diag_error(load, place_of(source, 0), "the file is UTF-16; save it as UTF-8");
		return false;
	}
	for (size_t at = 0; at < text.size;) {
		uint32_t code;
		size_t length = utf8_next(text.data + at, text.size - at, &code);
		if (length == 0) {
			diag_error(load, place_of(source, at),
				   "byte 0x%02x is not UTF-8; save the file as UTF-8",
				   (unsigned)(unsigned char)text.data[at]);
			return false;
		}
		if (code == 0) {
			diag_error(load, place_of(source, at), "a NUL byte: this is not a text file");
			return false;
		}
		if (!utf8_allowed(code)) {
			diag_error(load, place_of(source, at), "an invisible character, U+%04X; remove it",
				   (unsigned)code);
			return false;
		}
		at += length;
	}
	return true;
}

struct source *source_read(struct load *load, const char *name, struct text text,
			   const struct source *includer, struct model_mark mark)
{
	struct source *source = arena_alloc(&load->arena, sizeof *source);
	const char *why = NULL;

	source->name = arena_text(&load->arena, name, strlen(name)).data;
	source->includer = includer;
	load->sources = arena_grow(&load->arena, load->sources, load->source_count, &load->source_capacity,
				   sizeof(struct source *));
	load->sources[load->source_count++] = source;
	if (!mark.file)
		mark = (struct model_mark){source->name, 1, 1, 1};

	const struct policy_options *options = load->options;
	if (!text.data && options && options->instead && strcmp(name, options->instead_of) == 0) {
		load_watch_file(load, source->name);
		text = text_of(options->instead);
	}
	if (text.data) {
		if (text.size > SOURCE_FILE_MAX)
			why = "it is larger than 4096 KiB";
	} else {
		if (includer || strcmp(name, "-") != 0)
			load_watch_file(load, source->name);
		source_slurp(load, name, SOURCE_FILE_MAX, &text, source, &why);
	}
	if (!why && (load->bytes += text.size) > SOURCE_TOTAL_MAX)
		why = "with it, the policy is larger than 64 MiB";
	if (why) {
		diag_error(load, mark, "'%.*s' cannot be read: %s", SHOW(text_of(source->name)), why);
		return NULL;
	}
	load_hash(load, text);
	if (text.data && text.size >= 3 && memcmp(text.data, "\xef\xbb\xbf", 3) == 0)
		text = (struct text){text.data + 3, text.size - 3};
	source->text = text;
	return check_text(load, source) ? source : NULL;
}

const char *source_beside(struct load *load, const char *from, struct text path)
{
	const char *slash = path.size && path.data[0] == '/' ? NULL : strrchr(from, '/');
	int folder = slash ? (int)(slash - from) + 1 : 0;
	return arena_format(&load->arena, "%.*s%.*s", folder, from, (int)path.size, path.data).data;
}

struct text source_line(const struct source *source, unsigned line)
{
	if (!source->text.data)
		return (struct text){0};
	const char *at = source->text.data, *end = at + source->text.size;
	for (unsigned i = 1;; i++) {
		const char *stop = at;
		while (stop < end && *stop != '\n' && *stop != '\r')
			stop++;
		if (i == line)
			return (struct text){at, (size_t)(stop - at)};
		if (stop == end)
			return (struct text){0};
		at = stop + (stop + 1 < end && stop[0] == '\r' && stop[1] == '\n' ? 2 : 1);
	}
}
