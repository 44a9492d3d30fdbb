/* SPDX-License-Identifier: BSD-2-Clause */
/* publish: generations, rows, reports; and that a publication that fails has changed nothing. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "policy/policy.h"
#include "table/ledger.h"
#include "table/stats.h"
#include "tests/policy/models.h"
#include "tests/tap.h"

static char folder[64], path[96], image_path[128];

static struct table *open_table(void)
{
	struct table_options options = {.path = path, .size = 1 << 20, .create = true};
	struct table *table = NULL;
	char why[256] = "";

	if (table_open(&options, &table, why, sizeof why) != WEIR_OK)
		printf("Bail out! %s\n", why);
	return table;
}

static struct image *compile(struct arena *arena, const struct limit_spec *specs, size_t count, uint64_t hash)
{
	struct model *model = models_model(arena, specs, count);

	model->source_hash = hash;
	return models_compile(model);
}

/* Publishes and frees. */
static enum weir_error publish(struct table *table, struct image *image, struct publish_report *report)
{
	char why[256] = "";
	enum weir_error error = policy_publish(table, image, report, why, sizeof why);

	if (error != WEIR_OK)
		note("%s", why);
	free(image);
	return error;
}

static unsigned files_in_folder(void)
{
	DIR *dir = opendir(folder);
	unsigned count = 0;

	for (struct dirent *entry; dir && (entry = readdir(dir));)
		count += entry->d_name[0] != '.' || strlen(entry->d_name) > 2;
	if (dir)
		closedir(dir);
	return count;
}

/* A policy, and what the report says when it is published after the one before. */
static const struct {
	struct limit_spec limits[4];
	uint32_t converted, started, dropped;
	const char *words;
} edits[] = {
	{{{.name = "a", .rates = {100}}, {.name = "b", .rates = {0, 50}}},
	 0,
	 2,
	 0,
	 "the first policy of this table: 2 limits"},
	{{{.name = "a", .rates = {60}}, {.name = "b", .rates = {0, 50}}},
	 1,
	 0,
	 0,
	 "limit 'a': 100 per minute -> 60 per minute, counters carried over"},
	{{{.name = "a", .clauses = {"/x"}, .rates = {60}}, {.name = "b", .rates = {0, 50}}},
	 0,
	 0,
	 0,
	 "no counter is affected"},
	{{{.name = "a", .rates = {60}, .key = "header.x-a | ip"}, {.name = "b", .rates = {0, 50}}},
	 0,
	 1,
	 1,
	 "limit 'a': its key changed: new counters start"},
	{{{.name = "c", .was = "a", .rates = {60}, .key = "header.x-a | ip"},
	  {.name = "b", .rates = {0, 50}}},
	 0,
	 0,
	 0,
	 "limit 'c' was 'a': its counters go on"},
	{{{.name = "c", .was = "a", .rates = {60}, .key = "header.x-a | ip"},
	  {.name = "b", .rates = {10, 50}}},
	 0,
	 2,
	 1,
	 "limit 'b': its list of rates changed: new counters start"},
	{{{.name = "c", .was = "a", .rates = {60}, .key = "header.x-a | ip"},
	  {.name = "b", .rates = {10, 60, 500}}},
	 1,
	 1,
	 0,
	 "limit 'b/hour': 50 per hour -> 60 per hour, counters carried over\n"
	 "limit 'b': its list of rates changed: new counters start for those that were not there"},
	{{{.name = "d", .rates = {5}}},
	 0,
	 1,
	 4,
	 "limit 'd' is new\nlimit 'c' is gone; its counters fade\nlimit 'b' is gone; its counters fade"},
	{{{.name = "d", .rates = {5}}, {.name = "c", .rates = {70}, .key = "header.x-a | ip"}},
	 0,
	 1,
	 0,
	 "limit 'c' is new"},
	/* back, with other numbers: it was called c after that, so this one is a */
	{{{.name = "d", .rates = {5}}, {.name = "a", .rates = {70}}},
	 0,
	 1,
	 1,
	 "limit 'a' is back: those of its counters that have not faded go on\n"
	 "limit 'c' is gone; its counters fade"},
	{{{.name = "d", .rates = {5}}, {.name = "a", .rates = {70}, .key = "header.x-a | ip"}},
	 0,
	 1,
	 1,
	 "limit 'a': its key changed: its counters of that time go on where they have not faded"},
	{{{.name = "d", .rates = {5}}, {.name = "a", .rates = {70}, .key = "header.x-b | ip"}},
	 0,
	 1,
	 1,
	 "limit 'a': its key changed: new counters start"},
};

static void test_edits(struct arena *arena)
{
	struct table *table = open_table();

	for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
		size_t count = 0;
		struct publish_report report;
		struct policy_image *current = NULL;
		char what[64];

		while (count < 4 && edits[i].limits[count].name)
			count++;
		snprintf(what, sizeof what, "edit %zu is published", i);
		is_u64(publish(table, compile(arena, edits[i].limits, count, i + 1), &report), WEIR_OK, what);
		is_str(report.words, edits[i].words, "and told");
		is_u64(report.generation, i + 1, "as the next generation");
		is_u64(table_generation(table), i + 1, "which the table knows");
		ok(!report.unchanged, "it is news");
		is_u64(report.converted, edits[i].converted, "carried over");
		is_u64(report.started, edits[i].started, "started");
		is_u64(report.dropped, edits[i].dropped, "dropped");
		is_u64(policy_current(table, &current, NULL, 0), WEIR_OK, "readers get it");
		if (current)
			is_u64(current->image->source_hash, i + 1, "the very one");
		policy_drop(&current);
		ok(current == NULL, "and let go of it");
		is_u64(publish(table, compile(arena, edits[i].limits, count, i + 1), &report), WEIR_OK,
		       "again");
		ok(report.unchanged && report.generation == i + 1 && table_generation(table) == i + 1,
		   "the same policy changes nothing");
	}
	is_u64(files_in_folder(), 3, "table, ledger and policy, and nothing else");
	table_close(&table);
}

static void test_rows(struct arena *arena)
{
	static const struct limit_spec first[] = {{.name = "a", .rates = {100}},
						  {.name = "b", .rates = {1, 2, 3}}};
	static const struct limit_spec second[] = {{.name = "a", .rates = {70}},
						   {.name = "b", .rates = {1, 2, 3}}};
	struct table *table = open_table();
	struct publish_report report;
	struct policy_image *one = NULL, *two = NULL;
	uint32_t same = 0;

	publish(table, compile(arena, first, 2, 100), &report);
	policy_current(table, &one, NULL, 0);
	publish(table, compile(arena, second, 2, 101), &report);
	policy_current(table, &two, NULL, 0);
	if (!ok(one && two && one->image->counters.count == 4 && two->image->counters.count == 4,
		"two images, both held"))
		return;
	for (uint32_t i = 0; i < 4; i++) {
		const struct image_counter *a = image_counter_at(one->image, i),
					   *b = image_counter_at(two->image, i);
		const struct ledger_row *row = ledger_row(table, b->row);

		is_u64(a->identity, b->identity, "an edit of numbers keeps who the counter is");
		ok(row && row->identity == b->identity &&
			   memcmp(&row->numbers, &b->numbers, sizeof row->numbers) == 0,
		   "its row has its numbers");
		same += a->row == b->row;
		is_str(stats_name(table, (uint16_t)b->stat), i ? "b" : "a",
		       "its statistics have the limit's name");
	}
	is_u64(same, 3, "only the edited counter got a new row");
	ok(policy_hold(one) == one && one->references == 2, "an image can be held twice");
	{
		struct policy_image *again = one;

		policy_drop(&again);
	}
	is_u64(one->references, 1, "and dropped once");
	policy_drop(&one);
	policy_drop(&two);
	policy_drop(&two);
	table_close(&table);
}

static char *read_file(const char *name, size_t *size)
{
	static char bytes[1 << 16];
	int fd = open(name, O_RDONLY);
	ssize_t got = fd < 0 ? -1 : read(fd, bytes, sizeof bytes);

	if (fd >= 0)
		close(fd);
	*size = got < 0 ? 0 : (size_t)got;
	return bytes;
}

static void write_file(const char *name, const char *bytes, size_t size)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	if (fd < 0 || write(fd, bytes, size) != (ssize_t)size)
		printf("Bail out! cannot write %s\n", name);
	if (fd >= 0)
		close(fd);
}

/* What lies there instead of the image, and what readers are told. */
static void test_damage(struct arena *arena)
{
	static const struct limit_spec spec[] = {{.name = "a", .rates = {100}}};
	struct table *table = open_table();
	struct publish_report report;
	struct policy_image *current = NULL;
	static char good[1 << 16], expect[256];
	char why[256] = "";
	size_t size, survived = 0;

	publish(table, compile(arena, spec, 1, 200), &report);
	memcpy(good, read_file(image_path, &size), sizeof good);
	for (size_t at = 0; at < size; at++) {
		char bytes[1 << 14];

		memcpy(bytes, good, size);
		bytes[at] ^= 0x10;
		write_file(image_path, bytes, size);
		if (policy_current(table, &current, why, sizeof why) != WEIR_BAD_IMAGE)
			survived++;
		policy_drop(&current);
	}
	is_u64(survived, 0, "no changed byte goes unnoticed");
	for (size_t cut = 0; cut < size; cut += 8) {
		write_file(image_path, good, cut);
		survived += policy_current(table, &current, why, sizeof why) != WEIR_BAD_IMAGE;
		policy_drop(&current);
	}
	is_u64(survived, 0, "nor a missing end");

	write_file(image_path, good, size);
	is_u64(policy_current(table, &current, why, sizeof why), WEIR_OK, "the good one is read");
	policy_drop(&current);

	chmod(image_path, 0622);
	is_u64(policy_current(table, &current, why, sizeof why), WEIR_OWNER, "not one that others can write");
	chmod(image_path, 0600);

	unlink(image_path);
	snprintf(expect, sizeof expect, "%s: no policy has been published", image_path);
	is_u64(policy_current(table, &current, why, sizeof why), WEIR_NO_POLICY, "one that is gone");
	is_str(why, expect, "is missed");
	ok(symlink("/etc/passwd", image_path) == 0, "a link elsewhere");
	is_u64(policy_current(table, &current, why, sizeof why), WEIR_OWNER, "is not followed");
	ok(current == NULL, "and gives nothing");

	is_u64(publish(table, compile(arena, spec, 1, 200), &report), WEIR_OK, "publishing mends it");
	ok(!report.unchanged && report.generation == table_generation(table), "as a new generation");
	is_u64(policy_current(table, &current, why, sizeof why), WEIR_OK, "which is read");
	policy_drop(&current);
	write_file(image_path, good, size);
	is_u64(policy_current(table, &current, why, sizeof why), WEIR_BAD_IMAGE,
	       "an old copy put back is refused");
	snprintf(expect, sizeof expect, "%s: it is not generation %llu of this table", image_path,
		 (unsigned long long)table_generation(table));
	is_str(why, expect, "and it is said why");
	publish(table, compile(arena, spec, 1, 201), &report);
	table_close(&table);
}

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* A worker at a request stood for 5 s when a publisher had been stopped (^Z, a debugger) with the lock. */
static void test_patience(struct arena *arena, struct table *table)
{
	static const struct limit_spec spec[] = {{.name = "a", .rates = {7}}};
	static const unsigned waits[] = {0, 50};
	struct image *image = compile(arena, spec, 1, 302);
	struct publish_report report;
	char why[256], expect[256];

	for (size_t i = 0; i < 2; i++) {
		uint64_t begun = now_ms(), took;

		is_u64(policy_publish_within(table, image, waits[i], &report, why, sizeof why), WEIR_BUSY,
		       "who has no time gives up");
		took = now_ms() - begun;
		ok(took >= waits[i] && took < 2000, "in time");
		snprintf(expect, sizeof expect, "%s.ledger: another publisher has held the lock for %u ms",
			 path, waits[i]);
		is_str(why, expect, "and says so");
	}
	free(image);
}

/* Whatever fails, readers keep what they had. */
static void test_failures(struct arena *arena)
{
	static const struct limit_spec spec[] = {{.name = "a", .rates = {100}}},
				       other[] = {{.name = "a", .rates = {7}}};
	struct table_options look = {.path = path, .read_only = true};
	struct table *table = open_table(), *second = open_table(), *reader = NULL;
	struct publish_report report;
	struct policy_image *current = NULL;
	struct rlimit limit, old_limit;
	uint64_t generation;
	size_t size, after;
	static char before[1 << 16];

	publish(table, compile(arena, spec, 1, 300), &report);
	generation = report.generation;
	memcpy(before, read_file(image_path, &size), sizeof before);

	is_u64(table_open(&look, &reader, NULL, 0), WEIR_OK, "a handle for looking");
	is_u64(publish(reader, compile(arena, other, 1, 301), &report), WEIR_READ_ONLY, "cannot publish");
	is_u64(policy_current(reader, &current, NULL, 0), WEIR_OK, "but sees what is published");
	policy_drop(&current);
	table_close(&reader);

	is_u64(ledger_lock(second, 100), WEIR_OK, "while another publisher has the lock");
	is_u64(publish(table, compile(arena, other, 1, 301), &report), WEIR_BUSY, "nobody else publishes");
	test_patience(arena, table);
	ledger_unlock(second);

	/* no more than 100 bytes can be written to a file: as on a full disk */
	getrlimit(RLIMIT_FSIZE, &old_limit);
	limit = old_limit;
	limit.rlim_cur = 100;
	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &limit);
	ok(publish(table, compile(arena, other, 1, 301), &report) != WEIR_OK, "without room it fails");
	setrlimit(RLIMIT_FSIZE, &old_limit);

	is_u64(table_generation(table), generation, "the generation is what it was");
	ok(memcmp(before, read_file(image_path, &after), size) == 0 && after == size, "so is the image");
	is_u64(files_in_folder(), 3, "nothing else lies about");
	is_u64(policy_current(table, &current, NULL, 0), WEIR_OK, "readers read on");
	policy_drop(&current);
	is_u64(publish(table, compile(arena, other, 1, 301), &report), WEIR_OK, "and then it works");
	is_u64(report.generation, generation + 1, "with the generation that failed before");
	is_u64(report.converted, 1, "carrying over what it must");
	table_close(&second);
	table_close(&table);
}

/* The table was removed, its ledger and policy were not. */
static void test_new_table(struct arena *arena)
{
	static const struct limit_spec spec[] = {{.name = "a", .rates = {100}}};
	struct policy_image *current = NULL;
	struct publish_report report;
	struct table *table;

	unlink(path);
	table = open_table();
	is_u64(policy_current(table, &current, NULL, 0), WEIR_NO_POLICY, "a new table has no policy");
	is_u64(publish(table, compile(arena, spec, 1, 301), &report), WEIR_OK, "until one is published");
	ok(!report.unchanged, "what lay there is not taken for it");
	is_u64(report.generation, 1, "it begins to count anew");
	is_u64(policy_current(table, &current, NULL, 0), WEIR_OK, "and is read");
	policy_drop(&current);
	table_close(&table);
}

int main(void)
{
	struct arena arena = {0};

	if (setjmp(arena.out_of_memory))
		return 1;
	snprintf(folder, sizeof folder, "/tmp/weir-publish-XXXXXX");
	if (!mkdtemp(folder))
		return 1;
	snprintf(path, sizeof path, "%s/table", folder);
	snprintf(image_path, sizeof image_path, "%s.policy", path);
	test_edits(&arena);
	test_rows(&arena);
	test_damage(&arena);
	test_failures(&arena);
	test_new_table(&arena);
	arena_free(&arena);
	{
		static const char *const names[] = {"table", "table.ledger", "table.policy"};
		char name[128];

		for (size_t i = 0; i < 3; i++) {
			snprintf(name, sizeof name, "%s/%s", folder, names[i]);
			unlink(name);
		}
		ok(rmdir(folder) == 0, "the folder is empty after that");
	}
	return done_testing();
}
