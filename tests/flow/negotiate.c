/* SPDX-License-Identifier: BSD-2-Clause */
/* negotiate: who gets which body (mission B32), and hosts in their one form. */
#include "flow/negotiate.h"
#include "tests/flow/door.h"

#define JSON  NEGOTIATE_JSON
#define PROB  NEGOTIATE_PROBLEM
#define TXT   NEGOTIATE_TEXT
#define HTML  NEGOTIATE_HTML
#define FILE_ NEGOTIATE_FILE

static const char chrome[] = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8,"
			     "application/signed-exchange;v=b3;q=0.7";
static const char html_page[] = "text/html; charset=utf-8", json_page[] = "application/json";

static const struct {
	const char *accept;
	enum negotiate_kind configured;
	const char *file;
	enum negotiate_kind expect;
} table[] = {
	/* no wish: the configured one */
	{"", JSON, "", JSON},
	{"", PROB, "", PROB},
	{"", TXT, "", TXT},
	{"", FILE_, html_page, FILE_},
	{"*/*", JSON, "", JSON},
	{"*/*", PROB, "", PROB},
	{"*/*", TXT, "", TXT},
	{"*/*", FILE_, html_page, FILE_},
	{"*", PROB, "", PROB},
	/* browsers */
	{chrome, JSON, "", HTML},
	{chrome, PROB, "", HTML},
	{chrome, TXT, "", HTML},
	{chrome, FILE_, html_page, FILE_},
	{chrome, FILE_, json_page, HTML},
	/* libraries */
	{"application/json, text/plain, */*", JSON, "", JSON},
	{"application/json, text/plain, */*", PROB, "", PROB},
	{"application/json, text/plain, */*", TXT, "", TXT},
	{"application/json, text/plain, */*", FILE_, html_page, JSON},
	{"application/json", TXT, "", JSON},
	{"application/json", PROB, "", PROB},
	{"application/problem+json", JSON, "", PROB},
	{"application/problem+json, application/json", JSON, "", JSON},
	{"application/problem+json, application/json;q=0.5", JSON, "", PROB},
	{"APPLICATION/JSON", TXT, "", JSON},
	{"text/plain", JSON, "", TXT},
	{"text/*", JSON, "", TXT},
	{"text/*", FILE_, html_page, FILE_},
	{"application/*", TXT, "", JSON},
	/* weights */
	{"text/html;q=0.5, application/json;q=0.9", TXT, "", JSON},
	{"text/html;q=0.5, application/json;q=0.499", JSON, "", HTML},
	{"text/html;q=0, */*", FILE_, html_page, JSON},
	{"text/plain;q=1.0, */*;q=0.1", JSON, "", TXT},
	{"application/json;q=0, */*;q=0.1", JSON, "", TXT}, /* a problem is JSON too */
	{"application/json;q=0, application/problem+json;q=0, */*;q=0.1", JSON, "", TXT},
	{"text/plain;q=0.001", JSON, "", TXT},
	{"text/plain;q=0.000", JSON, "", JSON},
	{"text/plain ; Q=0.3 , text/html ; q=0.2", JSON, "", TXT},
	{"text/plain;format=flowed;q=0.3, text/html;level=1;q=0.4", JSON, "", HTML},
	{"text/html;x=\"a,b;q=0\";q=0.9, text/plain;q=0.8", JSON, "", HTML},
	/* nothing of ours, or nonsense: the configured one */
	{"image/png", JSON, "", JSON},
	{"image/*", FILE_, html_page, FILE_},
	{"text/html;q=0", JSON, "", JSON},
	{"*/*;q=0", PROB, "", PROB},
	{",,;,", JSON, "", JSON},
	{"text/html;q=2.5", JSON, "", HTML},
	{"text/html;q=x, text/plain;q=0.9", JSON, "", HTML},
	{"text/html;q=0.x, text/plain;q=0.9", JSON, "", HTML},
	{"\"", TXT, "", TXT},
};

static const struct {
	const char *target, *header, *host;
} hosts[] = {
	{"/", "Example.COM", "example.com"},
	{"/", "example.com:8080", "example.com"},
	{"/", "example.com.", "example.com"},
	{"/", "example.com.:80", "example.com"},
	{"/", "example.com..", "example.com"},
	{"/", " example.com ", "example.com"},
	{"/", "", ""},
	{"/", ".", ""},
	{"/", ":80", ""},
	{"/", "[2001:DB8::1]:80", "[2001:db8::1]"},
	{"/", "[2001:DB8::1]", "[2001:db8::1]"},
	{"/", "[2001:db8::1", "[2001:db8::1"},
	{"http://Other.example:81/x", "example.com", "other.example"},
	{"http://user@other.example/x", "example.com", "other.example"},
	{"//other.example/x", "example.com", "example.com"},
};

static void forms(void)
{
	static struct flow flow;
	static char longest[1000];
	struct flow_env env = {0};
	struct algo_time time = {0};
	struct door door;

	for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++) {
		char got[300];
		door_open(&door, "GET", hosts[i].target, "1.2.3.4");
		door.request.host = text_of(hosts[i].header);
		flow_begin(&flow, &env, &door.request, &time, true, false);
		flow_request_read(&flow);
		snprintf(got, sizeof got, "%.*s", (int)flow.subject.host.size, flow.subject.host.data);
		is_str(got, hosts[i].host, hosts[i].header);
	}
	memset(longest, 'a', sizeof longest);
	door.request.host = (struct text){longest, sizeof longest};
	flow_request_read(&flow);
	is_u64(flow.subject.host.size, sizeof flow.host, "a host that is none is cut");
}

static const struct {
	const char *method, *headers;
	bool preflight, grpc;
} kinds[] = {
	{"OPTIONS", "Origin: https://a.example\nAccess-Control-Request-Method: PUT", true, false},
	{"OPTIONS", "Origin: https://a.example", false, false},
	{"OPTIONS", "Access-Control-Request-Method: PUT", false, false},
	{"OPTIONS", "Origin:\nAccess-Control-Request-Method: PUT", false, false},
	{"GET", "Origin: https://a.example\nAccess-Control-Request-Method: PUT", false, false},
	{"POST", "Content-Type: application/grpc", false, true},
	{"POST", "Content-Type: application/grpc+proto", false, true},
	{"POST", "Content-Type: Application/gRPC; charset=x", false, true},
	{"POST", "Content-Type: application/grpc-web+proto", false, true},
	{"POST", "Content-Type: application/grpcx", false, false},
	{"POST", "Content-Type: application/json", false, false},
	{"GET", "Content-Type: application/grpc", false, false},
};

static void requests(void)
{
	static struct flow flow;
	struct flow_env env = {0};
	struct algo_time time = {0};
	struct door door;

	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		door_open(&door, kinds[i].method, "/", "1.2.3.4");
		door_add_lines(&door, kinds[i].headers);
		flow_begin(&flow, &env, &door.request, &time, true, false);
		flow_request_read(&flow);
		ok(flow.preflight == kinds[i].preflight && flow.grpc == kinds[i].grpc,
		   kinds[i].preflight ? "a preflight"
		   : kinds[i].grpc    ? "a gRPC call"
				      : "neither");
	}
}

int main(void)
{
	for (size_t i = 0; i < sizeof table / sizeof *table; i++)
		is_u64(negotiate(text_of(table[i].accept), table[i].configured, text_of(table[i].file)),
		       table[i].expect, table[i].accept[0] ? table[i].accept : "(no Accept)");
	forms();
	requests();
	return done_testing();
}
