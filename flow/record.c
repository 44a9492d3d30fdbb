/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * record: what was decided, for those who look later.
 *
 * Statistics are this process's own (T5). Events are told at most once a second for each limit and kind, each
 * with the number it stands for: under attack the ring of recent events, and the log, go on showing everyone,
 * not the loudest.
 */
#include "flow/read.h"
#include "flow/top.h"

#define SECOND UINT64_C(1000000000)

bool flow_recorder_due(struct flow_recorder *recorder, enum stats_event_kind kind, uint16_t stat,
		       uint64_t now, uint32_t *count)
{
	struct flow_recorder_slot *slot;

	if (kind == STATS_EVENT_NONE || kind > STATS_EVENT_DENIED)
		return false;
	slot = &recorder->slots[kind - 1][stat % TABLE_STAT_COUNT];
	slot->since++;
	/* a clock that went back is far ahead to an unsigned difference: it tells at once, and is not silent
	 * until it has caught up */
	if (slot->at && now - slot->at < SECOND)
		return false;
	*count = slot->since < UINT32_MAX ? (uint32_t)slot->since : UINT32_MAX;
	slot->at = now ? now : 1;
	slot->since = 0;
	return true;
}

static void tell(const struct flow *flow, enum stats_event_kind kind, uint16_t stat,
		 const struct flow_hit *hit)
{
	struct stats_event event = {.at = flow->time.now, .kind = (uint8_t)kind, .stat = stat};
	const struct flow_request *request = flow->request;
	char text[FLOW_CLIENT_TEXT];

	if (!flow->env->recorder ||
	    !flow_recorder_due(flow->env->recorder, kind, stat, flow->time.now, &event.count))
		return;
	if (hit) {
		event.length = (uint8_t)flow_key_text(flow, hit, event.text, sizeof event.text);
	} else {
		/* untrusted: the address to trust, or to distrust: the peer's; denied: the client's */
		if (kind != STATS_EVENT_UNTRUSTED)
			event.length = (uint8_t)flow_client_text(flow, text);
		else if (request->has_peer)
			event.length = (uint8_t)address_format(&request->peer, text);
		else
			event.length = (uint8_t)strlen(strcpy(text, "unix:"));
		memcpy(event.text, text, event.length);
	}
	stats_event(flow->env->table, &event);
}

/* The limit's counter before it counts in the same entry. */
static bool record_again(const struct flow *flow, const struct flow_hit *hit, const struct flow_hit *before)
{
	return before && before->limit == hit->limit &&
	       image_counter_at(flow->env->image, before->counter)->stat ==
		       image_counter_at(flow->env->image, hit->counter)->stat;
}

void flow_record_settled(const struct flow *flow, const struct flow_hit *hit)
{
	const struct flow_hit *before = hit > flow->hits ? hit - 1 : NULL;
	uint32_t stat = image_counter_at(flow->env->image, hit->counter)->stat;

	if (!(record_again(flow, hit, before) && before->charged))
		stats_add(&stats_limit(flow->env->table, (uint16_t)(stat % TABLE_STAT_COUNT))->cost,
			  hit->cost);
}

/* One counter, unless the one before it said the same. */
static void record_hit(const struct flow *flow, const struct flow_hit *hit, const struct flow_hit *before)
{
	const struct image_counter *counter = image_counter_at(flow->env->image, hit->counter);
	uint16_t stat = (uint16_t)(counter->stat % TABLE_STAT_COUNT);
	struct stats_limit *limit = stats_limit(flow->env->table, stat);
	bool pass = flow->verdict.action == FLOW_PASS;
	bool again = record_again(flow, hit, before);

	if (hit->missing && !again)
		stats_add(&limit->missing, 1);
	if (hit->role == FLOW_ROLE_SKIPPED || hit->what == IMAGE_USAGE ||
	    (read_paces(hit) && before && before->limit == hit->limit))
		return;
	if (hit->no_room)
		stats_add(&limit->no_room, 1);
	if (hit->charged && !(again && before->charged))
		stats_add(&limit->cost, hit->cost);
	if (!hit->allowed) {
		if (again && !before->allowed)
			return;
		bool shadow = hit->role == FLOW_ROLE_SHADOW;
		stats_add(shadow ? &limit->shadow : &limit->refused, 1);
		tell(flow, shadow ? STATS_EVENT_SHADOW : STATS_EVENT_REFUSED, stat, hit);
	} else if (pass && !again) {
		stats_add(hit->role == FLOW_ROLE_EXEMPT ? &limit->exempt : &limit->allowed, 1);
		if (hit->waited || hit->slowed || (flow->can_wait && hit->delay_ns))
			stats_add(&limit->delayed, 1);
	}
}

void flow_record(struct flow *flow)
{
	struct stats_process *process = stats_process(flow->env->table);

	stats_add(&process->decisions, 1);
	if (flow->who.key_said == FLOW_CREDENTIAL_BAD || flow->who.token_said == FLOW_CREDENTIAL_BAD)
		stats_add(&process->unknown, 1);
	if (flow->untrusted_forward) {
		stats_add(&process->untrusted, 1);
		tell(flow, STATS_EVENT_UNTRUSTED, 0, NULL);
	}
	if (flow->deny) {
		stats_add(&process->denied, 1);
		tell(flow, STATS_EVENT_DENIED, 0, NULL);
		return;
	}
	if (flow->hit_count == 0 && !flow->ban.by_operator && !flow->tells)
		stats_add(&process->unmatched, 1);
	for (size_t i = 0; i < flow->hit_count; i++)
		record_hit(flow, &flow->hits[i], i ? &flow->hits[i - 1] : NULL);
	flow_top(flow);
}
