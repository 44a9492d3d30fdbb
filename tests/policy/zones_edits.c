/* SPDX-License-Identifier: BSD-2-Clause */
/* zones_edits: what is said of an edit of nginx's zones, and what is said first. */
#include "tests/policy/zone_specs.h"

static const struct {
	struct zone_spec old[2];
	size_t old_count;
	struct zone_spec fresh[2];
	size_t fresh_count;
	const char *words;
} differences[] = {
	{{REQ("a", "$x", "2r/s", 2, S, 5)}, 1, {REQ("a", "$x", "2r/s", 2, S, 5)}, 1, ""},
	{{REQ("a", "$x", "2r/s", 2, S, 5)},
	 1,
	 {EXACT("a", "$x", "2r/h", 2, 3600 * S, 5)},
	 1,
	 "zone 'a': 2r/s, burst 5 -> 2r/h, burst 5, counters carried over"},
	{{REQ("a", "$x", "2r/s", 2, S, 0)},
	 1,
	 {REQ("a", "$x", "2r/s", 2, S, 7)},
	 1,
	 "zone 'a': 2r/s -> 2r/s, burst 7, counters carried over"},
	{{REQ("a", "$x", "1r/s", 1, S, 0)}, 1, {REQ("a", "$x", "60r/m", 60, 60 * S, 0)}, 1, NULL},
	{{REQ("a", "$x", "2r/s", 2, S, 5)},
	 1,
	 {VARIES("a", "$x", "2r/s", 2, S, 5)},
	 1,
	 "zone 'a': 2r/s, burst 5 -> 2r/s, burst by variable, counters carried over"},
	{{VARIES("a", "$x", "2r/s", 2, S, 5)}, 1, {VARIES("a", "$x", "2r/s", 2, S, 0)}, 1, ""},
	{{REQ("a", "$x", "2r/s", 2, S, 0)},
	 1,
	 {VARIES("a", "$x", "2r/s", 2, S, 0)},
	 1,
	 "zone 'a': 2r/s -> 2r/s, burst by variable, counters carried over"},
	{{CONN("a", "$x", 1), REQ("b", "$x", "2r/s", 2, S, 0)},
	 2,
	 {CONN("a", "$x", 5), REQ("b", "$y", "2r/s", 2, S, 0)},
	 2,
	 "zone 'b': its key was $x and is $y: its counters begin anew\n"
	 "zone 'a': 1 connection at the same time -> 5 connections at the same time, counters carried over"},
	{{CONN("a", "$x", 1)},
	 1,
	 {CONN("a", "$x", 5)},
	 1,
	 "zone 'a': 1 connection at the same time -> 5 connections at the same time, counters carried over"},
	{{REQ("a", "$x", "2r/s", 2, S, 5)},
	 1,
	 {REQ("a", "$y", "2r/s", 2, S, 5)},
	 1,
	 "zone 'a': its key was $x and is $y: its counters begin anew"},
	{{REQ("a", "$x", "2r/s", 2, S, 5)},
	 1,
	 {CONN("a", "$x", 5)},
	 1,
	 "zone 'a' counts connections now: its counters begin anew"},
	{{CONN("a", "$x", 5)},
	 1,
	 {REQ("a", "$x", "2r/s", 2, S, 5)},
	 1,
	 "zone 'a' counts requests now: its counters begin anew"},
	{{CONN("a", "$x", 5)}, 1, {CONN("a", "$x", 5), CONN("b", "$x", 5)}, 2, "zone 'b' is new"},
	{{CONN("a", "$x", 5), CONN("b", "$x", 5)},
	 2,
	 {CONN("b", "$x", 5)},
	 1,
	 "zone 'a' is gone; its counters fade"},
	{{CONN("a", "$x", 5), CONN("b", "$x", 5)}, 2, {CONN("b", "$x", 5), CONN("a", "$x", 5)}, 2, ""},
	{{CONN("a", "$x", 5)}, 0, {CONN("a", "$x", 5)}, 1, "zone 'a' is new"},
	{{CONN("a", "$x", 5)},
	 1,
	 {CONN("c", "$x", 5)},
	 1,
	 "zone 'c' is new\nzone 'a' is gone; its counters fade"},
};

static void test_differences(void)
{
	char words[1024];

	for (size_t i = 0; i < sizeof differences / sizeof *differences; i++) {
		struct image *old = image_of(differences[i].old, differences[i].old_count);
		struct image *fresh = image_of(differences[i].fresh, differences[i].fresh_count);

		snprintf(words, sizeof words, "(nothing written)");
		size_t anew = zones_difference(old, fresh, words, sizeof words);
		if (differences[i].words)
			is_str(words, differences[i].words, "what an edit does");
		else
			ok(!strstr(words, "anew"), "the same rate in other words takes nothing from anyone");
		is_u64(anew, strstr(words, "anew") != NULL, "and to how many zones it does the worst");
		free(old);
		free(fresh);
	}
	static const struct zone_spec two[] = {CONN("a", "$x", 5), CONN("b", "$x", 5)};
	struct image *fresh = image_of(two, 2);
	is_u64(zones_difference(NULL, fresh, words, sizeof words), 0,
	       "nothing before: nobody loses anything");
	is_str(words, "", "and there is nothing to say");
	free(fresh);
}

#define MANY 40

/* So many zones change that there is no room for all: what takes something from somebody is not what is left out. */
static void test_many_differences(void)
{
	static const struct {
		size_t first_anew, anew;
		const char *begins, *ends;
	} cases[] = {
		{MANY - 1, 1,
		 "zone 'zone39': its key was $x and is $y: its counters begin anew\nzone 'zone00': ",
		 " more"},
		{MANY, 0, "zone 'zone00': 1r/s -> 2r/s, counters carried over\n", " more"},
		{0, MANY, "zone 'zone00': its key was $x and is $y: its counters begin anew\n",
		 "\nand 26 more, 26 of which begin anew"},
		{MANY - 20, 20, "zone 'zone20': its key was $x and is $y: its counters begin anew\n",
		 "\nand 26 more, 6 of which begin anew"},
	};
	struct zone_spec old[MANY], fresh[MANY];
	char names[MANY][8], words[1024];

	for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
		for (size_t i = 0; i < MANY; i++) {
			snprintf(names[i], sizeof names[i], "zone%02zu", i);
			old[i] = (struct zone_spec)REQ("", "$x", "1r/s", 1, S, 0);
			fresh[i] = (struct zone_spec)REQ("", "$x", "2r/s", 2, S, 0);
			if (i >= cases[c].first_anew)
				fresh[i] = (struct zone_spec)REQ("", "$y", "1r/s", 1, S, 0);
			old[i].name = fresh[i].name = text_of(names[i]);
		}
		struct image *before = image_of(old, MANY), *after = image_of(fresh, MANY);
		is_u64(zones_difference(before, after, words, sizeof words), cases[c].anew,
		       "how many of many zones begin anew");
		words[strlen(cases[c].begins)] = '\0';
		is_str(words, cases[c].begins, "they are told first");
		zones_difference(before, after, words, sizeof words);
		is_str(words + strlen(words) - strlen(cases[c].ends), cases[c].ends,
		       "and that there are more");
		free(before);
		free(after);
	}
}

int main(void)
{
	test_differences();
	test_many_differences();
	return done_testing();
}
