/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hold_attack: five wrong passwords a minute, and a client that has an account of its own. It keeps many good logins
 * open, guesses meanwhile, and lets the good ones end when that helps. "Charge at once, give back what succeeded" let
 * it bank what it gave back: 309 guesses in six seconds. Reserved and settled, it gets what the limit says.
 */
#include "table/handle.h"
#include "tests/table/rig.h"
#include "tests/tap.h"

#define PROCESSES 4u
#define OPEN	  64u
#define FIVE	  5u
#define MINUTE	  (60 * RIG_SECOND)
#define BEGIN	  (100 * RIG_SECOND)

struct attack {
	struct table *table[PROCESSES];
	struct table_key key;
	uint32_t row;
	struct table_ticket good[OPEN]; /* logins that will turn out right, kept open */
	uint64_t seed, guesses, refused;
};

/* A guess is answered at once: wrong. */
static void guess(struct attack *attack, const struct algo_time *t)
{
	struct table *table = attack->table[rig_random(&attack->seed) % PROCESSES];
	struct table_ticket ticket;
	struct table_look look;
	if (table_take(table, &attack->key, attack->row, t, 1, TABLE_RESERVE, &ticket, &look) ==
	    TABLE_CHARGED) {
		table_settle(table, &ticket, t, 1);
		attack->guesses++;
	} else {
		attack->refused++;
	}
}

static void login(struct attack *attack, unsigned i, const struct algo_time *t)
{
	struct table *table = attack->table[i % PROCESSES];
	struct table_look look;
	if (attack->good[i].live)
		table_give_back(table, &attack->good[i], t);
	else
		table_take(table, &attack->key, attack->row, t, 1, TABLE_RESERVE, &attack->good[i], &look);
}

enum plan { ONLY_GUESS, HOLD_THEN_LET_GO, AT_RANDOM, PLANS };

static void step(struct attack *attack, enum plan plan, unsigned at, const struct algo_time *t)
{
	switch (plan) {
	case ONLY_GUESS:
		break;
	case HOLD_THEN_LET_GO: /* all open, then all closed, guessing between each */
		login(attack, at % OPEN, t);
		break;
	case AT_RANDOM:
		if (rig_random(&attack->seed) % 2)
			login(attack, (unsigned)(rig_random(&attack->seed) % OPEN), t);
		break;
	case PLANS:
		break;
	}
	guess(attack, t);
}

static void run(const struct algo_numbers *numbers, bool window, const char *name)
{
	static const char *const plans[PLANS] = {"guessing only", "good logins held and let go",
						 "good logins at random"};
	for (enum plan plan = ONLY_GUESS; plan < PLANS; plan++) {
		struct rig rig = rig_new(TABLE_SIZE_MIN, PROCESSES);
		struct attack attack = {.seed = plan};
		uint64_t in_six = 0;
		char text[120];
		for (unsigned i = 0; i < PROCESSES; i++)
			attack.table[i] = rig_open(&rig);
		attack.row = rig_row(attack.table[0], 1, numbers, 1);
		attack.key = rig_key(attack.table[0], 1, 1);
		struct algo_time t = {.now = BEGIN};
		for (unsigned at = 0; t.now < BEGIN + 10 * MINUTE; at++, t.now += RIG_SECOND / 20) {
			step(&attack, plan, at, &t);
			if (t.now - BEGIN < 6 * RIG_SECOND)
				in_six = attack.guesses;
		}
		snprintf(text, sizeof text, "%s, %s: at most five guesses in six seconds", name, plans[plan]);
		ok(in_six <= FIVE, text);
		/* A bucket: five, and five a minute. A window or log: five in each of ten. */
		uint64_t most = window ? FIVE * 10 : FIVE + FIVE * 10 - 1;
		if (!ok(attack.guesses <= most, "  and no more than the limit in ten minutes"))
			note("%" PRIu64 " guesses", attack.guesses);
		if (plan == ONLY_GUESS)
			is_u64(attack.guesses, most, "  and who only guesses has all of them");
		ok(attack.refused > 10000, "  (it was refused all the time)");
		for (unsigned i = 0; i < PROCESSES; i++)
			table_close(&attack.table[i]);
		rig_free(&rig);
	}
}

int main(void)
{
	struct algo_numbers bucket = rig_token(FIVE, MINUTE, FIVE), sliding_log;
	struct algo_numbers window = rig_window(FIVE, MINUTE, ALGO_FIRST_REQUEST);
	if (!algo_sliding_log(FIVE, MINUTE, &sliding_log))
		rig_die("algo_sliding_log", "numbers refused");
	run(&bucket, false, "bucket");
	run(&window, true, "window");
	run(&sliding_log, true, "log");
	return done_testing();
}
