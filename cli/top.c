/* SPDX-License-Identifier: BSD-2-Clause */
/* weir top: who asks most, who is refused, who is near a limit, now. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/options.h"
#include "cli/out.h"
#include "cli/sketch.h"
#include "cli/top_screen.h"

#define LINES_ONCE 40u

struct top {
	struct live live;
	enum sketch_order order;
	uint32_t limit;
};

static void print_rate(char *out, size_t size, double rate)
{
	snprintf(out, size, rate >= 100 || rate == 0 ? "%.0f" : rate >= 10 ? "%.1f" : "%.2f", rate);
}

/* Writes at most `lines` lines of `width` columns. */
static void print(FILE *to, const struct top *top, const struct sketch *sketch, size_t lines, unsigned width)
{
	static const char *const NOBODY[] = {[SKETCH_BUSIEST] = "nobody has asked",
					     [SKETCH_LIMITED] = "nobody was refused",
					     [SKETCH_NEAREST] = "nobody has used 80 % of a limit"};
	bool plans = top->live.image->plans.count > 0;
	unsigned fixed = 20 + 1 + 8 + 1 + 9 + 1 + 6 + (plans ? 11 : 0),
		 key = width > fixed + 20 ? width - fixed - 1 : 20;
	char seconds[32];
	out_duration(sketch->sum.window_ns / 1000000000 * 1000000000, seconds, sizeof seconds);
	fprintf(to, "%-*s %-20s%s %8s %9s %6s\n", (int)key, "key", "limit", plans ? " plan      " : "",
		"rate/s", "refused/s", "used");
	for (size_t i = 0; i < sketch->count && i + 2 < lines; i++) {
		const struct sketch_row *row = &sketch->rows[i];
		char name[TOP_NAME_MAX * 4 + 4], rate[32], refused[32];
		struct text limit = sketch_limit(&top->live, row), plan = sketch_plan(&top->live, row);
		sketch_name(row, name, sizeof name);
		print_rate(rate, sizeof rate, row->rate);
		print_rate(refused, sizeof refused, row->refused_rate);
		fprintf(to, "%-*.*s %-20.*s", (int)key, (int)key, name,
			(int)(limit.size < 20 ? limit.size : 20), limit.data);
		if (plans)
			fprintf(to, " %-10.*s", (int)(plan.size < 10 ? plan.size : 10), plan.data);
		fprintf(to, " %8s %9s %5u%%\n", rate, refused, (row->row.share + 5u) / 10);
	}
	if (sketch->count == 0)
		fprintf(to, "%s in the last %s\n", NOBODY[top->order], seconds);
}

static json_t *document(const struct top *top, const struct sketch *sketch)
{
	json_t *keys = json_array();
	for (size_t i = 0; i < sketch->count; i++)
		json_array_append_new(keys, sketch_json(&top->live, &sketch->rows[i]));
	return json_pack("{s:f, s:I, s:I, s:o}", "window_s", (double)sketch->sum.window_ns / 1e9, "requests",
			 (json_int_t)sketch->sum.requests, "before", (json_int_t)sketch->sum.before, "keys",
			 keys);
}

static int once(struct top *top)
{
	struct sketch sketch;
	if (!sketch_read(&sketch, &top->live))
		return STATUS_SYSTEM;
	sketch_choose(&sketch, top->order, top->limit);
	if (out_as_json)
		out_document(document(top, &sketch));
	else
		print(stdout, top, &sketch, LINES_ONCE, 100);
	sketch_free(&sketch);
	return STATUS_FINE;
}

/* One look a second, until somebody has seen enough. A policy that is published meanwhile is taken up. */
static int live_screen(struct top *top, const struct find *find, const char *limit)
{
	struct sketch before = {0}, sketch;
	struct top_screen screen;
	int status = STATUS_FINE;
	if (!top_screen_open(&screen))
		return once(top);
	do {
		table_time(top->live.table, &top->live.now);
		if (table_generation(top->live.table) != top->live.image->generation ||
		    table_replaced(top->live.table, top->live.now.now)) {
			live_close(&top->live);
			status = live_open(&top->live, find, true);
			if (status == STATUS_FINE && limit &&
			    (top->limit = live_limit(&top->live, limit)) == UINT32_MAX)
				status = STATUS_USAGE;
			if (status != STATUS_FINE)
				break;
		}
		if (!sketch_read(&sketch, &top->live)) {
			status = STATUS_SYSTEM;
			break;
		}
		struct sketch kept = sketch;
		kept.rows = malloc((sketch.count + 1) * sizeof *kept.rows);
		if (kept.rows)
			memcpy(kept.rows, sketch.rows, sketch.count * sizeof *kept.rows);
		else
			kept.count = 0;
		sketch_since(&sketch, &before);
		sketch_free(&before);
		before = kept;
		sketch_choose(&sketch, top->order, top->limit);
		top_screen_begin(&screen);
		print(screen.out, top, &sketch, screen.lines, screen.columns);
		top_screen_end(&screen);
		sketch_free(&sketch);
	} while (top_screen_wait(&screen, 1000));
	sketch_free(&before);
	top_screen_close(&screen);
	return status;
}

int top_command(int argc, char **argv)
{
	struct find find = {0};
	struct top top = {.limit = UINT32_MAX};
	const char *limit = NULL;
	bool limited = false, near = false, one = false;
	const struct options_rule rules[] = {
		{"--limited", OPTIONS_FLAG, &limited, NULL, "only who is refused, most refusals first"},
		{"--near", OPTIONS_FLAG, &near, NULL, "only who has used 80 % of a limit, most used first"},
		{"--limit", OPTIONS_TEXT, &limit, "NAME", "only this limit"},
		{"--once", OPTIONS_FLAG, &one, NULL,
		 "one list, then end; always where output is no terminal"},
		FIND_OPTIONS(&find),
	};
	struct options options = {
		.synopsis = "weir top [--limited | --near] [--limit NAME] [--once] [--policy FILE | --table "
			    "PATH]",
		.about = "Shows who asks most, limit by limit, renewed each second; q ends it. Each process "
			 "that "
			 "decides keeps\n"
			 "count of its 64 busiest keys: whoever sends more than one in 64 of its requests is "
			 "there. "
			 "Rates are\n"
			 "at least what is shown, over the last 30 to 60 seconds (on a terminal: the last "
			 "second).\n",
		.rules = rules,
		.rule_count = sizeof rules / sizeof *rules,
	};
	int status;
	if (!options_read(&options, argc, argv, &status))
		return status;
	if (limited && near) {
		out_error("--limited or --near, not both");
		return STATUS_USAGE;
	}
	top.order = limited ? SKETCH_LIMITED : near ? SKETCH_NEAREST : SKETCH_BUSIEST;
	status = live_open(&top.live, &find, true);
	if (status == STATUS_FINE && limit && (top.limit = live_limit(&top.live, limit)) == UINT32_MAX)
		status = STATUS_USAGE;
	if (status == STATUS_FINE && !top_there(top.live.table)) {
		out_error(
			"%s was made by an older weir, which kept no count of who asks: the next table does",
			table_path(top.live.table));
		status = STATUS_SYSTEM;
	}
	if (status == STATUS_FINE)
		status = one || out_as_json || !isatty(STDOUT_FILENO) ? once(&top)
								      : live_screen(&top, &find, limit);
	live_close(&top.live);
	return status;
}
