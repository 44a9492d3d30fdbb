/* SPDX-License-Identifier: BSD-2-Clause */
/* gateway: where `weir run` listens, and the backends behind it. */
#include <stdio.h>

#include "policy/bytes.h"
#include "policy/load.h"
#include "policy/sections.h"
#include "policy/value.h"
#include "policy/words.h"

/* False, and *port as it was, if the text is no port. */
static bool read_port(struct text text, unsigned *port)
{
	unsigned number = 0;
	if (text.size == 0 || text.size > 5 || text.data[0] == '0')
		return false;
	for (size_t i = 0; i < text.size; i++) {
		if (text.data[i] < '0' || text.data[i] > '9')
			return false;
		number = number * 10 + (unsigned)(text.data[i] - '0');
	}
	if (number > 65535)
		return false;
	*port = number;
	return true;
}

/* Cuts "host:port", "[::1]:port", ":port" or "port" in two. *host is empty if there is none. */
static bool split(struct text text, struct text *host, struct text *port)
{
	size_t at = text.size;
	while (at > 0 && text.data[at - 1] != ':' && text.data[at - 1] != ']')
		at--;
	if (at == 0) {
		*host = (struct text){"", 0};
		*port = text;
		return true;
	}
	if (text.data[at - 1] == ']') {
		*host = text;
		*port = (struct text){"", 0};
		return at == text.size;
	}
	*host = (struct text){text.data, at - 1};
	*port = (struct text){text.data + at, text.size - at};
	/* a bare IPv6 address has colons of its own */
	return !memchr(host->data, ':', host->size) ||
	       (host->data[0] == '[' && host->data[host->size - 1] == ']');
}

static bool host_good(struct text host)
{
	struct address address;
	if (host.size && host.data[0] == '[')
		return host.size > 2 && address_parse(host, &address);
	for (size_t i = 0; i < host.size; i++) {
		char c = text_lower(host.data[i]);
		if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_'))
			return false;
	}
	return host.size > 0 && host.size < 254;
}

bool backend_read(struct load *load, const struct node *node, struct text *out)
{
	struct text text, host, port;
	unsigned number = 80;

	if (!value_text(load, node, "to", &text))
		return false;
	if (text.size >= 8 && text_equal_folded((struct text){text.data, 8}, TEXT("https://"))) {
		diag_error(load, node->mark, "TLS to the backend is not built yet; say http://host:port");
		return false;
	}
	struct text rest = text;
	bool scheme = text.size >= 7 && text_equal_folded((struct text){text.data, 7}, TEXT("http://"));
	if (scheme)
		rest = (struct text){text.data + 7, text.size - 7};
	if (scheme && rest.size > 1 && rest.data[rest.size - 1] == '/')
		rest.size--;
	if (memchr(rest.data, '/', rest.size)) {
		diag_error(load, node->mark, "'%.*s': a backend is http://host:port, without a path",
			   SHOW(text));
		return false;
	}
	bool good = split(rest, &host, &port);
	/* "example" alone is a host only behind http:// */
	if (good && scheme && !host.size && !read_port(port, &number)) {
		host = port;
		port = (struct text){"", 0};
	}
	if (good && (port.size || !scheme))
		good = read_port(port, &number);
	if (good && (!host.size || text_equal_folded(host, TEXT("localhost"))))
		host = TEXT("127.0.0.1");
	if (!good || !host_good(host)) {
		diag_error(load, node->mark,
			   "'%.*s' is not a backend like http://127.0.0.1:3000, localhost:3000 or :3000",
			   SHOW(text));
		return false;
	}
	*out = arena_format(&load->arena, "http://%.*s:%u", (int)host.size, host.data, number);
	return true;
}

struct listens {
	size_t capacity;
};

static void add_listen(struct load *load, const struct node *item, void *context)
{
	struct listens *listens = context;
	struct model *model = &load->model;
	struct text text, host, port;
	unsigned number;

	if (!value_text(load, item, "listen", &text))
		return;
	if (!split(text, &host, &port) || !read_port(port, &number) ||
	    (host.size && !text_equal(host, TEXT("*")) && !host_good(host))) {
		diag_error(load, item->mark,
			   "'%.*s' is not a port like 8080 or an address and a port like 127.0.0.1:8080",
			   SHOW(text));
		return;
	}
	if (text_equal_folded(host, TEXT("localhost")))
		host = TEXT("127.0.0.1");
	if (text_equal(host, TEXT("*")))
		host.size = 0;
	text = host.size ? arena_format(&load->arena, "%.*s:%u", (int)host.size, host.data, number)
			 : arena_format(&load->arena, "%u", number);
	for (size_t i = 0; i < model->listen_count; i++)
		if (text_equal(model->listens[i], text)) {
			diag_error(load, item->mark, "'%.*s' is listened on twice", SHOW(text));
			return;
		}
	model->listens = arena_grow(&load->arena, model->listens, model->listen_count, &listens->capacity,
				    sizeof *model->listens);
	model->listens[model->listen_count++] = text;
}

static void add_route(struct load *load, size_t *capacity, struct model_route route)
{
	struct model *model = &load->model;
	model->routes = arena_grow(&load->arena, model->routes, model->route_count, capacity,
				   sizeof *model->routes);
	model->routes[model->route_count++] = route;
}

static void read_routes(struct load *load, const struct node *node, size_t *capacity, bool *everything)
{
	const struct node *items = node->kind == NODE_LIST ? node->items : node;
	size_t count = node->kind == NODE_LIST ? node->count : node->kind == NODE_MAP;

	if (count == 0 && node->kind != NODE_BROKEN)
		diag_error(load, node->mark, "'routes' is a list like [{match: /pay/**, to: :4000}]");
	for (size_t i = 0; i < count; i++) {
		struct model_route route = {.mark = items[i].mark};
		const struct node *match = yaml_get(&items[i], "match"), *to = yaml_get(&items[i], "to");
		struct text path;

		if (!words_check(load, &items[i], SECTION_ROUTE, "'routes'"))
			continue;
		if (!match || !to) {
			diag_error(load, items[i].mark,
				   "a route is {match: PATTERN, to: BACKEND}; %s is missing",
				   match ? "to" : "match");
			continue;
		}
		if (!value_text(load, match, "match", &path))
			continue;
		if (path.data[0] != '/' && memmem(path.data, path.size, " /", 2)) {
			diag_error(load, match->mark, "a route is chosen by the path alone, without methods");
			continue;
		}
		bool all = text_equal(path, TEXT("/*")) || text_equal(path, TEXT("/**")) ||
			   text_equal(path, TEXT("*"));
		if (!backend_read(load, to, &route.to) ||
		    (!all && !match_path_read(load, match, path, false, &route.match)))
			continue;
		if (*everything)
			diag_error(load, match->mark, "a route above takes every path already");
		*everything |= all;
		add_route(load, capacity, route);
	}
}

static void read_cache(struct load *load, const struct node *node)
{
	struct text text;
	uint64_t bytes;
	char why[256] = "";

	if (!value_text(load, node, "cache", &text))
		return;
	if (!bytes_size_parse(text, &bytes, why, sizeof why))
		diag_error(load, node->mark, "%s", why);
	else if (bytes < IMAGE_CACHE_MIN)
		diag_error(load, node->mark, "'cache' is at least 1MiB");
	else
		load->model.cache_bytes = bytes;
}

void gateway_read(struct load *load, const struct node *node, const struct node *option)
{
	struct listens listens = {0};
	size_t capacity = 0;
	bool everything = false;

	size_t errors = load->diag.errors;
	if (node && (node->kind == NODE_EMPTY || !words_check(load, node, SECTION_GATEWAY, "'gateway'")))
		node = NULL;
	if (!node && !option)
		return;
	bool words_known = load->diag.errors == errors;
	const struct node *listen = node ? yaml_get(node, "listen") : NULL;
	const struct node *routes = node ? yaml_get(node, "routes") : NULL;
	const struct node *said = node ? yaml_get(node, "to") : NULL;
	const struct node *to = option ? option : said;

	if (listen)
		value_each(load, listen, "listen", add_listen, &listens);
	else
		add_listen(load, &(struct node){.kind = NODE_SCALAR, .text = TEXT("8080")}, &listens);
	if (routes)
		read_routes(load, routes, &capacity, &everything);
	if (node && yaml_get(node, "cache"))
		read_cache(load, yaml_get(node, "cache"));
	if (said && option) { /* still checked: the file must be right without the option */
		struct text ignored;
		backend_read(load, said, &ignored);
	}
	struct model_route last = {0};
	if (to && backend_read(load, to, &last.to)) {
		last.mark = to->mark;
		if (!everything)
			add_route(load, &capacity, last);
		else if (!option)
			diag_warning(load, to->mark, "'to' is never used: a route takes every path");
	}
	if (!to && !everything && node && words_known)
		diag_error(load, node->mark, "the gateway has no backend; add to: http://127.0.0.1:3000");
}
