/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * who: whose API key or token it is, and which plan holds (B11, B20).
 *
 * Only what is verified counts: a key that the ring knows, a token whose signature is right. Anything else is as if nothing had been
 * said, so invented credentials are the address that sends them; or, where the policy says so, it is refused when the limits have
 * been charged (verdict.c), so that guessing is limited too. A header that names a plan or a user is believed from trusted peers
 * only.
 */
#include "identity/credential.h"
#include "flow/named.h"
#include "flow/read.h"

bool flow_who_field(const struct flow_who *who, struct text name, struct text *value)
{
	const struct ring_key *key = &who->key;

	if (who->key_said != FLOW_CREDENTIAL_GOOD)
		return false;
	if (name.size == 0)
		*value = (struct text){key->name, key->name_size};
	else if (text_equal(name, TEXT("owner")))
		*value = (struct text){key->owner, key->owner_size};
	else if (text_equal(name, TEXT("tenant")))
		*value = (struct text){key->tenant, key->tenant_size};
	else if (text_equal(name, TEXT("plan")))
		*value = (struct text){key->plan, key->plan_size};
	else
		return false;
	return value->size != 0;
}

/* What the request says there; of a cookie and a parameter, decoded into `room`. */
static bool said(const struct flow *flow, const struct image_where *where, char room[JWT_TOKEN_MAX + 1],
		 struct text *out)
{
	struct text name = image_text(flow->env->image, where->name);
	struct named value = {.coding = NAMED_PLAIN};
	size_t at = 0;

	switch ((enum image_said)where->said) {
	case IMAGE_SAID_HEADER:
		if (!named_header(flow->request, name, &value))
			return false;
		*out = read_trim(value.raw);
		return out->size != 0;
	case IMAGE_SAID_BEARER:
		return named_header(flow->request, TEXT("authorization"), &value) &&
		       credential_bearer(value.raw, out);
	case IMAGE_SAID_COOKIE:
		if (!named_cookie(flow->request, name, &value))
			return false;
		break;
	case IMAGE_SAID_QUERY:
		if (!named_query(flow->query, name, &value))
			return false;
		break;
	case IMAGE_SAID_KEY:
	case IMAGE_SAID_CLAIM:
		return false;
	}
	*out = (struct text){room, named_read(&value, &at, room, JWT_TOKEN_MAX + 1)};
	return out->size != 0;
}

/* The compact form has two dots; no key of ours has any. */
static bool looks_like_token(struct text text)
{
	size_t dots = 0;

	for (size_t i = 0; i < text.size; i++)
		dots += text.data[i] == '.';
	return dots == 2;
}

static void find_key(struct flow *flow, int64_t wall_s)
{
	const struct image *image = flow->env->image;
	const struct image_where *from = image_at(image, image->clients.keys_from.offset);
	struct people *people = flow->env->people;
	struct flow_who *who = &flow->who;
	char room[JWT_TOKEN_MAX + 1];
	struct text secret;

	for (uint32_t i = 0; i < image->clients.keys_from.count; i++) {
		bool bearer = from[i].said == IMAGE_SAID_BEARER;

		if (!said(flow, &from[i], room, &secret))
			continue;
		who->key_found = people && people->ring
					 ? (uint8_t)ring_find(people->ring, secret, wall_s, &who->key)
					 : RING_UNKNOWN;
		if (who->key_found != RING_KNOWN && bearer && image->clients.jwt_algorithms &&
		    looks_like_token(secret))
			continue;
		who->key_said = who->key_found == RING_KNOWN ? FLOW_CREDENTIAL_GOOD : FLOW_CREDENTIAL_BAD;
		if (who->key_found == RING_KNOWN && !flow->dry)
			ring_used(people->ring, &who->key, wall_s);
		return;
	}
}

static void find_token(struct flow *flow, int64_t wall_s)
{
	const struct image *image = flow->env->image;
	const struct image_where *from = image_at(image, image->clients.jwt_from.offset);
	struct people *people = flow->env->people;
	struct flow_who *who = &flow->who;
	char room[JWT_TOKEN_MAX + 1];
	struct text token;

	for (uint32_t i = 0; i < image->clients.jwt_from.count; i++) {
		if (!said(flow, &from[i], room, &token))
			continue;
		if (from[i].said == IMAGE_SAID_BEARER && who->key_said != FLOW_CREDENTIAL_NONE)
			continue; /* it was an API key, or an attempt at one */
		who->token_result = (uint8_t)(people && people->jwt
						      ? jwt_verify(people->jwt, token, wall_s, &who->claims)
						      : JWT_NO_KEY);
		who->token_said = who->token_result == JWT_VALID ? FLOW_CREDENTIAL_GOOD : FLOW_CREDENTIAL_BAD;
		return;
	}
}

/* Whom a trusted proxy, which vouches for those that it lets in, names in the header; "": nobody. One that names two has passed on
 * what its client sent, and it cannot be told which of them that is. */
static struct text vouched(const struct flow *flow)
{
	const struct image *image = flow->env->image;
	const struct image_where *from = image_at(image, image->clients.user_from.offset);
	struct text user = {"", 0}, value;

	if (!image->clients.user_from.count || !flow->who.trusted_peer)
		return user;
	for (unsigned nth = 0; read_header(flow->request, image_text(image, from->name), nth, &value);
	     nth++) {
		if (user.size && value.size && !text_equal(user, value))
			return (struct text){"", 0};
		if (value.size)
			user = value;
	}
	return user;
}

/* The plan of that name; IMAGE_PLAN_NONE. */
static uint32_t plan_of(const struct image *image, struct text name)
{
	const struct image_plan *plans = image_at(image, image->plans.offset);

	for (uint32_t i = 0; i < image->plans.count; i++)
		if (text_equal(image_text(image, plans[i].name), name))
			return i;
	return IMAGE_PLAN_NONE;
}

/* The first source that names a plan there is. */
static uint32_t find_plan(const struct flow *flow)
{
	const struct image *image = flow->env->image;
	const struct image_where *from = image_at(image, image->clients.plan_from.offset);
	const struct flow_who *who = &flow->who;

	for (uint32_t i = 0; i < image->clients.plan_from.count; i++) {
		struct text name = image_text(image, from[i].name), value = {"", 0};
		struct named header;
		uint32_t plan;

		if (from[i].said == IMAGE_SAID_KEY)
			flow_who_field(who, TEXT("plan"), &value);
		else if (from[i].said == IMAGE_SAID_CLAIM && who->claims)
			jwt_claim(who->claims, name, &value);
		else if (from[i].said == IMAGE_SAID_HEADER && who->trusted_peer &&
			 named_header(flow->request, name, &header))
			value = read_trim(header.raw);
		plan = value.size ? plan_of(image, value) : IMAGE_PLAN_NONE;
		if (plan != IMAGE_PLAN_NONE)
			return plan;
	}
	return who->identified ? image->clients.plan_unknown : image->clients.plan_none;
}

void flow_who(struct flow *flow)
{
	const struct image *image = flow->env->image;
	struct flow_who *who = &flow->who;
	int64_t wall_s = read_wall_s(&flow->time);
	struct text user;

	who->plan = IMAGE_PLAN_NONE;
	if (image->clients.keys_from.count)
		find_key(flow, wall_s);
	if (image->clients.jwt_algorithms)
		find_token(flow, wall_s);
	who->user = vouched(flow);
	who->identified = who->key_said == FLOW_CREDENTIAL_GOOD || who->token_said == FLOW_CREDENTIAL_GOOD ||
			  who->user.size;
	if (flow_who_field(who, TEXT("owner"), &user) ||
	    (who->claims && jwt_claim(who->claims, TEXT("sub"), &user)))
		who->user = user;
	if (image->plans.count)
		who->plan = find_plan(flow);
	flow->subject.who = (who->identified ? IMAGE_WHO_IDENTIFIED : IMAGE_WHO_ANONYMOUS) |
			    (who->plan < IMAGE_PLANS_MAX ? IMAGE_WHO_PLAN(who->plan) : 0);
	flow_who_field(who, TEXT(""), &flow->subject.api_key);
}

bool flow_who_refused(const struct flow *flow)
{
	const struct image_clients *clients = &flow->env->image->clients;

	return (flow->who.key_said == FLOW_CREDENTIAL_BAD && clients->keys_unknown == IMAGE_UNKNOWN_DENY) ||
	       (flow->who.token_said == FLOW_CREDENTIAL_BAD && clients->jwt_invalid == IMAGE_UNKNOWN_DENY);
}
