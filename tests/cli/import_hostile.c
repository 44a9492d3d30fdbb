/* SPDX-License-Identifier: BSD-2-Clause */
/* Configurations that nobody wrote: pieces of nginx's language in any order become a policy that its own checker takes, or a mistake
 * with its place; and every limit is carried over, or said to be lost. Seeds are fixed. */
#include <stdlib.h>

#include "policy/policy.h"
#include "tests/cli/import_fate.h"
#include "tests/tap.h"

static const char *const PIECES[] = {
	"http {",
	"server {",
	"location / {",
	"location /x {",
	"location /x/ {",
	"location = /x {",
	"location ~ ^/(a|b)/ {",
	"location ~ \\.php$ {",
	"location ^~ /x/y/ {",
	"location @n {",
	"location /i/ { internal;",
	"}",
	"}",
	"}",
	"} }",
	"limit_req_zone $binary_remote_addr zone=a:1m rate=1r/s;",
	"limit_req_zone $k zone=b:1m rate=9r/m;",
	"limit_req_zone $http_x$cookie_y zone=c:1m rate=9r/h;",
	"limit_req_zone $g zone=d rate=7;",
	"limit_conn_zone $server_name zone=e:1m;",
	"limit_req zone=a;",
	"limit_req zone=a burst=0;",
	"limit_conn e 0;",
	"limit_except GET { limit_rate 5k; }",
	"set $limit_rate 5k;",
	"limit_req zone=a burst=5 nodelay;",
	"limit_req zone=b burst=9 delay=3;",
	"limit_req zone=c;",
	"limit_req zone=d status=444;",
	"limit_conn e 3;",
	"limit_rate 1m;",
	"limit_rate 3;",
	"limit_rate_after 3k;",
	"limit_req_status 429;",
	"limit_req_dry_run on;",
	"limit_conn_dry_run on;",
	"map $g $k { 0 \"\"; default $binary_remote_addr; }",
	"map $http_user_agent $k { default \"\"; ~^a $uri; \"b*\" $uri; }",
	"geo $g { default 0; 10.0.0.0/8 1; 10.1.0.0/16 0; ::/3 1; }",
	"geo $g { ranges; 1.0.0.0-9.9.9.9 a; 2.0.0.0-3.0.0.0 \"\"; }",
	"map $uri $g { /x 1; ~^/y/ \"\"; default 2; }",
	"listen 80;",
	"listen 81 default_server;",
	"server_name a.b *.c .d ~e f.*;",
	"server_name a.b;",
	"server_name _;",
	"return 200;",
	"location = /x { return 204; }",
	"if ($x) { return 204; set $limit_rate 5k; }",
	"rewrite ^/(.*)$ /y permanent;",
	"index x;",
	"error_page 404 /x/y/z;",
	"unknown { limit_req zone=a; }",
	"map $host $k { hostnames; .a.b $uri; *.c \"\"; default $g; }",
	"map $http_x $g { default $http_x; \"\" $remote_addr; }",
	"rewrite ^ /x last;",
	"try_files $uri /x;",
	"set_real_ip_from 10.0.0.1/8;",
	"real_ip_header X-Real-IP;",
	"set_real_ip_from 0/0;",
	"error_page 429 503 /x.html;",
	"error_page 429 =200 @n;",
	"stream {",
	"if ($x) {",
	"limit_req zone=a { }",
	"'",
	"\"",
	"\\",
	"${",
	"#",
	"\n",
	";",
	"{",
	"\xff\x01",
};

static uint64_t random_next(uint64_t *seed)
{
	*seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return *seed >> 33;
}

static int braces(const char *piece)
{
	int balance = 0;
	for (; *piece; piece++)
		balance += (*piece == '{') - (*piece == '}');
	return balance;
}

static bool good(const char *text, size_t *policies, size_t *dropped)
{
	struct import import;
	bool fine = import_run(&(struct import_options){.path = "nginx.conf", .text = text_of(text)},
			       &import);
	if (!fine)
		fine = import.wrong && import.wrong_line > 0 && !import.policy;
	else {
		struct policy policy;
		policy_load(&(struct policy_options){.path = "policy.yaml",
						     .text = import.policy,
						     .wall = 1780272000},
			    &policy);
		fine = !policy.errors && fate_is_told(&import);
		*dropped += import.dropped;
		*policies += import.limits > 0;
		policy_free(&policy);
	}
	import_free(&import);
	return fine;
}

int main(void)
{
	size_t bad = 0, policies = 0, dropped = 0;
	uint64_t seed = 20;
	for (unsigned round = 0; round < 4000; round++) {
		char text[8192] = "http { ";
		size_t used = strlen(text);
		int open = 1;
		for (size_t i = 0; round % 2 && i < sizeof PIECES / sizeof *PIECES; i++)
			if (strstr(PIECES[i], "_zone"))
				used += (size_t)snprintf(text + used, sizeof text - used, "%s ", PIECES[i]);
		/* most are well formed: pieces of the first part, and every block closed */
		bool formed = round % 4 != 0;
		size_t few = sizeof PIECES / sizeof *PIECES - (formed ? 12 : 0);
		for (unsigned i = (unsigned)(random_next(&seed) % 60); i > 0; i--) {
			const char *piece = PIECES[random_next(&seed) % few];
			int balance = braces(piece);
			if (formed && open + balance < 1)
				continue;
			open += balance;
			used += (size_t)snprintf(text + used, sizeof text - used, "%s ", piece);
		}
		while (formed && open-- > 0)
			text[used++] = '}';
		text[used] = '\0';
		if (!good(text, &policies, &dropped) && !bad++)
			note("%s", text);
	}
	is_u64(bad, 0, "4,000 texts of pieces: each a sound policy, or a mistake");
	ok(policies > 1000, "and many of them were policies with limits");
	ok(dropped > 1000, "many limits were dropped, each with a remark of its own");

	char *deep = malloc(400000);
	memset(deep, '{', 399999);
	for (size_t i = 0; i < 399999; i += 2)
		deep[i] = 'a';
	deep[399999] = '\0';
	ok(good(deep, &policies, &dropped), "blocks without end are bounded");
	for (size_t i = 0; i < 399999; i++)
		deep[i] = i % 2 ? ';' : 'a';
	ok(good(deep, &policies, &dropped), "200,000 directives are few enough");
	free(deep);
	return done_testing();
}
