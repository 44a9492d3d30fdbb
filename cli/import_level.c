/* SPDX-License-Identifier: BSD-2-Clause */
/* import_level: what one level of the configuration says about limits. nginx inherits each setting by itself; limits of a kind are
 * inherited only by a level that has none of that kind. */
#include "cli/import_model.h"

static bool is_on(const struct conf_directive *d)
{
	return d->count == 2 && text_equal_folded(d->words[1], TEXT("on"));
}

static void read_status(const struct conf_directive *d, unsigned *status)
{
	uint64_t number;
	if (d->count == 2 && import_number(d->words[1], 599, &number) && number >= 400)
		*status = (unsigned)number;
}

static void add_line(struct import_model *model, const struct conf_directive *d, struct import_line ***lines,
		     size_t *count, size_t *capacity)
{
	struct import_line *line = import_line(model, d);
	if (line->dropped)
		return;
	*lines = arena_grow(model->arena, *lines, *count, capacity, sizeof(struct import_line *));
	(*lines)[(*count)++] = line;
}

/* Limits inside of `if`, which nginx knows only for limit_rate, and of `limit_except`, where it refuses them. */
static void read_inside(struct import_model *model, const struct conf_directive *block, const char *why)
{
	for (const struct conf_directive *d = block->children; d; d = d->next) {
		if (conf_is(d, "limit_req") || conf_is(d, "limit_conn") || conf_is(d, "limit_rate")) {
			struct import_line *line = import_line(model, d);
			if (line->kind != IMPORT_PACE || line->bytes > 0)
				import_drop(model, line, why);
		}
		if (conf_is(d, "set") && d->count == 3 && text_equal(d->words[1], TEXT("$limit_rate")))
			import_drop_alone(model, d, why);
		if (d->block)
			read_inside(model, d, why);
	}
}

static bool is_zone(const struct import_model *model, const struct conf_directive *d)
{
	for (const struct import_zone *zone = model->zones; zone; zone = zone->next)
		if (zone->directive == d)
			return true;
	return d->count < 2;
}

static void remark(struct import_model *model, const struct conf_directive *d)
{
	static const struct {
		const char *name, *why;
		enum import_weight weight;
	} REMARKS[] = {
		{"limit_req_log_level", "the level of refusals in the log is weir_log_level in nginx",
		 IMPORT_REMARK},
		{"limit_conn_log_level", "the level of refusals in the log is weir_log_level in nginx",
		 IMPORT_REMARK},
		{"weir_headers", "a policy says its headers under `respond`, the usual ones if it does not",
		 IMPORT_REMARK},
		{"weir_limit_log_sample",
		 "of a policy's refusals there is at most one line a second for each limit, always",
		 IMPORT_REMARK},
		{"weir_limit_table", "a policy has a table of its own: weir_table in nginx", IMPORT_REMARK},
		{"weir_limit_snapshot", "a policy has a snapshot of its own: weir_snapshot in nginx",
		 IMPORT_REMARK},
		{"limit_traffic_rate", "it is another module's, and stays nginx's", IMPORT_REMARK},
		{"proxy_limit_rate", "it holds how fast a backend is read, and stays nginx's", IMPORT_REMARK},
		{"fastcgi_limit_rate", "it holds how fast a backend is read, and stays nginx's",
		 IMPORT_REMARK},
		{"uwsgi_limit_rate", "it holds how fast a backend is read, and stays nginx's", IMPORT_REMARK},
		{"scgi_limit_rate", "it holds how fast a backend is read, and stays nginx's", IMPORT_REMARK},
	};
	for (size_t i = 0; i < sizeof REMARKS / sizeof *REMARKS; i++)
		if (conf_is(d, REMARKS[i].name))
			import_note(model, REMARKS[i].weight, d->place, "`%s`: %s", import_written(model, d),
				    REMARKS[i].why);
	if (d->lua)
		import_note(model, IMPORT_REMARK, d->place,
			    "`%s`: it limits in Lua (resty.limit), which stays nginx's",
			    import_written(model, d));
	if ((conf_is(d, "limit_req_zone") || conf_is(d, "limit_conn_zone")) && !is_zone(model, d))
		import_note(model, IMPORT_LOST, d->place, "`%s`: it stands in http{}; nginx refuses it here",
			    import_written(model, d));
	if (conf_is(d, "set") && d->count == 3 && text_equal(d->words[1], TEXT("$limit_rate")))
		import_drop_alone(model, d,
				  "it is set by a rewrite; nginx goes on pacing by it while the line stands");
}

/* Blocks that are read by themselves. */
static bool read_elsewhere(const struct conf_directive *outer, const struct conf_directive *d)
{
	bool http = conf_is(outer, "http") || conf_is(outer, "");
	if (conf_is(d, "location"))
		return !http && d->count > 1 && d->count < 4;
	return http && (conf_is(d, "server") || (conf_is(outer, "") && conf_is(d, "stream")));
}

void import_level(struct import_model *model, const struct conf_directive *block,
		  struct import_settings *settings, bool *own)
{
	size_t req_capacity = 0, conn_capacity = 0;
	bool req = false, conn = false, pages = false;

	for (const struct conf_directive *d = block->children; d; d = d->next) {
		if (conf_is(d, "limit_req")) {
			if (!req)
				settings->req = NULL, settings->req_count = 0;
			req = *own = true;
			add_line(model, d, &settings->req, &settings->req_count, &req_capacity);
		} else if (conf_is(d, "limit_conn")) {
			if (!conn)
				settings->conn = NULL, settings->conn_count = 0;
			conn = *own = true;
			add_line(model, d, &settings->conn, &settings->conn_count, &conn_capacity);
		} else if (conf_is(d, "limit_rate")) {
			struct import_line *line = import_line(model, d);
			settings->pace = line->dropped || line->bytes == 0 ? NULL : line;
			*own = true;
		} else if (conf_is(d, "limit_rate_after") && d->count == 2) {
			if (!import_size(d->words[1], &settings->after))
				import_note(model, IMPORT_LOST, d->place, "`%s`: it is no number",
					    import_written(model, d));
		} else if (conf_is(d, "limit_req_status")) {
			read_status(d, &settings->req_status);
		} else if (conf_is(d, "limit_conn_status")) {
			read_status(d, &settings->conn_status);
		} else if (conf_is(d, "weir_limit_status")) {
			read_status(d, &settings->weir_status);
		} else if (conf_is(d, "limit_req_dry_run")) {
			settings->req_dry = is_on(d);
		} else if (conf_is(d, "limit_conn_dry_run")) {
			settings->conn_dry = is_on(d);
		} else if (conf_is(d, "root") || conf_is(d, "alias")) {
			settings->root = d->count == 2 ? d->words[1] : (struct text){0};
			settings->alias = conf_is(d, "alias");
		} else if (conf_is(d, "error_page")) {
			import_page(model, d, settings, &pages);
		} else if (conf_is(d, "if") && d->block) {
			read_inside(model, d, "it stands in an `if`");
		} else if (conf_is(d, "limit_except") && d->block) {
			read_inside(model, d, "it stands in `limit_except`, where nginx refuses it");
		} else {
			remark(model, d);
			if (d->block && !read_elsewhere(block, d))
				import_stray(model, d, NULL);
		}
	}
}
