/* SPDX-License-Identifier: BSD-2-Clause */
/* who: whose API key or token it is, and which plan. */
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
