/* SPDX-License-Identifier: BSD-2-Clause */
/* explain_who: which API key or token it came with, whether that is believed, and which plan holds. */
#include "cli/explain.h"
#include "cli/out.h"

static json_t *key_json(const struct flow_who *who, const char *trouble)
{
	static const char *const FOUND[] = {[RING_KNOWN] = "known",
					    [RING_UNKNOWN] = "unknown",
					    [RING_EXPIRED] = "expired",
					    [RING_REVOKED] = "revoked"};
	struct text name = {"", 0};
	json_t *out;

	if (who->key_said == FLOW_CREDENTIAL_NONE)
		return json_null();
	flow_who_field(who, TEXT(""), &name);
	out = json_pack("{s:s, s:o}", "is", FOUND[who->key_found], "name",
			name.size ? out_own(name) : json_null());
	if (*trouble)
		json_object_set_new(out, "trouble", json_string(trouble));
	return out;
}

static json_t *token_json(const struct flow_who *who)
{
	if (who->token_said == FLOW_CREDENTIAL_NONE)
		return json_null();
	return json_pack("{s:b, s:s}", "believed", who->token_said == FLOW_CREDENTIAL_GOOD, "is",
			 jwt_result_sentence(who->token_result));
}

json_t *explain_who(const struct image *image, const struct flow *flow, const char *trouble)
{
	const struct flow_who *who = &flow->who;
	const struct image_plan *plans = image_at(image, image->plans.offset);

	return json_pack("{s:o, s:o, s:o, s:o, s:b}", "api_key", key_json(who, trouble), "token",
			 token_json(who), "user", who->user.size ? out_hostile(who->user) : json_null(),
			 "plan",
			 who->plan < image->plans.count ? out_own(image_text(image, plans[who->plan].name))
							: json_null(),
			 "identified", who->identified);
}
