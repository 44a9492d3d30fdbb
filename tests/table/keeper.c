/* SPDX-License-Identifier: BSD-2-Clause */
/* keeper: what changes is appended, at most once a second; a journal that has outgrown its base becomes one; a full disk is
 * said once and waited out; and what another table had counted is put aside. Needs root, for a small disk. */
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "table/snapshot_file.h"
#include "tests/table/snapshot_rig.h"
#include "tests/tap.h"

#define SIZE (UINT64_C(256) << 10)

static char why[256];

static off_t size_of(const char *path, const char *suffix)
{
	char text[200];
	struct stat st;
	snprintf(text, sizeof text, "%s%s", path, suffix);
	return stat(text, &st) == 0 ? st.st_size : -1;
}

static ino_t inode_of(const char *path)
{
	struct stat st;
	return stat(path, &st) == 0 ? st.st_ino : 0;
}

static unsigned charge(struct farm *farm, unsigned kind, unsigned id, unsigned count)
{
	struct table_look look;
	struct table_key key = farm_key(farm->table, kind, id);
	unsigned done = 0;
	table_time(farm->table, &farm->t);
	while (count--)
		done += table_charge(farm->table, &key, farm->row[kind], &farm->t, 1, &look) == TABLE_CHARGED;
	return done;
}

/* What the files say and what the table has: the same, as far as it lasts. */
static bool up_to_date(struct farm *farm, const char *path)
{
	struct snapshot file, live;
	bool same = snapshot_read(path, &file, NULL, 0) == WEIR_OK &&
		    snapshot_take(farm->table, true, &live) == WEIR_OK;
	same = same && file.entry_count == live.entry_count && file.row_count == live.row_count &&
	       memcmp(file.entries, live.entries, live.entry_count * sizeof *live.entries) == 0 &&
	       memcmp(file.rows, live.rows, live.row_count * sizeof *live.rows) == 0;
	snapshot_free(&file);
	snapshot_free(&live);
	return same;
}

static void check_appending(void)
{
	struct farm farm = farm_new(SIZE);
	struct keeper *keeper;
	off_t head = sizeof(struct journal_head), entry = sizeof(struct snapshot_entry),
	      batch = sizeof(struct journal_batch);
	is_u64(keeper_open(farm.snapshot, &keeper, why, sizeof why), WEIR_OK, "a keeper");
	is_u64(keeper_work(keeper, farm.table, 5000, why, sizeof why), WEIR_OK, "its first work is a base");
	ok(up_to_date(&farm, farm.snapshot), "  with all that lasts over a minute");
	is_u64(size_of(farm.snapshot, SNAPSHOT_JOURNAL), head, "  and an empty journal");
	is_u64(charge(&farm, TOKEN, 0, 1), 1, "a charge");
	unsigned pause = keeper_pause_ms(keeper);
	ok(pause >= 1000, "a second at least between two readings");
	is_u64(keeper_work(keeper, farm.table, 5000 + pause - 1, why, sizeof why), WEIR_OK,
	       "before it has passed");
	is_u64(size_of(farm.snapshot, SNAPSHOT_JOURNAL), head, "  nothing is done");
	is_u64(keeper_work(keeper, farm.table, 66000, why, sizeof why), WEIR_OK, "afterwards");
	is_u64(size_of(farm.snapshot, SNAPSHOT_JOURNAL), head + batch + entry, "  one batch with one entry");
	ok(up_to_date(&farm, farm.snapshot), "  which says all");
	is_u64(keeper_work(keeper, farm.table, 125000, why, sizeof why), WEIR_OK, "when nothing has changed");
	is_u64(size_of(farm.snapshot, SNAPSHOT_JOURNAL), head + batch + entry, "  nothing is written");
	is_u64(keeper_work(keeper, farm.table, 185001, why, sizeof why), WEIR_OK,
	       "but a minute after the last batch");
	is_u64(size_of(farm.snapshot, SNAPSHOT_JOURNAL), head + 2 * batch + entry, "  what time it is");
	struct table_key key = farm_key(farm.table, TOKEN, 5);
	table_forget(farm.table, &key);
	charge(&farm, SHORT, 30, 3);
	is_u64(keeper_work(keeper, farm.table, 250000, why, sizeof why), WEIR_OK, "a key that is forgotten");
	is_u64(size_of(farm.snapshot, SNAPSHOT_JOURNAL), head + 3 * batch + 2 * entry,
	       "  is an entry; one that recovers in seconds is none");
	ok(up_to_date(&farm, farm.snapshot), "  and gone when it is read");
	/* a new row, in the journal only */
	farm.numbers[TOKEN] = rig_token(20, FARM_HOUR, 20);
	farm_rows(&farm);
	charge(&farm, TOKEN, 7, 1);
	is_u64(keeper_work(keeper, farm.table, 320000, why, sizeof why), WEIR_OK, "an edit");
	is_u64(size_of(farm.snapshot, SNAPSHOT_JOURNAL),
	       head + 4 * batch + 4 * entry + (off_t)sizeof(struct snapshot_row),
	       "  its row, the counter under it, and under the old one no more");
	ok(up_to_date(&farm, farm.snapshot), "  all is read");
	charge(&farm, FIRST, 0, 1);
	is_u64(keeper_close(&keeper, farm.table, why, sizeof why), WEIR_OK, "closed");
	ok(keeper == NULL && up_to_date(&farm, farm.snapshot), "  with a last batch");
	farm_free(&farm);
}

static void check_compaction(void)
{
	struct farm farm = farm_new(SIZE);
	struct keeper *keeper;
	uint64_t now = 0;
	unsigned bases = 0, wrong = 0, most = 0;
	ino_t inode = 0;
	keeper_open(farm.snapshot, &keeper, why, sizeof why);
	for (unsigned round = 0; round < 40; round++, now += 60000) {
		struct table_key key;
		for (unsigned id = 0; id < 1500; id++) {
			struct table_look look;
			key = farm_key(farm.table, FIRST, 100 + id);
			table_charge(farm.table, &key, farm.row[FIRST], &farm.t, 1, &look);
		}
		wrong += keeper_work(keeper, farm.table, now, why, sizeof why) != WEIR_OK;
		if (round % 8 == 0)
			wrong += !up_to_date(&farm, farm.snapshot);
		bases += inode_of(farm.snapshot) != inode;
		inode = inode_of(farm.snapshot);
		off_t journal = size_of(farm.snapshot, SNAPSHOT_JOURNAL);
		most = journal > most ? (unsigned)journal : most;
		for (unsigned id = 0; id < 1500; id++) { /* so that it changes in each round, whatever N is */
			key = farm_key(farm.table, FIRST, 100 + id);
			if (round % 2)
				table_forget(farm.table, &key);
		}
	}
	is_u64(wrong, 0, "1,500 keys that change forty times");
	ok(bases >= 2, "  the journal became a base");
	ok(most < (1u << 20) + 200000, "  and never outgrew it by more than a megabyte and a batch");
	keeper_close(&keeper, farm.table, NULL, 0);
	ok(up_to_date(&farm, farm.snapshot), "  all is there");
	farm_free(&farm);
}

/* ---- a full disk ---- */

static bool fill_up(const char *folder)
{
	static const char zeros[4096];
	char path[128];
	snprintf(path, sizeof path, "%s/filler", folder);
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	while (fd >= 0 && write(fd, zeros, sizeof zeros) == (ssize_t)sizeof zeros)
		;
	close(fd);
	return fd >= 0;
}

static int on_a_full_disk(struct farm *farm, const struct rig *disk)
{
	struct keeper *keeper;
	char path[128], filler[128];
	struct snapshot read;
	snprintf(path, sizeof path, "%s/snap", disk->folder);
	snprintf(filler, sizeof filler, "%s/filler", disk->folder);
	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("weir-test", disk->folder, "tmpfs", 0, "size=256k,mode=0700"))
		return 1;
	if (keeper_open(path, &keeper, why, sizeof why) ||
	    keeper_work(keeper, farm->table, 0, why, sizeof why))
		return 2;
	struct snapshot taken;
	if (snapshot_take(farm->table, true, &taken) || !fill_up(disk->folder))
		return 3;
	for (unsigned id = 0; id < 3000; id++)
		charge(farm, FIRST, 100 + id, 1);
	if (keeper_work(keeper, farm->table, 60000, why, sizeof why) != WEIR_NO_SPACE ||
	    !strstr(why, "No space left") || strncmp(why, path, strlen(path)) != 0)
		return 4;
	if (keeper_work(keeper, farm->table, 120000, why, sizeof why) != WEIR_NO_SPACE || why[0])
		return 5; /* said once */
	if (snapshot_read(path, &read, why, sizeof why) != WEIR_OK || read.entry_count != taken.entry_count ||
	    memcmp(read.entries, taken.entries, read.entry_count * sizeof *read.entries) != 0)
		return 6; /* what was there is there */
	if (charge(farm, FIRST, 100, 1) != 1 || farm_broken(farm->table))
		return 7; /* the table does not care */
	unlink(filler);
	if (keeper_work(keeper, farm->table, 180000, why, sizeof why) != WEIR_OK || why[0] ||
	    !up_to_date(farm, path))
		return 8;
	fill_up(disk->folder);
	charge(farm, FIRST, 101, 1);
	for (unsigned id = 0; id < 3000; id++)
		charge(farm, DAILY, 100 + id, 1);
	if (keeper_close(&keeper, farm->table, why, sizeof why) != WEIR_NO_SPACE || !why[0] || keeper)
		return 9;
	return 0;
}

static void check_full_disk(void)
{
	int status = -1;
	pid_t child = fork();
	if (child == 0) {
		struct farm farm = farm_new(SIZE);
		struct rig disk = rig_new(SIZE, 2);
		int result = on_a_full_disk(&farm, &disk);
		umount2(disk.folder, MNT_DETACH); /* in its own namespace */
		rig_free(&disk);
		farm_free(&farm);
		_exit(result);
	}
	waitpid(child, &status, 0);
	is_u64((uint64_t)status, 0, "a full disk is said once, harms nothing, and is waited out");
}

/* ---- other tables ---- */

static void check_another_table(void)
{
	struct farm farm = farm_new(SIZE), other = farm_new(SIZE);
	struct keeper *keeper;
	char old[160];
	snprintf(old, sizeof old, "%s" SNAPSHOT_OLD, farm.snapshot);
	keeper_open(farm.snapshot, &keeper, why, sizeof why);
	keeper_work(keeper, farm.table, 0, why, sizeof why);
	charge(&farm, TOKEN, 0, 1);
	keeper_close(&keeper, farm.table, why, sizeof why);
	ok(access(old, F_OK) != 0, "a table's own files are not put aside");
	is_u64(keeper_open(farm.snapshot, &keeper, why, sizeof why), WEIR_OK,
	       "a keeper comes to another table's files");
	is_u64(keeper_work(keeper, other.table, 0, why, sizeof why), WEIR_OK,
	       "  its table was not made from them");
	ok(up_to_date(&other, farm.snapshot), "  it is kept");
	ok(up_to_date(&farm, old), "  and what the other had counted is put aside, with its journal");
	is_u64(keeper_work(keeper, farm.table, 60000, why, sizeof why), WEIR_OK,
	       "a table that takes its place");
	ok(up_to_date(&farm, farm.snapshot), "  is kept from then on");
	keeper_close(&keeper, NULL, NULL, 0);
	keeper_close(&keeper, NULL, NULL, 0);
	ok(keeper == NULL, "closed twice");
	farm_free(&farm);
	farm_free(&other);
	is_u64(keeper_open("/dev/shm/weir-no/such", &keeper, why, sizeof why), WEIR_NOT_FOUND, "no folder");
	ok(strstr(why, "no such folder") != NULL, "  is said");
}

int main(void)
{
	check_appending();
	check_compaction();
	check_full_disk();
	check_another_table();
	return done_testing();
}
