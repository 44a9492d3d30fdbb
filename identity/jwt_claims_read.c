/* SPDX-License-Identifier: BSD-2-Clause */
/* jwt_claims_read: a payload, from JSON to one piece of memory; and whether it is from whom and for whom the policy wants. */
#include "identity/jwt_claims.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>

#include "identity/jws.h"

#define NUMBER_MAX 32u /* bytes of a number as JSON writes it */

struct found { /* a member, before it is copied */
	const json_t *value;
	const char *name;
	size_t name_size;
	uint32_t parent;
};

static size_t count_of(const json_t *value)
{
	const char *name;
	json_t *member;
	size_t count = 0;

	json_object_foreach((json_t *)value, name, member) count += 1 + count_of(member);
	return count;
}

/* Outer ones first: the list is its own queue. */
static void find_all(const json_t *root, struct found *list)
{
	const json_t *object = root;
	uint32_t used = 0, next = 0, parent = 0;

	for (;;) {
		for (void *at = json_object_iter((json_t *)object); at;
		     at = json_object_iter_next((json_t *)object, at)) {
			const char *name = json_object_iter_key(at);

			list[used++] = (struct found){json_object_iter_value(at), name, strlen(name), parent};
		}
		while (next < used && !json_is_object(list[next].value))
			next++;
		if (next == used)
			return;
		object = list[next++].value;
		parent = next;
	}
}

/* How much room its text needs, or what it is once it is written to `out`. */
static size_t text_of_value(const json_t *value, char *out, size_t room)
{
	if (json_is_string(value)) {
		if (out)
			memcpy(out, json_string_value(value), json_string_length(value));
		return json_string_length(value);
	}
	if (!json_is_number(value) && !json_is_boolean(value))
		return 0;
	return out ? json_dumpb(value, out, room, JSON_ENCODE_ANY) : NUMBER_MAX;
}

static struct jwt_claims *copy(const struct found *list, size_t count)
{
	size_t bytes = sizeof(struct jwt_claims) + count * sizeof(struct jwt_claim);
	size_t at = bytes;
	struct jwt_claims *claims;

	for (size_t i = 0; i < count; i++)
		bytes += list[i].name_size + text_of_value(list[i].value, NULL, 0);
	claims = malloc(bytes);
	if (!claims)
		return NULL;
	*claims = (struct jwt_claims){.references = 1, .count = (uint32_t)count, .bytes = bytes};
	for (size_t i = 0; i < count; i++) {
		struct jwt_claim *claim = &claims->claims[i];
		char *to = (char *)claims + at;

		memcpy(to, list[i].name, list[i].name_size);
		*claim = (struct jwt_claim){list[i].parent, (uint32_t)at, (uint32_t)list[i].name_size, 0, 0};
		at += list[i].name_size;
		claim->value = (uint32_t)at;
		claim->value_size = (uint32_t)text_of_value(list[i].value, to + list[i].name_size,
							    bytes - at);
		at += claim->value_size;
	}
	return claims;
}

/* A NumericDate (RFC 7519 2), rounded up. False: there is something else. */
static bool date(const json_t *root, const char *name, int64_t absent, int64_t *out)
{
	const json_t *value = json_object_get(root, name);
	double real;

	*out = absent;
	if (!value)
		return true;
	if (json_is_integer(value)) {
		*out = json_integer_value(value);
		return true;
	}
	if (!json_is_real(value))
		return false;
	real = ceil(json_real_value(value));
	*out = real >= 0x1p62 ? INT64_C(1) << 62 : real <= -0x1p62 ? -(INT64_C(1) << 62) : (int64_t)real;
	return true;
}

static bool same(const json_t *string, struct text text)
{
	return text_equal((struct text){json_string_value(string), json_string_length(string)}, text);
}

static bool for_one_of(const struct jwt_rules *rules, const json_t *string)
{
	for (size_t i = 0; i < rules->audience_count; i++)
		if (same(string, rules->audiences[i]))
			return true;
	return false;
}

static enum jwt_result audience(const struct jwt_rules *rules, const json_t *aud)
{
	bool found = json_is_string(aud) && for_one_of(rules, aud);
	const json_t *one;
	size_t i;

	if (aud && !json_is_string(aud) && !json_is_array(aud))
		return JWT_MALFORMED;
	json_array_foreach(aud, i, one)
	{
		if (!json_is_string(one))
			return JWT_MALFORMED;
		found |= for_one_of(rules, one);
	}
	return found || !rules->audience_count ? JWT_VALID : JWT_AUDIENCE;
}

static enum jwt_result read_object(const struct jwt_rules *rules, const json_t *root, struct jwt_claims **out)
{
	const json_t *iss = json_object_get(root, "iss");
	enum jwt_result result = audience(rules, json_object_get(root, "aud"));
	int64_t expires, not_before;
	struct found *list;
	size_t count;

	if (!json_is_object(root) || (iss && !json_is_string(iss)) || result == JWT_MALFORMED ||
	    !date(root, "exp", JWT_NEVER, &expires) || !date(root, "nbf", INT64_MIN, &not_before))
		return JWT_MALFORMED;
	if (rules->issuer.size && !(iss && same(iss, rules->issuer)))
		return JWT_ISSUER;
	if (result)
		return result;
	count = count_of(root);
	list = calloc(count + 1, sizeof *list);
	if (!list)
		return JWT_NO_MEMORY;
	find_all(root, list);
	*out = copy(list, count);
	free(list);
	if (!*out)
		return JWT_NO_MEMORY;
	(*out)->expires = expires;
	(*out)->not_before = not_before;
	return JWT_VALID;
}

enum jwt_result jwt_claims_read(const struct jwt_rules *rules, struct text payload, struct jwt_claims **out)
{
	enum jwt_result result;
	json_t *root;

	*out = NULL;
	if (!jws_is_shallow(payload))
		return JWT_MALFORMED;
	root = json_loadb(payload.data, payload.size, JSON_REJECT_DUPLICATES, NULL);
	result = read_object(rules, root, out);
	json_decref(root);
	return result;
}
