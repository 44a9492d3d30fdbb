/* SPDX-License-Identifier: BSD-2-Clause */
/* run_conf: the nginx.conf of a gateway. A reader who outgrows `weir run` can take the file and go on from
 * there. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cli/out.h"
#include "cli/run.h"

void run_conf_quoted(FILE *out, const char *text, const char *more)
{
	fputc('"', out);
	for (; *text || *more; text++) {
		if (!*text) {
			text = more;
			more = "";
		}
		if (*text == '"' || *text == '\\')
			fputc('\\', out);
		fputc(*text, out);
	}
	fputc('"', out);
}

static void quoted(FILE *out, const char *text)
{
	run_conf_quoted(out, text, "");
}

static void setting(FILE *out, const char *name, const char *value)
{
	fprintf(out, "%s ", name);
	quoted(out, value);
	fputs(";\n", out);
}

/* One literal byte of a regular expression inside nginx's quotes. */
static void literal(FILE *out, char c)
{
	if (c == '"' || c == '\\')
		fprintf(out, "\\\\\\%c", c);
	else if (strchr(".[]{}()*+?|$", c))
		fprintf(out, c == ']' ? "\\]" : "[%c]", c);
	else if (c == '^')
		fputs("\\^", out);
	else
		fputc(c, out);
}

/* A path pattern of the policy as a regular expression: `*` or `{name}` is a segment, at the end everything
 * below. */
static void pattern(FILE *out, struct text match)
{
	fputs("\"^", out);
	size_t at = 0;
	bool rest = false;
	while (at < match.size && !rest) {
		size_t end = at + (match.data[at] == '/');
		size_t begin = end;
		while (end < match.size && match.data[end] != '/')
			end++;
		struct text segment = {match.data + begin, end - begin};
		bool last = end == match.size,
		     star = text_equal(segment, TEXT("*")) || text_equal(segment, TEXT("**"));
		at = end;
		if (last && star) {
			rest = true;
		} else if (star || (segment.size > 2 && segment.data[0] == '{' &&
				    segment.data[segment.size - 1] == '}')) {
			fputs("/[^/]+", out);
		} else if (segment.size) {
			fputc('/', out);
			for (size_t i = 0; i < segment.size; i++)
				literal(out, segment.data[i]);
		}
	}
	fputs(rest ? "(/.*)?$\"" : "/?$\"", out);
}

/* Descriptors that a worker may open: a connection needs two. */
static unsigned long descriptors(void)
{
	struct rlimit limit = {.rlim_max = 1024};
	getrlimit(RLIMIT_NOFILE, &limit);
	return limit.rlim_max > 65536 ? 65536 : (unsigned long)limit.rlim_max;
}

static void main_part(const struct run *run, FILE *out)
{
	unsigned long files = descriptors();
	fputs("# Written by weir run, anew at each start and whenever the policy's gateway changes.\n", out);
	setting(out, "load_module", run->nginx.module);
	if (run->worker_user[0])
		fprintf(out, "user %s %s;\n", run->worker_user, run->worker_group);
	else if (geteuid() == 0)
		fputs("user root;\n", out);
	fprintf(out,
		"worker_processes auto;\nworker_rlimit_nofile %lu;\nevents { worker_connections %lu; "
		"}\ndaemon off;\n",
		files, files / 2 < 16384 ? files / 2 : 16384);
	fprintf(out, "error_log stderr warn;\n");
	fputs("pid ", out);
	char pid[PLACE_MAX + 16];
	snprintf(pid, sizeof pid, "%s/nginx.pid", run->state);
	quoted(out, pid);
	fputs(";\n\n", out);
}

static void folders(const struct run *run, FILE *out)
{
	static const char *const NAMES[][2] = {{"client_body_temp_path", "body"},
					       {"proxy_temp_path", "proxy"},
					       {"fastcgi_temp_path", "fastcgi"},
					       {"uwsgi_temp_path", "uwsgi"},
					       {"scgi_temp_path", "scgi"}};
	for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
		char path[PLACE_MAX + 16];
		snprintf(path, sizeof path, "%s/%s", run->state, NAMES[i][1]);
		fputs("    ", out);
		setting(out, NAMES[i][0], path);
	}
}

/* What an application behind a gateway expects to be told. A client's own X-Forwarded-… are passed on only
 * where the policy trusts proxies to write them; else they are replaced. */
static void proxying(const struct image *image, FILE *out)
{
	bool trusts = image->trusted.count > 0;
	/* Only websockets are upgraded: through another protocol (h2c) any number of requests would follow the
	 * one that was counted. The backend is told the host that was decided on: the authority of an
	 * absolute target if there is one, and the Host header, which may have a port, only if it is the same. */
	fputs("    map $http_upgrade $weir_upgrade { default \"\"; ~*^websocket$ websocket; }\n"
	      "    map $weir_upgrade $weir_connection { default upgrade; \"\" \"\"; }\n"
	      "    map \"$host $http_host\" $weir_host { default $host; \"~*^(\\S+) \\1\\.?(:\\d*)?$\" "
	      "$http_host; }\n",
	      out);
	if (trusts)
		fputs("    map $http_x_forwarded_proto $weir_proto { default $http_x_forwarded_proto; \"\" "
		      "$scheme; }\n"
		      "    map $http_x_forwarded_host $weir_forwarded_host { default $http_x_forwarded_host; "
		      "\"\" $weir_host; }\n",
		      out);
	fprintf(out,
		"    proxy_http_version 1.1;\n"
		"    proxy_set_header Host $weir_host;\n"
		"    proxy_set_header Connection $weir_connection;\n"
		"    proxy_set_header Upgrade $weir_upgrade;\n"
		"    proxy_set_header HTTP2-Settings \"\";\n"
		"    proxy_set_header X-Real-IP %s;\n"
		"    proxy_set_header X-Forwarded-For %s;\n"
		"    proxy_set_header X-Forwarded-Proto %s;\n"
		"    proxy_set_header X-Forwarded-Host %s;\n"
		"    proxy_redirect off;\n"
		"    proxy_connect_timeout 5s;\n"
		"    proxy_read_timeout 300s;\n"
		"    proxy_send_timeout 300s;\n"
		"    proxy_request_buffering off;\n" /* the state folder may be memory: bodies pass through,
							they are not kept */
		"    proxy_max_temp_file_size 0;\n",
		/* behind a proxy that is only its address, and X-Forwarded-For says more */
		trusts ? "\"\"" : "$remote_addr", trusts ? "$proxy_add_x_forwarded_for" : "$remote_addr",
		trusts ? "$weir_proto" : "$scheme", trusts ? "$weir_forwarded_host" : "$weir_host");
}

/* A client that hangs up leaves the backend working: what is in flight there is counted to its end. */
static void in_flight(const struct image *image, FILE *out)
{
	for (uint32_t i = 0; i < image->counters.count; i++)
		if (image_counter_at(image, i)->what == IMAGE_CONCURRENT) {
			fputs("    proxy_ignore_client_abort on;\n", out);
			return;
		}
}

/* An answer that says what it cost is read as it goes by, which it cannot be if it is compressed. */
static void readable_answers(const struct image *image, FILE *out)
{
	for (uint32_t i = 0; i < image->limits.count; i++)
		if (image_limit_at(image, i)->costs.settle.from == IMAGE_AMOUNT_RESPONSE_BODY) {
			fputs("    proxy_set_header Accept-Encoding \"\";\n", out);
			return;
		}
}

static const struct image_route *routes_of(const struct image *image)
{
	return image_at(image, image->gateway.routes.offset);
}

/* "http://host:port" as "host:port" */
static struct text server_of(struct text to)
{
	for (size_t i = 0; i + 2 < to.size; i++)
		if (memcmp(to.data + i, "://", 3) == 0)
			return (struct text){to.data + i + 3, to.size - i - 3};
	return to;
}

/* The first route that goes to the same backend: they share its idle connections. */
static uint32_t backend_of(const struct image *image, uint32_t index)
{
	const struct image_route *routes = routes_of(image);
	uint32_t first = 0;
	while (!text_equal(image_text(image, routes[first].to), image_text(image, routes[index].to)))
		first++;
	return first;
}

static void upstreams(const struct image *image, FILE *out)
{
	const struct image_route *routes = routes_of(image);
	for (uint32_t i = 0; i < image->gateway.routes.count; i++) {
		struct text server = server_of(image_text(image, routes[i].to));
		if (backend_of(image, i) == i)
			fprintf(out, "    upstream weir_%u { server %.*s; keepalive 64; }\n", i,
				(int)server.size, server.data);
	}
}

static void server_part(const struct run *run, FILE *out)
{
	const struct image *image = run->loaded.image;
	const struct image_route *routes = routes_of(image);
	bool everything = false;
	fputs("    server {\n", out);
	for (size_t i = 0; i < run->listen_count; i++)
		fprintf(out, "        listen %s%s;\n", run->listens[i].address,
			run->listens[i].v6 && run->listens[i].every ? " ipv6only=on" : "");
	fputs("        server_name _;\n", out);
	/* regular expressions are tried in the order of the file: the first that matches wins, as the policy
	 * says */
	for (uint32_t i = 0; i < image->gateway.routes.count && !everything; i++) {
		struct text match = image_text(image, routes[i].match);
		everything = match.size == 0;
		fputs(everything ? "        location /" : "        location ~* ", out);
		if (!everything)
			pattern(out, match);
		fprintf(out, " { proxy_pass http://weir_%u; }\n", backend_of(image, i));
	}
	if (!everything)
		fputs("        location / { return 404; }\n", out);
	fputs("    }\n", out);
}

char *run_conf_text(const struct run *run)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	if (!out)
		return NULL;
	main_part(run, out);
	fputs("http {\n    access_log off;\n    server_tokens off;\n    client_max_body_size 0;\n"
	      "    large_client_header_buffers 8 32k;\n    reset_timedout_connection on;\n",
	      out);
	folders(run, out);
	fputs("\n    ", out);
	setting(out, "weir_policy", run->policy);
	fputs("    ", out);
	fputs("weir_table ", out);
	quoted(out, run->table);
	if (run->table_size)
		fprintf(out, " %llu", (unsigned long long)run->table_size);
	fputs(";\n", out);
	fputs("    ", out);
	setting(out, "weir_snapshot", run->snapshot[0] ? run->snapshot : "off");
	fputs("    weir on;\n\n", out);
	proxying(run->loaded.image, out);
	in_flight(run->loaded.image, out);
	readable_answers(run->loaded.image, out);
	run_cache_conf(run, out);
	upstreams(run->loaded.image, out);
	fputs("\n", out);
	server_part(run, out);
	fputs("}\n", out);
	if (fclose(out) == 0)
		return text;
	free(text);
	return NULL;
}
