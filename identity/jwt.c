/* SPDX-License-Identifier: BSD-2-Clause */
/* jwt: in the making. */
#include "identity/jwt.h"

struct jwt *jwt_new(const struct jwt_rules *rules)
{
	(void)rules;
	return NULL;
}
void jwt_free(struct jwt **jwt)
{
	*jwt = NULL;
}
bool jwt_refresh(struct jwt *jwt, uint64_t now, char *why, size_t size)
{
	(void)jwt, (void)now, (void)why, (void)size;
	return false;
}
enum jwt_result jwt_verify(struct jwt *jwt, struct text token, int64_t wall_s, struct jwt_claims **claims)
{
	(void)jwt, (void)token, (void)wall_s;
	*claims = NULL;
	return JWT_MALFORMED;
}
void jwt_drop(struct jwt_claims **claims)
{
	*claims = NULL;
}
bool jwt_claim(const struct jwt_claims *claims, struct text name, struct text *value)
{
	(void)claims, (void)name, (void)value;
	return false;
}
const char *jwt_result_sentence(enum jwt_result result)
{
	(void)result;
	return "";
}
