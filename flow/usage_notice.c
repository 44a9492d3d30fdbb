/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * usage_notice: somebody has used 80 % of his quota, told once.
 *
 * That it was told is a slot of its own, under the counter's row, so it is forgotten when the quota begins anew, goes along
 * with a change of plan or billing day, and survives what the counter survives. Of all who find the quota used so far one
 * charges it first. What is given back does not take it away again.
 */
#include "flow/read.h"
#include "flow/usage.h"

#define LEVELS (sizeof((struct image_limit *)0)->notify)

static struct table_key told_key(const struct flow *flow, const struct flow_hit *hit, uint32_t percent)
{
	const uint64_t words[] = {UINT64_C(0x6e6f74696365), hit->key.tag_word, hit->key.line_word,
				  percent}; /* "notice" */

	return table_key(flow->env->table, words, sizeof words);
}

/* Is this the first to say so? A bucket's word drains, so all of it is used; elsewhere one unit stays until the window ends. */
static bool first(const struct flow *flow, const struct flow_hit *hit, uint32_t percent, uint32_t whole)
{
	struct table_key key = told_key(flow, hit, percent);
	uint32_t row = read_row(flow, hit);
	struct table_look look;
	struct algo_report report;

	table_peek(flow->env->table, &key, row, &flow->time, 0, &look);
	bool bucket = look.numbers.kind == ALGO_TOKEN_BUCKET || look.numbers.kind == ALGO_LEAKY_BUCKET;
	if (look.found && !algo_recovered(&look.numbers, look.state, flow->time.now))
		return false;
	if (table_charge(flow->env->table, &key, row, &flow->time, bucket ? whole : 1, &look) !=
	    TABLE_CHARGED)
		return false;
	table_describe(&look, &flow->time, 1, true, &report);
	return bucket || report.limit - report.remaining == 1;
}

static void keep(struct flow *flow, const struct flow_hit *hit, uint32_t percent, uint32_t quota)
{
	struct flow_recorder *recorder = flow->env->recorder;
	const struct image *image = flow->env->image;
	struct stats_event event = {.at = flow->time.now, .kind = STATS_EVENT_NOTICE, .count = percent};
	struct text name = image_text(image, image_limit_at(image, hit->limit)->name);
	struct flow_notice *notice;

	event.stat = (uint16_t)(image_counter_at(image, hit->counter)->stat % TABLE_STAT_COUNT);
	event.length = (uint8_t)flow_key_text(flow, hit, event.text, STATS_NOTICE_TEXT);
	memcpy(event.text + STATS_NOTICE_TEXT, &quota, sizeof quota);
	stats_event(flow->env->table, &event);
	if (!recorder || recorder->notice_count >= FLOW_NOTICES)
		return;
	notice = &recorder->notices[recorder->notice_count++];
	*notice = (struct flow_notice){.percent = percent, .quota = quota, .key_size = event.length};
	notice->limit_size = (uint8_t)(name.size < sizeof notice->limit ? name.size : sizeof notice->limit);
	memcpy(notice->limit, name.data, notice->limit_size);
	memcpy(notice->key, event.text, event.length);
}

void usage_notice(struct flow *flow, const struct flow_hit *hit)
{
	const struct image_limit *limit = image_limit_at(flow->env->image, hit->limit);
	const struct image_counter *counter = image_counter_at(flow->env->image, hit->counter);
	struct table_look look;
	struct algo_report report;
	size_t passed = 0;

	if (limit->notify[0] == 0 || counter->soft == 0 || flow->dry || hit->role != FLOW_ROLE_ENFORCED)
		return;
	table_peek(flow->env->table, &hit->key, read_row(flow, hit), &flow->time, 0, &look);
	table_describe(&look, &flow->time, 0, false, &report);
	uint64_t used = report.limit - report.remaining, whole = report.limit;
	/* by its own numbers: those of a newer policy may judge */
	uint64_t quota = report.limit < counter->soft ? report.limit : counter->soft;
	while (passed < LEVELS && limit->notify[passed] && used * 100 >= quota * limit->notify[passed])
		passed++;
	if (passed == 0 || !first(flow, hit, limit->notify[passed - 1], (uint32_t)whole))
		return;
	keep(flow, hit, limit->notify[passed - 1], (uint32_t)quota);
	while (--passed) /* who has used all of it is not told later that he has used most */
		first(flow, hit, limit->notify[passed - 1], (uint32_t)whole);
}
