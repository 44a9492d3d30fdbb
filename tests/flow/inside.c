/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * inside: limits that look into the body. One account has one bucket, in whatever way the body says it, and the body is read once,
 * however many limits ask.
 */
#include "tests/flow/steps.h"

#define LOGIN "POST /login from 1.2.3.4 | Content-Type: "
#define FORM  LOGIN "application/x-www-form-urlencoded"
#define JSON  LOGIN "application/json"
#define PART  "Content-Disposition: form-data; name=\"username\""

/* Who guesses passwords of one account sends what the gate reads as junk and the application as the account: none gets through. */
static void accounts(void)
{
	static const struct {
		const char *line, *body, *how;
	} attempts[] = {
		{FORM, "{\"username\":\"junk%d\",\"z\":\"&username=victim&q=\"}",
		 "JSON to Go, and a form to PHP"},
		{FORM, "{\"z\":\"&username=victim&q=%d\"}", "... whose JSON has no such field"},
		{LOGIN "multipart/form-data; boundary=A; boundary*=us-ascii''B",
		 "--A\r\n" PART "\r\n\r\njunk%d\r\n--A--\r\n--B\r\n" PART "\r\n\r\nvictim\r\n--B--\r\n",
		 "two boundaries, one as RFC 2231 has it"},
		{LOGIN "multipart/form-data; boundary=A; boundary*0=B",
		 "--A\r\n" PART "\r\n\r\njunk%d\r\n--A--\r\n--B\r\n" PART "\r\n\r\nvictim\r\n--B--\r\n",
		 "... in pieces"},
		{FORM "; charset=utf-7", "username=victi%%2BAG0-%d", "UTF-7"},
		{LOGIN "application/json; charset=utf-16", "{\"username\":\"junk%d\"}", "UTF-16"},
		{LOGIN "multipart/form-data; boundary=A",
		 "--A\r\n" PART
		 "\r\nContent-Type: text/plain; charset=utf-7\r\n\r\nvicti+AG0-%d\r\n--A--\r\n",
		 "UTF-7 in a part"},
		{FORM, "username=%%u0076ictim%d", "ASP's escapes"},
		{FORM, "username=junk%d&%%u0075sername=victim", "... in the name"},
		{FORM " | Content-Encoding: gzip", "username=junk%d", "compressed"},
		{FORM " | Content-Type: application/json", "username=junk%d", "two types"},
	};

	for (size_t i = 0; i < sizeof attempts / sizeof *attempts; i++)
		STEPS(attempts[i].how,
		      "limits: {login: {match: POST /login, key: body.username, missing: deny, rate: "
		      "2/hour}}\n",
		      {0, attempts[i].line, attempts[i].body, 5, 0, "MISSING"},
		      {0, FORM, "username=honest", 3, 2, NULL});
	STEPS("one account",
	      "limits: {login: {match: POST /login, key: body.username, missing: deny, rate: 3/hour}}\n",
	      {0, FORM, "username=victim&n=%d", 1, 1, NULL},
	      {0, JSON, "{\"username\":\"VICTIM\",\"n\":%d}", 1, 1, NULL},
	      {0, FORM, "{\"username\":\"victim\"}", 1, 1, NULL},
	      {0, FORM "; charset=utf-8", "{\"username\":\"victim\",\"z\":\"&username=victim&\"}", 1, 0,
	       NULL});
}

/* Nobody tries accounts for free by making them unreadable: each such body is one more value. */
static void distinct(void)
{
	STEPS("values of one client",
	      "limits: {tries: {match: POST /login, rate: 5 distinct body.username/hour}}\n",
	      {0, FORM, "username=ann", 3, 3, NULL}, {0, FORM, "other=%d", 20, 20, NULL},
	      {0, FORM, "", 20, 20, NULL}, {0, FORM, "username=x&username=b%d", 2, 2, NULL},
	      {0, FORM " | Content-Encoding: gzip", "c%d", 1, 1, NULL},
	      {0, FORM "; charset=utf-7", "username=d%d", 1, 1, NULL}, {0, FORM, "username=ann", 3, 3, NULL},
	      {0, FORM, "username=bob", 1, 0, NULL}, {0, FORM, "username=x&username=b%d", 2, 0, NULL},
	      {0, LOGIN "text/plain", "username=e%d", 1, 0, NULL},
	      {0, JSON, "{\"username\":[\"f%d\"]}", 1, 0, NULL},
	      {0, JSON, "{\"username\":\"f%d\"", 1, 0, NULL}, {0, FORM, "other=%d", 9, 9, NULL});
}

/* ---- read once ----------------------------------------------------------------------------------------- */

static unsigned looks; /* whether it is compressed: asked each time that it is read */

static bool counting(void *door, struct text name, unsigned nth, struct text *value)
{
	looks += nth == 0 && text_equal(name, TEXT("content-encoding"));
	return door_header(door, name, nth, value);
}

static void once(void)
{
	struct world world;
	static struct door door;
	static char room[8192];
	char policy[8192];
	size_t used = (size_t)sprintf(policy, "limits:\n");

	for (int i = 0; i < 8; i++)
		used += (size_t)sprintf(
			policy + used,
			"  l%d: {match: POST /, key: [body.a, body.b, body.user], missing: ip, rate: [9/s, "
			"90/min], then: {ban: 1min}}\n",
			i);
	sprintf(policy + used,
		"  batch: {match: POST /, key: body.user, missing: ip, rate: 90/s, cost: body.n}\n"
		"  names: {match: POST /, key: body.user, missing: ip, rate: 90 distinct body.a/s}\n");
	world_open_sized(&world, policy, UINT64_C(1) << 20);
	world_read("POST / from 1.2.3.4 | Content-Type: application/json", &door, room, sizeof room);
	door.request.header = counting;
	door.request.body = TEXT("{\"a\":1,\"b\":2,\"user\":\"u\",\"n\":3}");
	door.request.has_body = door.request.body_whole = true;
	is_str(flow_status_word(world_decide(&world, &door, true, false)->status), "PASSED",
	       "ten limits look into one body");
	is_u64(looks, 1, "... which is read once");
	world_close(&world);
}

/* Names beyond those that are kept are found all the same, each time. */
static void many(void)
{
	struct world world;
	static struct door door;
	static char room[8192];
	char policy[2048], body[1024], text[256];
	struct table_key keys[14];
	size_t same = 0, wrong = 0;

	sprintf(policy, "limits:\n");
	for (int i = 0; i < 4; i++)
		sprintf(policy + strlen(policy),
			"  l%d: {match: POST /, key: [body.f%d, body.f%d, body.f%d], missing: deny, rate: "
			"9/s}\n",
			i, 3 * i, 3 * i + 1, 3 * i + 2);
	world_open(&world, policy);
	for (int changed = 0; changed <= 12; changed++) {
		body[0] = '\0';
		for (int i = 0; i < 12; i++)
			sprintf(body + strlen(body), "f%d=%s%d&", i, i == changed ? "other" : "value", i);
		world_read("POST / from 1.2.3.4 | Content-Type: application/x-www-form-urlencoded", &door,
			   room, sizeof room);
		door.request.body = text_of(body);
		door.request.has_body = door.request.body_whole = true;
		world_decide(&world, &door, true, true);
		keys[changed] = world.flow->hits[3].key;
		text[flow_key_text(world.flow, &world.flow->hits[3], text, sizeof text - 1)] = '\0';
		wrong += strcmp(text, changed == 9    ? "other9, value10, value11"
				      : changed == 10 ? "value9, other10, value11"
				      : changed == 11 ? "value9, value10, other11"
						      : "value9, value10, value11") != 0;
	}
	for (int i = 0; i < 12; i++)
		same += memcmp(&keys[i], &keys[12], sizeof keys[i]) == 0;
	is_u64(same, 9, "twelve names: the last limit's key depends on its three");
	is_u64(wrong, 0, "... and says them");
	world_close(&world);
}

int main(void)
{
	accounts();
	distinct();
	once();
	many();
	return done_testing();
}
