/* SPDX-License-Identifier: BSD-2-Clause */
/* import_clients: set_real_ip_from, real_ip_header and real_ip_recursive, as the policy's clients.address. */
#include <stdio.h>

#include "cli/import_model.h"

/* As a policy writes it, without host bits; size 0: it is no network. */
static struct text network_of(struct import_model *model, struct text text)
{
	const char *slash = text.size ? memchr(text.data, '/', text.size) : NULL;
	struct text host = {text.data, slash ? (size_t)(slash - text.data) : text.size};
	struct address address;
	uint64_t bits = 0;
	char words[ADDRESS_TEXT_MAX];

	if (!address_parse(host, &address))
		return (struct text){0};
	bool v4 = address_is_v4(&address), six = memchr(host.data, ':', host.size) != NULL;
	if ((v4 && six) || (slash && !import_number((struct text){slash + 1, text.size - host.size - 1},
						    v4 ? 32 : 128, &bits)))
		return (struct text){0};
	if (slash)
		address_mask(&address, (unsigned)(v4 ? bits : 32), (unsigned)(v4 ? 128 : bits));
	address_format(&address, words);
	return slash ? arena_format(model->arena, "%s/%u", words, (unsigned)bits)
		     : arena_text(model->arena, words, strlen(words));
}

/* What the policy refuses to trust: everyone. */
static bool everyone(struct text network)
{
	const char *slash = memchr(network.data, '/', network.size);
	uint64_t bits = 128;
	if (slash)
		import_number((struct text){slash + 1, network.size - (size_t)(slash + 1 - network.data)},
			      128, &bits);
	return slash && bits < 4;
}

static void read_from(struct import_model *model, const struct conf_directive *d)
{
	struct text value = d->count == 2 ? d->words[1] : TEXT(""), network;
	if (text_equal(value, TEXT("unix:"))) {
		if (!import_has(&model->trusted, TEXT("127.0.0.1"))) /* as a policy says it */
			import_push(model, &model->trusted, TEXT("127.0.0.1"));
		return;
	}
	network = network_of(model, value);
	if (!network.size)
		import_note(
			model, IMPORT_LOST, d->place,
			"`%s`: it is no address or network; name its addresses in clients.address.trusted",
			import_written(model, d));
	else if (everyone(network))
		import_note(
			model, IMPORT_LOST, d->place,
			"`%s`: it trusts everyone, so that every client could choose its own address; name "
			"your proxies",
			import_written(model, d));
	else if (!import_has(&model->trusted, network))
		import_push(model, &model->trusted, network);
}

static void look_deeper(struct import_model *model, const struct conf_directive *block)
{
	for (const struct conf_directive *d = block->children; d; d = d->next) {
		if (conf_is(d, "set_real_ip_from") || conf_is(d, "real_ip_header") ||
		    conf_is(d, "real_ip_recursive"))
			import_note(
				model, IMPORT_DIFFERS, d->place,
				"`%s`: a policy finds the client in one way for all servers; this one stays "
				"nginx's",
				import_written(model, d));
		if (d->block)
			look_deeper(model, d);
	}
}

void import_realip(struct import_model *model, const struct conf_directive *http)
{
	const struct conf_directive *header = conf_last(http, "real_ip_header"),
				    *recursive = conf_last(http, "real_ip_recursive");

	for (const struct conf_directive *d = http->children; d; d = d->next) {
		if (conf_is(d, "set_real_ip_from")) {
			model->real_place = d->place;
			read_from(model, d);
		} else if (d->block && conf_is(d, "server")) {
			look_deeper(model, d);
		}
	}
	if (!model->trusted.count)
		return;
	struct text name = header && header->count == 2 ? header->words[1] : TEXT("X-Real-IP");
	bool forwarded = text_equal_folded(name, TEXT("X-Forwarded-For"));
	char *lower = arena_alloc(model->arena, name.size + 1);
	bool good = name.size > 0 && name.size < 100;
	for (size_t i = 0; i < name.size; i++) {
		lower[i] = text_lower(name.data[i]);
		good &= (lower[i] >= 'a' && lower[i] <= 'z') || (lower[i] >= '0' && lower[i] <= '9') ||
			lower[i] == '-' || lower[i] == '_';
	}
	if (!good) {
		import_note(model, IMPORT_LOST, header->place, "`%s`: it is no header's name",
			    import_written(model, header));
		model->trusted.count = 0;
		return;
	}
	model->real_header = forwarded					? TEXT("x-forwarded-for")
			     : text_equal(name, TEXT("proxy_protocol")) ? TEXT("proxy-protocol")
			     : text_equal_folded(name, TEXT("forwarded"))
				     ? TEXT("forwarded")
				     : arena_format(model->arena, "header.%s", lower);
	import_note(model, IMPORT_REMARK, model->real_place,
		    "realip becomes clients.address; inside nginx keep only one of the two: with its realip "
		    "directives weir already sees the "
		    "client's address");
	if (forwarded &&
	    !(recursive && recursive->count == 2 && text_equal_folded(recursive->words[1], TEXT("on"))))
		import_note(model, IMPORT_DIFFERS, header->place,
			    "without `real_ip_recursive on` nginx takes the last address of X-Forwarded-For, "
			    "a policy the last that is not trusted");
}
