/* SPDX-License-Identifier: BSD-2-Clause */
/* publish_rows: every row that a policy needs is in the ledger, under its plan's number, and is found again; and none that was
 * lost passes for another. */
#include <stdlib.h>
#include <unistd.h>

#include "algo/ban.h"
#include "policy/publish.h"
#include "table/ledger.h"
#include "tests/policy/loaded.h"

static const char text[] =
	"clients: {api_keys: {}, address: {from: x-forwarded-for, trusted: [10.0.0.0/8]}}\n"
	"plans:\n"
	"  free: {monthly: 1000/month, api: 10/min}\n"
	"  pro: {monthly: 50000/month, api: {rate: 100/min, burst: 20}}\n"
	"limits:\n"
	"  api: {key: cookie.sid, missing: ip, rate: 60/min, new_keys: 30/min, then: {ban: 15min, after: 20 "
	"refusals in "
	"5min}, candidate: 30/min}\n"
	"  monthly: {key: api-key, missing: skip, rate: 100/month, align: billing-day, over: {allow: 20%}}\n"
	"  guesses: {match: POST /login, rate: 10 distinct query.user/hour}\n"
	"  render: {match: POST /render, concurrent: 2, queue: 5, bandwidth: 1MiB/s}\n";

struct seen {
	uint32_t rows, none, days;
	uint32_t list[512];
	bool twice;
};

static bool collect(const struct publish_row *row, void *context)
{
	struct seen *seen = context;
	uint32_t number = *row->row;

	seen->none += number == TABLE_ROW_NONE;
	seen->days += (row->plan & LEDGER_PLAN_DAYS) != 0;
	for (uint32_t i = 0; i < seen->rows && number != TABLE_ROW_NONE; i++)
		seen->twice |= seen->list[i] == number && (row->plan & LEDGER_PLAN_DAYS) != 1;
	seen->list[seen->rows++] = number;
	return true;
}

static struct seen rows_of(const struct image *image)
{
	struct seen seen = {0};

	publish_rows_each((struct image *)(uintptr_t)image, collect, &seen);
	return seen;
}

struct identities {
	uint64_t list[64];
	uint32_t count, at;
	bool checking, good;
};

struct damage {
	uint32_t at, now;
	uint32_t was;
};

/* Another row's number in place of the one that is to be damaged. */
static bool swap(const struct publish_row *row, void *context)
{
	struct damage *damage = context;

	if (damage->now++ != damage->at)
		return true;
	damage->was = *row->row;
	*row->row = *row->row == 1 ? 2 : 1;
	return false;
}

static bool put_back(const struct publish_row *row, void *context)
{
	struct damage *damage = context;

	if (damage->now++ != damage->at)
		return true;
	*row->row = damage->was;
	return false;
}

static const struct image_counter *counter(const struct image *image, const char *name, uint32_t nth)
{
	for (uint32_t i = 0; i < image->counters.count; i++)
		if (text_equal(image_text(image, image_counter_at(image, i)->name), text_of(name)) &&
		    nth-- == 0)
			return image_counter_at(image, i);
	printf("Bail out! no counter %s\n", name);
	exit(1);
}

static void check_plans(struct table *table, const struct image *image)
{
	const struct image_counter *own = counter(image, "monthly", 0),
				   *free_plan = counter(image, "monthly", 1),
				   *pro = counter(image, "monthly", 2);
	const uint32_t *days = image_at(image, own->day_rows.offset);
	const struct ledger_row *row = ledger_row(table, own->row);

	ok(own->identity == free_plan->identity && own->identity == pro->identity,
	   "the numbers of plans are of one counter");
	is_u64(row->plan, 1, "who has no day has the first, in no plan");
	ok(own->row == days[0], "it is that of the first day");
	row = ledger_row(table, days[30]);
	ok(row->plan == 31 && algo_align_day(row->numbers.align) == 31 && row->numbers.capacity == 120,
	   "the last day's numbers are its own");
	row = ledger_row(table, pro->row);
	ok(row->plan == LEDGER_PLAN(publish_plan(TEXT("pro")), 1) && row->numbers.capacity == 60000,
	   "a plan's numbers lie under its number");
	is_u64(pro->soft, 50000, "and the client is told the quota");
	ok(own->stat == pro->stat && own->stat == counter(image, "monthly/usage", 0)->stat && own->stat > 0,
	   "plans and the bill share the limit's statistics");
	ok(ledger_row(table, counter(image, "monthly/usage", 0)->row)->flags & LEDGER_KEEP,
	   "the bill is kept before others");
	ok(counter(image, "api/candidate", 0)->stat != counter(image, "api", 0)->stat,
	   "a candidate has its own statistics");
	ok(counter(image, "api/new_keys", 0)->stat == counter(image, "api", 0)->stat, "new keys have not");
}

static void check_words(struct table *table, const struct image *image)
{
	const struct image_limit *api = image_limit_at(image, 0);
	const struct image_counter *guesses = counter(image, "guesses", 0);
	const struct ledger_row *row = ledger_row(table, api->then.ban_row);

	ok(row && row->numbers.kind == ALGO_BAN && row->numbers.capacity == UINT64_C(900000000000),
	   "a ban has its row");
	row = ledger_row(table, api->then.strikes_row);
	ok(row && row->numbers.kind == ALGO_FIXED_WINDOW && row->numbers.capacity == 20 &&
		   row->numbers.scale == UINT64_C(300000000000),
	   "and so have the strikes");
	row = ledger_row(table, guesses->seen_row);
	ok(row && row->numbers.kind == ALGO_FIXED_WINDOW && row->numbers.capacity == 1 &&
		   row->identity != guesses->identity,
	   "so have the values that were seen");
	ok(ledger_row(table, image->clients.ban_row)->identity == image->clients.ban_identity &&
		   ledger_row(table, image->clients.grant_row)->identity == image->clients.grant_identity,
	   "and what the operator decides");
}

static void check_damage(struct table *table, struct image *image, uint32_t rows)
{
	uint32_t missed = 0;

	for (uint32_t i = 0; i < rows; i++) {
		struct damage damage = {.at = i};

		publish_rows_each(image, swap, &damage);
		missed += publish_rows_stand(table, image);
		damage.now = 0;
		publish_rows_each(image, put_back, &damage);
	}
	is_u64(missed, 0, "no row passes for another");
	ok(publish_rows_stand(table, image), "and with all of them back they stand");
}

/* Every counter, ban and candidate of a limit goes on after a rename. */
static bool same_identities(const struct publish_row *row, void *context)
{
	struct identities *out = context;

	if (out->checking)
		out->good &= out->at < out->count && out->list[out->at] == row->identity;
	else
		out->list[out->count++] = row->identity;
	out->at += out->checking;
	return true;
}

static void check_renames(void)
{
	static const char before[] = "clients: {api_keys: {}}\nplans: {pro: {a: 20/min}}\n"
				     "limits: {a: {key: cookie.sid, missing: ip, rate: 10/min, new_keys: "
				     "3/min, then: {ban: 1min}, "
				     "candidate: 5/min}, b: {key: api-key, missing: ip, rate: 10/month}}";
	static const char after[] =
		"clients: {api_keys: {}}\nplans: {pro: {c: 30/min}}\n"
		"limits: {c: {key: cookie.sid, missing: ip, rate: 20/min, new_keys: 4/min, then: {ban: "
		"2min}, "
		"candidate: 6/min, was: a}, d: {key: api-key, missing: ip, rate: 20/month, was: b}}";
	struct identities identities = {.good = true};

	publish_rows_each((struct image *)(uintptr_t)load(before), same_identities, &identities);
	identities.checking = true;
	publish_rows_each((struct image *)(uintptr_t)load(after), same_identities, &identities);
	ok(identities.good && identities.at == identities.count,
	   "'was' carries all counters of plans, new keys, bans, candidates and bills");
}

int main(void)
{
	char folder[] = "/tmp/weir-rows-XXXXXX", path[64], command[96], why[256] = "";
	struct table_options options = {.path = path, .size = 1 << 20, .create = true};
	struct table *table = NULL;
	struct policy_image *current = NULL;
	struct publish_report report;

	if (!mkdtemp(folder))
		return 1;
	snprintf(path, sizeof path, "%s/t", folder);
	if (table_open(&options, &table, why, sizeof why) != WEIR_OK) {
		printf("Bail out! %s\n", why);
		return 1;
	}
	const struct image *image = load(text);
	struct seen before = rows_of(image);
	is_u64(before.none, before.rows, "before publication no counter has a row");
	is_u64(policy_publish(table, image, &report, why, sizeof why), WEIR_OK, "it is published");
	is_u64(policy_current(table, &current, why, sizeof why), WEIR_OK, "and read again");
	struct seen after = rows_of(current->image);
	is_u64(after.rows, before.rows, "it needs the same rows");
	is_u64(after.none, 0, "and has them all");
	/* own, free and pro, each one and 31; of the bill one, whose slots say by their keys for which month they are */
	is_u64(after.days, 3 * 32, "one for each day of each plan");
	ok(!after.twice, "each another one");
	check_plans(table, current->image);
	check_words(table, current->image);
	check_damage(table, (struct image *)(uintptr_t)current->image, after.rows);
	is_u64(policy_publish(table, load(text), &report, why, sizeof why), WEIR_OK, "once more");
	ok(report.unchanged, "nothing has changed");
	check_renames();
	policy_drop(&current);
	table_close(&table);
	snprintf(command, sizeof command, "rm -r %s", folder);
	ok(system(command) == 0, "cleaned up");
	policy_free(&policy);
	return done_testing();
}
