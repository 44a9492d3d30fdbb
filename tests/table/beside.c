/* SPDX-License-Identifier: BSD-2-Clause */
/* beside: files of a table's own: replaced whole or not at all, read whole or not at all, trusted as the
 * table is. */
#include "table/beside.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "tests/table/rig.h"
#include "tests/tap.h"

static char why_text[256], path[128];
static const struct why why = {why_text, sizeof why_text};

static uint64_t word_of(struct table *table)
{
	void *bytes;
	size_t size;
	uint64_t word = 0;
	if (table_beside_read(table, ".t", 1 << 20, &bytes, &size, &why) == WEIR_OK && size == sizeof word)
		memcpy(&word, bytes, size);
	free(bytes);
	return word;
}

static void is_refused(struct table *table, size_t max, enum weir_error expect, const char *sentence,
		       const char *what)
{
	char expected[256];
	void *bytes = &bytes;
	size_t size = 9;
	is_u64(table_beside_read(table, ".t", max, &bytes, &size, &why), expect, what);
	ok(bytes == NULL && size == 0, "  and gives nothing");
	snprintf(expected, sizeof expected, "%s: %s", path, sentence);
	is_str(why_text, expected, "  and says why");
}

static void test_whole(const struct rig *rig, struct table *table)
{
	static const uint64_t words[] = {1, 2};
	struct table *reader;
	void *bytes;
	size_t size;
	is_refused(table, 100, WEIR_NOT_FOUND, weir_error_sentence(WEIR_NOT_FOUND),
		   "a file that is not there");
	is_u64(table_beside_replace(table, ".t", &words[0], 8, &why), WEIR_OK, "it is made");
	is_u64(word_of(table), 1, "and read");
	is_u64(table_beside_replace(table, ".t", &words[1], 8, &why), WEIR_OK, "it is replaced");
	is_u64(word_of(table), 2, "and read");
	reader = rig_open_as(rig, true);
	is_u64(word_of(reader), 2, "by one who only looks, too");
	table_close(&reader);
	is_refused(table, 7, WEIR_BAD_SIZE, "it has 8 bytes, more than 7", "more than the caller takes");
	is_u64(table_beside_replace(table, ".t", "", 0, &why), WEIR_OK, "nothing is a file too");
	is_u64(table_beside_read(table, ".t", 0, &bytes, &size, &why), WEIR_OK, "and read");
	ok(bytes != NULL && size == 0, "as nothing");
	free(bytes);
	is_u64(table_beside_replace(table, ".t", words, 8, &why), WEIR_OK, "something again");
}

/* As on a full disk: no more than 100 bytes can be written to a file. */
static void test_no_room(const struct rig *rig, struct table *table)
{
	struct rlimit limit, old;
	static const char large[4096];
	unsigned before = rig_files(rig, NULL);
	getrlimit(RLIMIT_FSIZE, &old);
	limit = old;
	limit.rlim_cur = 100;
	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &limit);
	enum weir_error error = table_beside_replace(table, ".t", large, sizeof large, &why);
	setrlimit(RLIMIT_FSIZE, &old);
	is_u64(error, WEIR_NO_SPACE, "without room it is not replaced");
	ok(strncmp(why_text, path, strlen(path)) == 0, "the sentence names the file");
	is_u64(word_of(table), 1, "the old one stands");
	is_u64(rig_files(rig, NULL), before, "and nothing else lies about");
}

static void test_trust(struct table *table)
{
	chmod(path, 0622);
	is_refused(table, 100, WEIR_OWNER, weir_error_sentence(WEIR_OWNER), "one that others can write");
	unlink(path);
	ok(symlink("/etc/passwd", path) == 0, "a link elsewhere");
	is_refused(table, 1 << 20, WEIR_OWNER, weir_error_sentence(WEIR_OWNER), "is not followed");
	is_u64(table_beside_replace(table, ".t", &(uint64_t){3}, 8, &why), WEIR_OK, "but replaced");
	is_u64(word_of(table), 3, "by ours");
}

int main(void)
{
	struct rig rig = rig_new(TABLE_SIZE_MIN, 4);
	struct table *table = rig_open(&rig);
	snprintf(path, sizeof path, "%s.t", rig.path);
	test_whole(&rig, table);
	test_no_room(&rig, table);
	test_trust(table);
	table_close(&table);
	rig_free(&rig);
	return done_testing();
}
