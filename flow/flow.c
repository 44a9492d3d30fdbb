/* SPDX-License-Identifier: BSD-2-Clause */
/* flow: the stations in their order. Each is told in a file of its own. */
#include "flow/inside.h"
#include "flow/own_limits.h"
#include "flow/read.h"

const char *flow_status_word(enum flow_status status)
{
	static const char *const words[] = {
#define X(name, word, help) [FLOW_##name] = (word),
		FLOW_STATUSES(X)
#undef X
	};

	return (size_t)status < sizeof words / sizeof *words ? words[status] : "UNKNOWN";
}

size_t flow_hits_max(const struct image *image)
{
	size_t most = image ? (FLOW_PATH_OTHERS + 1) * (size_t)image->hits_max : 0;

	return image && most > image->counters.count ? image->counters.count : most;
}

size_t flow_size(const struct image *image)
{
	return sizeof(struct flow) + flow_hits_max(image) * sizeof(struct flow_hit) + inside_size(image);
}

void flow_begin(struct flow *flow, const struct flow_env *env, const struct flow_request *request,
		const struct algo_time *time, bool can_wait, bool dry)
{
	/* the buffers, and hits that are never met, are not worth three kilobytes of zeroes a request */
	memset(flow, 0, offsetof(struct flow, path));
	flow->env = env;
	flow->request = request;
	flow->time = *time;
	flow->can_wait = can_wait;
	flow->dry = dry;
	flow->refused_by = FLOW_NONE;
	flow->inside = (void *)&flow->hits[flow_hits_max(env->image)];
	flow->verdict.limit_index = flow->verdict.counter_index = FLOW_NONE;
}

/* Whose it is, and what settles it before any limit is asked: false: nothing does. */
static bool settled(struct flow *flow)
{
	flow_request_read(flow);
	flow_identity(flow);
	flow_ban_address(flow);
	if (flow->ban.by_operator)
		return true;
	flow_who(flow);
	flow_ban(flow);
	if (flow->ban.by_operator)
		return true;
	flow_match(flow);
	flow->tells = !flow->deny && own_limits_asked(flow);
	return flow->deny;
}

enum flow_step flow_run(struct flow *flow)
{
	switch (flow->next) {
	case FLOW_AT_REQUEST:
		if (!flow->env->table || !flow->env->image) {
			flow->verdict.status = FLOW_FAILED;
			flow->next = FLOW_AT_END;
			return FLOW_DONE;
		}
		if (settled(flow)) {
			flow->next = FLOW_AT_VERDICT;
			return flow_run(flow);
		}
		if (!flow->tells && flow_needs_body(flow)) {
			flow->next = FLOW_AT_BODY;
			return FLOW_BODY;
		}
		/* fall through */
	case FLOW_AT_BODY:
		flow_key(flow, false);
		flow_cost(flow);
		flow->next = FLOW_AT_DECIDE;
		/* fall through */
	case FLOW_AT_QUEUE:
	case FLOW_AT_DECIDE:
		if ((flow->tells ? own_limits_decide(flow) : flow_decide(flow)) == FLOW_WAIT) {
			flow->next = FLOW_AT_QUEUE;
			return FLOW_WAIT;
		}
		flow->next = FLOW_AT_VERDICT;
		/* fall through */
	case FLOW_AT_VERDICT:
		flow_make_verdict(flow);
		if (!flow->dry)
			flow_record(flow);
		if (flow->verdict.status == FLOW_UNKNOWN)
			flow_turned_away(flow);
		flow->next = FLOW_AT_TURN;
		if (flow->verdict.wait_ms) {
			flow_wait_turn(flow, true);
			return FLOW_WAIT;
		}
		/* fall through */
	case FLOW_AT_TURN:
		flow_wait_turn(flow, false);
		flow->next = FLOW_AT_END;
		/* fall through */
	case FLOW_AT_END:
		break;
	}
	return FLOW_DONE;
}
