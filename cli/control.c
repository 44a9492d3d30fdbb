/* SPDX-License-Identifier: BSD-2-Clause */
/* weir control: the loop around control/, until it is told to stop. */
#include "control/control.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/live.h"
#include "cli/out.h"
#include "cli/signals.h"
#include "policy/kept.h"

static void say(void *context, const char *line)
{
	(void)context;
	fprintf(stderr, "weir control: %s\n", line);
}

/* A second, or less: true if we are to stop. */
static bool told_to_stop(int signals)
{
	struct pollfd wait = {.fd = signals, .events = POLLIN};
	poll(&wait, 1, 1000);
	for (int signal; (signal = signals_next(signals));)
		if (signal == SIGTERM || signal == SIGINT)
			return true;
	return false;
}

/* The table's folder must be there before it can be locked; nginx makes it when it starts, under whatever
 * user. */
static int wait_for_table(const struct find *find, int signals, char *path, size_t size, bool *stop)
{
	for (bool told = false;; told = true) {
		int status = find_table(find, true, path, size);
		if (status != STATUS_FINE || access(path, F_OK) == 0)
			return status;
		if (!told)
			fprintf(stderr, "weir control: no table at %s: waiting for a door to make it\n",
				path);
		if ((*stop = told_to_stop(signals)))
			return STATUS_FINE;
	}
}

/* A policy is not published over nginx's own zones, and a policy's table is not kept without publishing its edits. */
static int fits(const char *table, const char *policy)
{
	char why[2 * PLACE_MAX] = "", source[512];
	struct live live;
	int status = STATUS_FINE;
	if (live_look(&live, table, why, sizeof why) == WEIR_OK) {
		bool zones = live.image->kind == IMAGE_OF_ZONES;
		out_escape(image_text(live.image, live.image->source), source, sizeof source);
		if (policy && zones) {
			snprintf(why, sizeof why,
				 "%s serves the limit_req and limit_conn zones of %s: a policy needs "
				 "another table",
				 table, source);
			status = out_failure(WEIR_OTHER_KIND, why);
		} else if (!policy && !zones) {
			out_error(
				"%s serves a policy, whose edits would wait: say weir control %s --table %s",
				table, source, table);
			status = STATUS_USAGE;
		}
	}
	live_close(&live);
	return status;
}

/* Where the table is written down: as wished, or where whoever makes it looks for it. The folder is made. */
static const char *snapshot_of(const char *wish, const char *table, char *path, size_t size)
{
	char why[2 * PLACE_MAX] = "";
	struct stat st;

	if (wish && strcmp(wish, "none") == 0)
		return NULL;
	if (stat(table, &st) != 0)
		return NULL;
	if (wish ? !policy_absolute_path(wish, path, size)
		 : !policy_kept_path(table, st.st_uid, path, size)) {
		fprintf(stderr, "weir control: no place for a snapshot: counters do not survive a reboot; "
				"--snapshot PATH\n");
		return NULL;
	}
	if (policy_kept_folder(path, st.st_uid, st.st_gid, why, sizeof why) != WEIR_OK)
		fprintf(stderr, "weir control: %s\n", why);
	return path;
}

static void loop(struct control *control, int signals)
{
	struct pollfd wait[] = {{.fd = signals, .events = POLLIN},
				{.fd = control_descriptor(control), .events = POLLIN}};
	for (;;) {
		control_work(control, signals_now_ms());
		poll(wait, 2, control_timeout(control, signals_now_ms()));
		for (int signal; (signal = signals_next(signals));)
			if (signal == SIGTERM || signal == SIGINT)
				return;
	}
}

int control_command(int argc, char **argv)
{
	struct find find = {0};
	bool foreground = false;
	const char *last_good = NULL, *snapshot = NULL;
	const struct options_rule rules[] = {
		{"--table", OPTIONS_TEXT, &find.table, "PATH",
		 "the table's file (default: the one of FILE); without FILE it is only written down"},
		{"--nginx-conf", OPTIONS_TEXT, &find.nginx_conf, "CONF",
		 "the same for the table of this nginx.conf's limit_req and limit_conn zones"},
		{"--last-good", OPTIONS_TEXT, &last_good, "FOLDER",
		 "where the last good source is kept (PATH.last-good)"},
		{"--snapshot", OPTIONS_TEXT, &snapshot, "PATH",
		 "where the table is written down each second (/var/lib/weir/UID/…); none: nowhere"},
		{"--foreground", OPTIONS_FLAG, &foreground, NULL,
		 "what it does anyway; for those who like to say it"},
	};
	struct options options = {
		.synopsis = "weir control [FILE] [--table PATH | --nginx-conf CONF] [--last-good FOLDER] "
			    "[--snapshot PATH]",
		.about = "Watches a policy file with its includes and pages, and publishes every edit that "
			 "has no errors:\n"
			 "it is in force within a second. A broken edit is reported and changes nothing. "
			 "Each second "
			 "the\n"
			 "table is written down, so that quotas and long limits survive a reboot. Without a "
			 "policy that is\n"
			 "all it does: for a table of nginx's own zones. Runs until SIGTERM or SIGINT; what "
			 "is "
			 "published\n"
			 "stays in force.\n",
		.rules = rules,
		.rule_count = sizeof rules / sizeof *rules,
		.words_max = 1,
	};
	int status;
	if (!options_read(&options, argc, argv, &status))
		return status;
	char policy[PLACE_MAX], table[PLACE_MAX], kept[PLACE_MAX], why[2 * PLACE_MAX];
	bool keeps = options.words.count == 0 && (find.table || find.nginx_conf);
	if (!keeps && (options.words.count != 1 || find.nginx_conf ||
		       !policy_absolute_path(options.words.items[0], policy, sizeof policy))) {
		out_error("which policy file? usage: %s", options.synopsis);
		return STATUS_USAGE;
	}
	find.policy = keeps ? NULL : policy;
	int signals = signals_open();
	bool stop = false;
	if (signals < 0)
		return out_failure(WEIR_SYSTEM, "cannot wait for signals");
	status = wait_for_table(&find, signals, table, sizeof table, &stop);
	if (status == STATUS_FINE && !stop)
		status = fits(table, find.policy);
	if (status != STATUS_FINE || stop)
		return status;
	struct control *control = control_open(
		&(struct control_options){.policy = find.policy,
					  .table = table,
					  .snapshot = snapshot_of(snapshot, table, kept, sizeof kept),
					  .last_good = last_good,
					  .say = say},
		why, sizeof why);
	if (!control)
		return out_failure(WEIR_SYSTEM, why);
	if (keeps)
		fprintf(stderr, "weir control: keeping %s\n", table);
	else
		fprintf(stderr, "weir control: watching %s for %s\n", policy, table);
	loop(control, signals);
	control_close(&control);
	return STATUS_FINE;
}
