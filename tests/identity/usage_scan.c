/* SPDX-License-Identifier: BSD-2-Clause */
/* usage_scan: what was used, in answers as models and others give them, in any pieces. */
#include <stdlib.h>

#include "identity/usage_scan.h"
#include "tests/tap.h"

#define JSON   "application/json"
#define EVENTS "text/event-stream"
#define USED   "usage.total_tokens"

static const struct {
	const char *name, *type, *body;
	int64_t amount; /* -1: not found */
} ANSWERS[] = {
	{USED, JSON, "{\"id\":\"x\",\"usage\":{\"prompt_tokens\":9,\"total_tokens\":21}}", 21},
	{USED, JSON, "{\"usage\":{\"total_tokens\":21},\"more\":[", 21},
	{USED, JSON, "{\"usage\":{\"total_tokens\":21", -1},
	{USED, JSON, "{\"usage\":{\"total_tokens\":0}}", 0},
	{USED, JSON, "{\"usage\":{\"total_tokens\":20.01}}", 21},
	{USED, JSON, "{\"usage\":{\"total_tokens\":2.1e1}}", 21},
	{USED, JSON, "{\"usage\":{\"total_tokens\":\"21\"}}", 21},
	{USED, JSON, "{\"usage\":{\"total_tokens\":-21}}", -1},
	{USED, JSON, "{\"usage\":{\"total_tokens\":99999999999}}", 4294967295},
	{USED, JSON, "{\"usage\":{\"total_tokens\":null}}", -1},
	{USED, JSON, "{\"usage\":null}", -1},
	{USED, JSON, "{\"total_tokens\":5}", -1},
	{USED, JSON, "{\"text\":\"{\\\"usage\\\":{\\\"total_tokens\\\":5}}\"}", -1},
	{USED, JSON, "{\"usage\":{\"total_tokens\":5},\"usage\":{\"total_tokens\":7}}", 7},
	{USED, JSON, "", -1},
	{USED, JSON "; charset=utf-8", "{\"usage\":{\"total_tokens\":21}}", 21},
	{USED, "application/vnd.x+json", "{\"usage\":{\"total_tokens\":21}}", 21},
	{"cost", JSON, "{\"cost\":0.000001}", 1},
	{"cost", JSON, "{\"cost\":0.0000000000000000000000000000000000000000000000000000000000000001}", -1},

	{USED, EVENTS, "data: {\"usage\":{\"total_tokens\":21}}\n\n", 21},
	{USED, EVENTS, "data: {\"usage\":{\"total_tokens\":21}}\r\n\r\n", 21},
	{USED, EVENTS, "data: {\"usage\":{\"total_tokens\":21}}\r\r", 21},
	{USED, EVENTS, "data:{\"usage\":{\"total_tokens\":21}}\n\n", 21},
	{USED, EVENTS, "data: {\"usage\":{\"total_tokens\":21}}", 21},
	{USED, EVENTS,
	 "\xef\xbb\xbf"
	 "data: {\"usage\":{\"total_tokens\":21}}\n\n",
	 21},
	{USED, EVENTS,
	 "data: {\"x\":1,\"usage\":null}\n\ndata: {\"usage\":{\"total_tokens\":21}}\n\ndata: [DONE]\n\n", 21},
	{USED, EVENTS,
	 "data: {\"usage\":{\"total_tokens\":5}}\n\ndata: {\"usage\":{\"total_tokens\":21}}\n\n", 21},
	{USED, EVENTS, "data: {\"usage\":{\"total_tokens\":21}}\n\ndata: {\"usage\":null}\n\n", 21},
	{USED, EVENTS, "data: {\"usage\":\ndata: {\"total_tokens\"\ndata\ndata: :21}}\n\n", 21},
	{USED, EVENTS, "data: {\"usage\":{\"total_tokens\":2\ndata: 1}}\n\n", 2},
	{USED, EVENTS, "data: {\"usage\":\r\ndata: {\"total_tokens\":21}}\r\n\r\n", 21},
	{USED, EVENTS,
	 ": {\"usage\":{\"total_tokens\":5}}\n\nevent: x\nid: 7\ndata: {\"usage\":{\"total_tokens\":21}}\n\n",
	 21},
	{USED, EVENTS, "event: data: {\"usage\":{\"total_tokens\":5}}\n\n", -1},
	{USED, EVENTS, "datax: {\"usage\":{\"total_tokens\":5}}\n\n", -1},
	{USED, EVENTS, " data: {\"usage\":{\"total_tokens\":5}}\n\n", -1},
	{USED, EVENTS, "Data: {\"usage\":{\"total_tokens\":5}}\n\n", -1},
	{USED, EVENTS,
	 "\xef\xbb"
	 "data: {\"usage\":{\"total_tokens\":5}}\n\n",
	 -1},
	{USED, EVENTS, "dat\n\nadata: {\"usage\":{\"total_tokens\":5}}\n\n", -1},
	{USED, EVENTS, "data: {\"usage\":\n\ndata: {\"total_tokens\":5}}\n\n", -1},
	{USED, EVENTS, "data: oh no\n\ndata: {\"usage\":{\"total_tokens\":21}}\n\n", 21},
	{USED, EVENTS, "{\"usage\":{\"total_tokens\":5}}", -1},
	{"message.usage.input_tokens", EVENTS,
	 "event: message_start\ndata: "
	 "{\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":25,\"output_tokens\":1}}}\n\n"
	 "event: message_delta\ndata: {\"type\":\"message_delta\",\"usage\":{\"output_tokens\":15}}\n\n",
	 25},
	{"usage.output_tokens", EVENTS,
	 "event: message_start\ndata: "
	 "{\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":25,\"output_tokens\":1}}}\n\n"
	 "event: message_delta\ndata: {\"type\":\"message_delta\",\"usage\":{\"output_tokens\":15}}\n\n",
	 15},
	{"eval_count", "application/x-ndjson",
	 "{\"response\":\"a\",\"done\":false}\n{\"done\":true,\"eval_count\":298}\n", 298},
	{"eval_count", "application/x-ndjson", "oh\n{\"eval_count\":298}", 298},
};

static const struct {
	const char *type, *encoding;
	bool scans;
} KINDS[] = {
	{JSON, "", true},
	{JSON, "identity", true},
	{JSON, "Identity", true},
	{JSON, "gzip", false},
	{EVENTS, "br", false},
	{"text/html", "", false},
	{"", "", false},
	{EVENTS "; charset=utf-8", "", true},
	{"application/jsonp", "", false},
	{"Text/Event-Stream", "", true},
};

static int64_t scan(const char *name, const char *type, struct text body, unsigned seed)
{
	struct usage_scan scan;
	uint32_t amount;

	if (!usage_scan_begin(&scan, text_of(type), TEXT(""), text_of(name)))
		return -2;
	for (size_t at = 0; at < body.size;) {
		size_t size = seed ? (size_t)rand_r(&seed) % 6 : body.size;
		if (size > body.size - at)
			size = body.size - at;
		char *copy = malloc(size + 1);
		memcpy(copy, body.data + at, size);
		usage_scan_feed(&scan, copy, size);
		free(copy);
		at += size;
	}
	return usage_scan_found(&scan, &amount) ? (int64_t)amount : -1;
}

static void far(void)
{
	static char block[1 << 20];
	struct usage_scan scan;
	uint32_t amount;
	static const char text[] = "data: {\"usage\":{\"total_tokens\":7}}\n\n";

	memset(block, 'x', sizeof block);
	block[sizeof block - 1] = '\n';
	for (unsigned mebibytes = 63; mebibytes <= 64; mebibytes++) {
		usage_scan_begin(&scan, TEXT(EVENTS), TEXT(""), TEXT(USED));
		for (unsigned i = 0; i < mebibytes; i++)
			usage_scan_feed(&scan, block, sizeof block);
		usage_scan_feed(&scan, text, sizeof text - 1);
		is_u64(usage_scan_found(&scan, &amount), mebibytes < 64, "64 MB are looked at, and no more");
	}
	usage_scan_begin(&scan, TEXT(EVENTS), TEXT(""), TEXT(USED));
	usage_scan_feed(&scan, text, sizeof text - 1);
	for (unsigned i = 0; i < 65; i++)
		usage_scan_feed(&scan, block, sizeof block);
	ok(usage_scan_found(&scan, &amount) && amount == 7, "what was found before stands");
}

/* Pieces of a stream in any order: cut as one likes, the same is found. */
static void random_streams(void)
{
	static const char *const parts[] = {"data: ",
					    "data:",
					    "\n",
					    "\n\n",
					    "\r\n",
					    "\r",
					    "{\"usage\":",
					    "{\"total_tokens\":",
					    "5",
					    "17",
					    "}}",
					    "}}\n\n",
					    "[DONE]",
					    "event: x",
					    "dat",
					    "a: ",
					    ": ",
					    ",",
					    "\xef\xbb\xbf",
					    "{\"usage\":{\"total_tokens\":3}}",
					    "\"total_tokens\":4}}"};
	unsigned seed = 1, wrong = 0, found = 0;

	for (int i = 0; i < 100000; i++) {
		char body[1024];
		size_t size = 0;
		for (int n = rand_r(&seed) % 16; n >= 0; n--)
			size += (size_t)snprintf(body + size, sizeof body - size, "%s",
						 parts[rand_r(&seed) % 21]);
		const char *type = i % 4 ? EVENTS : i % 8 ? JSON : "application/x-ndjson";
		int64_t whole = scan(USED, type, (struct text){body, size}, 0);
		found += whole >= 0;
		for (int n = 0; n < 3; n++)
			wrong += scan(USED, type, (struct text){body, size}, 1 + (unsigned)rand_r(&seed)) !=
				 whole;
	}
	is_u64(wrong, 0, "100,000 random streams, each cut in three ways");
	note("%u with an amount", found);
	ok(found > 3000, "... many of them with an amount");
}

int main(void)
{
	for (size_t i = 0; i < sizeof ANSWERS / sizeof *ANSWERS; i++) {
		struct text body = text_of(ANSWERS[i].body);
		unsigned other = 0;
		is_u64(scan(ANSWERS[i].name, ANSWERS[i].type, body, 0), ANSWERS[i].amount, ANSWERS[i].body);
		for (unsigned seed = 1; seed < 30; seed++)
			other += scan(ANSWERS[i].name, ANSWERS[i].type, body, seed) != ANSWERS[i].amount;
		is_u64(other, 0, "... in pieces, too");
	}
	for (size_t i = 0; i < sizeof KINDS / sizeof *KINDS; i++) {
		struct usage_scan scan;
		is_u64(usage_scan_begin(&scan, text_of(KINDS[i].type), text_of(KINDS[i].encoding), TEXT("n")),
		       KINDS[i].scans, KINDS[i].type);
	}
	far();
	random_streams();
	return done_testing();
}
