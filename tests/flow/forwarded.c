/* SPDX-License-Identifier: BSD-2-Clause */
/* forwarded: nobody outside the trusted list chooses their own address (mission B10, C16). */
#include "flow/forwarded.h"
#include "tests/flow/door.h"

/* 10/8, fd00::/8 and the loopback address are ours */
static struct {
	struct image image;
	struct network networks[3];
	char header[16];
} ours = {.header = "x-real-ip"};

static void trust(void)
{
	static const char *const names[] = {"10.0.0.0/8", "fd00::/8", "127.0.0.1"};
	char why[128];

	for (size_t i = 0; i < 3; i++)
		if (!network_parse(text_of(names[i]), &ours.networks[i], why, sizeof why))
			abort();
	ours.image.trusted.offset = offsetof(__typeof__(ours), networks);
	ours.image.trusted.count = (uint32_t)networks_sort(ours.networks, 3);
}

static const char *client_of(struct door *door, uint32_t from, bool *untrusted)
{
	static char text[ADDRESS_TEXT_MAX];
	static struct flow flow;
	struct flow_env env = {.image = &ours.image};
	struct algo_time time = {0};

	ours.image.address_from = from;
	ours.image.address_header = (struct image_text){offsetof(__typeof__(ours), header), 9};
	flow_begin(&flow, &env, &door->request, &time, true, false);
	flow_identity(&flow);
	*untrusted = flow.untrusted_forward;
	if (!flow.has_client)
		return "unix:";
	address_format(&flow.client, text);
	return text;
}

#define XFF   IMAGE_FROM_X_FORWARDED_FOR
#define FWD   IMAGE_FROM_FORWARDED
#define HDR   IMAGE_FROM_HEADER
#define PEER  IMAGE_FROM_PEER
#define PROXY IMAGE_FROM_PROXY_PROTOCOL

static const struct {
	const char *peer;
	uint32_t from;
	const char *headers, *client;
	bool untrusted;
} table[] = {
	/* the peer itself */
	{"203.0.113.9", PEER, "", "203.0.113.9", false},
	{"203.0.113.9", PEER, "X-Forwarded-For: 1.2.3.4", "203.0.113.9", true},
	{"203.0.113.9", PEER, "Forwarded: for=1.2.3.4", "203.0.113.9", true},
	{"203.0.113.9", PEER, "X-Forwarded-For:", "203.0.113.9", false},
	{"203.0.113.9", PEER, "X-Real-IP: 1.2.3.4", "203.0.113.9", false},
	{"10.0.0.1", PEER, "X-Forwarded-For: 1.2.3.4", "10.0.0.1", false},
	{NULL, PEER, "", "unix:", false},
	/* X-Forwarded-For from someone who is not trusted */
	{"203.0.113.9", XFF, "X-Forwarded-For: 1.2.3.4", "203.0.113.9", true},
	{"203.0.113.9", XFF, "X-Forwarded-For: 10.0.0.7", "203.0.113.9", true},
	{"203.0.113.9", XFF, "Forwarded: for=1.2.3.4", "203.0.113.9", true},
	{"203.0.113.9", XFF, "", "203.0.113.9", false},
	/* through one proxy */
	{"10.0.0.1", XFF, "X-Forwarded-For: 1.2.3.4", "1.2.3.4", false},
	{"10.0.0.1", XFF, "", "10.0.0.1", false},
	{"10.0.0.1", XFF, "X-Forwarded-For:", "10.0.0.1", false},
	{"10.0.0.1", XFF, "Forwarded: for=1.2.3.4", "10.0.0.1", false},
	{"::ffff:10.0.0.1", XFF, "X-Forwarded-For: ::ffff:1.2.3.4", "1.2.3.4", false},
	{"fd00::1", XFF, "X-Forwarded-For: 2001:db8::7", "2001:db8::7", false},
	{"10.0.0.1", XFF, "X-Forwarded-For: [2001:db8::7]:4711", "2001:db8::7", false},
	{"10.0.0.1", XFF, "X-Forwarded-For: 1.2.3.4:4711", "1.2.3.4", false},
	{"10.0.0.1", XFF, "X-Forwarded-For: \t 1.2.3.4 \t", "1.2.3.4", false},
	{"127.0.0.1", XFF, "X-Forwarded-For: 1.2.3.4", "1.2.3.4", false},
	{NULL, XFF, "X-Forwarded-For: 1.2.3.4", "1.2.3.4", false},
	{NULL, XFF, "X-Forwarded-For: nonsense", "unix:", false},
	/* what the client claims stands further left */
	{"10.0.0.1", XFF, "X-Forwarded-For: 9.9.9.9, 1.2.3.4", "1.2.3.4", false},
	{"10.0.0.1", XFF, "X-Forwarded-For: 10.0.0.5, 1.2.3.4", "1.2.3.4", false},
	{"10.0.0.1", XFF, "X-Forwarded-For: 9.9.9.9\nX-Forwarded-For: 1.2.3.4", "1.2.3.4", false},
	{"10.0.0.1", XFF, "X-Forwarded-For: \"9.9.9.9, 1.2.3.4", "1.2.3.4", false},
	{"10.0.0.1", XFF, "X-Forwarded-For: 9.9.9.9,, 1.2.3.4", "1.2.3.4", false},
	{"10.0.0.1", XFF, "X-Forwarded-For: 1.2.3.4,", "1.2.3.4", false},
	/* through several */
	{"10.0.0.1", XFF, "X-Forwarded-For: 9.9.9.9, 1.2.3.4, 10.0.0.2", "1.2.3.4", false},
	{"10.0.0.1", XFF, "X-Forwarded-For: 1.2.3.4\nX-Forwarded-For: 10.0.0.2, fd00::2", "1.2.3.4", false},
	{"10.0.0.1", XFF, "X-Forwarded-For: 10.0.0.3, 10.0.0.2", "10.0.0.3", false},
	/* an entry that is no address: the last good one */
	{"10.0.0.1", XFF, "X-Forwarded-For: 1.2.3.4, unknown", "10.0.0.1", false},
	{"10.0.0.1", XFF, "X-Forwarded-For: 1.2.3.4, unknown, 10.0.0.2", "10.0.0.2", false},
	{"10.0.0.1", XFF, "X-Forwarded-For: 1.2.3.4, 010.0.0.2", "10.0.0.1", false},
	{"10.0.0.1", XFF, "X-Forwarded-For: 1.2.3.4 5.6.7.8", "10.0.0.1", false},
	/* Forwarded, RFC 7239 */
	{"203.0.113.9", FWD, "Forwarded: for=1.2.3.4", "203.0.113.9", true},
	{"10.0.0.1", FWD, "Forwarded: for=1.2.3.4", "1.2.3.4", false},
	{"10.0.0.1", FWD, "X-Forwarded-For: 1.2.3.4", "10.0.0.1", false},
	{"10.0.0.1", FWD, "Forwarded: For=\"[2001:db8:cafe::17]:4711\"", "2001:db8:cafe::17", false},
	{"10.0.0.1", FWD, "Forwarded: for=192.0.2.60;proto=http;by=203.0.113.43", "192.0.2.60", false},
	{"10.0.0.1", FWD, "Forwarded: proto=http; by=203.0.113.43 ; FOR=192.0.2.60", "192.0.2.60", false},
	{"10.0.0.1", FWD, "Forwarded: for=\"192.0.2.43:47011\"", "192.0.2.43", false},
	{"10.0.0.1", FWD, "Forwarded: for=\"\\1\\92.0.2.43\"", "192.0.2.43", false},
	{"10.0.0.1", FWD, "Forwarded: host=\"a,b;for=9.9.9.9\";for=1.2.3.4", "1.2.3.4", false},
	{"10.0.0.1", FWD, "Forwarded: for=9.9.9.9, for=1.2.3.4, for=10.0.0.2", "1.2.3.4", false},
	{"10.0.0.1", FWD, "Forwarded: for=9.9.9.9\nForwarded: for=1.2.3.4", "1.2.3.4", false},
	{"10.0.0.1", FWD, "Forwarded: for=\"9.9.9.9, for=1.2.3.4", "1.2.3.4", false},
	{"10.0.0.1", FWD, "Forwarded: x=\"\\, for=\"1.2.3.4\"", "1.2.3.4", false},
	{"10.0.0.1", FWD, "Forwarded: for=1.2.3.4;", "1.2.3.4", false},
	{"10.0.0.1", FWD, "Forwarded: for=unknown", "10.0.0.1", false},
	{"10.0.0.1", FWD, "Forwarded: for=_hidden, for=10.0.0.2", "10.0.0.2", false},
	{"10.0.0.1", FWD, "Forwarded: for=\"_gazonk\"", "10.0.0.1", false},
	{"10.0.0.1", FWD, "Forwarded: by=1.2.3.4", "10.0.0.1", false},
	{"10.0.0.1", FWD, "Forwarded: for=1.2.3.4;for=5.6.7.8", "10.0.0.1", false},
	{"10.0.0.1", FWD, "Forwarded: for=\"1.2.3.4", "10.0.0.1", false},
	{"10.0.0.1", FWD, "Forwarded: for=\"1.2.3.4\"x", "10.0.0.1", false},
	{"10.0.0.1", FWD, "Forwarded: for", "10.0.0.1", false},
	{"10.0.0.1", FWD, "Forwarded: for=", "10.0.0.1", false},
	{"10.0.0.1", FWD, "Forwarded: for=1.2.3.4, for=\"\\", "10.0.0.1", false},
	{"10.0.0.1", FWD,
	 "Forwarded: for=\"11111111111111111111111111111111111111111111111111111111111111111111111111\"",
	 "10.0.0.1", false},
	/* a header with one address */
	{"10.0.0.1", HDR, "X-Real-IP: 1.2.3.4", "1.2.3.4", false},
	{"203.0.113.9", HDR, "X-Real-IP: 1.2.3.4", "203.0.113.9", true},
	{"10.0.0.1", HDR, "X-Real-IP: 1.2.3.4, 5.6.7.8", "10.0.0.1", false},
	{"10.0.0.1", HDR, "X-Real-IP: 1.2.3.4\nX-Real-IP: 5.6.7.8", "10.0.0.1", false},
	{"10.0.0.1", HDR, "X-Forwarded-For: 5.6.7.8", "10.0.0.1", false},
	/* the PROXY protocol; P: is what it said */
	{"10.0.0.1", PROXY, "P:1.2.3.4", "1.2.3.4", false},
	{"10.0.0.1", PROXY, "X-Forwarded-For: 5.6.7.8", "10.0.0.1", false},
	{"203.0.113.9", PROXY, "P:1.2.3.4", "203.0.113.9", true},
	{NULL, PROXY, "P:1.2.3.4", "1.2.3.4", false},
	{"10.0.0.1", XFF, "P:1.2.3.4", "10.0.0.1", false},
};

static void tables(void)
{
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		struct door door;
		bool untrusted;
		char what[512];

		door_open(&door, "GET", "/", table[i].peer);
		if (strncmp(table[i].headers, "P:", 2) == 0) {
			door.request.proxied = door_address(table[i].headers + 2);
			door.request.has_proxied = true;
		} else {
			door_add_lines(&door, table[i].headers);
		}
		snprintf(what, sizeof what, "%s: %s",
			 table[i].peer ? table[i].peer : "unix:", table[i].headers);
		for (char *c = what; *c; c++)
			*c = *c == '\n' ? '|' : *c;
		is_str(client_of(&door, table[i].from, &untrusted), table[i].client, what);
		ok(untrusted == table[i].untrusted,
		   untrusted ? "... is noticed" : "... is nothing to notice");
	}
}

/* Whatever a client puts before what the first trusted proxy wrote, in its line or in lines before, it stays
 * who it is. */
static void forgeries(void)
{
	static const char *const pieces[] = {"9.9.9.9", "10.0.0.9", ",", " ",	    "\"",      "\\",
					     "for=",	";",	    "=", "unknown", "fd00::1", "[",
					     "]",	"::",	    ":", "for=\"",  "\"",      "by=_x"};
	static const struct {
		uint32_t from;
		const char *name, *tail;
	} honest[] = {
		{XFF, "X-Forwarded-For", ", 1.2.3.4, 10.0.0.2"},
		{FWD, "Forwarded", ", for=1.2.3.4;proto=https, for=\"[fd00::7]:80\""},
		{FWD, "Forwarded", ", host=\"a,\\\"b\";for=\"1.2.3.4\""},
	};
	size_t wrong = 0;

	for (int round = 0; round < 100000; round++) {
		char forged[3][512], last[1024];
		struct door door;
		bool untrusted;

		door_open(&door, "GET", "/", "10.0.0.1");
		size_t which = pick(3), lines = pick(3);
		for (size_t line = 0; line <= lines; line++) {
			size_t used = 0;
			forged[line][0] = '\0';
			for (size_t n = pick(12); n; n--)
				used += (size_t)sprintf(forged[line] + used, "%s", pieces[pick(18)]);
			if (line < lines)
				door_add(&door, honest[which].name, forged[line]);
		}
		snprintf(last, sizeof last, "%s%s", forged[lines], honest[which].tail);
		door_add(&door, honest[which].name, last);
		if (strcmp(client_of(&door, honest[which].from, &untrusted), "1.2.3.4") != 0 && wrong++ == 0)
			note("%s", last);
	}
	is_u64(wrong, 0, "100,000 forged beginnings change nothing");
}

static void many(void)
{
	static char line[65536];
	struct door door;
	bool untrusted;
	size_t used = (size_t)sprintf(line, "1.2.3.4");

	for (int i = 0; i < 63; i++)
		used += (size_t)sprintf(line + used, ", 10.0.0.%d", 63 - i);
	door_open(&door, "GET", "/", "10.0.0.1");
	door_add(&door, "X-Forwarded-For", line);
	is_str(client_of(&door, XFF, &untrusted), "1.2.3.4", "a client behind 63 proxies is found");
	sprintf(line + used, ", 10.0.1.1");
	door.values[0] = text_of(line);
	is_str(client_of(&door, XFF, &untrusted), "10.0.0.63", "behind 64 the walk ends");
	memset(line, ',', 60000);
	sprintf(line + 60000, "10.0.0.8");
	door.values[0] = text_of(line);
	is_str(client_of(&door, XFF, &untrusted), "10.0.0.8", "60,000 empty entries are not walked");
	for (int lines = 1; lines <= DOOR_HEADERS; lines++) {
		door_open(&door, "GET", "/", "10.0.0.1");
		for (int i = 1; i < lines; i++)
			door_add(&door, "X-Forwarded-For", "9.9.9.9");
		door_add(&door, "X-Forwarded-For", "1.2.3.4");
		if (strcmp(client_of(&door, XFF, &untrusted), "1.2.3.4") != 0)
			break;
		if (lines == DOOR_HEADERS)
			ok(true, "the last of 1 to 128 lines is found");
	}
}

int main(void)
{
	trust();
	tables();
	forgeries();
	many();
	return done_testing();
}
