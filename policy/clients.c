/* SPDX-License-Identifier: BSD-2-Clause */
/* clients: whose address is believed, and the sections and lists beside it. */
#include <stdio.h>

#include "policy/load.h"
#include "policy/sections.h"
#include "policy/value.h"
#include "policy/words.h"

static bool token_byte(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (c && strchr("!#$%&'*+-.^_`|~", c));
}

bool header_name_read(struct load *load, struct text name, struct model_mark mark, struct text *out)
{
	char *copy = arena_alloc(&load->arena, name.size + 1);
	for (size_t i = 0; i < name.size; i++) {
		copy[i] = text_lower(name.data[i]);
		if (!token_byte(copy[i])) {
			diag_error(load, mark, "'%.*s' cannot be a header's name", SHOW(name));
			return false;
		}
	}
	*out = (struct text){copy, name.size};
	return name.size > 0;
}

/* Whoever is trusted may say which address a request comes from, so that "everyone" means: no limit holds. */
static bool trusts_everyone(const struct network *network)
{
	static const uint8_t v4_first[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
	static const uint8_t v4_last[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
	static const uint8_t v6_first[16] = {0x20};
	static const uint8_t v6_last[16] = {0x3f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
					    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
	return (memcmp(network->first, v4_first, 16) <= 0 && memcmp(network->last, v4_last, 16) >= 0) ||
	       (memcmp(network->first, v6_first, 16) <= 0 && memcmp(network->last, v6_last, 16) >= 0);
}

static void address_section_read(struct load *load, const struct node *node)
{
	struct model *model = &load->model;
	const struct node *from = yaml_get(node, "from"), *trusted = yaml_get(node, "trusted");
	int number = IMAGE_FROM_PEER;
	bool known = !from;

	if (!words_check(load, node, SECTION_ADDRESS, "clients.address"))
		return;
	if (from && from->kind == NODE_LIST)
		diag_error(load, from->mark,
			   "the address has one source; with several a client could choose");
	else if (from && (known = words_value(load, from, "from", &number))) {
		model->address_from = (uint32_t)number;
		if (number == IMAGE_FROM_HEADER)
			header_name_read(load, (struct text){from->text.data + 7, from->text.size - 7},
					 from->mark, &model->address_header);
	}
	if (trusted) {
		networks_read(load, trusted, "trusted", &model->trusted, &model->trusted_count);
		for (size_t i = 0; i < model->trusted_count; i++)
			if (trusts_everyone(&model->trusted[i])) {
				diag_error(load, trusted->mark,
					   "this trusts everyone, so that every client could choose its own "
					   "address; name your proxies");
				break;
			}
	}
	if (number != IMAGE_FROM_PEER && !trusted)
		diag_error(load, from->mark,
			   "nobody is trusted to send it: add trusted: [the networks of your proxies]");
	if (number == IMAGE_FROM_PEER && trusted && known)
		diag_error(
			load, from ? from->mark : trusted->mark,
			"'trusted' has no effect while the address is the peer's; add from: x-forwarded-for");
}

void clients_read(struct load *load, const struct node *node)
{
	struct model *model = &load->model;
	const struct node *word;

	model->ipv6_prefix = 64;
	model->deny_status = 403;
	model->clients.plan_unknown = model->clients.plan_none = IMAGE_PLAN_NONE;
	if (!node || node->kind == NODE_EMPTY || !words_check(load, node, SECTION_CLIENTS, "'clients'")) {
		plan_from_read(load, NULL);
		return;
	}
	if ((word = yaml_get(node, "networks")))
		named_networks_read(load, word);
	if ((word = yaml_get(node, "address")))
		address_section_read(load, word);
	if ((word = yaml_get(node, "ipv6_prefix")))
		value_number(load, word, "ipv6_prefix", 32, 128, &model->ipv6_prefix);
	if ((word = yaml_get(node, "api_keys")))
		api_keys_read(load, word);
	if ((word = yaml_get(node, "jwt")))
		jwt_read(load, word);
	if ((word = yaml_get(node, "session")))
		session_read(load, word);
	if ((word = yaml_get(node, "user")))
		user_read(load, word);
	plan_from_read(load, yaml_get(node, "plan"));
	if ((word = yaml_get(node, "exempt")))
		exceptions_read(load, word, false, &model->exempt, &model->exempt_count);
	if ((word = yaml_get(node, "deny")))
		exceptions_read(load, word, true, &model->deny, &model->deny_count);
}
