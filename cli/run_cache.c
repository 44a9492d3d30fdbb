/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * run_cache: what a gateway stores, `gateway: {cache: 100MiB}`.
 *
 * Only what the backend says may be stored is, and only what belongs to nobody: a request with a credential is neither stored nor
 * answered from there, and what else the backend is told that could change its answer (the host, what a trusted proxy says of it,
 * the headers that limits count by) is part of the key. Of a header that is sent twice the backend is told the one that was judged.
 */
#include <stdio.h>
#include <string.h>

#include "cli/run.h"

#define ENTRY_BYTES                                                                                          \
	64 /* of stored answers for each byte of their index: 8 KiB an answer, 128 bytes an entry */
#define INDEX_MIN (UINT64_C(1) << 20) /* bytes */
#define INDEX_MAX (UINT64_C(128) << 20)

/* Can it be in a variable's name, and in a regular expression as it stands? nginx drops headers with other names, so the backend is
 * not told of them either. */
static bool reachable(struct text name)
{
	for (size_t i = 0; i < name.size; i++)
		if (!((name.data[i] >= 'a' && name.data[i] <= 'z') ||
		      (name.data[i] >= '0' && name.data[i] <= '9') || name.data[i] == '-'))
			return false;
	return name.size > 0;
}

/* "$http_x_api_key" */
static void variable(FILE *out, struct text name)
{
	fputs("$http_", out);
	for (size_t i = 0; i < name.size; i++)
		fputc(name.data[i] == '-' ? '_' : name.data[i], out);
}

/* Headers that proxying (run_conf.c) sets by itself. */
static bool set_anyhow(struct text name)
{
	static const char *const names[] = {"authorization",	"cookie",	   "host",
					    "connection",	"upgrade",	   "http2-settings",
					    "x-real-ip",	"x-forwarded-for", "x-forwarded-proto",
					    "x-forwarded-host", "accept-encoding"};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (text_equal(name, text_of(names[i])))
			return true;
	return false;
}

#define SPANS 5
/* The lists of places in which a client says who it is. */
static void spans_of(const struct image *image, struct image_span spans[SPANS])
{
	const struct image_clients *clients = &image->clients;

	spans[0] = clients->keys_from;
	spans[1] = clients->jwt_from;
	spans[2] = clients->session;
	spans[3] = clients->plan_from;
	spans[4] = clients->user_from;
}

/* Does a place before it say the same? */
static bool is_repeated(const struct image *image, const struct image_where *where)
{
	struct image_span spans[SPANS];

	spans_of(image, spans);
	for (size_t k = 0; k < SPANS; k++) {
		const struct image_where *wheres = image_at(image, spans[k].offset);

		for (uint32_t i = 0; i < spans[k].count; i++) {
			if (&wheres[i] == where)
				return false;
			if (wheres[i].said == where->said &&
			    text_equal(image_text(image, wheres[i].name), image_text(image, where->name)))
				return true;
		}
	}
	return false;
}

/* Calls `visit` once for each header or parameter, of `said`, in which a client says who it is. */
static void each_place(const struct image *image, FILE *out, uint32_t said,
		       void (*visit)(FILE *out, struct text name))
{
	struct image_span spans[SPANS];

	spans_of(image, spans);
	for (size_t k = 0; k < SPANS; k++) {
		const struct image_where *wheres = image_at(image, spans[k].offset);

		for (uint32_t i = 0; i < spans[k].count; i++) {
			struct text name = image_text(image, wheres[i].name);

			if (wheres[i].said == said && reachable(name) && !is_repeated(image, &wheres[i]))
				visit(out, name);
		}
	}
}

static void as_header(FILE *out, struct text name)
{
	if (set_anyhow(name))
		return;
	fprintf(out, "    proxy_set_header %.*s ", (int)name.size, name.data);
	variable(out, name);
	fputs(";\n", out);
}

/* The target is in the key all the same; so that no secret lies in a file. */
static void as_argument(FILE *out, struct text name)
{
	fprintf(out, " \"~*(^|&)%.*s=\" 1;", (int)name.size, name.data);
}

/* The headers that limits count by, each with `before` in front. */
static void key_headers(const struct image *image, FILE *out, const char *before)
{
	for (uint32_t i = 0; i < image->limits.count; i++) {
		const struct image_limit *limit = image_limit_at(image, i);
		const struct image_key_part *parts = image_at(image, limit->key.offset);

		for (uint32_t k = 0; k < limit->key.count; k++) {
			struct text name = image_text(image, parts[k].name);

			if (parts[k].kind != IMAGE_KEY_HEADER || !reachable(name))
				continue;
			fputs(before, out);
			variable(out, name);
		}
	}
}

static uint64_t index_bytes(uint64_t bytes)
{
	uint64_t wanted = bytes / ENTRY_BYTES;

	return wanted < INDEX_MIN ? INDEX_MIN : wanted > INDEX_MAX ? INDEX_MAX : wanted;
}

void run_cache_conf(const struct run *run, FILE *out)
{
	const struct image *image = run->loaded.image;
	const char *told = image->trusted.count > 0 ? "$weir_proto$weir_forwarded_host" : "";
	uint64_t bytes = image->gateway.cache_bytes;

	if (!bytes)
		return;
	fputs("    proxy_cache_path ", out);
	run_conf_quoted(out, run->state, "/cache");
	fprintf(out, " levels=1:2 keys_zone=weir_cache:%lluk max_size=%lluk inactive=1d use_temp_path=off;\n",
		(unsigned long long)index_bytes(bytes) / 1024, (unsigned long long)bytes / 1024);
	/* a tab parts what is in the key; what has one itself, or another control character, is not stored */
	fprintf(out, "    map \"%s", told);
	key_headers(image, out, "");
	fputs("\" $weir_odd { default \"\"; \"~[\\x00-\\x1f]\" 1; }\n    map $args $weir_secret { default "
	      "\"\";",
	      out);
	each_place(image, out, IMAGE_SAID_QUERY, as_argument);
	fputs(" }\n    map \"$http_authorization$http_cookie$weir_upgrade$weir_odd$weir_secret", out);
	each_place(image, out, IMAGE_SAID_HEADER, variable);
	fputs("\" $weir_private { default 1; \"\" \"\"; }\n"
	      "    proxy_set_header Authorization $http_authorization;\n"
	      "    proxy_set_header Cookie $http_cookie;\n",
	      out);
	each_place(image, out, IMAGE_SAID_HEADER, as_header);
	fprintf(out,
		"    proxy_cache weir_cache;\n    proxy_cache_key \"$scheme\\t$weir_host\\t$request_uri%s",
		*told ? "\\t$weir_proto\\t$weir_forwarded_host" : "");
	key_headers(image, out, "\\t");
	/* no proxy_cache_lock: whoever asks for what is not stored at the same time as another would wait for
	 * half a second and more, and one after the other, though it turns out that it may not be stored */
	fputs("\";\n"
	      "    proxy_cache_bypass $weir_private;\n"
	      "    proxy_no_cache $weir_private;\n"
	      "    proxy_cache_use_stale error timeout updating http_500 http_502 http_503 http_504;\n",
	      out);
}
