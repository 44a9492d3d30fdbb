/* SPDX-License-Identifier: BSD-2-Clause */
/* control: when to read the policy, and what to do with what was read. */
#include "control/control.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "control/keep.h"
#include "control/keys_follow.h"
#include "control/lastgood.h"
#include "control/owner.h"
#include "control/single.h"
#include "control/usage_collect.h"
#include "control/watch.h"
#include "policy/place.h"
#include "policy/policy.h"

#define QUIET_MS    50	     /* an editor's several steps are one edit */
#define WRITING_MS  250	     /* longer while somebody is in the middle of writing */
#define PATIENCE_MS 1000     /* but no longer than this: it may never end; also how often stat is asked */
#define REFRESH_MS  86400000 /* some time zones' clocks are known for a year or two: read again each day */
#define COLLECT_MS  100	     /* between some keys' usage and some others' */
#define ROUNDS	    3	     /* an edit during the reading is read again at once, so often */

struct control {
	struct control_options options;
	char policy_path[PLACE_MAX], table_path[PLACE_MAX], last_good[PLACE_MAX], lock_path[PLACE_MAX];
	int lock;
	struct watch *watch;
	struct table *table;
	struct keys_follow keys; /* the ring of the policy's API keys */
	struct usage_collect usage;
	struct keep *keep;   /* NULL: the table is not written down */
	struct policy good;  /* the last policy without errors; good.image NULL: none yet */
	uint64_t generation; /* of the image that we know to be published */
	uint64_t read_ms;    /* when the policy was last read */
	uint64_t first_ms, due_ms,
		poll_ms;   /* an edit's first sign, when to read it, when to look by stat; 0: none */
	char *said;	   /* the findings as last reported */
	char trouble[512]; /* the same of the table */
	uint64_t edits;	   /* read without errors */
	bool broken, begun, forced;
};

static void say(const struct control *control, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void say(const struct control *control, const char *format, ...)
{
	char line[2 * PLACE_MAX];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(line, sizeof line, format, arguments);
	va_end(arguments);
	control->options.say(control->options.context, line);
}

static void say_lines(const struct control *control, const char *text)
{
	char line[2 * PLACE_MAX];
	while (text && *text) {
		size_t n = strcspn(text, "\n");
		snprintf(line, sizeof line, "%.*s", (int)(n < sizeof line ? n : sizeof line - 1), text);
		if (n > 0)
			control->options.say(control->options.context, line);
		text += n + (text[n] == '\n');
	}
}

static void say_keep(void *context, const char *line)
{
	say(context, "%s", line);
}

struct control *control_open(const struct control_options *options, char *why, size_t size)
{
	struct control *control = calloc(1, sizeof *control);
	if (!control || !(control->watch = watch_new())) {
		free(control);
		snprintf(why, size, "out of memory");
		return NULL;
	}
	control->options = *options;
	control->said = options->said ? strdup(options->said) : NULL;
	control->options.said = NULL; /* the caller's */
	snprintf(control->policy_path, sizeof control->policy_path, "%s",
		 options->policy ? options->policy : "");
	snprintf(control->table_path, sizeof control->table_path, "%s", options->table);
	int n = options->last_good
			? snprintf(control->last_good, sizeof control->last_good, "%s", options->last_good)
			: snprintf(control->last_good, sizeof control->last_good, "%s.last-good",
				   options->table);
	control->lock = -1;
	control->keep = options->snapshot ? keep_new(options->snapshot) : NULL;
	if (n >= (int)sizeof control->last_good ||
	    !single_control_path(control->table_path, control->lock_path, sizeof control->lock_path))
		snprintf(why, size, "the path of the table is too long");
	else if (owner_become(control->table_path, why, size))
		control->lock = single_take(control->lock_path, "weir control already runs for this table",
					    why, size);
	owner_return();
	if (control->lock < 0)
		control_close(&control);
	return control;
}

void control_close(struct control **control)
{
	char why[256];
	if (!*control)
		return;
	usage_collect_end(&(*control)->usage);
	keep_end(&(*control)->keep, (*control)->table, say_keep, *control);
	table_close(&(*control)->table);
	if ((*control)->lock >= 0 && owner_become((*control)->table_path, why, sizeof why))
		single_leave((*control)->lock_path, (*control)->lock);
	owner_return();
	watch_free(&(*control)->watch);
	policy_free(&(*control)->good);
	free((*control)->said);
	free(*control);
	*control = NULL;
}

/* What stands in the way of publishing, told once. */
static void trouble(struct control *control, const char *sentence)
{
	if (strcmp(control->trouble, sentence) == 0)
		return;
	snprintf(control->trouble, sizeof control->trouble, "%s", sentence);
	if (*sentence)
		say(control, "%s", sentence);
}

/* The table at its path, opened anew if it was replaced. */
static bool have_table(struct control *control)
{
	char why[2 * PLACE_MAX] = "";
	struct algo_time now;
	if (control->table) {
		table_time(control->table, &now);
		if (!table_replaced(control->table, now.now))
			return true;
		table_close(&control->table);
		control->generation = 0;
	}
	if (access(control->table_path, F_OK) != 0) {
		snprintf(why, sizeof why, "no table at %s: waiting for a door to make it",
			 control->table_path);
		trouble(control, why);
		return false;
	}
	struct table_options options = {.path = control->table_path};
	enum weir_error error = WEIR_SYSTEM;
	if (owner_become(control->table_path, why, sizeof why))
		error = table_open(&options, &control->table, why, sizeof why);
	owner_return();
	trouble(control, error == WEIR_OK ? "" : *why ? why : weir_error_sentence(error));
	return error == WEIR_OK;
}

static void publish(struct control *control)
{
	char why[2 * PLACE_MAX] = "";
	struct publish_report report = {0};
	uint64_t known = control->generation, found = table_generation(control->table);
	enum weir_error error = WEIR_SYSTEM;
	if (owner_become(control->table_path, why, sizeof why))
		error = policy_publish(control->table, control->good.image, &report, why, sizeof why);
	owner_return();
	if (error != WEIR_OK) {
		control->generation = 0; /* nothing known to be in force: tried again at the next look */
		trouble(control, *why ? why : weir_error_sentence(error));
		return;
	}
	trouble(control, "");
	control->generation = report.generation;
	table_hold_generation(control->table, report.generation);
	if (!report.unchanged) {
		if (known && found != known)
			say(control, "generation %llu is not what %s says: it is published again",
			    (unsigned long long)found, control->policy_path);
		say(control, "published, generation %llu", (unsigned long long)report.generation);
		say_lines(control, report.words);
	}
	/* only if the files are still those that were read */
	if (watch_changed(control->watch))
		control->forced = true;
	else if (!lastgood_save(control->last_good, control->good.files, why, sizeof why))
		trouble(control, why);
}

/* Somebody else has published: a restarted nginx perhaps, an older text, or this text compiled by another weir.
 * Whether that is what we would publish is for policy_publish to say: it compares every byte. */
static void compare(struct control *control)
{
	uint64_t generation = table_generation(control->table);
	if (control->good.image && (control->generation != generation || generation == 0))
		publish(control);
}

/* What this reading touched; also what the last good one did, for a broken file may not come as far as its
 * includes. */
static bool watch_all(struct control *control, const struct policy *fresh)
{
	char *const *lists[] = {fresh->files, control->good.files};
	size_t count = 1;
	for (size_t i = 0; i < 2; i++)
		for (size_t j = 0; lists[i] && lists[i][j]; j++)
			count++;
	char **files = calloc(count + 1, sizeof *files);
	if (!files)
		return false;
	files[0] = control->policy_path;
	count = 1;
	for (size_t i = 0; i < (fresh->image ? 1 : 2); i++)
		for (size_t j = 0; lists[i] && lists[i][j]; j++)
			files[count++] = lists[i][j];
	bool watched = watch_files(control->watch, files,
				   !fresh->image && control->good.folders ? control->good.folders
									  : fresh->folders);
	free(files);
	return watched;
}

/* Reads until nothing changes under the reading. */
static void load(struct control *control, struct policy *fresh)
{
	const struct policy_options options = {.path = control->policy_path};
	for (int round = 1;; round++) {
		policy_load(&options, fresh);
		bool watched = watch_all(control, fresh);
		if (!watch_changed(control->watch) || !watched || round == ROUNDS)
			return;
		policy_free(fresh);
	}
}

static void report_findings(struct control *control, const struct policy *fresh)
{
	char *text = policy_findings_text(fresh);
	bool news = !text || !control->said || strcmp(text, control->said) != 0;
	if (news) {
		say_lines(control, text);
		if (!fresh->image)
			say(control, "%s is not usable: %s", control->policy_path,
			    control->generation ? "the policy in force stays" : "nothing is published");
	}
	free(control->said);
	control->said = text;
}

static void reload(struct control *control)
{
	struct policy fresh;
	control->forced = false;
	load(control, &fresh);
	report_findings(control, &fresh);
	if (!fresh.image) {
		control->broken = true;
		policy_free(&fresh);
		return;
	}
	if (control->broken)
		say(control, "%s is usable again", control->policy_path);
	control->broken = false;
	policy_free(&control->good);
	control->good = fresh;
	control->edits++;
	if (control->table)
		publish(control);
}

/* An editor that renames the old file away and the new one in leaves a moment without either. */
static bool wait_for_file(struct control *control, uint64_t now_ms)
{
	if (access(control->policy_path, F_OK) == 0 || now_ms >= control->first_ms + PATIENCE_MS)
		return false;
	control->due_ms = now_ms + QUIET_MS;
	return true;
}

/* The ring beside the database of keys that the policy names. */
static void follow_keys(struct control *control)
{
	char database[PLACE_MAX];
	if (!control->good.image)
		return;
	struct text path = image_text(control->good.image, control->good.image->clients.keys_database);
	if (path.size >= sizeof database)
		return;
	snprintf(database, sizeof database, "%.*s", (int)path.size, path.size ? path.data : "");
	keys_follow(&control->keys, database, say_keep, control);
}

/* A table whose limits somebody else publishes: nginx its own zones. */
static void only_keep(struct control *control, uint64_t now_ms)
{
	if (now_ms >= control->poll_ms) {
		control->poll_ms = now_ms + PATIENCE_MS;
		have_table(control);
	}
	if (control->table && control->keep)
		keep_work(control->keep, control->table, now_ms, say_keep, control);
}

void control_work(struct control *control, uint64_t now_ms)
{
	if (!control->options.policy) {
		only_keep(control, now_ms);
		return;
	}
	enum watch_news news = watch_read(control->watch);
	if (news != WATCH_QUIET || !control->begun) {
		uint64_t quiet = !control->begun ? 0 : news == WATCH_WRITING ? WRITING_MS : QUIET_MS;
		if (!control->due_ms)
			control->first_ms = now_ms;
		control->due_ms = now_ms + quiet;
		if (control->due_ms > control->first_ms + PATIENCE_MS)
			control->due_ms = control->first_ms + PATIENCE_MS;
		control->due_ms += control->due_ms == 0;
	}
	if (now_ms >= control->poll_ms) {
		control->poll_ms = now_ms + PATIENCE_MS;
		have_table(control);
		follow_keys(control);
		control->forced |= control->begun && now_ms - control->read_ms >= REFRESH_MS;
		if (!control->due_ms &&
		    (control->forced || (control->begun && watch_changed(control->watch)))) {
			control->forced = true;
			control->first_ms = now_ms;
			control->due_ms = now_ms;
		}
	}
	if (control->due_ms && now_ms >= control->due_ms && !wait_for_file(control, now_ms)) {
		bool read = control->forced || !control->begun || watch_changed(control->watch);
		control->due_ms = 0;
		control->begun = true;
		control->read_ms = now_ms;
		if (read)
			reload(control);
	}
	if (control->table)
		compare(control);
	if (control->table)
		usage_collect(&control->usage, control->table, now_ms, say_keep, control);
	if (control->table && control->keep)
		keep_work(control->keep, control->table, now_ms, say_keep, control);
}

int control_descriptor(const struct control *control)
{
	return watch_descriptor(control->watch);
}

int control_timeout(const struct control *control, uint64_t now_ms)
{
	uint64_t next = control->due_ms && control->due_ms < control->poll_ms ? control->due_ms
									      : control->poll_ms;
	if (usage_collecting(&control->usage) && next > now_ms + COLLECT_MS)
		next = now_ms + COLLECT_MS;
	return next > now_ms ? (int)(next - now_ms) : 0;
}

uint64_t control_edits(const struct control *control)
{
	return control->edits;
}

bool control_sound(const struct control *control)
{
	return control->begun && !control->broken;
}
