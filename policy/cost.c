/* SPDX-License-Identifier: BSD-2-Clause */
/* cost: what a request takes of a limit: a number, what it says itself, or what its answer says afterwards. */
#include "policy/load.h"
#include "policy/sections.h"
#include "policy/value.h"
#include "policy/words.h"

#define FIELD_MAX 128u

static bool begins(struct text text, const char *word, struct text *rest)
{
	size_t size = strlen(word);

	if (text.size <= size || memcmp(text.data, word, size) != 0)
		return false;
	*rest = (struct text){text.data + size, text.size - size};
	return true;
}

/* "usage.total_tokens": names joined by dots, none of them empty. */
static bool check_field(struct load *load, struct text field, struct model_mark mark)
{
	bool good = field.size <= FIELD_MAX;

	for (size_t i = 0; i < field.size && good; i++)
		good = (unsigned char)field.data[i] > ' ' && field.data[i] != 0x7f &&
		       (field.data[i] != '.' || (i > 0 && i + 1 < field.size && field.data[i - 1] != '.'));
	if (!good)
		diag_error(load, mark,
			   "'%.*s' is no field of a body; write its name, or object.name, at most %u bytes",
			   SHOW(field), FIELD_MAX);
	return good;
}

/* body.FIELD, body.FIELD.count, body.count */
static bool read_body(struct load *load, struct text field, struct model_mark mark, struct model_amount *out)
{
	out->from = IMAGE_AMOUNT_BODY;
	if (text_equal(field, TEXT("count"))) {
		*out = (struct model_amount){.from = IMAGE_AMOUNT_BODY_COUNT, .name = TEXT("")};
		return true;
	}
	if (field.size > 6 && memcmp(field.data + field.size - 6, ".count", 6) == 0) {
		out->from = IMAGE_AMOUNT_BODY_COUNT;
		field.size -= 6;
	}
	out->name = field;
	return check_field(load, field, mark);
}

static bool read_header(struct load *load, struct text name, struct model_mark mark, struct model_amount *out)
{
	out->from = IMAGE_AMOUNT_HEADER;
	if (!header_name_read(load, name, mark, &out->name))
		return false;
	if (load->model.trusted_count > 0)
		return true;
	diag_error(load, mark,
		   "a cost in a header is believed from trusted peers only, and there are none: say clients: "
		   "{address: {trusted: [10.0.0.0/8]}}");
	return false;
}

/* What a request says before it is answered; false after a finding. */
static bool read_ask(struct load *load, const struct node *node, const char *what, struct model_limit *limit)
{
	struct model_amount *out = &limit->costs.ask;
	struct text text, rest;

	if (node->kind != NODE_SCALAR)
		return value_text(load, node, what, &text);
	text = value_trim(node->text);
	if (begins(text, "header.", &rest))
		return read_header(load, rest, node->mark, out);
	if (begins(text, "body.", &rest))
		return read_body(load, rest, node->mark, out);
	if (begins(text, "response.", &rest)) {
		diag_error(load, node->mark,
			   "what the answer says is known only afterwards: write {reserve: 1, settle: %.*s}",
			   SHOW(text));
		return false;
	}
	if (text.size && !(text.data[0] >= '0' && text.data[0] <= '9') && text.data[0] != '-') {
		diag_error(load, node->mark,
			   "'%.*s' is no '%s'; write a number, header.NAME, body.FIELD or body.FIELD.count",
			   SHOW(text), what);
		return false;
	}
	return value_number(load, node, what, 1, ALGO_BURST_MAX, &limit->cost);
}

static bool read_settle(struct load *load, const struct node *node, struct model_amount *out)
{
	struct text text, rest;

	if (!value_text(load, node, "settle", &text))
		return false;
	text = value_trim(text);
	if (begins(text, "response.header.", &rest)) {
		out->from = IMAGE_AMOUNT_RESPONSE_HEADER;
		return header_name_read(load, rest, node->mark, &out->name);
	}
	if (begins(text, "response.body.", &rest)) {
		out->from = IMAGE_AMOUNT_RESPONSE_BODY;
		out->name = rest;
		return check_field(load, rest, node->mark);
	}
	if (begins(text, "body.", &rest) || begins(text, "header.", &rest))
		diag_error(load, node->mark, "'settle' is said by the answer; did you mean 'response.%.*s'?",
			   SHOW(text));
	else
		diag_error(load, node->mark, "'settle' is response.header.NAME or response.body.FIELD");
	return false;
}

static void read_section(struct load *load, const struct node *node, struct model_limit *limit)
{
	const struct node *reserve = yaml_get(node, "reserve"), *at_most = yaml_get(node, "at_most"),
			  *settle = yaml_get(node, "settle");

	size_t errors = load->diag.errors;

	if (!words_check(load, node, SECTION_COST, "'cost'"))
		return;
	if (!reserve && !settle && load->diag.errors == errors)
		diag_error(load, node->mark,
			   "'cost' is a number, or {reserve: body.max_tokens, at_most: 8192, settle: "
			   "response.body.usage.total_tokens}");
	if (reserve && !read_ask(load, reserve, "reserve", limit))
		limit->costs.ask = (struct model_amount){0};
	if (at_most)
		value_number(load, at_most, "at_most", 1, ALGO_BURST_MAX, &limit->costs.at_most);
	if (settle && !read_settle(load, settle, &limit->costs.settle))
		limit->costs.settle = (struct model_amount){0};
	if (at_most && limit->costs.at_most && limit->costs.ask.from == IMAGE_AMOUNT_NUMBER &&
	    limit->cost > limit->costs.at_most)
		diag_error(load, at_most->mark, "'at_most' is less than what is reserved, %u", limit->cost);
}

void cost_read(struct load *load, const struct node *cost, const struct node *overdraw,
	       struct model_limit *limit)
{
	size_t errors = load->diag.errors;
	bool debt = false;

	if (cost && cost->kind == NODE_MAP)
		read_section(load, cost, limit);
	else if (cost && !read_ask(load, cost, "cost", limit))
		limit->costs.ask = (struct model_amount){0};
	if (overdraw && value_flag(load, overdraw, "overdraw", &debt))
		limit->costs.overdraw = debt;
	limit->costs.mark = cost ? cost->mark : limit->mark;
	if (debt && limit->costs.settle.from == IMAGE_AMOUNT_NUMBER && load->diag.errors == errors)
		diag_error(
			load, overdraw->mark,
			"'overdraw' is for a cost that is settled afterwards; say that, like cost: {reserve: "
			"100, settle: response.body.usage.total_tokens}");
}

void cost_warn(struct load *load, const struct model_limit *limit)
{
	const struct model_cost *costs = &limit->costs;

	for (size_t i = 0; costs->ask.from != IMAGE_AMOUNT_NUMBER && i < limit->rate_count; i++) {
		uint32_t most = model_capacity(&limit->rates[i].numbers);

		if (limit->rates[i].what != IMAGE_RATE || most == 0 || costs->at_most <= most)
			continue;
		diag_warning(load, costs->mark,
			     "a cost of more than %s can never fit, and 'at_most' lets %s be asked for",
			     value_grouped(load, most), value_grouped(load, costs->at_most));
		return;
	}
}

void cost_check(struct load *load, struct model_limit *limit)
{
	const struct model_cost *costs = &limit->costs;
	bool settles = costs->settle.from != IMAGE_AMOUNT_NUMBER, rates = false;

	for (size_t i = 0; i < limit->rate_count; i++) {
		const struct model_rate *rate = &limit->rates[i];
		uint8_t kind = rate->numbers.kind;

		rates |= rate->what == IMAGE_RATE;
		if (rate->what != IMAGE_RATE || !settles)
			continue;
		if (kind == ALGO_LEAKY_BUCKET || kind == ALGO_LIMIT_REQ)
			diag_error(
				load, costs->mark,
				"a queue cannot know the answers of those who wait in it; with 'settle' use "
				"algorithm: token-bucket");
		else if (costs->overdraw && kind == ALGO_SLIDING_LOG)
			diag_error(load, costs->mark,
				   "a sliding-log has no debts; with 'overdraw' use algorithm: token-bucket");
	}
	if (settles && rates && limit->count != IMAGE_COUNT_ALL)
		diag_error(load, costs->mark,
			   "'settle' and 'count' both ask the answer what to charge; leave one of them out");
}
