/* SPDX-License-Identifier: BSD-2-Clause */
/* jwt_claims: finding a claim, and when it is believed. */
#include "identity/jwt_claims.h"

#include <stdlib.h>

enum jwt_result jwt_claims_now(const struct jwt_rules *rules, int64_t expires, int64_t not_before,
			       int64_t wall_s)
{
	int64_t leeway = rules->leeway_s, early, late;

	if (__builtin_sub_overflow(wall_s, leeway, &early))
		early = INT64_MIN;
	if (__builtin_add_overflow(wall_s, leeway, &late))
		late = INT64_MAX;
	if (expires != JWT_NEVER && early >= expires) /* RFC 7519 4.1.4: on or after */
		return JWT_EXPIRED;
	return late < not_before ? JWT_NOT_YET : JWT_VALID;
}

/* From its end: the claim's own name, a dot, its object's name, and so on. */
static bool is_called(const struct jwt_claims *claims, const struct jwt_claim *claim, struct text name)
{
	for (;;) {
		if (name.size < claim->name_size)
			return false;
		name.size -= claim->name_size;
		if (memcmp(name.data + name.size, (const char *)claims + claim->name, claim->name_size) != 0)
			return false;
		if (!claim->parent)
			return name.size == 0;
		if (name.size == 0 || name.data[--name.size] != '.')
			return false;
		claim = &claims->claims[claim->parent - 1];
	}
}

bool jwt_claim(const struct jwt_claims *claims, struct text name, struct text *value)
{
	for (uint32_t i = 0; i < claims->count; i++) {
		const struct jwt_claim *claim = &claims->claims[i];

		if (!is_called(claims, claim, name))
			continue;
		*value = (struct text){(const char *)claims + claim->value, claim->value_size};
		return claim->value_size != 0;
	}
	*value = (struct text){NULL, 0};
	return false;
}

void jwt_drop(struct jwt_claims **claims)
{
	if (*claims && --(*claims)->references == 0)
		free(*claims);
	*claims = NULL;
}
