/* SPDX-License-Identifier: BSD-2-Clause */
/* weir explain: what would happen to this request, and why. */
#include "cli/explain.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/findings.h"
#include "cli/out.h"
#include "identity/body.h"

struct wish { /* the options */
	struct find find;
	const char *method, *path, *ip, *peer, *host, *body;
	struct options_list headers;
};

/* "Name: value" */
static bool split_header(const char *line, struct text *name, struct text *value)
{
	const char *colon = strchr(line, ':');
	if (!colon || colon == line)
		return false;
	*name = (struct text){line, (size_t)(colon - line)};
	while (*++colon == ' ' || *colon == '\t')
		;
	*value = text_of(colon);
	return true;
}

static bool read_address(const char *option, const char *text, struct address *out)
{
	if (address_parse(text_of(text), out))
		return true;
	out_error("%s '%s' is no address", option, text);
	return false;
}

static bool build(const struct wish *wish, struct request *request)
{
	request_init(request);
	if (wish->method)
		request->flow.method = text_of(wish->method);
	if (wish->path)
		request->flow.target = text_of(wish->path);
	for (size_t i = 0; i < wish->headers.count; i++) {
		struct text name, value;
		if (!split_header(wish->headers.items[i], &name, &value)) {
			out_error("--header '%s': write it as 'Name: value'", wish->headers.items[i]);
			return false;
		}
		if (text_equal_folded(name, TEXT("host")))
			request->flow.host = value;
		request_add_header(request, name, value);
	}
	if (wish->host)
		request->flow.host = text_of(wish->host);
	request->flow.has_body = request->flow.body_whole = true;
	request->flow.body = text_of(wish->body ? wish->body : "");
	if (request->flow.body.size > BODY_MAX) {
		request->flow.body.size = BODY_MAX;
		request->flow.body_whole = false;
	}
	const char *peer = wish->peer ? wish->peer : wish->ip;
	return !peer || read_address(wish->peer ? "--peer" : "--ip", peer, &request->flow.peer);
}

/* --ip beside --peer: the peer is a proxy that says whom it speaks for, in the way that the policy listens
 * to. */
static bool forward(const struct wish *wish, const struct image *image, struct request *request,
		    char *forwarded, size_t size)
{
	struct address client;
	struct text name = image_text(image, image->address_header);
	if (!wish->ip || !wish->peer)
		return true;
	if (!read_address("--ip", wish->ip, &client))
		return false;
	switch ((enum image_source)image->address_from) {
	case IMAGE_FROM_PROXY_PROTOCOL:
		request->flow.proxied = client;
		request->flow.has_proxied = true;
		return true;
	case IMAGE_FROM_FORWARDED:
		snprintf(forwarded, size, "for=\"%s%s%s\"", strchr(wish->ip, ':') ? "[" : "", wish->ip,
			 strchr(wish->ip, ':') ? "]" : "");
		return request_add_header(request, TEXT("forwarded"), text_of(forwarded));
	case IMAGE_FROM_HEADER:
		return request_add_header(request, name, text_of(wish->ip));
	default:
		return request_add_header(request, TEXT("x-forwarded-for"), text_of(wish->ip));
	}
}

/* The policy file, by itself or with the counters of the table in which it is in force. */
static int open_policy(const struct wish *wish, const char *file, struct live *live, bool *fresh)
{
	struct find find = {.table = wish->find.table, .policy = file};
	char path[PLACE_MAX], absolute[PLACE_MAX];
	struct policy policy;
	policy_load(&(struct policy_options){.path = policy_absolute_path(file, absolute, sizeof absolute)
							     ? absolute
							     : file},
		    &policy);
	if (!policy.image) {
		findings_print(&policy);
		if (out_as_json)
			out_document(
				json_pack("{s:b, s:o}", "ok", false, "findings", findings_json(&policy)));
		int broken = findings_status(&policy, file);
		policy_free(&policy);
		return broken;
	}
	int status = find_table(&find, true, path, sizeof path);
	bool there = status == STATUS_FINE && access(path, F_OK) == 0;
	if (there || wish->find.table) {
		status = live_open(live, &find, true);
		*fresh = status == STATUS_FINE && live->image->source_hash != policy.image->source_hash;
	}
	if (status == STATUS_FINE && (!there || *fresh)) {
		live_close(live);
		*fresh = true;
		status = live_private(live, policy.image);
	}
	policy_free(&policy);
	return status;
}

static int nginx_decides(const struct image *image)
{
	struct text source = image_text(image, image->source);
	out_error("this table holds the limit_req and limit_conn zones of %.*s: which of them a request "
		  "meets, nginx's "
		  "locations say, and no policy; weir show tells of each, weir import %.*s writes them as a "
		  "policy",
		  (int)source.size, source.data, (int)source.size, source.data);
	return STATUS_USAGE;
}

static int explain(const struct wish *wish, struct request *request)
{
	struct live live = {0};
	bool fresh = false, refused = false;
	char forwarded[ADDRESS_TEXT_MAX + 16];
	const char *file = wish->find.policy;
	if (!file && !wish->find.table && access("policy.yaml", F_OK) == 0)
		file = "policy.yaml";
	int status = file ? open_policy(wish, file, &live, &fresh) : live_open(&live, &wish->find, true);
	if (status == STATUS_FINE && live.image && live.image->kind == IMAGE_OF_ZONES)
		status = nginx_decides(live.image);
	if (status == STATUS_FINE && live.image &&
	    !forward(wish, live.image, request, forwarded, sizeof forwarded))
		status = STATUS_USAGE;
	if (status == STATUS_FINE) {
		json_t *document = explain_walk(&live, request, &refused);
		json_object_set_new(json_object_get(document, "policy"), "fresh", json_boolean(fresh));
		status = refused ? STATUS_FINDINGS : STATUS_FINE;
		if (out_as_json) {
			out_document(document);
		} else {
			explain_print(document);
			json_decref(document);
		}
	}
	live_close(&live);
	return status;
}

int explain_command(int argc, char **argv)
{
	struct wish wish = {0};
	const struct options_rule rules[] = {
		{"--method", OPTIONS_TEXT, &wish.method, "GET", "the method"},
		{"--path", OPTIONS_TEXT, &wish.path, "/x?y",
		 "the target as on the request line; the word alone too"},
		{"--ip", OPTIONS_TEXT, &wish.ip, "1.2.3.4", "the client's address (127.0.0.1)"},
		{"--peer", OPTIONS_TEXT, &wish.peer, "10.0.0.1", "a proxy in between, which forwards --ip"},
		{"--host", OPTIONS_TEXT, &wish.host, "NAME", "the host (localhost)"},
		{"--header", OPTIONS_LIST, &wish.headers, "'N: v'", "a header; repeat for more"},
		{"--body", OPTIONS_TEXT, &wish.body, "'a=1'", "the body; its type is a header's to say"},
		{"--policy", OPTIONS_TEXT, &wish.find.policy, "FILE", "as this file says (./policy.yaml)"},
		{"--table", OPTIONS_TEXT, &wish.find.table, "PATH", "with the counters of this table"},
	};
	struct options options = {
		.synopsis = "weir explain [/PATH] [--policy FILE] [--method M] [--ip A] [--header 'N: v']…",
		.about = "Walks one request through the policy, station by station: the path as it is "
			 "matched, the client\n"
			 "and why, the lists, every limit that matches and why the others do not, the "
			 "counters as they\n"
			 "stand now, the verdict and the answer. Nothing is charged. Works without a running "
			 "door too: with\n"
			 "fresh counters. Exit 0 if the request would pass, 1 if not.\n",
		.rules = rules,
		.rule_count = sizeof rules / sizeof *rules,
		.words_max = 1,
	};
	struct request request;
	int status;
	if (!options_read(&options, argc, argv, &status))
		return status;
	if (options.words.count && (wish.path || options.words.items[0][0] != '/')) {
		out_error(wish.path ? "the path is given twice: '%s'" : "'%s' is no path: it begins with /",
			  options.words.items[0]);
		return STATUS_USAGE;
	}
	if (options.words.count)
		wish.path = options.words.items[0];
	return build(&wish, &request) ? explain(&wish, &request) : STATUS_USAGE;
}
