/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * weir promote: puts a limit in force that was tried, in the policy's file. Only what the promotion changes is written
 * (policy/promote.h), and only if the policy as it would be is one; the file is replaced in one step, with its owner and mode.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/findings.h"
#include "cli/options.h"
#include "cli/out.h"
#include "policy/policy.h"
#include "policy/promote.h"
#include "policy/suggest.h"

struct promoting {
	const char *policy, *limit;
	const char *file; /* where the limit stands, as the policy names it */
	char *before, *after;
	enum promote_result result;
};

static char *slurp(const char *path)
{
	FILE *file = fopen(path, "re");
	char *text = NULL;
	size_t size = 0, room = 0;

	while (file) {
		if (room - size < 65536) {
			char *more = realloc(text, room = 2 * room + 131072);
			if (!more)
				break;
			text = more;
		}
		size_t got = fread(text + size, 1, room - size - 1, file);
		size += got;
		if (got == 0)
			break;
	}
	bool good = file && !ferror(file) && text;
	if (file)
		fclose(file);
	if (good)
		text[size] = '\0';
	if (good && strlen(text) == size)
		return text;
	free(text);
	return NULL;
}

/* The file that says the limit; what becomes of its text. */
static void find_limit(struct promoting *p, char **files)
{
	for (size_t i = 0; files && files[i]; i++) {
		char *text = slurp(files[i]);
		if (!text)
			continue;
		p->result = policy_promote(text_of(text), text_of(p->limit), &p->after);
		if (p->result != PROMOTE_ELSEWHERE && p->result != PROMOTE_UNREADABLE) {
			p->file = files[i];
			p->before = text;
			return;
		}
		free(text);
	}
}

static int nothing(const struct promoting *p, const struct image *image)
{
	struct suggest suggest = suggest_begin(text_of(p->limit));
	switch (p->result) {
	case PROMOTE_NOTHING:
		out_error("limit '%s' is in force as it stands: it has no candidate, and is no shadow",
			  p->limit);
		break;
	case PROMOTE_DISABLED:
		out_error("limit '%s' is disabled, which is no trial: take `mode: disabled` away by hand",
			  p->limit);
		break;
	case PROMOTE_UNREADABLE:
	case PROMOTE_ELSEWHERE:
	default:
		for (uint32_t i = 0; i < image->limits.count; i++)
			if (!image_limit_at(image, i)->candidate)
				suggest_offer(&suggest, image_text(image, image_limit_at(image, i)->name));
		if (suggest.best.size)
			out_error("no limit '%s' in %s; did you mean '%.*s'?", p->limit, p->policy,
				  (int)suggest.best.size, suggest.best.data);
		else
			out_error("no limit '%s' in %s", p->limit, p->policy);
		return STATUS_USAGE;
	}
	return STATUS_FINDINGS;
}

/* ---- what changes, line by line ---- */

static size_t lines_of(char *text, char ***out)
{
	size_t count = 0, room = 0;
	char **lines = NULL;
	for (char *at = text; *at;) {
		if (count == room) {
			char **more = realloc(lines, (room = 2 * room + 64) * sizeof *lines);
			if (!more)
				break;
			lines = more;
		}
		lines[count++] = at;
		at = strchr(at, '\n');
		if (!at)
			break;
		*at++ = '\0';
	}
	*out = lines;
	return count;
}

/* One place has changed: between what both texts begin and end with. */
static json_t *changes(const struct promoting *p)
{
	char *before = strdup(p->before), *after = strdup(p->after), **old = NULL, **now = NULL;
	json_t *out = json_array();
	if (before && after) {
		size_t n = lines_of(before, &old), m = lines_of(after, &now), first = 0, last = 0;
		while (first < n && first < m && strcmp(old[first], now[first]) == 0)
			first++;
		while (last < n - first && last < m - first &&
		       strcmp(old[n - 1 - last], now[m - 1 - last]) == 0)
			last++;
		for (size_t i = first; i < n - last; i++)
			json_array_append_new(out, json_pack("{s:I, s:s, s:o}", "line", (json_int_t)i + 1,
							     "sign", "-", "text", out_own(text_of(old[i]))));
		for (size_t i = first; i < m - last; i++)
			json_array_append_new(out, json_pack("{s:I, s:s, s:o}", "line", (json_int_t)i + 1,
							     "sign", "+", "text", out_own(text_of(now[i]))));
	}
	free(old);
	free(now);
	free(before);
	free(after);
	return out;
}

static void print(const struct promoting *p, const json_t *diff, bool written)
{
	const json_t *line;
	size_t i;
	printf("--- %s\n+++ %s%s\n", p->file, p->file, written ? "" : " (not written: --dry-run)");
	for (i = 0; (line = json_array_get(diff, i)); i++)
		printf("%s%s\n", json_string_value(json_object_get(line, "sign")),
		       json_string_value(json_object_get(line, "text")));
	if (written)
		printf("written; weir control puts it in force by itself, else: weir publish %s\n",
		       p->policy);
}

/* ---- writing ---- */

static bool write_all(int fd, const char *text, size_t size)
{
	while (size) {
		ssize_t got = write(fd, text, size);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		text += got;
		size -= (size_t)got;
	}
	return true;
}

static int replace(const struct promoting *p)
{
	char real[PATH_MAX], fresh[PATH_MAX + 16];
	struct stat was;
	int fd = -1;
	bool good = realpath(p->file, real) && stat(real, &was) == 0;
	snprintf(fresh, sizeof fresh, "%s.XXXXXX", good ? real : "");
	if (good)
		good = (fd = mkstemp(fresh)) >= 0;
	if (good && (was.st_uid != geteuid() || was.st_gid != getegid()))
		good = fchown(fd, was.st_uid, was.st_gid) == 0;
	good = good && fchmod(fd, was.st_mode & 07777) == 0 && write_all(fd, p->after, strlen(p->after)) &&
	       fsync(fd) == 0 && rename(fresh, real) == 0;
	int error = errno;
	if (fd >= 0)
		close(fd);
	if (good)
		return STATUS_FINE;
	if (fd >= 0)
		unlink(fresh);
	out_error("%s: %s; nothing was changed", p->file, strerror(error));
	return STATUS_SYSTEM;
}

static int promote(struct promoting *p, bool dry)
{
	static const char *const DONE[] = {
		[PROMOTE_CANDIDATE] = "candidate", [PROMOTE_SHADOW] = "shadow", [PROMOTE_SHARE] = "share"};
	struct policy policy, next;
	int status;
	policy_load(&(struct policy_options){.path = p->policy}, &policy);
	if (!policy.image) {
		findings_print(&policy);
		out_error("%s is no policy as it stands: nothing was changed", p->policy);
		status = findings_status(&policy, p->policy);
		policy_free(&policy);
		return status;
	}
	p->result = PROMOTE_ELSEWHERE;
	find_limit(p, policy.files);
	if (!p->after) {
		status = nothing(p, policy.image);
		policy_free(&policy);
		return status;
	}
	policy_load(&(struct policy_options){.path = p->policy, .instead_of = p->file, .instead = p->after},
		    &next);
	if (!next.image) {
		findings_print(&next);
		out_error("with that, %s would be no policy any more: nothing was changed", p->policy);
		status = STATUS_FINDINGS;
	} else {
		status = dry ? STATUS_FINE : replace(p);
	}
	if (status == STATUS_FINE) {
		json_t *diff = changes(p);
		if (out_as_json) {
			out_document(json_pack("{s:s, s:s, s:s, s:b, s:o}", "limit", p->limit, "file",
					       p->file, "was", DONE[p->result], "written", !dry, "diff",
					       diff));
		} else {
			print(p, diff, !dry);
			json_decref(diff);
		}
	}
	policy_free(&next);
	policy_free(&policy);
	return status;
}

int promote_command(int argc, char **argv)
{
	struct promoting p = {.policy = "policy.yaml"};
	bool dry = false;
	char name[256];
	const struct options_rule rules[] = {
		{"--policy", OPTIONS_TEXT, &p.policy, "FILE",
		 "the policy (./policy.yaml); what it includes is looked through too"},
		{"--dry-run", OPTIONS_FLAG, &dry, NULL, "only say what would be written"},
	};
	struct options options = {
		.synopsis = "weir promote LIMIT [--policy FILE] [--dry-run]",
		.about =
			"Puts a limit in force that was tried, in the policy's file: its candidate's numbers "
			"take the place of\n"
			"its own, `mode: shadow` goes, `mode: enforce 10%` becomes `enforce`. Nothing else "
			"of the file changes.\n"
			"What it would have refused until now: weir shadow report.\n",
		.rules = rules,
		.rule_count = sizeof rules / sizeof *rules,
		.words_max = 1,
	};
	int status;
	if (!options_read(&options, argc, argv, &status))
		return status;
	if (options.words.count != 1) {
		out_error("say which limit: weir promote LIMIT");
		return STATUS_USAGE;
	}
	snprintf(name, sizeof name, "%s", options.words.items[0]);
	char *ending = strrchr(name, '/');
	if (ending && strcmp(ending, "/candidate") == 0)
		*ending = '\0';
	p.limit = name;
	status = promote(&p, dry);
	free(p.before);
	free(p.after);
	return status;
}
