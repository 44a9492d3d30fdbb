/* SPDX-License-Identifier: BSD-2-Clause */
/* numbers_concurrent: how many requests may be in flight, and how many wait for a place. */
#include "policy/numbers.h"
#include "policy/value.h"

#define WAIT_NS (10 * RATE_NS_S) /* unless said: a browser still waits, and so does nginx's client */

static bool is_rate(const struct node *node, uint32_t *count)
{
	struct arena arena = {0};
	struct rate rate;
	char why[320];
	bool good = node->kind == NODE_SCALAR &&
		    rate_parse(&arena, value_trim(node->text), &rate, why, sizeof why);

	arena_free(&arena);
	*count = good ? rate.at_once : 0;
	return good;
}

void numbers_concurrent_read(struct numbers *n)
{
	struct load *load = n->load;
	struct model_rate out = {
		.mark = n->concurrent->mark, .unit = TEXT("concurrent"), .what = IMAGE_CONCURRENT};
	size_t errors = load->diag.errors;
	uint64_t wait_ns = WAIT_NS;

	if (is_rate(n->concurrent, &out.count))
		diag_error(load, n->concurrent->mark,
			   "'concurrent' counts those in flight, and no time: write concurrent: %u, or rate: "
			   "%.*s",
			   out.count, SHOW(n->concurrent->text));
	else
		value_number(load, n->concurrent, "concurrent", 0, ALGO_LOG_MAX, &out.count);
	if (n->queue)
		value_number(load, n->queue, "queue", 0, ALGO_LOG_MAX, &out.queue);
	if (n->wait && value_duration(load, n->wait, "wait", &wait_ns) && wait_ns > IMAGE_WAIT_MAX)
		diag_error(load, n->wait->mark, "nobody waits longer than an hour for a place in flight");
	if (load->diag.errors == errors && n->words_known && n->wait && out.queue == 0 &&
	    !numbers_inherited(n, n->wait))
		diag_error(load, n->wait->mark,
			   "'wait' is for those in a queue, and nobody may wait; say queue: 10 too");
	if (out.count == 0 && numbers_inherited(n, n->queue))
		out.queue = 0;
	if (load->diag.errors == errors && n->queue && out.queue > 0 && out.count == 0)
		diag_error(load, n->queue->mark,
			   "with 'concurrent: 0' nobody ever gets a place; leave the queue out");
	if (load->diag.errors != errors)
		return;
	out.wait_ns = out.queue > 0 ? wait_ns : 0;
	if (algo_concurrent(out.count, &out.numbers))
		n->limit->rates[n->limit->rate_count++] = out;
}
