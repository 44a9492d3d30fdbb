/* SPDX-License-Identifier: BSD-2-Clause */
/* credentials: what clients are known by: API keys, tokens, sessions. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "policy/load.h"
#include "policy/rate.h"
#include "policy/sections.h"
#include "policy/value.h"
#include "policy/words.h"

#define JWKS_LOOK (1u << 20) /* bytes: as much as a set may have */

static const char *file_of(const struct load *load)
{
	return load->options->path ? load->options->path : "policy";
}

void api_keys_read(struct load *load, const struct node *node)
{
	static struct model_where usual[] = {{IMAGE_SAID_HEADER, {"x-api-key", 9}},
					     {IMAGE_SAID_BEARER, {"", 0}}};
	struct model_clients *clients = &load->model.clients;
	const struct node *word;
	struct text path = TEXT("keys.db");
	int number;

	load->says.api_keys = true;
	clients->keys_from = usual;
	clients->keys_from_count = sizeof usual / sizeof *usual;
	if (node->kind != NODE_EMPTY && !words_check(load, node, SECTION_API_KEYS, "clients.api_keys"))
		return;
	if ((word = yaml_get(node, "from")))
		where_read(load, word, "api_keys.from", "from", &clients->keys_from,
			   &clients->keys_from_count);
	if ((word = yaml_get(node, "unknown")) && words_value(load, word, "unknown", &number))
		clients->keys_unknown = (uint32_t)number;
	if (!(word = yaml_get(node, "database")))
		door_file_read(load, file_of(load), path, node->mark, &clients->keys_database);
	else if (value_line(load, word, "database", &path))
		door_file_read(load, word->mark.file, path, word->mark, &clients->keys_database);
}

/* Is there a key of kind oct in the set, HS256's secret? Those of the other kinds may be read by everybody. A set that is not one is told of
 * by who reads it. */
static bool has_oct(const char *path)
{
	FILE *file = fopen(path, "re");
	char *bytes = malloc(JWKS_LOOK);
	size_t size = file && bytes ? fread(bytes, 1, JWKS_LOOK, file) : 0;
	bool found = size && memmem(bytes, size, "\"oct\"", 5) != NULL;

	if (file)
		fclose(file);
	free(bytes);
	return found;
}

/* A file that a door opens by itself: it need not be there yet, but what is in it is a secret if `secret`. */
static void read_file(struct load *load, const struct node *node, const char *what, bool secret, bool set,
		      struct text *out)
{
	struct stat status;
	struct text path;

	if (!value_line(load, node, what, &path) ||
	    !door_file_read(load, node->mark.file, path, node->mark, out))
		return;
	if (stat(out->data, &status) != 0)
		diag_warning(load, node->mark, "'%.*s' cannot be read: %s; no token is believed without it",
			     SHOW(path), strerror(errno));
	else if (secret && (!set || has_oct(out->data)) && status.st_mode & (S_IROTH | S_IWOTH))
		diag_warning(
			load, node->mark,
			"everybody on this machine can read '%.*s', and make tokens with it: make nginx's "
			"workers' user its owner (chown www-data), and chmod 600 it",
			SHOW(path));
}

static void add_audience(struct load *load, const struct node *item, void *context)
{
	struct model_clients *clients = &load->model.clients;
	struct text text;

	(void)context;
	if (!value_text(load, item, "audience", &text))
		return;
	if (clients->audience_count == IMAGE_AUDIENCES_MAX)
		diag_error(load, item->mark, "'audience' names at most %u", IMAGE_AUDIENCES_MAX);
	else
		clients->audiences[clients->audience_count++] = text;
}

static void add_algorithm(struct load *load, const struct node *item, void *context)
{
	int number;

	(void)context;
	if (item->kind == NODE_SCALAR && text_equal_folded(item->text, TEXT("none")))
		diag_error(load, item->mark, "a token without a signature is never believed");
	else if (words_value(load, item, "algorithms", &number))
		load->model.clients.jwt_algorithms |= (uint32_t)number;
}

static void read_leeway(struct load *load, const struct node *node)
{
	uint64_t ns = 0;
	bool none = node->kind == NODE_SCALAR &&
		    (text_equal(node->text, TEXT("0")) || text_equal(node->text, TEXT("0s")));

	if (!none && !value_duration(load, node, "leeway", &ns))
		return;
	if (ns > 3600 * RATE_NS_S)
		diag_error(load, node->mark, "'leeway' is at most an hour");
	else
		load->model.clients.jwt_leeway_s = (uint32_t)((ns + RATE_NS_S - 1) / RATE_NS_S);
}

/* Every algorithm has its keys somewhere. */
static void check_keys(struct load *load, const struct node *node)
{
	const struct node *algorithms = yaml_get(node, "algorithms"), *jwks = yaml_get(node, "jwks_file"),
			  *secret = yaml_get(node, "secret_file");
	uint32_t named = load->model.clients.jwt_algorithms;

	if (!algorithms)
		diag_error(load, node->mark,
			   "clients.jwt says which algorithms are believed: add algorithms: [RS256]");
	else if (named & ~IMAGE_JWT_HS256 && !jwks)
		diag_error(load, algorithms->mark,
			   "nothing says which keys verify a token: add jwks_file: keys.json");
	else if (named == IMAGE_JWT_HS256 && !jwks && !secret)
		diag_error(load, algorithms->mark,
			   "HS256 needs its secret: add secret_file: NAME, or a jwks_file with a key of kind "
			   "oct");
	if (secret && named && !(named & IMAGE_JWT_HS256))
		diag_error(load, secret->mark,
			   "'secret_file' is for HS256, which 'algorithms' does not name");
}

void jwt_read(struct load *load, const struct node *node)
{
	static struct model_where usual[] = {{IMAGE_SAID_BEARER, {"", 0}}};
	struct model_clients *clients = &load->model.clients;
	const struct node *word;
	bool oct;
	int number;

	load->says.jwt = true;
	clients->jwt_from = usual;
	clients->jwt_from_count = 1;
	clients->jwt_leeway_s = 60;
	if (!words_check(load, node, SECTION_JWT, "clients.jwt"))
		return;
	if ((word = yaml_get(node, "algorithms")))
		value_each(load, word, "algorithms", add_algorithm, NULL);
	check_keys(load, node);
	oct = clients->jwt_algorithms & IMAGE_JWT_HS256 && !yaml_get(node, "secret_file");
	if ((word = yaml_get(node, "jwks_file")))
		read_file(load, word, "jwks_file", oct, true, &clients->jwks_file);
	if ((word = yaml_get(node, "secret_file")))
		read_file(load, word, "secret_file", true, false, &clients->jwt_secret_file);
	if ((word = yaml_get(node, "issuer")))
		value_text(load, word, "issuer", &clients->jwt_issuer);
	if ((word = yaml_get(node, "audience"))) {
		clients->audiences = arena_alloc(&load->arena,
						 IMAGE_AUDIENCES_MAX * sizeof *clients->audiences);
		value_each(load, word, "audience", add_audience, NULL);
	}
	if ((word = yaml_get(node, "leeway")))
		read_leeway(load, word);
	if ((word = yaml_get(node, "from")))
		where_read(load, word, "jwt.from", "from", &clients->jwt_from, &clients->jwt_from_count);
	if ((word = yaml_get(node, "invalid")) && words_value(load, word, "invalid", &number))
		clients->jwt_invalid = (uint32_t)number;
}

void session_read(struct load *load, const struct node *node)
{
	struct model_clients *clients = &load->model.clients;

	load->says.session = true;
	if (node->kind == NODE_LIST)
		diag_error(load, node->mark, "a session is in one place; with several a client could choose");
	else
		where_read(load, node, "session", "session", &clients->session, &clients->session_count);
}

void user_read(struct load *load, const struct node *node)
{
	struct model *model = &load->model;
	struct model_clients *clients = &model->clients;

	load->says.user = true;
	if (node->kind == NODE_LIST) {
		diag_error(load, node->mark,
			   "a user is named in one place; with several a client could choose");
		return;
	}
	where_read(load, node, "user", "user", &clients->user_from, &clients->user_from_count);
	if (clients->user_from_count && !model->trusted_count)
		diag_error(load, node->mark,
			   "everybody could be anybody by sending '%.*s': it is believed from trusted "
			   "proxies only; "
			   "add clients: {address: {from: x-forwarded-for, trusted: [10.0.0.0/8]}}",
			   SHOW(clients->user_from[0].name));
}
