/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * flow_decide: what a whole decision costs, from a request's text to its verdict and its headers, beside the
 * bare decision in the table that is in it. One process, best of interleaved short runs; only the ratios mean
 * anything.
 */
#include <inttypes.h>

#include "bench/crew.h"
#include "flow/flow.h"
#include "policy/policy.h"

#define ROUNDS	7
#define RUN_NS	20e6
#define CLIENTS 4096u /* a power of two */
#define SECOND	UINT64_C(1000000000)

enum policy_index { ONE, REFUSING, SEVERAL, ELSEWHERE, RESERVING, IN_FLIGHT, POLICIES };
static const char *const policies[POLICIES] = {
	[ONE] = "limits:\n  per-ip: {rate: 1000000/s, burst: 1000000}\n",
	[REFUSING] = "limits:\n  per-ip: {rate: 1/year, burst: 1, algorithm: token-bucket}\n",
	[SEVERAL] =
		"limits:\n"
		"  edge: {rate: 1000000/s, burst: 1000000}\n"
		"  site: {key: site, rate: 1000000/s, burst: 1000000}\n"
		"  api: {match: GET /api/*, key: header.x-api-key | ip, rate: 1000000/s, burst: 1000000}\n",
	[ELSEWHERE] = "limits:\n  login: {match: POST /login, rate: 5/min}\n",
	[RESERVING] = "limits:\n  per-ip: {rate: 1000000/s, burst: 1000000, count: failures}\n",
	[IN_FLIGHT] = "limits:\n  per-ip: {concurrent: 100}\n",
};

enum job { TABLE, ALLOWED, ANSWERED, REFUSED, THREE, UNMATCHED, RESERVED, PLACED, JOBS };
static const struct {
	const char *name;
	enum policy_index policy;
} jobs[JOBS] = {
	[TABLE] = {"table: key and charge", ONE},
	[ALLOWED] = {"flow: one limit, allowed", ONE},
	[ANSWERED] = {"  ... and its headers", ONE},
	[REFUSED] = {"flow: one limit, refused", REFUSING},
	[THREE] = {"flow: three limits, allowed", SEVERAL},
	[UNMATCHED] = {"flow: no limit matches", ELSEWHERE},
	[RESERVED] = {"flow: a reservation, given back", RESERVING},
	[PLACED] = {"flow: a place in flight, freed", IN_FLIGHT},
};

/* A request like most: eight headers, looked up by name as a door does it. */
static const struct {
	struct text name, value;
} headers[] = {
	{{"host", 4}, {"shop.example.com", 16}},
	{{"user-agent", 10}, {"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36", 50}},
	{{"accept", 6}, {"application/json", 16}},
	{{"accept-encoding", 15}, {"gzip, br", 8}},
	{{"accept-language", 15}, {"en", 2}},
	{{"cookie", 6}, {"sid=1234567890", 14}},
	{{"x-api-key", 9}, {"0123456789abcdef", 16}},
	{{"connection", 10}, {"keep-alive", 10}},
};

static bool header(void *door, struct text name, unsigned nth, struct text *value)
{
	(void)door;
	for (size_t i = 0; i < sizeof headers / sizeof *headers; i++)
		if (text_equal_folded(headers[i].name, name) && nth-- == 0) {
			*value = headers[i].value;
			return true;
		}
	return false;
}

struct field {
	char folder[64], path[80];
	struct table *table;
	struct policy_image *published;
	struct flow_env env;
	struct flow *flow;
	struct flow_recorder recorder;
	uint64_t at, wrong;
};

_Noreturn static void fail(const char *what, const char *why)
{
	fprintf(stderr, "bench: %s: %s\n", what, why);
	exit(1);
}

static void field_open(struct field *field, const char *text)
{
	struct table_options options = {.path = field->path, .create = true};
	struct policy_options reading = {.path = "policy.yaml", .text = text};
	struct publish_report report;
	struct policy policy;
	char why[256] = "";

	strcpy(field->folder, "/dev/shm/weir-bench-XXXXXX");
	if (!mkdtemp(field->folder))
		fail(field->folder, "cannot make it");
	snprintf(field->path, sizeof field->path, "%s/table", field->folder);
	if (table_open(&options, &field->table, why, sizeof why))
		fail(field->path, why);
	policy_load(&reading, &policy);
	if (!policy.image)
		fail("policy", policy_findings_text(&policy));
	if (policy_publish(field->table, policy.image, &report, why, sizeof why) ||
	    policy_current(field->table, &field->published, why, sizeof why))
		fail(field->path, why);
	policy_free(&policy);
	field->env = (struct flow_env){field->table, field->published->image, &field->recorder, NULL};
	field->flow = malloc(flow_size(field->env.image));
	if (!field->flow)
		fail("flow", "out of memory");
}

static void field_close(struct field *field)
{
	static const char *const names[] = {"table", "table.ledger", "table.policy"};

	free(field->flow);
	policy_drop(&field->published);
	table_close(&field->table);
	for (size_t i = 0; i < 3; i++) {
		char path[160];
		snprintf(path, sizeof path, "%.63s/%s", field->folder, names[i]);
		unlink(path);
	}
	rmdir(field->folder);
}

static uint32_t client(struct field *field)
{
	return (uint32_t)(field->at++ * UINT64_C(0x9e3779b97f4a7c15) >> 32) % CLIENTS;
}

static void bare(struct field *field, uint64_t count)
{
	const struct image_counter *counter = image_at(field->env.image, field->env.image->counters.offset);
	struct table_look look;
	struct algo_time t;
	uint64_t bytes[3] = {counter->identity};

	for (; count; count--) {
		bytes[2] = client(field);
		struct table_key key = table_key(field->table, bytes, sizeof bytes);
		table_time(field->table, &t);
		field->wrong += table_charge(field->table, &key, counter->row, &t, 1, &look) != TABLE_CHARGED;
	}
}

static void whole(struct field *field, uint64_t count, enum flow_action expect, bool answer)
{
	static struct flow_answer out;
	struct flow_request request = {
		.method = TEXT("GET"),
		.target = TEXT("/api/v1/orders?page=2"),
		.host = TEXT("shop.example.com"),
		.has_peer = true,
		.peer = {{[10] = 0xff, 0xff, 203, 0, 113, 0}},
		.header = header,
	};
	const unsigned answered = 200;
	struct algo_time t;

	for (; count; count--) {
		uint32_t number = client(field);
		request.peer.bytes[14] = (uint8_t)(number >> 8);
		request.peer.bytes[15] = (uint8_t)number;
		table_time(field->table, &t);
		flow_begin(field->flow, &field->env, &request, &t, true, false);
		flow_run(field->flow);
		field->wrong += field->flow->verdict.action != expect;
		if (answer) {
			flow_answer(field->flow, TEXT("application/json"), 1893456000, &out);
			field->wrong += out.header_count != 5;
		}
		flow_responded(field->flow, &t, &answered, 1);
		flow_end(field->flow, &t);
	}
}

static void run(struct field *field, enum job job, uint64_t count)
{
	if (job == TABLE)
		bare(field, count);
	else
		whole(field, count, job == REFUSED ? FLOW_REFUSE : FLOW_PASS, job == ANSWERED);
}

int main(void)
{
	static struct field fields[POLICIES];
	double best[JOBS] = {0};

	for (size_t i = 0; i < POLICIES; i++)
		field_open(&fields[i], policies[i]);
	whole(&fields[REFUSING], 64 * CLIENTS, FLOW_PASS, false); /* spend every client's only token */
	fields[REFUSING].wrong = 0;
	for (size_t round = 0; round < ROUNDS; round++)
		for (enum job job = TABLE; job < JOBS; job++) {
			struct field *field = &fields[jobs[job].policy];
			uint64_t done = 0, batch = 500;
			double begin = crew_now(), end;
			do {
				run(field, job, batch);
				done += batch;
				end = crew_now();
			} while (end - begin < RUN_NS);
			double ns = (end - begin) / (double)done;
			if (round == 0 || ns < best[job])
				best[job] = ns;
		}
	printf("%-32s %8s %8s\n", "", "ns", "ratio");
	for (enum job job = TABLE; job < JOBS; job++)
		printf("%-32s %8.1f %8.2f\n", jobs[job].name, best[job], best[job] / best[TABLE]);
	for (size_t i = 0; i < POLICIES; i++) {
		if (fields[i].wrong)
			printf("%" PRIu64 " wrong decisions with policy %zu\n", fields[i].wrong, i);
		field_close(&fields[i]);
	}
	return 0;
}
