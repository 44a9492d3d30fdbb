/* SPDX-License-Identifier: BSD-2-Clause */
/* import_hosts: servers told apart by the host that was asked for. A policy knows no ports: the server that has the hosts which no
 * other names, is said as "none of those". */
#include "cli/import_switch.h"

static bool host_byte(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_';
}

static void read_names(struct import_model *model, struct import_server *server)
{
	for (size_t i = 0; i < server->names.count; i++) {
		struct text name = server->names.items[i];
		char *host = arena_alloc(model->arena, name.size + 3);
		size_t start = name.size > 2 && name.data[0] == '*' ? 2 : 0;
		bool good = start == 0 || name.data[1] == '.';
		for (size_t k = 0; k < name.size; k++) {
			host[k] = text_lower(name.data[k]);
			good &= k < start || host_byte(host[k]);
		}
		if (name.size == 0 || text_equal(name, TEXT("_")))
			continue;
		if (!good || name.size > 200) {
			server->regex_names = true;
			continue;
		}
		if (host[0] == '.' && name.size > 1) { /* .example.com is example.com and all below */
			import_push(model, &server->hosts, (struct text){host + 1, name.size - 1});
			import_push(model, &server->hosts, arena_format(model->arena, "*%s", host));
		} else if (host[0] != '.') {
			import_push(model, &server->hosts, (struct text){host, name.size});
		}
	}
}

static bool listens(const struct import_server *server, struct text address)
{
	return import_has(&server->listens, address) ||
	       (server->listens.count == 0 && text_equal(address, TEXT("80")));
}

/* Who answers on this address for hosts that nobody names. */
static const struct import_server *default_of(const struct import_model *model, struct text address)
{
	const struct import_server *first = NULL;
	for (const struct import_server *server = model->servers; server; server = server->next) {
		if (!listens(server, address))
			continue;
		if (server->default_server)
			return server;
		first = first ? first : server;
	}
	return first;
}

static bool is_default(const struct import_model *model, const struct import_server *server)
{
	for (size_t i = 0; i < server->listens.count; i++)
		if (default_of(model, server->listens.items[i]) == server)
			return true;
	return server->listens.count == 0 && default_of(model, TEXT("80")) == server;
}

static void lose(struct import_model *model, struct import_server *server, const char *why)
{
	server->ignored = true;
	for (size_t i = 0; i < server->place_count; i++)
		import_drop_own(model, &server->places[i], why);
}

static bool has_limits(const struct import_server *server)
{
	for (size_t i = 0; i < server->place_count; i++) {
		const struct import_settings *at = &server->places[i].settings;
		if (!server->places[i].why && (at->req_count || at->conn_count || at->pace))
			return !server->silent && !server->ignored;
	}
	return false;
}

static bool overlap(const struct import_server *a, const struct import_server *b)
{
	for (size_t i = 0; i < a->hosts.count; i++)
		for (size_t k = 0; k < b->hosts.count; k++)
			if (text_equal(a->hosts.items[i], b->hosts.items[k]) ||
			    import_host_below(a->hosts.items[i], b->hosts.items[k]) ||
			    import_host_below(b->hosts.items[k], a->hosts.items[i]))
				return true;
	return false;
}

/* Does `server` have its hosts wherever `other` listens? */
static bool covers(const struct import_server *server, const struct import_server *other)
{
	for (size_t i = 0; i < other->listens.count; i++)
		if (!listens(server, other->listens.items[i]))
			return false;
	return other->listens.count || listens(server, TEXT("80"));
}

/* A server that redirects beside one with limits, told apart by port. */
static void tell_silent(struct import_model *model, const struct import_server *server,
			const struct import_server *all)
{
	for (const struct import_server *other = model->servers; other; other = other->next) {
		if (!has_limits(other) || covers(server, other) || !(other == all || overlap(server, other)))
			continue;
		import_note(model, IMPORT_DIFFERS, server->place,
			    "this server answers with `return` or a redirect, which nginx does not limit; a "
			    "policy knows no ports, and limits its "
			    "requests as those of the server at %s",
			    import_where(model, other->place));
		return;
	}
}

static void tell_apart(struct import_model *model, const struct import_server *server,
		       const struct import_server *all)
{
	if (!all || !(server->own || all->own) || (!is_default(model, server) && covers(server, all)))
		return;
	import_note(
		model, IMPORT_DIFFERS, server->place,
		"this server and the one at %s listen apart; a policy knows no ports: its hosts have its own "
		"limits on all of them, and hosts that none of them names are limited as that one's",
		import_where(model, all->place));
}

static const char *untold_names(struct import_model *model, const struct import_server *all)
{
	return all && has_limits(all)
		       ? arena_format(model->arena,
				      "its server has names that a policy cannot say; their requests meet "
				      "what holds for the server at %s",
				      import_where(model, all->place))
				 .data
		       : "its server has names that a policy cannot say; their requests are then not limited";
}

void import_hosts(struct import_model *model)
{
	struct import_server *all = NULL, *silent = NULL;
	for (struct import_server *server = model->servers; server; server = server->next) {
		read_names(model, server);
		if (server->ignored || !is_default(model, server))
			continue;
		if (server->silent) {
			silent = silent ? silent : server;
		} else if (!all) {
			all = server;
		}
	}
	all = all ? all : silent;
	if (all)
		all->catch_all = true;
	for (struct import_server *server = model->servers; server; server = server->next) {
		if (server->silent)
			tell_silent(model, server, all);
		else if (!server->ignored && server->hosts.count && !server->catch_all)
			tell_apart(model, server, all);
		if (server->ignored || server->catch_all)
			continue;
		if (server->silent)
			server->ignored = !server->hosts.count;
		else if (!server->hosts.count)
			lose(model, server,
			     server->regex_names ? untold_names(model, all)
						 : "its server is told from others by its port or address, "
						   "which a policy cannot say");
		else if (server->regex_names && has_limits(server))
			import_note(model, IMPORT_LOST, server->place, "a part of its limits: %s",
				    untold_names(model, all));
	}
}

/* -- a limit -- */

struct part {
	struct import_server *server;
	struct import_clause *clauses;
	size_t count;
	bool done;
};

static bool same_clauses(const struct part *a, const struct part *b)
{
	for (size_t i = 0; i < a->count && a->count == b->count; i++)
		if (!import_same(&a->clauses[i].paths, &b->clauses[i].paths) ||
		    !import_same(&a->clauses[i].not_paths, &b->clauses[i].not_paths))
			return false;
	return a->count == b->count;
}

static void add_clause(struct import_model *model, struct import_limit *limit,
		       const struct import_clause *clause)
{
	limit->clauses = arena_grow(model->arena, limit->clauses, limit->clause_count,
				    &limit->clause_capacity, sizeof *limit->clauses);
	limit->clauses[limit->clause_count++] = *clause;
}

/* Hosts of a server: is `host` below a wildcard of `hosts`? */
static bool below(const struct import_texts *hosts, struct text host)
{
	for (size_t i = 0; i < hosts->count; i++) {
		struct text wide = hosts->items[i];
		if (wide.data[0] == '*' && host.size > wide.size - 1 &&
		    memcmp(host.data + host.size - (wide.size - 1), wide.data + 1, wide.size - 1) == 0)
			return true;
	}
	return false;
}

/* Has `server` its hosts wherever those parts that are like `like` hold? */
static bool everywhere(const struct part *parts, size_t count, const struct part *like,
		       const struct import_server *server)
{
	for (size_t i = 0; i < count; i++)
		if (same_clauses(&parts[i], like) && !covers(server, parts[i].server))
			return false;
	return true;
}

/* The hosts of those parts that are like `like`, or what they are not. */
static void say_hosts(struct import_model *model, const struct part *parts, size_t count,
		      const struct part *like, struct import_texts *hosts, struct import_texts *not_hosts)
{
	bool all = false;
	for (size_t i = 0; i < count; i++) {
		if (!same_clauses(&parts[i], like))
			continue;
		all |= parts[i].server->catch_all;
		for (size_t k = 0; k < parts[i].server->hosts.count; k++)
			if (!import_has(hosts, parts[i].server->hosts.items[k]))
				import_push(model, hosts, parts[i].server->hosts.items[k]);
	}
	for (size_t i = 0; i < count; i++) {
		const struct import_texts *others = &parts[i].server->hosts;
		if (parts[i].server->silent && !everywhere(parts, count, like, parts[i].server))
			continue; /* it is told */
		for (size_t k = 0; k < others->count && !same_clauses(&parts[i], like); k++) {
			if (import_has(hosts, others->items[k]))
				import_note(model, IMPORT_DIFFERS, parts[i].server->place,
					    "host %.*s has two servers with other limits, told apart by port "
					    "or address; those of both hold",
					    (int)others->items[k].size, others->items[k].data);
			else if ((all || below(hosts, others->items[k])) &&
				 !import_has(not_hosts, others->items[k]))
				import_push(model, not_hosts, others->items[k]);
		}
	}
	if (all)
		hosts->count = 0;
}

void import_where_it_holds(struct import_model *model, uint32_t index)
{
	struct import_limit *limit = &model->limits[index];
	struct part *parts = NULL;
	size_t count = 0, capacity = 0;
	bool alike = true;

	for (struct import_server *server = model->servers; server; server = server->next) {
		struct part part = {.server = server};
		if (server->ignored)
			continue;
		import_paths(model, server, index, &part.clauses, &part.count);
		parts = arena_grow(model->arena, parts, count, &capacity, sizeof *parts);
		parts[count++] = part;
		alike &= same_clauses(&parts[0], &part);
	}
	for (size_t i = 0; i < count; i++) {
		struct import_texts hosts = {0}, not_hosts = {0};
		if (parts[i].done)
			continue;
		if (!alike && parts[i].count)
			say_hosts(model, parts, count, &parts[i], &hosts, &not_hosts);
		for (size_t k = 0; k < parts[i].count; k++) {
			struct import_clause clause = parts[i].clauses[k];
			clause.hosts = hosts;
			clause.not_hosts = not_hosts;
			limit->everything |= !hosts.count && !not_hosts.count && !clause.paths.count &&
					     !clause.not_paths.count;
			add_clause(model, limit, &clause);
		}
		for (size_t k = i; k < count; k++)
			parts[k].done |= same_clauses(&parts[k], &parts[i]);
	}
}
