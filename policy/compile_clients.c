/* SPDX-License-Identifier: BSD-2-Clause */
/* compile_clients: how clients are known, and their plans. */
#include "algo/ban.h"
#include "algo/grant.h"
#include "policy/compile.h"
#include "table/table.h"

static struct image_span compile_wheres(struct compiler *c, const struct model_where *wheres, size_t count)
{
	struct image_span span = builder_span(&c->builder, count, sizeof(struct image_where));

	for (size_t i = 0; i < count; i++) {
		struct image_where where = {.said = wheres[i].said,
					    .name = builder_text(&c->builder, wheres[i].name)};

		((struct image_where *)builder_at(&c->builder, span.offset))[i] = where;
	}
	return span;
}

/* What the operator decides by hand belongs to the name space, whatever the limits are. */
static uint64_t hand_identity(struct compiler *c, struct text word)
{
	struct text parts[] = {text_of(c->name_space), word};

	return compile_identity(&c->arena, parts, sizeof parts / sizeof *parts);
}

void compile_clients(struct compiler *c)
{
	const struct model *model = c->model;
	const struct model_clients *from = &model->clients;
	struct image_clients out = {
		.keys_database = builder_text(&c->builder, from->keys_database),
		.keys_from = compile_wheres(c, from->keys_from, from->keys_from_count),
		.keys_unknown = from->keys_unknown,
		.jwt_algorithms = from->jwt_algorithms,
		.jwks_file = builder_text(&c->builder, from->jwks_file),
		.jwt_secret_file = builder_text(&c->builder, from->jwt_secret_file),
		.jwt_issuer = builder_text(&c->builder, from->jwt_issuer),
		.jwt_audiences = compile_texts(c, from->audiences, from->audience_count),
		.jwt_from = compile_wheres(c, from->jwt_from, from->jwt_from_count),
		.jwt_leeway_s = from->jwt_leeway_s,
		.jwt_invalid = from->jwt_invalid,
		.session = compile_wheres(c, from->session, from->session_count),
		.user_from = compile_wheres(c, from->user_from, from->user_from_count),
		.plan_from = compile_wheres(c, from->plan_from, from->plan_from_count),
		.plan_unknown = model->plan_count ? from->plan_unknown : IMAGE_PLAN_NONE,
		.plan_none = model->plan_count ? from->plan_none : IMAGE_PLAN_NONE,
		.privacy_hash = from->privacy_hash,
		.own_limits = builder_text(&c->builder, from->own_limits),
		.ban_identity = hand_identity(c, TEXT("ban")),
		.grant_identity = hand_identity(c, TEXT("grant")),
		.ban_row = TABLE_ROW_NONE,
		.grant_row = TABLE_ROW_NONE,
	};
	struct image_span plans = compile_texts(c, model->plans, model->plan_count);
	struct image *image = builder_at(&c->builder, 0);

	/* the operator chooses the length; the numbers only say the longest */
	algo_ban_numbers(BAN_MAX_NS, BAN_MAX_NS, &out.ban_numbers);
	grant_numbers(&out.grant_numbers);
	_Static_assert(sizeof(struct image_plan) == sizeof(struct image_text), "a plan is its name");
	image->clients = out;
	image->plans = plans;
}
