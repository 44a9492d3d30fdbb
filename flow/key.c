/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * key: under which key each counter counts this request.
 *
 * A part is hashed with its kind and name, so that `7` from a cookie is not `7` from a header, and an address
 * that stands in for a missing part is not a header that spells that address. Where a combination lacks one
 * part, `missing: ip` puts the address in its place and keeps the others; `anonymous` replaces the whole key:
 * one bucket.
 */
#include "flow/keybytes.h"
#include "flow/keywalk.h"
#include "flow/read.h"

#define KIND_ANONYMOUS 0xffu

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
		const struct image_clause *clause = read_clause(image, clause_index);
		if ((clause->has & IMAGE_HAS_PATH) && read_path(image, clause->path)->exact)
			return flow->subject.path_exact;
	}
	return flow->subject.path_folded;
}

/* What a part says about this request; `masked` is room for an address. False if it says nothing. */
static bool resolve(const struct flow *flow, uint32_t clause, const struct image_key_part *part,
		    struct address *masked, struct named *out)
{
	const struct flow_request *request = flow->request;
	struct text name = image_text(flow->env->image, part->name);

	*out = (struct named){.coding = NAMED_PLAIN};
	switch ((enum image_key_kind)part->kind) {
	case IMAGE_KEY_SITE:
		return true;
	case IMAGE_KEY_IP: /* no address (a unix socket): all such requests are one client */
		if (flow->has_client) {
			*masked = flow->client;
			if (part->bits4 < 32 || !address_is_v4(masked))
				address_mask(masked, part->bits4, part->bits6);
			out->raw = (struct text){(const char *)masked->bytes, sizeof masked->bytes};
		}
		return true;
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
							     read_clause(flow->env->image, clause)->text);
		break;
	case IMAGE_KEY_API_KEY:
		return flow_who_field(&flow->who, name, &out->raw);
	case IMAGE_KEY_USER:
		out->raw = flow->who.user;
		break;
	case IMAGE_KEY_JWT:
		return flow->who.claims && jwt_claim(flow->who.claims, name, &out->raw);
	case IMAGE_KEY_SESSION:
	case IMAGE_KEY_BODY:
		return false;
	case IMAGE_KEY_VAR:
		if (!request->variable || !request->variable(request->door, name, &out->raw))
			return false;
		break;
	}
	return out->raw.size != 0;
}

struct key_walk key_walk_begin(const struct flow *flow, const struct flow_hit *hit)
{
	return (struct key_walk){.flow = flow, .hit = hit, .limit = read_limit(flow->env->image, hit->limit)};
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
					&walk->value);
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

static void add_value(struct keybytes *key, const struct key_walk *walk)
{
	char chunk[256];
	size_t at = 0, got;

	keybytes_part(key, (uint8_t)walk->part.kind, image_text(walk->flow->env->image, walk->part.name),
		      named_size(&walk->value));
	if (walk->value.coding == NAMED_PLAIN) {
		keybytes_add(key, walk->value.raw.data, walk->value.raw.size);
		return;
	}
	while ((got = named_read(&walk->value, &at, chunk, sizeof chunk)))
		keybytes_add(key, chunk, got);
}

/* Fills `key` with the parts; says in *hit what became of one that is missing. */
static void build(const struct flow *flow, struct flow_hit *hit, struct keybytes *key)
{
	struct key_walk walk = key_walk_begin(flow, hit);

	keybytes_begin(key, flow->env->table);
	while (key_walk_next(&walk)) {
		if (!walk.present) {
			hit->missing = true;
			if (walk.limit->missing == IMAGE_MISSING_ANONYMOUS) {
				hit->anonymous = true;
				keybytes_begin(key, flow->env->table);
				keybytes_part(key, KIND_ANONYMOUS, TEXT(""), 0);
				return;
			}
			if (walk.limit->missing == IMAGE_MISSING_SKIP ||
			    walk.limit->missing == IMAGE_MISSING_DENY) {
				hit->denied = walk.limit->missing == IMAGE_MISSING_DENY &&
					      hit->role != FLOW_ROLE_EXEMPT;
				if (!hit->denied)
					hit->role = FLOW_ROLE_SKIPPED;
				return;
			}
		}
		add_value(key, &walk);
	}
}

void flow_key_hit(struct flow *flow, struct flow_hit *hit)
{
	struct keybytes key;

	build(flow, hit, &key);
	hit->key = keybytes_key(&key, read_counter(flow->env->image, hit->counter)->identity);
}

uint64_t flow_key_digest(const struct flow *flow, const struct flow_hit *hit)
{
	return table_key_digest(flow->env->table, &hit->key, sizeof hit->key);
}

void flow_key(struct flow *flow, bool without_body)
{
	(void)without_body;
	struct keybytes key;
	const struct flow_hit *before = NULL;

	for (size_t i = 0; i < flow->hit_count; i++) {
		struct flow_hit *hit = &flow->hits[i];

		if (hit->role == FLOW_ROLE_SKIPPED)
			continue;
		if (before && before->limit == hit->limit) { /* another counter of the same limit */
			hit->missing = before->missing;
			hit->denied = before->denied;
			hit->role = before->role;
			hit->anonymous = before->anonymous;
		} else {
			build(flow, hit, &key);
		}
		before = hit;
		if (hit->role != FLOW_ROLE_SKIPPED && !hit->denied && hit->what != IMAGE_BANDWIDTH)
			hit->key = keybytes_key(&key, read_counter(flow->env->image, hit->counter)->identity);
	}
}
