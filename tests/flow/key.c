/* SPDX-License-Identifier: BSD-2-Clause */
/* key: what is one bucket, and what is not (T3, D2, D5, D6; mission B10, B11, B14). */
#include "flow/named.h"
#include "tests/flow/world.h"

static const struct {
	const char *key, *a, *b;
	bool same;
} table[] = {
	/* addresses */
	{"ip", "GET / from 1.2.3.4", "GET / from 1.2.3.4", true},
	{"ip", "GET / from 1.2.3.4", "GET / from 1.2.3.5", false},
	{"ip", "GET / from 1.2.3.4", "GET / from ::ffff:1.2.3.4", true},
	{"ip", "GET / from ::ffff:102:304", "GET / from 1.2.3.4", true},
	{"ip", "GET / from ::ffff:1.2.3.4", "GET / from ::ffff:1.2.3.5", false},
	{"ip", "GET / from 2001:db8::1", "GET / from 2001:db8::ffff:1.2.3.4", true},
	{"ip", "GET / from 2001:db8:0:1::1", "GET / from 2001:db8:0:2::1", false},
	{"ip", "GET / from ::1.2.3.4", "GET / from 1.2.3.4", false},
	{"ip", "GET /a from 1.2.3.4 | Cookie: a=b", "POST /b?c from 1.2.3.4", true},
	{"ip/24/56", "GET / from 1.2.3.4", "GET / from 1.2.3.200", true},
	{"ip/24/56", "GET / from 1.2.3.4", "GET / from 1.2.4.4", false},
	{"ip/24/56", "GET / from 2001:db8:0:1::1", "GET / from 2001:db8:0:ff::1", true},
	{"ip/24/56", "GET / from 2001:db8:0:1::1", "GET / from 2001:db8:0:100::1", false},
	{"ip/32/128", "GET / from 2001:db8::1", "GET / from 2001:db8::2", false},
	{"ip", "GET /", "GET /other", true},
	{"ip", "GET /", "GET / from ::", false},
	/* kinds and names are part of the key: 7 is not 7 */
	{"header.x-key | cookie.key | ip", "GET / from 1.2.3.4 | X-Key: 7",
	 "GET / from 1.2.3.4 | Cookie: key=7", false},
	{"header.x-a | header.x-b | ip", "GET / from 1.2.3.4 | X-A: 7", "GET / from 1.2.3.4 | X-B: 7", false},
	{"header.x-key | ip", "GET / from 1.2.3.4 | X-Key: 1.2.3.4", "GET / from 1.2.3.4", false},
	{"query.k | cookie.k | ip", "GET /?k=7 from 1.2.3.4", "GET / from 1.2.3.4 | Cookie: k=7", false},
	{"header.x-key | ip", "GET / from 1.2.3.4 | X-Key: 7", "GET / from 5.6.7.8 | X-Key: 7", true},
	{"header.x-key | ip", "GET / from 1.2.3.4 | X-Key: 7", "GET / from 1.2.3.4 | X-Key: 8", false},
	/* combinations: no two of them run together */
	{"[header.x-a, header.x-b]", "GET / | X-A: a | X-B: bc", "GET / | X-A: ab | X-B: c", false},
	{"[header.x-a, header.x-b]", "GET / | X-A: a | X-B: bc", "GET / | X-B: bc | X-A: a", true},
	{"[header.x-a, header.x-b]", "GET / | X-A: 7 | X-B: 8", "GET / | X-A: 8 | X-B: 7", false},
	{"[ip, path]", "GET /a from 1.2.3.4", "GET /b from 1.2.3.4", false},
	{"[ip, path]", "GET /a from 1.2.3.4", "GET /a from 1.2.3.5", false},
	{"[ip, path]", "GET /a from 1.2.3.4", "GET //A/?x from 1.2.3.4", true},
	/* missing and empty are the same; whitespace around a value is not the value */
	{"header.x-key | ip", "GET / from 1.2.3.4 | X-Key:", "GET / from 1.2.3.4", true},
	{"header.x-key | ip", "GET / from 1.2.3.4 | X-Key:  \t ", "GET / from 1.2.3.4", true},
	{"header.x-key | ip", "GET / | X-Key: 7", "GET / | x-kEY:\t7 ", true},
	{"header.x-key | ip", "GET / | X-Key: a", "GET / | X-Key: A", false},
	/* several: equal ones are one, those that differ are none */
	{"header.x-key | ip", "GET / | X-Key: 7 | X-Key: 7 ", "GET / | X-Key: 7", true},
	{"header.x-key | ip", "GET / | X-Key: | X-Key: 8", "GET / | X-Key: 8", true},
	{"header.x-key | ip", "GET / | X-Key: 7 | X-Key: 8", "GET /", true},
	{"header.x-key | ip", "GET / | X-Key: 7 | X-Key: 77", "GET /", true},
	{"header.x-key | ip", "GET / | X-Key: 7, 8", "GET / | X-Key: 7", false},
	{"[header.x-a | header.x-b, ip]", "GET / | X-A: 7 | X-B: 8 | X-A: 9", "GET / | X-B: 8", true},
	/* cookies (RFC 6265) */
	{"cookie.sid | ip", "GET / | Cookie: sid=7", "GET / | Cookie: a=b; sid=7; c=d", true},
	{"cookie.sid | ip", "GET / | Cookie: sid=7", "GET / | Cookie: a=b | Cookie: sid=7", true},
	{"cookie.sid | ip", "GET / | Cookie: sid=7", "GET / | Cookie: a=b;sid = 7 ", true},
	{"cookie.sid | ip", "GET / | Cookie: sid=7", "GET / | Cookie: sid=\"7\"", true},
	{"cookie.sid | ip", "GET / | Cookie: sid=ab", "GET / | Cookie: sid=%61%62", true},
	{"cookie.sid | ip", "GET / | Cookie: sid=a+b", "GET / | Cookie: sid=a%2Bb", true},
	{"cookie.sid | ip", "GET / | Cookie: sid=7; sid=8", "GET /", true},
	{"cookie.sid | ip", "GET / | Cookie: sid=7 | Cookie: sid=8", "GET /", true},
	{"cookie.sid | ip", "GET / | Cookie: sid=7; sid=%37; a=b; sid=\"7\"", "GET / | Cookie: sid=7", true},
	{"cookie.sid | ip", "GET / | Cookie: sid=; sid=8", "GET / | Cookie: sid=8", true},
	{"cookie.sid | ip", "GET / | Cookie: SID=7", "GET /", true},
	{"cookie.sid | ip", "GET / | Cookie: xsid=7", "GET /", true},
	{"cookie.sid | ip", "GET / | Cookie: sid", "GET /", true},
	{"cookie.sid | ip", "GET / | Cookie: sid=a=b", "GET / | Cookie: sid=a", false},
	{"cookie.sid | ip", "GET / | Cookie: sid=x7\"", "GET / | Cookie: sid=7", false},
	/* a value that spells what stands between two parts: kind 4, a name of one byte, b, and no length */
	{"[query.a, query.b]", "GET /?a=x&b=y%04%01%00%00%00b%00%00%00%00z",
	 "GET /?a=x%04%01%00%00%00b%00%00%00%00y&b=z", false},
	{"cookie.sid | ip", "GET / | Cookie: sid=\"", "GET / | Cookie: sid=%22", true},
	/* query parameters */
	{"query.k | ip", "GET /?k=7", "GET /x?a=b&k=7&c", true},
	{"query.k | ip", "GET /?k=7", "GET /?%6b=%37", true},
	{"query.k | ip", "GET /?k=a+b", "GET /?k=a%20b", true},
	{"query.k | ip", "GET /?k=7&k=8", "GET /", true},
	{"query.k | ip", "GET /?k=7&a&k=%37", "GET /?k=7", true},
	{"query.k | ip", "GET /?k=&k=8", "GET /?k=8", true},
	/* ... whose names are those of a form */
	{"query.k | ip", "GET /?K=7", "GET /?k=7", true},
	{"query.k | ip", "GET /?k[]=7", "GET /?k=7", true},
	{"query.k | ip", "GET /?k%5B0%5D=7", "GET /?k=7", true},
	{"query.k | ip", "GET /?k=7&k[]=8", "GET /", true},
	{"query.k | ip", "GET /?k=7&%20k%00x=8", "GET /", true},
	{"query.a.b | ip", "GET /?a[b]=7", "GET /?a.b=7", true},
	{"query.k | ip", "GET /?k[a]=7", "GET /", true},
	{"query.k | ip", "GET /?kk=7", "GET /", true},
	{"query.k | ip", "GET /?k", "GET /", true},
	{"query.k | ip", "GET /?k=%2537", "GET /?k=%37", false},
	{"query.k | ip", "GET /?k=7#x", "GET /?k=7", true},
	{"query.k | ip", "GET /#?k=7", "GET /", true},
	/* host, method, path, variable, site */
	{"host", "GET / | Host: Example.com:80", "GET / | Host: example.com.", true},
	{"host", "GET / | Host: a.example", "GET / | Host: b.example", false},
	{"host", "GET http://a.example/ | Host: b.example", "GET / | Host: a.example", true},
	{"method", "GET /", "HEAD /", true},
	{"method", "GET /", "POST /", false},
	{"method", "FOO /", "BAR /", true},
	{"method", "FOO /", "GET /", false},
	{"path", "GET /login", "GET /a/../LOGIN;x/?y", true},
	{"path", "GET /login", "GET /logins", false},
	{"var.plan | ip", "GET / | $plan=gold", "GET / | $plan=gold", true},
	{"var.plan | ip", "GET / | $plan=gold", "GET / | $plan=tin", false},
	{"var.plan | ip", "GET / | $plan=", "GET /", true},
	{"site", "GET /a from 1.2.3.4", "POST /b from 5.6.7.8", true},
};

static struct table_key key_of(struct world *world, const char *line)
{
	world_ask(world, line);
	if (world->flow->hit_count != 1)
		abort();
	return world->flow->hits[0].key;
}

static bool same(struct table_key a, struct table_key b)
{
	return a.tag_word == b.tag_word && a.line_word == b.line_word;
}

static void tables(void)
{
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		struct world world;
		char policy[256], what[512];
		uint64_t digest;

		snprintf(policy, sizeof policy, "limits:\n  one: {key: %s, missing: ip, rate: 1000/s}\n",
			 table[i].key);
		if (strstr(table[i].key, "| ip") || strcmp(table[i].key, "ip") == 0 ||
		    !strchr(table[i].key, '['))
			snprintf(policy, sizeof policy, "limits:\n  one: {key: %s, rate: 1000/s}\n",
				 table[i].key);
		world_open(&world, policy);
		struct table_key a = key_of(&world, table[i].a);
		digest = world.flow->key_digest;
		struct table_key b = key_of(&world, table[i].b);
		snprintf(what, sizeof what, "%s: %s  %s  %s", table[i].key, table[i].a,
			 table[i].same ? "is" : "is not", table[i].b);
		ok(same(a, b) == table[i].same, what);
		ok(world.flow->verdict.limit_index == FLOW_NONE ||
			   (digest == world.flow->key_digest) == table[i].same,
		   "... and so says the digest");
		world_close(&world);
	}
}

/* Values of every length, at both sides of every seam, are whole in the key: the last byte counts. */
static void long_values(void)
{
	struct world world;
	static char value[20001], cookie[60100];
	size_t wrong = 0, lengths = 0, spelt = 0;

	world_open(&world, "limits:\n  one: {key: header.x-key | cookie.k | ip, rate: 1000/s}\n");
	for (size_t size = 1; size <= 20000; size += size < 1200 ? 1 : 997, lengths++) {
		struct table_key keys[3];
		struct door door;

		memset(value, 'x', size);
		for (int i = 0; i < 3; i++) {
			door_open(&door, "GET", "/", "1.2.3.4");
			value[size - 1] = "aba"[i];
			door.names[0] = TEXT("X-Key");
			door.values[0] = (struct text){value, size};
			door.count = 1;
			world_decide(&world, &door, true, false);
			keys[i] = world.flow->hits[0].key;
		}
		wrong += same(keys[0], keys[1]) || !same(keys[0], keys[2]);

		/* the same, plain and escaped */
		for (int i = 0; i < 2; i++) {
			size_t used = (size_t)sprintf(cookie, "k=");
			for (size_t c = 0; c < size; c++)
				used += (size_t)sprintf(cookie + used, i && c % 3 ? "%%%02x" : "%c",
							value[c]);
			door_open(&door, "GET", "/", "1.2.3.4");
			door.names[0] = TEXT("Cookie");
			door.values[0] = (struct text){cookie, used};
			door.count = 1;
			world_decide(&world, &door, true, false);
			keys[i] = world.flow->hits[0].key;
		}
		spelt += !same(keys[0], keys[1]) || same(keys[0], keys[2]);
	}
	is_u64(wrong, 0, "the last byte of a value counts, however long it is");
	is_u64(spelt, 0, "... and so for a value that is decoded on the way");
	ok(lengths > 1200, "... at more than 1,200 lengths");
	world_close(&world);
}

/* 65,536 addresses of one /64 are one client. */
static void one_client(void)
{
	struct world world;
	struct table_key first = {0, 0};
	size_t others = 0, allowed = 0;

	world_open(&world, "limits:\n  one: {key: ip, rate: 1/s, burst: 10}\n");
	for (unsigned i = 0; i < 65536; i++) {
		struct door door;
		char peer[64];

		snprintf(peer, sizeof peer, "2001:db8:1:2:%x:%x:%x:%x", i * 7919 & 0xffff, i, i ^ 0xffff,
			 i * 31 & 0xffff);
		door_open(&door, "GET", "/", peer);
		allowed += world_decide(&world, &door, true, false)->action == FLOW_PASS;
		if (i == 0)
			first = world.flow->hits[0].key;
		others += !same(first, world.flow->hits[0].key);
	}
	is_u64(others, 0, "65,536 addresses of one /64 have one key");
	is_u64(allowed, 10, "... and one allowance");
	world_close(&world);
}

/* A limit's rates, and limits of the same key, never share a counter. */
static void counters(void)
{
	struct world world;

	world_open(&world, "limits:\n  a: {key: ip, rate: [10/s, 100/hour]}\n  b: {key: ip, rate: 10/s}\n");
	world_ask(&world, "GET / from 1.2.3.4");
	is_u64(world.flow->hit_count, 3, "two limits with three rates are three counters");
	for (size_t i = 0; i < 3; i++)
		for (size_t j = 0; j < i; j++)
			ok(!same(world.flow->hits[i].key, world.flow->hits[j].key),
			   "... each with a key of its own");
	world_close(&world);
}

/* A value beside the real one, wherever the application looks, opens no bucket and hides none. */
static void repeats(void)
{
	static const struct {
		const char *policy, *line;
		unsigned pass;
		const char *then;
	} cases[] = {
		{"key: query.user, missing: deny, rate: 9/hour", "GET /?user=junk%d&user=victim", 0,
		 "MISSING"},
		{"key: query.user, missing: deny, rate: 9/hour", "GET /?user[]=junk%d&user=victim", 0,
		 "MISSING"},
		{"key: cookie.sid, missing: deny, rate: 9/hour", "GET / | Cookie: sid=junk%d; sid=real", 0,
		 "MISSING"},
		{"key: header.x-tenant, missing: deny, rate: 9/hour",
		 "GET / | X-Tenant: junk%d | X-Tenant: real", 0, "MISSING"},
		{"key: header.x-tenant, missing: ip, rate: 2/hour",
		 "GET / from 1.2.3.4 | X-Tenant: junk%d | X-Tenant: real", 2, "REJECTED"},
		{"rate: 2 distinct query.user/hour", "GET /?user=x&user=b%d from 1.2.3.4", 2, "REJECTED"},
		{"rate: 2 distinct query.user/hour", "GET /?user=x&user=x&n=%d from 1.2.3.4", 6, "PASSED"},
		{"rate: 2 distinct cookie.sid/hour", "GET / from 1.2.3.4 | Cookie: sid=x | Cookie: sid=b%d",
		 2, "REJECTED"},
		{"rate: 2 distinct header.x-k/hour", "GET / from 1.2.3.4 | X-K: x | X-K: b%d", 2, "REJECTED"},
		{"key: session, missing: deny, rate: 9/hour", "GET / | Cookie: id=junk%d; id=real", 0,
		 "MISSING"},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct world world;
		char policy[256], line[256];
		unsigned pass = 0;
		const char *then = "";

		snprintf(policy, sizeof policy, "clients: {session: cookie.id}\nlimits: {one: {%s}}\n",
			 cases[i].policy);
		world_open(&world, policy);
		for (int n = 0; n < 6; n++) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
			snprintf(line, sizeof line, cases[i].line, n);
#pragma GCC diagnostic pop
			then = world_says(&world, line);
			pass += world.flow->verdict.action == FLOW_PASS;
		}
		is_u64(pass, cases[i].pass, cases[i].line);
		is_str(then, cases[i].then, cases[i].policy);
		world_close(&world);
	}
}

/* Nobody makes us read header lines without end. */
static void many_lines(void)
{
	struct world world;

	world_open(&world, "limits: {one: {key: header.x-key, missing: deny, rate: 1000/s}}\n");
	for (size_t lines = NAMED_VALUES_MAX; lines <= NAMED_VALUES_MAX + 1; lines++) {
		struct door door;

		door_open(&door, "GET", "/", "1.2.3.4");
		for (size_t i = 0; i < lines; i++)
			door_add(&door, "X-Key", "7");
		is_str(world_status(&world, &door), lines == NAMED_VALUES_MAX ? "PASSED" : "MISSING",
		       "a hundred lines are read, and one more is too many");
		world_end(&world);
	}
	world_close(&world);
}

static const struct {
	const char *key, *line, *text;
} texts[] = {
	{"ip", "GET / from 1.2.3.4", "1.2.3.4"},
	{"ip", "GET / from 2001:db8::7", "2001:db8::/64"},
	{"ip/32/128", "GET / from 2001:db8::7", "2001:db8::7"},
	{"ip/8/100", "GET / from 1.2.3.4", "1.0.0.0/8"},
	{"ip/8/100", "GET / from 2001:db8::1", "2001:db8::/100"},
	{"ip", "GET /", "unix:"},
	{"header.x-key | ip", "GET / from 1.2.3.4 | X-Key: a\tb", "a\tb"},
	{"header.x-key | ip", "GET / from 1.2.3.4", "1.2.3.4"},
	{"[ip, path, query.q | cookie.c]", "GET /a?q=%41 from 1.2.3.4", "1.2.3.4, /a, A"},
	{"[ip, path, query.q | cookie.c]", "GET /a from 1.2.3.4", "1.2.3.4, /a, 1.2.3.4"},
};

static void reading(void)
{
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		struct world world;
		char policy[256], got[128];

		snprintf(policy, sizeof policy, "limits:\n  one: {key: %s, %s rate: 1000/s}\n", texts[i].key,
			 strchr(texts[i].key, '[') ? "missing: ip," : "");
		world_open(&world, policy);
		world_ask(&world, texts[i].line);
		got[flow_key_text(world.flow, &world.flow->hits[0], got, sizeof got - 1)] = '\0';
		is_str(got, texts[i].text, texts[i].key);
		is_u64(flow_key_text(world.flow, &world.flow->hits[0], got, 3), 3,
		       "... cut where the room ends");
		world_close(&world);
	}
}

int main(void)
{
	tables();
	long_values();
	one_client();
	counters();
	repeats();
	many_lines();
	reading();
	return done_testing();
}
