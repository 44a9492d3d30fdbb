/* SPDX-License-Identifier: BSD-2-Clause */
/* weir run: plan, start, serve, clean up. */
#include "cli/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/out.h"
#include "cli/signals.h"
#include "cli/table_change.h"

/* Where somebody on this machine reaches it. */
static void host_of(const struct run_listen *listen, char *out, size_t size)
{
	if (strcmp(listen->host, listen->v6 ? "::" : "0.0.0.0") == 0)
		snprintf(out, size, listen->v6 ? "[::1]:%u" : "127.0.0.1:%u", listen->port);
	else
		snprintf(out, size, "%s", listen->address);
}

static void print_json(const struct run *run, const struct image_route *routes)
{
	json_t *listens = json_array(), *to = json_array();
	for (size_t i = 0; i < run->listen_count; i++)
		json_array_append_new(listens, json_string(run->listens[i].address));
	for (uint32_t i = 0; i < run->loaded.image->gateway.routes.count; i++)
		json_array_append_new(to,
				      json_pack("{s:o, s:o}", "match",
						out_own(image_text(run->loaded.image, routes[i].match)), "to",
						out_own(image_text(run->loaded.image, routes[i].to))));
	out_document(json_pack("{s:o, s:o, s:o, s:o, s:o}", "listening", listens, "routes", to, "policy",
			       out_own(text_of(run->source)), "table", out_own(text_of(run->table)), "state",
			       out_own(text_of(run->state))));
	fflush(stdout);
}

void run_print_banner(const struct run *run)
{
	const struct image *image = run->loaded.image;
	const struct image_route *routes = image_at(image, image->gateway.routes.offset);
	char host[80];
	if (out_as_json) {
		print_json(run, routes);
		return;
	}
	host_of(&run->listens[0], host, sizeof host);
	for (uint32_t i = 0; i < image->gateway.routes.count; i++) {
		struct text match = image_text(image, routes[i].match), to = image_text(image, routes[i].to);
		printf("listening on http://%s%.*s → %.*s\n", host, (int)match.size,
		       match.data ? match.data : "", (int)to.size, to.data);
	}
	for (size_t i = 1; i < run->listen_count; i++)
		printf("         and %s\n", run->listens[i].address);
	char *aloud = policy_read_aloud(image);
	printf("\n%s\n", aloud ? aloud : "");
	free(aloud);
	printf("edit %s and save: in force within a second\n\n"
	       "try   curl -s -o /dev/null -w '%%{http_code} ' 'http://%s/?[1-200]'; echo\n"
	       "      curl -i http://%s/\n"
	       "      weir show --table %s\n",
	       run->source, host, host, run->table);
	fflush(stdout);
}

/* Everything that can be wrong is found before nginx is started. */
static int plan(struct run *run)
{
	int status;
	if (!nginx_find(run->nginx_wish, run->module_wish, &run->nginx)) {
		out_error("%s", run->nginx.trouble);
		fprintf(stderr, "      cure: %s\n", run->nginx.cure);
		return STATUS_SYSTEM;
	}
	/* who is told to stop while it plans starts and stops: nothing is left behind */
	if ((run->signals = signals_open()) < 0)
		return out_failure(WEIR_SYSTEM, "cannot wait for signals");
	if ((status = run_make_state(run)) != STATUS_FINE || (status = run_read_policy(run)) != STATUS_FINE ||
	    (status = run_choose_user(run)) != STATUS_FINE || (status = run_choose_ports(run)) != STATUS_FINE)
		return status;
	if (!policy_table_path(run->source, run->worker_uid, run->table, sizeof run->table)) {
		out_error("the path of %s is too long", run->source);
		return STATUS_USAGE;
	}
	if ((status = run_check_room(run)) != STATUS_FINE || (status = run_make_folder(run)) != STATUS_FINE)
		return status;
	return run_choose_snapshot(run);
}

static int understand(struct run *run, const struct options *options)
{
	run->file = options->words.count ? options->words.items[0] : NULL;
	if (!run->file && !run->to) {
		out_error("weir run FILE, or weir run --to :3000 for a gateway without a file");
		return STATUS_USAGE;
	}
	if (run->file && run->limit) {
		out_error("--limit is for running without a file; %s has limits of its own", run->file);
		return STATUS_USAGE;
	}
	if (run->size_wish && !table_read_size(run->size_wish, &run->table_size)) {
		out_error("--table-size '%s' is not a size from 64k to 64g", run->size_wish);
		return STATUS_USAGE;
	}
	if (run->file && !policy_absolute_path(run->file, run->source, sizeof run->source)) {
		out_error("the path of %s is too long", run->file);
		return STATUS_USAGE;
	}
	return STATUS_FINE;
}

int run_command(int argc, char **argv)
{
	static struct run run = {.lock = -1}; /* large, and only one */
	const struct options_rule rules[] = {
		{"--to", OPTIONS_TEXT, &run.to, "URL",
		 "what it stands in front of: http://127.0.0.1:3000, or :3000"},
		{"--limit", OPTIONS_TEXT, &run.limit, "RATE",
		 "without FILE: for each address (50/s, 100 at once)"},
		{"--listen", OPTIONS_LIST, &run.listen_wish, "PORT",
		 "8080, or 127.0.0.1:8080; repeat for more"},
		{"--state", OPTIONS_TEXT, &run.state_wish, "FOLDER",
		 "where nginx.conf and the like are kept meanwhile"},
		{"--table-size", OPTIONS_TEXT, &run.size_wish, "SIZE",
		 "of a table that it makes: 64k to 64g (16m)"},
		{"--snapshot", OPTIONS_TEXT, &run.snapshot_wish, "PATH",
		 "where the table is written down each second; none: nowhere"},
		{"--last-good", OPTIONS_FLAG, &run.use_last_good, NULL,
		 "if FILE is broken: start with the last good one"},
		{"--nginx", OPTIONS_TEXT, &run.nginx_wish, "PATH", "the nginx to run"},
		{"--module", OPTIONS_TEXT, &run.module_wish, "PATH", "the module to load into it"},
	};
	struct options options = {
		.synopsis = "weir run [FILE] [--to URL] [--limit RATE] [--listen PORT]…",
		.about = "Runs a gateway: nginx with weir's module, in the foreground, in front of the "
			 "backend that the policy's\n"
			 "`gateway` (or --to) names. Edits of the policy are in force within a second. "
			 "SIGTERM or Ctrl-C ends\n"
			 "it: requests in flight have ten seconds (a second signal, a second or more later, "
			 "cuts "
			 "them off); then the\n"
			 "table and all state are removed. What must outlast that (limits that take over a "
			 "minute to "
			 "recover, quotas)\n"
			 "is written down each second and goes on at the next start. SIGHUP reloads nginx.\n",
		.rules = rules,
		.rule_count = sizeof rules / sizeof *rules,
		.words_max = 1,
	};
	int status;
	if (!options_read(&options, argc, argv, &status))
		return status;
	if ((status = understand(&run, &options)) != STATUS_FINE)
		return status;
	status = plan(&run);
	if (status == STATUS_FINE)
		status = run_serve(&run);
	else
		run.table[0] = '\0'; /* not ours yet */
	run_remove_state(&run);
	policy_free(&run.loaded);
	return status;
}
