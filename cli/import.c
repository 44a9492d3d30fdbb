/* SPDX-License-Identifier: BSD-2-Clause */
/* weir import: an nginx.conf as a policy, and what could not be carried over. */
#include "cli/import.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/findings.h"
#include "cli/import_write.h"
#include "cli/options.h"
#include "cli/out.h"

#define INPUT_MAX ((size_t)32 << 20)

static const char *const WEIGHTS[] = {
	[IMPORT_LOST] = "not carried over", [IMPORT_DIFFERS] = "differs", [IMPORT_REMARK] = "note"};
static const char *const WORDS[] = {
	[IMPORT_LOST] = "lost", [IMPORT_DIFFERS] = "differs", [IMPORT_REMARK] = "note"};

static json_t *remarks_json(const struct import *import)
{
	json_t *list = json_array();
	for (size_t i = 0; i < import->remark_count; i++) {
		const struct import_remark *remark = &import->remarks[i];
		json_array_append_new(
			list, json_pack("{s:s, s:o, s:i, s:i, s:o}", "weight", WORDS[remark->weight], "file",
					out_own(text_of(remark->file)), "line", (int)remark->line, "column",
					(int)remark->column, "message", out_hostile(text_of(remark->text))));
	}
	return list;
}

static void print_remarks(const struct import *import)
{
	char text[1200];
	for (size_t i = 0; i < import->remark_count; i++) {
		const struct import_remark *remark = &import->remarks[i];
		out_escape(text_of(remark->text), text, sizeof text);
		fprintf(stderr, "%s:%u:%u: %s: %s\n", remark->file, remark->line, remark->column,
			WEIGHTS[remark->weight], text);
	}
	if (import->lines)
		fprintf(stderr, "%zu of %zu limit%s carried over\n", import->carried, import->lines,
			import->lines == 1 ? "" : "s");
	else
		fputs("there are no limits in this configuration\n", stderr);
}

static void tell_keys(const struct import *import, const char *to, const char *keys)
{
	const char *plural = import->key_count == 1 ? "" : "s";

	if (!import->key_count)
		return;
	if (!keys)
		fprintf(stderr, "%zu API key%s written nowhere: --keys FILE does that\n", import->key_count,
			import->key_count == 1 ? " is" : "s are");
	else
		fprintf(stderr,
			"%zu API key%s in %s, which only you can read; next: weir keys import %s%s%s\n",
			import->key_count, plural, keys, keys, to ? " --policy " : "", to ? to : "");
}

/* What weir itself says of the text that it has written: an error there is a mistake of ours, and is said. */
static bool sound(const struct import *import, const char *name)
{
	struct policy policy;
	policy_load(&(struct policy_options){.path = name, .text = import->policy}, &policy);
	bool good = policy.errors == 0;
	if (!good) {
		out_error("the imported policy is not sound; please report this, with what follows");
		findings_print(&policy);
	}
	policy_free(&policy);
	return good;
}

static int failed(const struct import *import)
{
	if (import->unreadable) {
		out_error("cannot read %s: %s", import->wrong_file, import->wrong);
		return STATUS_SYSTEM;
	}
	out_error("%s:%u:%u: %s", import->wrong_file, import->wrong_line, import->wrong_column,
		  import->wrong);
	return STATUS_FINDINGS;
}

/* The keys are written before the policy that needs them, and only to a file. */
static int deliver(const struct import *import, const char *to, const char *keys, bool force)
{
	int status = STATUS_FINE;

	if (keys)
		status = import_write(keys, import->keys, 0600, force);
	if (to && status == STATUS_FINE)
		status = import_write(to, import->policy, 0644, force);
	if (status != STATUS_FINE)
		return status;
	if (out_as_json) {
		out_document(json_pack(
			"{s:o, s:o, s:I, s:o, s:I, s:I, s:I, s:I, s:I, s:o}", "policy",
			out_own(text_of(import->policy)), "out", to ? out_own(text_of(to)) : json_null(),
			"keys", (json_int_t)import->key_count, "keys_out",
			keys ? out_own(text_of(keys)) : json_null(), "limits", (json_int_t)import->limits,
			"lines", (json_int_t)import->lines, "carried", (json_int_t)import->carried, "dropped",
			(json_int_t)import->dropped, "lost", (json_int_t)import->lost, "remarks",
			remarks_json(import)));
	} else {
		if (!to)
			fputs(import->policy, stdout);
		fflush(stdout);
		print_remarks(import);
		tell_keys(import, to, keys);
	}
	return import->lost ? STATUS_PARTLY : STATUS_FINE;
}

/* Where API keys go: NULL: nowhere. */
static const char *keys_file(const struct import *import, const char *to, const char *keys, char *beside,
			     size_t size)
{
	if (!import->key_count || keys || !to)
		return import->key_count ? keys : NULL;
	snprintf(beside, size, "%s.keys.jsonl", to);
	return beside;
}

static bool same_file(const char *a, const char *b)
{
	struct stat one, two;
	return stat(a, &one) == 0 && stat(b, &two) == 0 && one.st_dev == two.st_dev &&
	       one.st_ino == two.st_ino;
}

/* All of it, up to INPUT_MAX bytes; the caller frees it. NULL: it cannot be read, or is longer. */
static char *standard_input(struct text *out)
{
	size_t size = 0, used = 0;
	char *text = NULL;
	do {
		char *more = size < INPUT_MAX ? realloc(text, size = size ? size * 2 : 65536) : NULL;
		if (!more)
			break;
		text = more;
		used += fread(text + used, 1, size - used, stdin);
	} while (used == size);
	if (!text || used == size || ferror(stdin)) {
		free(text);
		return NULL;
	}
	*out = (struct text){text, used};
	return text;
}

int import_command(int argc, char **argv)
{
	const char *to = NULL, *keys = NULL;
	char beside[4096];
	bool force = false;
	const struct options_rule rules[] = {
		{"--out", OPTIONS_TEXT, &to, "FILE", "write the policy there, not to standard output (-)"},
		{"--keys", OPTIONS_TEXT, &keys, "FILE",
		 "write API keys there (default: the policy's name and .keys.jsonl)"},
		{"--force", OPTIONS_FLAG, &force, NULL, "also over a file that exists"},
	};
	struct options options = {
		.synopsis = "weir import NGINX.CONF [--out POLICY.YAML]",
		.about =
			"Writes the limits of an nginx configuration (limit_req, limit_conn, limit_rate, "
			"with the geo and\n"
			"map that their keys need, and realip) as a policy; - is standard input. What is not "
			"in it, or\n"
			"differs, is listed on standard error, line by line. nginx is not needed, and "
			"nothing "
			"of it is\n"
			"changed.\n"
			"Exit 0 if every limit was carried over, 4 if not.\n",
		.rules = rules,
		.rule_count = sizeof rules / sizeof *rules,
		.words_max = 1,
	};
	int status;
	if (!options_read(&options, argc, argv, &status))
		return status;
	if (options.words.count == 0) {
		out_error("which configuration? weir import /etc/nginx/nginx.conf");
		return STATUS_USAGE;
	}
	const char *from = options.words.items[0];
	struct import_options from_where = {.path = from};
	char *text = NULL;
	if (to && strcmp(to, "-") == 0)
		to = NULL;
	if (to && same_file(from, to)) {
		out_error("%s is the configuration itself", to);
		return STATUS_USAGE;
	}
	if (strcmp(from, "-") == 0) {
		text = standard_input(&from_where.text);
		if (!text) {
			out_error("the standard input cannot be read, or is longer than 32 MiB");
			return STATUS_SYSTEM;
		}
	}
	struct import import;
	if (!import_run(&from_where, &import))
		status = failed(&import);
	else if (!sound(&import, to ? to : "policy.yaml"))
		status = STATUS_FINDINGS;
	else
		status = deliver(&import, to, keys_file(&import, to, keys, beside, sizeof beside), force);
	import_free(&import);
	free(text);
	return status;
}
