/* SPDX-License-Identifier: BSD-2-Clause */
/* snapshot_damage: files that were cut, altered, forged, or written by another version. A base is whole or none; a journal
 * counts as far as it is whole; and whatever comes through locks nobody out for longer than its limit could. */
#include <fcntl.h>
#include <sys/stat.h>

#include "table/cell.h"
#include "table/clock.h"
#include "table/journal.h"
#include "table/snapshot_judge.h"
#include "tests/table/snapshot_rig.h"
#include "tests/tap.h"

#define SIZE (UINT64_C(64) << 10)

struct bytes {
	char path[160];
	unsigned char *all;
	size_t size;
};

static struct bytes load(const char *path)
{
	struct bytes bytes = {.size = 0};
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	snprintf(bytes.path, sizeof bytes.path, "%s", path);
	if (fd < 0 || fstat(fd, &st) != 0 || !(bytes.all = malloc((size_t)st.st_size)) ||
	    pread(fd, bytes.all, (size_t)st.st_size, 0) != st.st_size)
		rig_die(path, "cannot be read");
	bytes.size = (size_t)st.st_size;
	close(fd);
	return bytes;
}

static void store(const struct bytes *bytes, size_t size)
{
	int fd = open(bytes->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || pwrite(fd, bytes->all, size, 0) != (ssize_t)size)
		rig_die(bytes->path, "cannot be written");
	close(fd);
}

static enum weir_error read_it(const struct farm *farm, uint64_t *entries)
{
	struct snapshot read;
	enum weir_error error = snapshot_read(farm->snapshot, &read, NULL, 0);
	*entries = read.entry_count;
	snapshot_free(&read);
	return error;
}

/* A small table: two limits, a handful of keys. */
static struct farm small_farm(void)
{
	struct farm farm = {.rig = rig_new(SIZE, 2)};
	struct table_look look;
	snprintf(farm.snapshot, sizeof farm.snapshot, "%s/snap", farm.rig.folder);
	farm_numbers(farm.numbers);
	farm.table = rig_open(&farm.rig);
	farm_rows(&farm);
	table_time(farm.table, &farm.t);
	for (unsigned id = 0; id < 2; id++) {
		struct table_key key = farm_key(farm.table, TOKEN, id);
		table_charge(farm.table, &key, farm.row[TOKEN], &farm.t, 1, &look);
	}
	return farm;
}

static void charge(struct farm *farm, unsigned id)
{
	struct table_look look;
	struct table_key key = farm_key(farm->table, FIRST, id);
	table_time(farm->table, &farm->t);
	if (table_charge(farm->table, &key, farm->row[FIRST], &farm->t, 1, &look) != TABLE_CHARGED)
		rig_die("charge", "refused");
}

static struct keeper *keep(const struct farm *farm)
{
	struct keeper *keeper;
	char why[256];
	if (keeper_open(farm->snapshot, &keeper, why, sizeof why) != WEIR_OK)
		rig_die("keeper", why);
	return keeper;
}

/* A base of two entries, and a journal of three batches that add one each. */
static void prepare(struct farm *farm, struct bytes *base, struct bytes *journal)
{
	char path[160];
	struct keeper *keeper = keep(farm);
	for (unsigned i = 0; i < 4; i++) {
		if (i)
			charge(farm, i);
		if (keeper_work(keeper, farm->table, i * 1000, NULL, 0) != WEIR_OK)
			rig_die("keeper", "cannot work");
	}
	keeper_close(&keeper, NULL, NULL, 0);
	*base = load(farm->snapshot);
	snprintf(path, sizeof path, "%s" SNAPSHOT_JOURNAL, farm->snapshot);
	*journal = load(path);
}

static void check_base(struct farm *farm, struct bytes *base)
{
	uint64_t entries;
	unsigned read = 0, cut = 0;
	for (size_t at = 0; at < base->size; at++)
		for (unsigned bit = 0; bit < 8; bit += 7) {
			base->all[at] ^= (unsigned char)(1u << bit);
			store(base, base->size);
			read += read_it(farm, &entries) == WEIR_OK || entries;
			base->all[at] ^= (unsigned char)(1u << bit);
		}
	is_u64(read, 0, "a base with one bit altered, anywhere: none of it is believed");
	for (size_t size = 0; size < base->size; size++) {
		store(base, size);
		cut += read_it(farm, &entries) == WEIR_OK || entries;
	}
	is_u64(cut, 0, "cut anywhere: the same");
	store(base, base->size);
	is_u64(read_it(farm, &entries), WEIR_OK, "as it was, it is read");
	is_u64(entries, 5, "  with the journal");
}

static void check_journal(struct farm *farm, struct bytes *journal)
{
	size_t head = sizeof(struct journal_head);
	uint64_t entries;
	unsigned wrong = 0, failed = 0;
	size_t ends[4] = {head, 0, 0, 0};
	for (unsigned i = 1; i < 4; i++) {
		struct journal_batch batch;
		memcpy(&batch, journal->all + ends[i - 1], sizeof batch);
		ends[i] = ends[i - 1] + sizeof batch + batch.row_count * sizeof(struct snapshot_row) +
			  batch.entry_count * sizeof(struct snapshot_entry);
	}
	is_u64(ends[3], journal->size, "a journal of three batches");
	for (size_t size = 0; size <= journal->size; size++) {
		unsigned whole = 0;
		while (whole < 3 && size >= ends[whole + 1])
			whole++;
		store(journal, size);
		failed += read_it(farm, &entries) != WEIR_OK;
		wrong += entries != 2 + whole;
	}
	ok(!failed && !wrong, "cut anywhere: what stands before counts, and no more");
	wrong = 0;
	for (size_t at = 0; at < journal->size; at++) {
		unsigned whole = 0;
		while (whole < 3 && at >= ends[whole + 1])
			whole++;
		journal->all[at] ^= 0x10;
		store(journal, journal->size);
		failed += read_it(farm, &entries) != WEIR_OK;
		wrong += entries != 2 + (at < head ? 0 : whole);
		journal->all[at] ^= 0x10;
	}
	ok(!failed && !wrong, "altered anywhere: the same");
	store(journal, journal->size);
}

/* Forged with good checks. */
static void seal(struct bytes *base)
{
	struct snapshot_head *head = (struct snapshot_head *)(void *)base->all;
	struct snapshot_row *rows = (struct snapshot_row *)(head + 1);
	struct snapshot_entry *entries = (struct snapshot_entry *)(rows + 1);
	head->body = snapshot_body_check(rows, 1, entries, 2);
	head->check = snapshot_check(head, sizeof *head);
	store(base, base->size);
}

static void check_forged_heads(struct farm *farm, struct bytes *base)
{
	struct snapshot_head *head = (struct snapshot_head *)(void *)base->all, good = *head;
	static const struct {
		size_t at;
		uint64_t value;
		enum weir_error error;
		const char *what;
	} forged[] = {
#define HEAD(field) offsetof(struct snapshot_head, field)
		{HEAD(row_count), UINT64_MAX, WEIR_DAMAGED, "rows without end"},
		{HEAD(row_count), 2, WEIR_DAMAGED, "a row too many"},
		{HEAD(entry_count), UINT64_MAX / 24 + 1, WEIR_DAMAGED, "a count that overflows"},
		{HEAD(entry_count), 1, WEIR_DAMAGED, "an entry too few"},
		{HEAD(pairs), 0, WEIR_DAMAGED, "no pairs"},
		{HEAD(pairs), UINT64_MAX, WEIR_DAMAGED, "too many pairs"},
		{HEAD(time), ALGO_TIME_MAX - 1, WEIR_DAMAGED, "a table of 36 years"},
		{HEAD(time), UINT64_MAX, WEIR_DAMAGED, "a time that is none"},
		{HEAD(wall), UINT64_MAX, WEIR_DAMAGED, "a wall clock before 1970"},
		{HEAD(generation), UINT32_MAX - 1, WEIR_DAMAGED, "the last generation"},
		{HEAD(offset), UINT64_C(1) << 63, WEIR_OK, "an absurd offset: bridged by the wall clock"},
		{HEAD(wall), 0, WEIR_OK, "a wall clock of 1970"},
		{HEAD(magic), 7, WEIR_FOREIGN, "another file"},
		{HEAD(version), SNAPSHOT_VERSION + 1, WEIR_VERSION, "of another version"},
	};
	for (size_t i = 0; i < sizeof forged / sizeof *forged; i++) {
		char why[256] = "", path[160];
		struct snapshot read;
		struct table *table;
		*head = good;
		memcpy(base->all + forged[i].at, &forged[i].value,
		       forged[i].at == HEAD(version) ? 4 : sizeof forged[i].value);
		seal(base);
		is_u64(snapshot_read(farm->snapshot, &read, why, sizeof why), forged[i].error,
		       forged[i].what);
		snapshot_free(&read);
		snprintf(path, sizeof path, "%s/forged", farm->rig.folder);
		struct table_options options = {
			.path = path, .size = SIZE, .create = true, .snapshot = farm->snapshot};
		is_u64(table_open(&options, &table, why, sizeof why), WEIR_OK,
		       "  a table is made all the same");
		ok((why[0] != '\0') == (forged[i].error != WEIR_OK), "  and why it is empty is said");
		is_u64(farm_broken(table), 0, "  it is sound");
		struct algo_time t;
		table_time(table, &t);
		ok(t.now < ALGO_TIME_MAX / 2 + 2 * RIG_YEAR, "  its time is one");
		table_close(&table);
		unlink(path);
	}
	*head = good;
	seal(base);
}

static void check_other_version(struct farm *farm, struct bytes *base)
{
	struct snapshot_head *head = (struct snapshot_head *)(void *)base->all;
	struct keeper *keeper;
	struct snapshot taken;
	char why[256];
	head->version = SNAPSHOT_VERSION + 1;
	store(base, base->size);
	is_u64(keeper_open(farm->snapshot, &keeper, why, sizeof why), WEIR_VERSION,
	       "another version is not replaced");
	ok(strstr(why, "format 2, this weir has 1") && keeper == NULL, "  and it is said");
	snapshot_take(farm->table, false, &taken);
	is_u64(snapshot_write(&taken, farm->snapshot, why, sizeof why), WEIR_VERSION,
	       "  nor by one who writes once");
	snapshot_free(&taken);
	struct bytes after = load(farm->snapshot);
	ok(after.size == base->size && memcmp(after.all, base->all, after.size) == 0, "  it is as it was");
	free(after.all);
	head->version = SNAPSHOT_VERSION;
	head->magic++;
	store(base, base->size);
	is_u64(keeper_open(farm->snapshot, &keeper, why, sizeof why), WEIR_FOREIGN, "nor is another file");
	head->magic--;
	store(base, base->size);
}

/* ---- words ---- */

static void check_words(void)
{
	struct algo_numbers n[FARM_KINDS], none, asks, never;
	uint64_t taken = 1000000 * RIG_SECOND, now = taken + RIG_SECOND, tag = UINT64_C(5) << 24;
	farm_numbers(n);
	algo_concurrent(5, &none);
	algo_limit_req_exact(0, 0, 9, 0, &asks);
	algo_limit_req(0, RIG_SECOND, 9, 0, &never);
#define WINDOW(kind, end) (((end) >> n[kind].shift) << n[kind].count_bits | 3)
	const struct {
		const struct algo_numbers *n;
		uint64_t w0, w1;
		enum judged judged;
		const char *what;
	} words[] = {
		{&n[FIRST], tag, WINDOW(FIRST, taken + FARM_HOUR), JUDGED_LIVE,
		 "a window that has just begun"},
		{&n[FIRST], tag, WINDOW(FIRST, taken + 2 * FARM_HOUR), JUDGED_REFUSED,
		 "one that ends in two hours"},
		{&n[FIRST], tag, WINDOW(FIRST, taken), JUDGED_EXPIRED, "one that has ended"},
		{&n[FIRST], 7, WINDOW(FIRST, taken + FARM_HOUR), JUDGED_REFUSED, "without a tag"},
		{&n[CLOCKED], tag, WINDOW(CLOCKED, taken + 13 * FARM_HOUR), JUDGED_REFUSED,
		 "beyond two periods"},
		{&n[DAILY], tag, WINDOW(DAILY, taken + FARM_DAY + FARM_HOUR), JUDGED_LIVE,
		 "a day of 25 hours"},
		{&n[DAILY], tag, WINDOW(DAILY, taken + 4 * FARM_DAY), JUDGED_REFUSED, "a day of four days"},
		{&n[DAILY], tag, CELL_MARK - 1, JUDGED_REFUSED, "a day of years"},
		{&n[DAILY], tag, CELL_MARK | 77, JUDGED_REFUSED, "a cell of what has none"},
		{&n[LOG], tag, CELL_MARK | ((taken + FARM_HOUR / 2) & ~UINT64_C(31)), JUDGED_LIVE, "a cell"},
		{&n[LOG], tag, CELL_MARK | ((taken + 9 * FARM_HOUR) & ~UINT64_C(31)), JUDGED_REFUSED,
		 "a cell of nine hours"},
		{&n[LOG], tag, CELL_MARK | CELL_HOLD | ((taken + FARM_HOUR / 2) & ~UINT64_C(31)),
		 JUDGED_REFUSED, "a hold"},
		{&n[LOG], tag, (CELL_MARK - 1) & ~UINT64_C(0xffff), JUDGED_REFUSED, "a ring without end"},
		{&n[LOG], tag, ((taken + FARM_HOUR / 2) >> 17 << 16) | 7, JUDGED_REFUSED,
		 "a ring that goes on behind its cells"},
		{&n[LOG], tag, ((taken + FARM_HOUR / 2) >> 17 << 16) | 6, JUDGED_LIVE,
		 "one that goes on at the last of them"},
		{&n[SLIDING], tag, (taken / FARM_HOUR) << 2 * n[SLIDING].count_bits | 3, JUDGED_LIVE,
		 "a sliding window"},
		{&n[SLIDING], tag, (taken / FARM_HOUR + 9) << 2 * n[SLIDING].count_bits | 3, JUDGED_REFUSED,
		 "one of later"},
		{&n[NGINX], tag, 16 * taken / 1000000 + 1000000, JUDGED_LIVE, "one of nginx"},
		{&n[NGINX], tag, 16 * taken / 1000000, JUDGED_EXPIRED, "one that has recovered"},
		{&never, tag, 77, JUDGED_EXPIRED, "one of a limit that lets nothing pass"},
		{&asks, tag, taken + 99 * FARM_DAY, JUDGED_LIVE, "one whose asker may be as slow as that"},
		{&n[TOKEN], tag, LAYOUT_CLAIM | 1, JUDGED_REFUSED, "a claim"},
		{&n[TOKEN], tag, 0, JUDGED_EXPIRED, "nothing"},
		{&none, tag, 5, JUDGED_REFUSED, "what is never stored"},
	};
	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		uint64_t w1 = words[i].w1;
		is_u64(snapshot_judge(words[i].n, words[i].w0, &w1, taken, now), words[i].judged,
		       words[i].what);
		is_u64(w1, words[i].w1, "  and is left as it is");
	}
	uint64_t w1 = CELL_MARK - 1;
	is_u64(snapshot_judge(&n[TOKEN], tag, &w1, taken, now), JUDGED_LIVE, "a debt without end");
	ok(!algo_recovered(&n[TOKEN], w1, taken + FARM_DAY) &&
		   algo_recovered(&n[TOKEN], w1, taken + FARM_DAY + 3 * FARM_HOUR),
	   "  is cut to a day and two windows");
	w1 = CELL_MARK - 1;
	is_u64(snapshot_judge(&n[NGINX], tag, &w1, taken, now), JUDGED_LIVE, "so is one of nginx");
	ok(!algo_recovered(&n[NGINX], w1, taken + FARM_DAY) &&
		   algo_recovered(&n[NGINX], w1, taken + FARM_DAY + 1300 * RIG_SECOND),
	   "  to a day and 1,250 s");
	w1 = CELL_MARK - 1;
	is_u64(snapshot_judge(&asks, tag, &w1, taken, now), JUDGED_LIVE, "and of who asks");
	ok(algo_recovered(&asks, w1, taken + 801 * FARM_DAY), "  to what the longest window leaves");
}

/* The same through a table: a forged far future does not lock anybody out. */
static void check_future(struct farm *farm, struct bytes *base)
{
	struct snapshot_head *head = (struct snapshot_head *)(void *)base->all;
	struct snapshot_row *row = (struct snapshot_row *)(head + 1);
	struct snapshot_entry *entry = (struct snapshot_entry *)(row + 1), good[2] = {entry[0], entry[1]};
	struct table_restored told;
	entry[0].w1 = CELL_MARK - 1;
	entry[1].pair = head->pairs;
	seal(base);
	struct table *table = farm_load(farm, "future", SIZE);
	ok(table_restored(table, &told) && told.refused == 1, "one entry outside is refused, and told");
	for (unsigned id = 0; id < 2; id++) {
		struct algo_time t = farm->t;
		t.now += 2 * FARM_DAY;
		struct farm_answer answer = farm_ask(farm, table, TOKEN, id, &t);
		ok(answer.allowed[10], "two days later everybody is free");
	}
	table_close(&table);
	entry[0] = good[0];
	entry[1] = good[1];

	struct snapshot_row sound = *row;
	const struct {
		struct snapshot_row row;
		const char *what;
	} rows[] = {
#define ROW(change)                                                                                          \
	({                                                                                                   \
		struct snapshot_row it = sound;                                                              \
		change;                                                                                      \
		it;                                                                                          \
	})
		{ROW(it.numbers.kind = 99), "a kind that is none"},
		{ROW(it.numbers.shift = 63), "numbers that overflow"},
		{ROW(it.flags = 3), "flags that are none"},
		{ROW(it.generation = 0), "no generation"},
		{ROW(it.generation = UINT32_MAX), "the last generation"},
		{ROW(it.row = 0), "the row that is none"},
		{ROW(memset(it.limit, 'x', sizeof it.limit)), "a name without end"},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		char name[16];
		*row = rows[i].row;
		seal(base);
		snprintf(name, sizeof name, "row%zu", i);
		table = farm_load(farm, name, SIZE);
		ok(table_restored(table, &told) && told.entries == 0 && told.refused == 2, rows[i].what);
		is_u64(table_last_generation(table), 3, "  generations go on as published");
		is_u64(farm_broken(table), 0, "  the table is sound");
		table_close(&table);
	}
	/* a number that would make the ledger a gigabyte */
	*row = sound;
	row->row = LEDGER_ROW_MAX;
	for (unsigned i = 0; i < 2; i++)
		entry[i].w0 = (entry[i].w0 & ~LAYOUT_ROW_MASK) | LEDGER_ROW_MAX;
	seal(base);
	table = farm_load(farm, "holes", SIZE);
	struct farm_answer answer = farm_ask(farm, table, TOKEN, 0, &farm->t);
	ok(table_restored(table, &told) && told.entries == 2, "a row number that makes holes is made small");
	char path[200];
	struct stat st;
	snprintf(path, sizeof path, "%s/holes.ledger", farm->rig.folder);
	ok(stat(path, &st) == 0 && st.st_size < 100000, "  the ledger too");
	(void)answer;
	is_u64(farm_broken(table), 0, "  and the table is sound");
	table_close(&table);
	/* the same counter twice */
	*row = sound;
	entry[0] = good[0];
	entry[1] = good[0];
	entry[1].w0 += 1; /* under another row of the same number does not exist: refused */
	seal(base);
	table = farm_load(farm, "twice", SIZE);
	ok(table_restored(table, &told) && told.entries == 1 && told.refused == 1,
	   "a row nobody knows is refused");
	table_close(&table);
	entry[1] = good[1];
	seal(base);
}

static void check_trust(struct farm *farm)
{
	struct snapshot read, taken;
	struct keeper *keeper;
	char why[256], other[200];
	struct stat st;
	ok(stat(farm->snapshot, &st) == 0 && (st.st_mode & 07777) == 0600, "a base is private");
	chmod(farm->snapshot, 0622);
	is_u64(snapshot_read(farm->snapshot, &read, why, sizeof why), WEIR_OWNER,
	       "one that others can write is refused");
	is_u64(keeper_open(farm->snapshot, &keeper, why, sizeof why), WEIR_OWNER, "  by the keeper too");
	chmod(farm->snapshot, 0600);
	snprintf(other, sizeof other, "%s/link", farm->rig.folder);
	ok(symlink(farm->snapshot, other) == 0, "a link");
	is_u64(snapshot_read(other, &read, why, sizeof why), WEIR_OWNER, "is not followed");
	chmod(farm->rig.folder, 0777);
	is_u64(snapshot_read(farm->snapshot, &read, why, sizeof why), WEIR_OWNER,
	       "a folder that others can write, too");
	chmod(farm->rig.folder, 0700);
	is_u64(keeper_open(farm->snapshot, &keeper, why, sizeof why), WEIR_OK, "a keeper");
	struct keeper *second;
	is_u64(keeper_open(farm->snapshot, &second, why, sizeof why), WEIR_BUSY, "there is one only");
	ok(strstr(why, "another process keeps it") != NULL, "  and it is said");
	snapshot_take(farm->table, false, &taken);
	is_u64(snapshot_write(&taken, farm->snapshot, why, sizeof why), WEIR_BUSY, "nobody writes beside it");
	keeper_close(&keeper, NULL, NULL, 0);
	is_u64(snapshot_write(&taken, farm->snapshot, why, sizeof why), WEIR_OK, "afterwards one may");
	snapshot_free(&taken);
}

int main(void)
{
	struct farm farm = small_farm();
	struct bytes base, journal;
	prepare(&farm, &base, &journal);
	check_base(&farm, &base);
	check_journal(&farm, &journal);
	unlink(journal.path);
	check_forged_heads(&farm, &base);
	check_other_version(&farm, &base);
	check_words();
	check_future(&farm, &base);
	check_trust(&farm);
	free(base.all);
	free(journal.all);
	farm_free(&farm);
	return done_testing();
}
