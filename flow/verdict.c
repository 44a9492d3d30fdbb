/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verdict: one answer out of many.
 *
 * Of several limits one is binding, and the answer describes that one: refused, the one with the longest
 * wait, since a retry before that is refused again; allowed, the one with the smallest share left, since it
 * will refuse first. A shadow limit never is (nobody is to notice it), nor one that exempts this request, and
 * a limit of the whole site only when it refuses: its remainder is not this client's.
 */
#include "flow/read.h"
#include "flow/refusal.h"
#include "flow/usage.h"

#define SECOND UINT64_C(1000000000)

static uint64_t ceil_div(uint64_t n, uint64_t by)
{
	return n / by + (n % by != 0);
}

void flow_hit_report(const struct flow *flow, const struct flow_hit *hit, struct algo_report *out)
{
	table_describe(&hit->look, &flow->time, hit->cost,
		       hit->charged || hit->held || (flow->dry && hit->look.allowed), out);
	if (hit->no_room && !hit->allowed) { /* when there is room again nobody knows: a hint */
		out->remaining = 0;
		out->wait_ns = out->full_ns = SECOND;
	}
	usage_soft(image_counter_at(flow->env->image, hit->counter), out);
}

/* Less of its limit is left: a / b < c / d without dividing. */
static bool tighter(const struct algo_report *a, const struct algo_report *b)
{
	return (uint64_t)a->remaining * b->limit < (uint64_t)b->remaining * a->limit;
}

/* A window's end is stored in ticks, rounded up: without that the true one would often be told a second too late. */
uint64_t flow_reset_s(const struct algo_numbers *numbers, const struct algo_report *report)
{
	uint64_t ns = report->full_ns, tick;

	if (ns == ALGO_NEVER)
		return 0;
	if (numbers->kind == ALGO_SLIDING_LOG && ns > numbers->scale)
		ns = numbers->scale;
	if (numbers->kind == ALGO_FIXED_WINDOW) {
		tick = (UINT64_C(1) << numbers->shift) - 1;
		ns = ns > tick ? ns - tick : ns;
	}
	return ceil_div(ns, SECOND);
}

/* Seconds within which the client can use no more than `remaining` (RateLimit's t). A bucket gives the tokens
 * that are left and the refill of as long: remaining / rate keeps the promised pace at the policy's; so does what
 * slides. A window: until it ends. In flight: no time says when another ends. */
static uint64_t effective_s(const struct algo_numbers *numbers, const struct algo_report *report)
{
	uint64_t window_ns = algo_window_ns(numbers), seconds, ns;
	uint64_t whole = SECOND * (report->limit ? report->limit : 1);

	if (numbers->kind == ALGO_CONCURRENT)
		return 0;
	if (numbers->kind == ALGO_FIXED_WINDOW)
		seconds = report->full_ns ? flow_reset_s(numbers, report) : ceil_div(window_ns, SECOND);
	else if (__builtin_mul_overflow(window_ns, (uint64_t)report->remaining, &ns))
		seconds = (uint64_t)(((unsigned __int128)window_ns * report->remaining + whole - 1) / whole);
	else
		seconds = ceil_div(ns, whole);
	return seconds ? seconds : 1;
}

static void bind_to(struct flow *flow, const struct flow_hit *hit, const struct algo_report *report)
{
	struct flow_verdict *verdict = &flow->verdict;

	verdict->limit_index = hit->limit;
	verdict->counter_index = hit->counter;
	verdict->limit = report->limit;
	verdict->remaining = report->remaining;
	verdict->wait_ns = report->wait_ns;
	verdict->reset_s = flow_reset_s(&hit->look.numbers, report);
	flow->key_digest = hit->denied ? 0 : flow_key_digest(flow, hit);
}

/* How hard a refusal is: what is done instead of it holds only if no other limit refuses harder. */
static unsigned hardness(const struct flow *flow, const struct flow_hit *hit)
{
	static const unsigned char hard[] = {[IMAGE_INSTEAD_CACHED] = 0,
					     [IMAGE_INSTEAD_CHALLENGE] = 1,
					     [IMAGE_INSTEAD_SLOW] = 2,
					     [IMAGE_INSTEAD_REFUSE] = 2,
					     [IMAGE_INSTEAD_CLOSE] = 3};

	return hit->denied || hit->never ? 4 : hard[image_limit_at(flow->env->image, hit->limit)->instead];
}

/* Who may never, or is without his key, waits for ever; who is banned, for the ban. */
static void refusal_report(const struct flow *flow, const struct flow_hit *hit, struct algo_report *out)
{
	if (hit->denied || hit->never) {
		*out = (struct algo_report){
			.limit = image_counter_at(flow->env->image, hit->counter)->capacity,
			.wait_ns = ALGO_NEVER};
		return;
	}
	flow_hit_report(flow, hit, out);
	if (hit->banned) {
		out->remaining = 0;
		out->wait_ns = flow->ban.until > flow->time.now ? flow->ban.until - flow->time.now : 1;
		if (out->full_ns < out->wait_ns)
			out->full_ns = out->wait_ns;
	}
}

static void retry_after(struct flow_verdict *verdict, uint64_t wait_ns)
{
	if (wait_ns == ALGO_NEVER)
		return;
	verdict->retry_after_s = ceil_div(wait_ns, SECOND);
	if (verdict->retry_after_s == 0)
		verdict->retry_after_s = 1;
}

/* What the binding limit does instead of refusing. */
static void instead(struct flow *flow, const struct flow_hit *hit)
{
	const struct image *image = flow->env->image;
	const struct image_limit *limit = image_limit_at(image, hit->limit);
	struct flow_verdict *verdict = &flow->verdict;

	if (hit->denied || hit->never || flow_who_refused(flow)) /* nothing better for who guesses keys */
		return;
	switch ((enum image_instead)limit->instead) {
	case IMAGE_INSTEAD_CLOSE:
		verdict->action = FLOW_CLOSE;
		break;
	case IMAGE_INSTEAD_CACHED:
		verdict->action = FLOW_CACHED;
		break;
	case IMAGE_INSTEAD_CHALLENGE:
		verdict->http_status = 303;
		verdict->location = image_text(image, limit->instead_to);
		break;
	case IMAGE_INSTEAD_SLOW:
	case IMAGE_INSTEAD_REFUSE:
		break;
	}
}

/* The refusing hit that is the hardest, and of those the one with the longest wait. */
static bool refuse(struct flow *flow)
{
	struct flow_verdict *verdict = &flow->verdict;
	const struct image *image = flow->env->image;
	const struct flow_hit *hit;
	struct algo_report report, longest = {0};
	unsigned hardest = 0;

	for (size_t i = 0; i < flow->hit_count; i++) {
		unsigned hard;

		hit = &flow->hits[i];
		if (!read_enforced(hit) || hit->allowed)
			continue;
		refusal_report(flow, hit, &report);
		hard = hardness(flow, hit);
		if (flow->refused_by == FLOW_NONE || hard > hardest ||
		    (hard == hardest && report.wait_ns > longest.wait_ns)) {
			flow->refused_by = (uint32_t)i;
			hardest = hard;
			longest = report;
		}
	}
	if (flow->refused_by == FLOW_NONE)
		return false;

	hit = &flow->hits[flow->refused_by];
	bind_to(flow, hit, &longest);
	verdict->action = FLOW_REFUSE;
	verdict->status = hit->denied	? FLOW_MISSING
			  : hit->never	? FLOW_NEVER
			  : hit->banned ? FLOW_BANNED
					: FLOW_REJECTED;
	verdict->http_status =
		hit->denied || hit->never
			? image->deny_status
			: read_respond(image, image_limit_at(image, hit->limit)->respond)->status;
	if (hit->denied && verdict->http_status == 403 &&
	    flow_who_wanted(flow, hit->limit) != FLOW_WANTED_NOTHING)
		verdict->http_status =
			401; /* RFC 9110 15.5.2: it lacks credentials, and may come again with them */
	retry_after(verdict, longest.wait_ns);
	if (hit->what != IMAGE_CONCURRENT)
		verdict->effective_s = verdict->retry_after_s;
	instead(flow, hit);
	return true;
}

static bool may_bind(const struct flow *flow, const struct flow_hit *hit)
{
	return read_enforced(hit) && hit->look.numbers.kind != ALGO_NONE &&
	       !image_limit_at(flow->env->image, hit->limit)->shared;
}

/* The answer to a request that passes describes this one. NULL: none. */
static void allow(struct flow *flow, const struct flow_hit *binding, const struct algo_report *report)
{
	if (!binding)
		return;
	bind_to(flow, binding, report);
	flow->verdict.effective_s = effective_s(&binding->look.numbers, report);
}

void flow_bind_again(struct flow *flow)
{
	const struct flow_hit *binding = NULL;
	struct algo_report report, smallest = {0};

	for (size_t i = 0; i < flow->hit_count; i++) {
		if (!may_bind(flow, &flow->hits[i]))
			continue;
		flow_hit_report(flow, &flow->hits[i], &report);
		if (!binding || tighter(&report, &smallest)) {
			binding = &flow->hits[i];
			smallest = report;
		}
	}
	allow(flow, binding, &smallest);
}

static void pass(struct flow *flow)
{
	struct flow_verdict *verdict = &flow->verdict;
	const struct flow_hit *binding = NULL;
	struct algo_report report, smallest = {0};
	uint64_t delay_ns = 0;
	size_t judged = 0, exempt = 0;
	bool shadow_refused = false, waited = false, slowed = false;

	for (size_t i = 0; i < flow->hit_count; i++) {
		struct flow_hit *hit = &flow->hits[i];
		if (hit->role == FLOW_ROLE_SKIPPED)
			continue;
		judged++;
		exempt += hit->role == FLOW_ROLE_EXEMPT;
		if (!verdict->exception)
			verdict->exception = hit->exception;
		shadow_refused |= hit->role == FLOW_ROLE_SHADOW && !hit->allowed;
		waited |= hit->waited;
		if (hit->slowed) {
			uint64_t pace = image_limit_at(flow->env->image, hit->limit)->instead_bytes_per_s;

			slowed = true;
			if (verdict->slow_bytes_per_s == 0 || pace < verdict->slow_bytes_per_s)
				verdict->slow_bytes_per_s = pace;
		}
		if (!read_enforced(hit) || hit->look.numbers.kind == ALGO_NONE) /* the table could not say */
			continue;
		flow_hit_report(flow, hit, &report);
		hit->delay_ns = report.delay_ns;
		if (report.delay_ns > delay_ns)
			delay_ns = report.delay_ns;
		if (may_bind(flow, hit) && (!binding || tighter(&report, &smallest))) {
			binding = hit;
			smallest = report;
		}
	}
	allow(flow, binding, &smallest);
	if (flow->exempt)
		verdict->exception = flow->exempt;
	if (slowed)
		verdict->status = FLOW_SLOWED;
	else if (shadow_refused)
		verdict->status = FLOW_REJECTED_SHADOW;
	else if (waited || (delay_ns && flow->can_wait))
		verdict->status = FLOW_DELAYED;
	else if (flow->exempt || (judged && exempt == judged))
		verdict->status = FLOW_EXEMPT;
	else
		verdict->status = judged ? FLOW_PASSED : FLOW_UNLIMITED;
	if (flow->can_wait)
		verdict->wait_ms = ceil_div(delay_ns, 1000000);
}

/* By the operator, whatever the limits say. */
static void banned(struct flow *flow)
{
	struct flow_verdict *verdict = &flow->verdict;

	verdict->action = FLOW_REFUSE;
	verdict->status = FLOW_BANNED;
	verdict->http_status = flow->env->image->deny_status;
	verdict->wait_ns = flow->ban.until > flow->time.now ? flow->ban.until - flow->time.now : 1;
	retry_after(verdict, verdict->wait_ns);
}

/* Its limits have let it pass, and are charged: guessing keys is limited like everything else. */
static void unknown(struct flow *flow)
{
	struct flow_verdict *verdict = &flow->verdict;

	verdict->action = FLOW_REFUSE;
	verdict->status = FLOW_UNKNOWN;
	verdict->http_status = 401;
	verdict->wait_ms = 0;
}

static void tell(struct flow_verdict *verdict)
{
	verdict->action = FLOW_TELL;
	verdict->status = FLOW_OWN_LIMITS;
}

void flow_make_verdict(struct flow *flow)
{
	struct flow_verdict *verdict = &flow->verdict;

	verdict->action = FLOW_PASS;
	verdict->wait_ms = 0; /* that of the queue is over */
	verdict->limit_index = verdict->counter_index = FLOW_NONE;
	flow->refused_by = FLOW_NONE;
	if (flow->ban.by_operator) {
		banned(flow);
	} else if (flow->deny) {
		verdict->action = flow->deny->close ? FLOW_CLOSE : FLOW_REFUSE;
		verdict->status = FLOW_DENIED;
		verdict->http_status = flow->env->image->deny_status;
		verdict->exception = flow->deny;
	} else if (!refuse(flow)) {
		if (flow->tells)
			tell(verdict);
		else
			pass(flow);
		if (flow_who_refused(flow))
			unknown(flow);
	} else if (verdict->status == FLOW_MISSING && flow_who_refused(flow)) {
		/* it lacks a key because it came with a wrong one: that is what it must hear */
		verdict->limit_index = verdict->counter_index = flow->refused_by = FLOW_NONE;
		unknown(flow);
	}
	if (verdict->action != FLOW_PASS && verdict->action != FLOW_TELL)
		flow_refusal(flow);
}
