/* SPDX-License-Identifier: BSD-2-Clause */
/* inside: the names that are asked for, gathered from the limits, and one reading. */
#include "flow/inside.h"
#include "flow/read.h"

size_t inside_size(const struct image *image)
{
	for (uint32_t i = 0; image && i < image->limits.count; i++)
		if (image_limit_at(image, i)->needs_body)
			return sizeof(struct inside);
	return 0;
}

/* Nobody can look into what is compressed, or has two types. */
static bool readable(const struct flow_request *request)
{
	struct text value;

	if (read_header(request, TEXT("content-type"), 1, &value))
		return false;
	for (unsigned n = 0; read_header(request, TEXT("content-encoding"), n, &value); n++)
		if (value.size && !text_equal_folded(value, TEXT("identity")))
			return false;
	return true;
}

static bool is_there(const struct flow_request *request)
{
	return request->has_body && (request->body.size || !request->body_whole);
}

static void answer(const struct flow_request *request, struct inside_answer *answers, size_t count)
{
	struct body_wish wishes[BODY_WISHES_MAX];
	struct text type = {"", 0}, body = readable(request) ? request->body : (struct text){NULL, 0};

	read_header(request, TEXT("content-type"), 0, &type);
	for (size_t i = 0; i < count; i++)
		wishes[i] = (struct body_wish){
			.name = answers[i].name, .what = answers[i].what, .text = &answers[i].value};
	body_read(type, body, body.size && request->body_whole, wishes, count);
	for (size_t i = 0; i < count; i++) {
		answers[i].said = wishes[i].said;
		answers[i].number = wishes[i].number;
	}
}

static struct inside_answer *find(const struct flow *flow, struct text name, enum body_what what)
{
	for (size_t i = 0; i < flow->insides; i++) {
		struct inside_answer *known = &flow->inside->answers[i];
		if (known->what == what && text_equal(known->name, name))
			return known;
	}
	return NULL;
}

static void wish(struct flow *flow, struct image_text name, enum body_what what)
{
	struct text text = image_text(flow->env->image, name);

	if (flow->insides == BODY_WISHES_MAX || find(flow, text, what))
		return;
	flow->inside->answers[flow->insides].name = text;
	flow->inside->answers[flow->insides++].what = what;
}

static void wish_parts(struct flow *flow, struct image_span span)
{
	const struct image_key_part *parts = image_at(flow->env->image, span.offset);

	for (uint32_t i = 0; i < span.count; i++)
		if (parts[i].kind == IMAGE_KEY_BODY)
			wish(flow, parts[i].name, BODY_FIELD);
}

void inside_fill(struct flow *flow)
{
	const struct image_limit *before = NULL;

	if (flow->insides || !is_there(flow->request))
		return;
	for (size_t i = 0; i < flow->hit_count; i++) {
		const struct image_limit *limit = image_limit_at(flow->env->image, flow->hits[i].limit);
		const struct image_amount *ask = &limit->costs.ask;

		if (limit == before || !limit->needs_body || flow->hits[i].role == FLOW_ROLE_SKIPPED)
			continue;
		before = limit;
		wish_parts(flow, limit->key);
		wish_parts(flow, limit->distinct);
		if (ask->from == IMAGE_AMOUNT_BODY || ask->from == IMAGE_AMOUNT_BODY_COUNT)
			wish(flow, ask->name, ask->from == IMAGE_AMOUNT_BODY ? BODY_NUMBER : BODY_COUNT);
	}
	if (flow->insides)
		answer(flow->request, flow->inside->answers, flow->insides);
}

const struct inside_answer *inside_ask(const struct flow *flow, struct text name, enum body_what what)
{
	static const struct inside_answer none = {.said = BODY_NONE};
	struct inside_answer *other;
	const struct inside_answer *known;

	if (!is_there(flow->request))
		return &none;
	if ((known = find(flow, name, what)))
		return known;
	other = &flow->inside->other;
	other->name = name;
	other->what = what;
	answer(flow->request, other, 1);
	return other;
}
