/* SPDX-License-Identifier: BSD-2-Clause */
/* plan_from: which plan a client has. */
#include "policy/load.h"
#include "policy/sections.h"
#include "policy/value.h"
#include "policy/words.h"

/* A source that can never say anything is a mistake, and a header that everybody may send is one too. */
static void check_sources(struct load *load, const struct node *from)
{
	const struct model *model = &load->model;

	for (size_t i = 0; i < model->clients.plan_from_count; i++) {
		const struct model_where *where = &model->clients.plan_from[i];
		if (where->said == IMAGE_SAID_KEY && !load->says.api_keys)
			diag_error(load, from->mark, "'api-key' needs API keys: add clients: {api_keys: {}}");
		else if (where->said == IMAGE_SAID_CLAIM && !load->says.jwt)
			diag_error(load, from->mark,
				   "'jwt.%.*s' needs tokens: add clients: {jwt: {jwks_file: keys.json, "
				   "algorithms: [RS256]}}",
				   SHOW(where->name));
		else if (where->said == IMAGE_SAID_HEADER && !model->trusted_count)
			diag_error(load, from->mark,
				   "everybody could choose a plan by sending '%.*s': it is believed from "
				   "trusted "
				   "proxies only; add clients: {address: {from: x-forwarded-for, trusted: "
				   "[10.0.0.0/8]}}",
				   SHOW(where->name));
	}
}

static void read_plan(struct load *load, const struct node *node, const char *word, uint32_t *out)
{
	struct text name;

	if (value_line(load, node, word, &name))
		plan_read(load, name, node->mark, out);
}

void plan_from_read(struct load *load, const struct node *node)
{
	static struct model_where usual[] = {{IMAGE_SAID_KEY, {"", 0}}};
	struct model_clients *clients = &load->model.clients;
	const struct node *word;

	if (load->plan_count && load->says.api_keys) {
		clients->plan_from = usual;
		clients->plan_from_count = 1;
	}
	if (node && node->kind != NODE_EMPTY && words_check(load, node, SECTION_PLAN, "clients.plan")) {
		if (!load->plan_count)
			diag_error(load, node->mark,
				   "there are no plans: add plans: {free: {LIMIT: 100/hour}}, or leave this "
				   "out");
		if ((word = yaml_get(node, "from"))) {
			where_read(load, word, "plan.from", "from", &clients->plan_from,
				   &clients->plan_from_count);
			check_sources(load, word);
		}
		if ((word = yaml_get(node, "unknown")) && load->plan_count)
			read_plan(load, word, "unknown", &clients->plan_unknown);
		if ((word = yaml_get(node, "none")) && load->plan_count)
			read_plan(load, word, "none", &clients->plan_none);
	}
	if (load->plan_count && !clients->plan_from_count && clients->plan_none == IMAGE_PLAN_NONE &&
	    clients->plan_unknown == IMAGE_PLAN_NONE)
		diag_warning(load, load->plans[0].mark,
			     "nobody ever has a plan: add clients: {api_keys: {}}, or clients: {plan: {from: "
			     "jwt.CLAIM}}");
}
