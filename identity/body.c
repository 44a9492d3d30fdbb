/* SPDX-License-Identifier: BSD-2-Clause */
/* body: in the making. */
#include "identity/body.h"

bool body_field(struct text content_type, struct text body, bool whole, struct text name,
		struct body_value *out)
{
	(void)content_type, (void)body, (void)whole, (void)name, (void)out;
	return false;
}
bool body_number(struct text content_type, struct text body, bool whole, struct text name, uint32_t *out)
{
	(void)content_type, (void)body, (void)whole, (void)name, (void)out;
	return false;
}
bool body_count(struct text content_type, struct text body, bool whole, struct text name, uint32_t *out,
		bool *more)
{
	(void)content_type, (void)body, (void)whole, (void)name, (void)out, (void)more;
	return false;
}
