/* SPDX-License-Identifier: BSD-2-Clause */
/* doctor_table: is the table sound, large enough, and used by those who should? */
#include <stdio.h>
#include <string.h>

#include "cli/doctor.h"
#include "cli/out.h"
#include "policy/policy.h"
#include "table/census.h"
#include "table/ledger.h"
#include "table/stats.h"

struct first {
	char sentence[512];
};

static void keep_first(void *context, const char *sentence)
{
	struct first *first = context;
	if (!first->sentence[0])
		snprintf(first->sentence, sizeof first->sentence, "%s", sentence);
}

static void soundness(struct doctor *doctor, struct table *table)
{
	struct first first = {""};
	uint64_t broken = census_check(table, keep_first, &first);
	if (broken)
		doctor_say(doctor, DOCTOR_WRONG, "table",
			   "stop the doors, remove the file, start again; if it comes back, tell us: weir "
			   "table check",
			   "%llu rules of its format are broken, the first: %s", (unsigned long long)broken,
			   first.sentence);
}

/* What had no room is a total since the file was made; whether the table is too small now, its filling says. */
static void fullness(struct doctor *doctor, const struct census *census, const struct stats_process *sum,
		     const char *directive)
{
	char a[32], cure[192];
	uint64_t lost = sum->evicted_live + sum->no_room;
	uint64_t larger = census->slots * 16 * 4; /* four times as many places, of 16 bytes */
	bool millions = larger >= 1 << 20;
	if (lost == 0)
		return;
	out_number(lost, a, sizeof a);
	snprintf(cure, sizeof cure,
		 "weir table resize %llu%c, and the same size in %s PATH SIZE%s, which counts when the file "
		 "is made",
		 (unsigned long long)(larger >> (millions ? 20 : 10)), millions ? 'm' : 'k', directive,
		 strcmp(directive, "weir_table") == 0 ? " (weir run: --table-size)" : "");
	if (census->live > census->slots / 10 * 9)
		doctor_say(doctor, DOCTOR_WRONG, "table", cure,
			   "it is full: %s counter%s found no room or had to make room before recovering", a,
			   lost == 1 ? "" : "s");
	else
		doctor_say(
			doctor, DOCTOR_NOTE, "table", cure,
			"it is not full now, but since it was made %s counter%s found no room or had to make "
			"room before recovering: it was too small for its clients then",
			a, lost == 1 ? "" : "s");
}

static void room(struct doctor *doctor, const struct census *census, const struct stats_process *sum,
		 const char *directive)
{
	char a[32], b[32];
	uint64_t keys = census->live - census->cells;
	doctor_say(doctor, DOCTOR_GOOD, "table", NULL, "%s key%s being counted, of %s places",
		   out_number(keys, a, sizeof a), keys == 1 ? " is" : "s are",
		   out_number(census->slots, b, sizeof b));
	fullness(doctor, census, sum, directive);
	/* nine tenths of the 24-bit row numbers */
	if (census->ledger_rows > (uint64_t)LEDGER_ROW_MAX / 10 * 9)
		doctor_say(doctor, DOCTOR_WRONG, "ledger", "restart the doors that hold old policies",
			   "%s of %s rows are in use", out_number(census->ledger_rows, a, sizeof a),
			   out_number(LEDGER_ROW_MAX, b, sizeof b));
}

#define SLOTS_CURE                                                                                           \
	"after a reload an old nginx worker keeps its slot while its last responses count under a limit, "   \
	"until another worker wants it: worker_shutdown_timeout 10m in nginx.conf ends it sooner; without "  \
	"a slot a process decides nothing"

static void processes(struct doctor *doctor, const struct census *census, const struct stats_process *sum)
{
	unsigned long long used = census->processes, all = census->process_slots;
	if (used >= all)
		doctor_say(doctor, DOCTOR_WRONG, "processes", SLOTS_CURE,
			   "all %llu process slots are taken: a further process cannot decide", all);
	else if (used * 4 >= all * 3)
		doctor_say(doctor, DOCTOR_WRONG, "processes", SLOTS_CURE,
			   "%llu of %llu process slots are taken", used, all);
	else if (used == 0)
		doctor_say(doctor, DOCTOR_NOTE, "processes", "start nginx",
			   "nobody decides in this table now");
	else
		doctor_say(doctor, DOCTOR_GOOD, "processes", NULL, "%llu of %llu slots are taken", used, all);
	if (census->newest_generation_lag > 1)
		doctor_say(doctor, DOCTOR_NOTE, "processes",
			   "it catches up at its next request, when its older ones have ended; an old nginx "
			   "worker ends with its last connection",
			   "the slowest process is %llu policies behind",
			   (unsigned long long)census->newest_generation_lag);
	if (sum->policy_errors)
		doctor_say(doctor, DOCTOR_NOTE, "processes", "see nginx's error log",
			   "%llu times a published policy could not be mapped",
			   (unsigned long long)sum->policy_errors);
}

/* Which of nginx's directives names this table and its size. */
static const char *directive(struct table *table)
{
	struct policy_image *current = NULL;
	bool zones = policy_current(table, &current, NULL, 0) == WEIR_OK && current &&
		     current->image->kind == IMAGE_OF_ZONES;
	policy_drop(&current);
	return zones ? "weir_limit_table" : "weir_table";
}

void doctor_table(struct doctor *doctor, const char *path)
{
	char why[2 * PLACE_MAX] = "";
	struct table *table = NULL;
	struct census census;
	struct stats_process sum;
	struct table_options options = {.path = path, .read_only = true};
	enum weir_error error = table_open(&options, &table, why, sizeof why);
	if (error != WEIR_OK) {
		doctor_say(doctor, DOCTOR_WRONG, "table", weir_error_cure(error), "%s",
			   *why ? why : weir_error_sentence(error));
		return;
	}
	doctor_say(doctor, DOCTOR_GOOD, "table", NULL, "%s", path);
	soundness(doctor, table);
	census_take(table, &census);
	stats_process_sum(table, &sum);
	room(doctor, &census, &sum, directive(table));
	processes(doctor, &census, &sum);
	table_close(&table);
	doctor_policy(doctor, path);
}
