/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * import_paths: where in a server a limit holds.
 *
 * In nginx one location has a request, the most specific, and only its limits hold. In a policy every limit holds that matches. So a
 * limit matches the paths of a location that has it, but not those of locations that have it not and take requests away from it.
 */
#include "cli/import_model.h"

bool import_holds(const struct import_place *place, uint32_t limit)
{
	for (size_t i = 0; i < place->limit_count; i++)
		if (place->limits[i] == limit)
			return true;
	return false;
}

static bool same_paths(const struct import_node *a, const struct import_node *b)
{
	return import_contains(&a->cut, &b->cut) && import_contains(&b->cut, &a->cut);
}

static bool same_limits(const struct import_place *a, const struct import_place *b)
{
	for (size_t i = 0; i < a->limit_count; i++)
		if (!import_holds(b, a->limits[i]))
			return false;
	return a->limit_count == b->limit_count;
}

static void tell_shadow(struct import_model *model, const struct import_place *lost,
			const struct import_place *kept)
{
	const char *why = arena_format(
				  model->arena,
				  "a policy cannot tell this location from the one at %s, whose limits hold "
				  "for both",
				  import_where(model, kept->place))
				  .data;
	if (lost->line_count && lost->patterns.count == 1)
		import_drop_own(model, lost, why);
	else
		import_note(model, IMPORT_DIFFERS, lost->place, "%s", why);
}

/* Of two locations with the same pattern (/x and /x/) only one can be said. */
static bool shadowed(struct import_model *model, struct import_server *server, const struct import_node *node)
{
	for (size_t i = 0; server->nodes && i < server->node_count; i++) {
		struct import_node *other = &server->nodes[i];
		if (!same_paths(other, node))
			continue;
		bool replace = (other->place->textual && !node->place->textual) ||
			       other->place->kind == IMPORT_ALL;
		if (other->place->kind != IMPORT_ALL && !same_limits(other->place, node->place))
			tell_shadow(model, replace ? other->place : node->place,
				    replace ? node->place : other->place);
		if (replace)
			*other = *node;
		return true;
	}
	return false;
}

static void make_nodes(struct import_model *model, struct import_server *server)
{
	size_t capacity = 0;
	for (size_t i = 0; i < server->place_count; i++) {
		struct import_place *place = &server->places[i];
		if (place->why || place->internal)
			continue;
		for (size_t k = 0; k < place->patterns.count; k++) {
			struct import_node node = {place, place->patterns.items[k],
						   import_pattern_cut(model, place->patterns.items[k])};
			if (shadowed(model, server, &node))
				continue;
			server->nodes = arena_grow(model->arena, server->nodes, server->node_count, &capacity,
						   sizeof *server->nodes);
			server->nodes[server->node_count++] = node;
		}
	}
}

/* Has `m` the requests that both could have? */
static bool beats(const struct import_node *m, const struct import_node *n)
{
	enum import_place_kind a = m->place->kind, b = n->place->kind;
	if (a == IMPORT_EXACT || b == IMPORT_EXACT)
		return a == IMPORT_EXACT && b != IMPORT_EXACT;
	if (a == IMPORT_REGEX && b == IMPORT_REGEX)
		return m->place < n->place;
	if (a == IMPORT_REGEX)
		return b != IMPORT_HARD_PREFIX;
	if (b == IMPORT_REGEX)
		return a == IMPORT_HARD_PREFIX;
	return import_contains(&n->cut, &m->cut) && !import_contains(&m->cut, &n->cut);
}

/* What takes requests away from node n without having the limit, where it meets `within`. */
static bool taken_from(const struct import_server *server, uint32_t limit, const struct import_node *n,
		       const struct import_node *within, const struct import_node *m)
{
	(void)server;
	return m != n && !import_holds(m->place, limit) && import_overlaps(&m->cut, &within->cut) &&
	       beats(m, n);
}

/* Does the clause of a wider location say this one too? */
static bool redundant(const struct import_server *server, uint32_t limit, const struct import_node *n)
{
	for (size_t i = 0; i < server->node_count; i++) {
		const struct import_node *a = &server->nodes[i];
		bool cut = a == n || !import_holds(a->place, limit) || !import_contains(&a->cut, &n->cut);
		for (size_t k = 0; k < server->node_count && !cut; k++)
			cut = taken_from(server, limit, a, n, &server->nodes[k]);
		if (!cut)
			return true;
	}
	return false;
}

static void tell(struct import_model *model, const struct import_node *node)
{
	struct import_place *place = node->place;
	if (place->told || (!place->textual && !place->wider))
		return;
	place->told = true;
	import_note(model, IMPORT_DIFFERS, place->place, "the policy says this location as %s: %s",
		    node->pattern.data,
		    place->textual ? "whole segments, where nginx compares text (/x is /xyz too)"
				   : "any segment, where its regular expression says which");
}

static void exclude(struct import_model *model, const struct import_server *server, uint32_t limit,
		    const struct import_node *n, struct import_clause *clause)
{
	for (size_t i = 0; i < server->node_count; i++) {
		const struct import_node *m = &server->nodes[i];
		bool said = !taken_from(server, limit, n, n, m);
		for (size_t k = 0; k < server->node_count && !said; k++) {
			const struct import_node *wider = &server->nodes[k];
			said = wider != m && taken_from(server, limit, n, n, wider) &&
			       import_contains(&wider->cut, &m->cut) &&
			       (wider < m || !import_contains(&m->cut, &wider->cut));
		}
		if (said)
			continue;
		tell(model, m);
		import_push(model, &clause->not_paths, m->pattern);
	}
}

void import_paths(struct import_model *model, struct import_server *server, uint32_t limit,
		  struct import_clause **out, size_t *count)
{
	size_t capacity = 0;

	*out = NULL;
	*count = 0;
	if (!server->nodes)
		make_nodes(model, server);
	for (size_t i = 0; server->nodes && i < server->node_count; i++) {
		const struct import_node *n = &server->nodes[i];
		struct import_clause clause = {0};
		if (!import_holds(n->place, limit) || redundant(server, limit, n))
			continue;
		exclude(model, server, limit, n, &clause);
		if (n->pattern.size) {
			tell(model, n);
			import_push(model, &clause.paths, n->pattern);
		}
		*out = arena_grow(model->arena, *out, *count, &capacity, sizeof **out);
		(*out)[(*count)++] = clause;
	}
}
