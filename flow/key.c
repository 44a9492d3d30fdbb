/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * key: under which key each counter counts this request.
 *
 * A part is hashed with its kind and name, so that `7` from a cookie is not `7` from a header, and an address
 * that stands in for a missing part is not a header that spells that address. Where a combination lacks one
 * part, `missing: ip` puts the address in its place and keeps the others; `anonymous` replaces the whole key:
 * one bucket.
 */
#include "flow/inside.h"
#include "flow/keybytes.h"
#include "flow/keywalk.h"
#include "flow/read.h"
#include "flow/usage.h"

#define KIND_ANONYMOUS 0xffu
#define KIND_PLAN      0xfeu
#define KIND_SEEN      0xfdu
#define KIND_DRAWN     0xfcu

/* The default prefix of an address that stands in for something else. */
static struct image_key_part address_part(const struct image *image)
{
	return (struct image_key_part){
		.kind = IMAGE_KEY_IP, .bits4 = 32, .bits6 = (uint16_t)image->ipv6_prefix};
}

/* HEAD counts as GET. Methods nobody has heard of count as one, or each would open a fresh bucket. */
static struct text method_text(const struct flow *flow)
{
	if (flow->subject.method == IMAGE_METHOD_OTHER)
		return TEXT("other");
	return text_equal(flow->request->method, TEXT("HEAD")) ? TEXT("GET") : flow->request->method;
}

static struct text path_text(const struct flow *flow, uint32_t clause_index)
{
	const struct image *image = flow->env->image;

	if (clause_index != UINT32_MAX) {
		const struct image_clause *clause = image_clause_at(image, clause_index);
		if ((clause->has & IMAGE_HAS_PATH) && read_path(image, clause->path)->exact)
			return flow->subject.path_exact;
	}
	return flow->subject.path_folded;
}

/* The policy's session: one cookie, or header. */
static enum named_said session(const struct flow *flow, struct named *out)
{
	const struct image *image = flow->env->image;
	const struct image_where *where = image_at(image, image->clients.session.offset);
	struct text name;

	if (!image->clients.session.count)
		return NAMED_NONE;
	name = image_text(image, where->name);
	return where->said == IMAGE_SAID_COOKIE ? named_cookie(flow->request, name, out)
						: named_header(flow->request, name, out);
}

static enum named_said body(const struct flow *flow, struct text name, struct named *out)
{
	const struct inside_answer *answer = inside_ask(flow, name, BODY_FIELD);

	out->raw = (struct text){answer->value.data, answer->value.size};
	return answer->said == BODY_FOUND  ? NAMED_FOUND
	       : answer->said == BODY_NONE ? NAMED_NONE
					   : NAMED_DOUBTFUL;
}

/* What a part says about this request; `masked` is room for it. */
static enum named_said resolve(const struct flow *flow, uint32_t clause, const struct image_key_part *part,
			       struct address *masked, struct named *out)
{
	const struct flow_request *request = flow->request;
	struct text name = image_text(flow->env->image, part->name);

	*out = (struct named){.coding = NAMED_PLAIN};
	switch ((enum image_key_kind)part->kind) {
	case IMAGE_KEY_SITE:
		return NAMED_FOUND;
	case IMAGE_KEY_IP: /* no address (a unix socket): all such requests are one client */
		if (flow->has_client) {
			*masked = flow->client;
			if (part->bits4 < 32 || !address_is_v4(masked))
				address_mask(masked, part->bits4, part->bits6);
			out->raw = (struct text){(const char *)masked->bytes, sizeof masked->bytes};
		}
		return NAMED_FOUND;
	case IMAGE_KEY_HEADER:
		return named_header(request, name, out);
	case IMAGE_KEY_COOKIE:
		return named_cookie(request, name, out);
	case IMAGE_KEY_QUERY:
		return named_query(flow->query, name, out);
	case IMAGE_KEY_HOST:
		out->raw = flow->subject.host;
		break;
	case IMAGE_KEY_PATH:
		out->raw = path_text(flow, clause);
		break;
	case IMAGE_KEY_METHOD:
		out->raw = method_text(flow);
		break;
	case IMAGE_KEY_ROUTE: /* a limit without clauses is one route */
		out->raw = clause == UINT32_MAX ? TEXT("*")
						: image_text(flow->env->image,
							     image_clause_at(flow->env->image, clause)->text);
		break;
	case IMAGE_KEY_API_KEY:
		if (!flow_who_field(&flow->who, name, &out->raw))
			return NAMED_NONE;
		break;
	case IMAGE_KEY_USER:
		out->raw = flow->who.user;
		break;
	case IMAGE_KEY_JWT:
		if (!flow->who.claims || !jwt_claim(flow->who.claims, name, &out->raw))
			return NAMED_NONE;
		break;
	case IMAGE_KEY_SESSION:
		return session(flow, out);
	case IMAGE_KEY_BODY:
		return body(flow, name, out);
	case IMAGE_KEY_VAR:
		if (!request->variable || !request->variable(request->door, name, &out->raw))
			return NAMED_NONE;
		break;
	}
	return out->raw.size ? NAMED_FOUND : NAMED_NONE;
}

struct key_walk key_walk_begin(const struct flow *flow, const struct flow_hit *hit)
{
	return (struct key_walk){
		.flow = flow, .hit = hit, .limit = image_limit_at(flow->env->image, hit->limit)};
}

bool key_walk_next(struct key_walk *walk)
{
	const struct image_key_part *parts = image_at(walk->flow->env->image, walk->limit->key.offset);
	uint32_t count = walk->limit->key.count, group;

	if (walk->at >= count)
		return false;
	group = parts[walk->at].alternative;
	walk->present = false;
	for (; walk->at < count && parts[walk->at].alternative == group; walk->at++) {
		if (walk->present)
			continue;
		walk->part = parts[walk->at];
		walk->present = resolve(walk->flow, walk->hit->clause, &walk->part, &walk->masked,
					&walk->value) == NAMED_FOUND;
	}
	if (!walk->present &&
	    (walk->limit->missing == IMAGE_MISSING_IP || walk->limit->missing == IMAGE_MISSING_NONE)) {
		/* NONE: a part the checker takes to be always there, such as the host, is not: never without
		 * a key */
		walk->part = address_part(walk->flow->env->image);
		resolve(walk->flow, walk->hit->clause, &walk->part, &walk->masked, &walk->value);
	}
	return true;
}

static void add_value(const struct flow *flow, struct keybytes *key, const struct image_key_part *part,
		      const struct named *value)
{
	char chunk[256];
	size_t at = 0, got;

	keybytes_part(key, (uint8_t)part->kind, image_text(flow->env->image, part->name), named_size(value));
	if (value->coding == NAMED_PLAIN) {
		keybytes_add(key, value->raw.data, value->raw.size);
		return;
	}
	while ((got = named_read(value, &at, chunk, sizeof chunk)))
		keybytes_add(key, chunk, got);
}

/* The client can say what it likes there: each value would be a counter of its own. */
static bool invented(const struct image_key_part *part)
{
	switch ((enum image_key_kind)part->kind) {
	case IMAGE_KEY_HEADER:
	case IMAGE_KEY_COOKIE:
	case IMAGE_KEY_QUERY:
	case IMAGE_KEY_HOST:
	case IMAGE_KEY_PATH:
	case IMAGE_KEY_VAR:
	case IMAGE_KEY_SESSION:
	case IMAGE_KEY_BODY:
		return true;
	default:
		return false;
	}
}

/* Clients of several plans can share the key: each plan has its own. */
static void add_plan(const struct flow *flow, const struct image_limit *limit, struct keybytes *key)
{
	const struct image *image = flow->env->image;
	const struct image_plan *plans = image_at(image, image->plans.offset);
	struct text name;

	if (!limit->plan_in_key || flow->who.plan >= image->plans.count)
		return;
	name = image_text(image, plans[flow->who.plan].name);
	keybytes_part(key, KIND_PLAN, TEXT(""), name.size);
	keybytes_add(key, name.data, name.size);
}

/* Fills `key` with the parts; says in *hit what became of one that is missing. True: the client can have made it up. */
static bool build(const struct flow *flow, struct flow_hit *hit, bool with_plan, struct keybytes *key)
{
	struct key_walk walk = key_walk_begin(flow, hit);
	bool free_choice = false;

	keybytes_begin(key, flow->env->table);
	if (with_plan)
		add_plan(flow, walk.limit, key);
	while (key_walk_next(&walk)) {
		if (!walk.present) {
			hit->missing = true;
			if (walk.limit->missing == IMAGE_MISSING_ANONYMOUS) {
				hit->anonymous = true;
				keybytes_begin(key, flow->env->table);
				keybytes_part(key, KIND_ANONYMOUS, TEXT(""), 0);
				return false;
			}
			if (walk.limit->missing == IMAGE_MISSING_SKIP ||
			    walk.limit->missing == IMAGE_MISSING_DENY) {
				hit->denied = walk.limit->missing == IMAGE_MISSING_DENY &&
					      hit->role != FLOW_ROLE_EXEMPT;
				if (!hit->denied)
					hit->role = FLOW_ROLE_SKIPPED;
				return false;
			}
		}
		free_choice |= walk.present && invented(&walk.part);
		add_value(flow, key, &walk.part, &walk.value);
	}
	return free_choice;
}

static void key_hit(const struct flow *flow, struct flow_hit *hit, bool with_plan)
{
	struct keybytes key;

	build(flow, hit, with_plan, &key);
	hit->key = keybytes_key(&key, image_counter_at(flow->env->image, hit->counter)->identity);
}

void flow_key_hit(struct flow *flow, struct flow_hit *hit)
{
	key_hit(flow, hit, true);
}

void flow_key_planless(const struct flow *flow, struct flow_hit *hit)
{
	key_hit(flow, hit, false);
}

uint64_t flow_key_digest(const struct flow *flow, const struct flow_hit *hit)
{
	return table_key_digest(flow->env->table, &hit->key, sizeof hit->key);
}

/* How many new keys an address may bring: under the address's own key. It takes part where the limit's key, which the client can
 * have made up, is in no slot yet. */
static void key_new(const struct flow *flow, struct flow_hit *hit, const struct flow_hit *main,
		    bool free_choice)
{
	const struct image_counter *counter = image_counter_at(flow->env->image, hit->counter);
	struct image_key_part part = address_part(flow->env->image);
	struct address masked;
	struct named value;
	struct keybytes key;
	struct table_look look;

	hit->new_key = false;
	if (main && free_choice && !main->missing) {
		table_peek(flow->env->table, &main->key, read_row(flow, main), &flow->time, main->cost,
			   &look);
		hit->new_key = !look.found;
	}
	if (!hit->new_key) {
		hit->role = FLOW_ROLE_SKIPPED;
		return;
	}
	if (counter->new_bits4) {
		part.bits4 = (uint16_t)counter->new_bits4;
		part.bits6 = (uint16_t)counter->new_bits6;
	}
	resolve(flow, hit->clause, &part, &masked, &value);
	keybytes_begin(&key, flow->env->table);
	add_value(flow, &key, &part, &value);
	hit->key = keybytes_key(&key, counter->identity);
}

/* A value that nobody else has: what is doubtful may be any, and whoever makes it so does not try for free. */
static struct table_key drawn(const struct flow *flow, const struct keybytes *key, uint64_t identity)
{
	struct flow_recorder *recorder = flow->env->recorder;
	const uint64_t words[] = {flow->time.now, recorder ? recorder->drawn : 0, (uintptr_t)flow};
	struct keybytes own = *key;

	if (recorder && !flow->dry)
		recorder->drawn++;
	keybytes_part(&own, KIND_DRAWN, TEXT(""), sizeof words);
	keybytes_add(&own, words, sizeof words);
	return keybytes_key(&own, identity);
}

/* `distinct`: has this value of it been counted under this key? Without a value there is nothing to count. */
static void key_seen(const struct flow *flow, struct flow_hit *hit, const struct keybytes *parts)
{
	const struct image *image = flow->env->image;
	const struct image_limit *limit = image_limit_at(image, hit->limit);
	const struct image_key_part *part = image_at(image, limit->distinct.offset);
	const struct image_counter *counter = image_counter_at(image, hit->counter);
	struct keybytes key = *parts;
	struct address masked;
	struct named value;
	struct table_look look;

	switch (resolve(flow, hit->clause, part, &masked, &value)) {
	case NAMED_NONE:
		hit->role = FLOW_ROLE_SKIPPED;
		return;
	case NAMED_DOUBTFUL:
		hit->seen_key = drawn(flow, &key, counter->identity);
		hit->seen = false;
		return;
	case NAMED_FOUND:
		break;
	}
	keybytes_part(&key, KIND_SEEN, TEXT(""), 0);
	add_value(flow, &key, part, &value);
	hit->seen_key = keybytes_key(&key, counter->identity);
	table_peek(flow->env->table, &hit->seen_key, counter->seen_row, &flow->time, 1, &look);
	hit->seen = look.found && !look.allowed;
}

/* A share of the keys is refused; the others are told what would be. Always the same ones, and more with a larger share. */
static bool in_share(const struct flow *flow, const struct flow_hit *hit, const struct image_limit *limit)
{
	return limit->percent == 0 || limit->percent >= 100 ||
	       flow_key_digest(flow, hit) % 100 < limit->percent;
}

void flow_key(struct flow *flow, bool without_body)
{
	const struct image *image = flow->env->image;
	struct keybytes key;
	const struct flow_hit *before = NULL, *main = NULL;
	bool free_choice = false;

	if (!without_body)
		inside_fill(flow);
	for (size_t i = 0; i < flow->hit_count; i++) {
		struct flow_hit *hit = &flow->hits[i];
		const struct image_limit *limit = image_limit_at(image, hit->limit);
		bool another = before && before->limit == hit->limit; /* counter of the same limit */

		if (hit->role == FLOW_ROLE_SKIPPED || (without_body && limit->needs_body))
			continue;
		if (another) {
			hit->missing = before->missing;
			hit->denied = before->denied;
			hit->role = before->role;
			hit->anonymous = before->anonymous;
		} else {
			free_choice = build(flow, hit, true, &key);
			main = NULL;
		}
		before = hit;
		if (hit->role == FLOW_ROLE_SKIPPED || hit->denied || hit->what == IMAGE_BANDWIDTH)
			continue;
		if (hit->what == IMAGE_NEW_KEYS) {
			key_new(flow, hit, main, free_choice);
			before = main; /* what it skips is its own */
			continue;
		}
		if (hit->what == IMAGE_USAGE) {
			usage_hit_key(flow, hit);
			before = main ? main : hit;
			continue;
		}
		hit->key = keybytes_key(&key, image_counter_at(image, hit->counter)->identity);
		if (!another && hit->role == FLOW_ROLE_ENFORCED && !in_share(flow, hit, limit))
			hit->role = FLOW_ROLE_SHADOW;
		if (!main)
			main = hit;
		if (limit->distinct.count && hit->what == IMAGE_RATE)
			key_seen(flow, hit, &key);
	}
}
