/* SPDX-License-Identifier: BSD-2-Clause */
/* file: what is believed when a table is opened, what is refused and why, and that a table appears whole or
 * not at all (T13). Two users are needed: run it as root. */
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "table/geometry.h"
#include "table/handle.h"
#include "tests/table/rig.h"
#include "tests/tap.h"

#define SOMEONE 54321

static void write_at(const char *path, off_t at, const void *bytes, size_t size)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || pwrite(fd, bytes, size, at) != (ssize_t)size)
		rig_die(path, "cannot be written");
	close(fd);
}

static struct layout_fixed header_of(const char *path)
{
	struct layout_fixed fixed;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || pread(fd, &fixed, sizeof fixed, 0) != sizeof fixed)
		rig_die(path, "cannot be read");
	close(fd);
	return fixed;
}

static void seal(const char *path, struct layout_fixed *fixed)
{
	fixed->check = geometry_checksum(fixed);
	write_at(path, 0, fixed, sizeof *fixed);
}

/* ---- one way each to spoil a good table ---- */

static void spoil_nothing(const struct rig *rig)
{
	(void)rig;
}
static void spoil_magic(const struct rig *rig)
{
	write_at(rig->path, 0, "#!/bin/sh", 9);
}
static void spoil_version(const struct rig *rig)
{
	struct layout_fixed fixed = header_of(rig->path);
	fixed.version = LAYOUT_VERSION + 1;
	seal(rig->path, &fixed);
}
static void spoil_bit(const struct rig *rig)
{
	write_at(rig->path, offsetof(struct layout_fixed, secret), "x", 1);
}
static void spoil_outside(const struct rig *rig)
{
	struct layout_fixed fixed = header_of(rig->path);
	fixed.sections[LAYOUT_SLOTS].offset = fixed.file_size - LAYOUT_PAGE;
	seal(rig->path, &fixed);
}
static void spoil_overlap(const struct rig *rig)
{
	struct layout_fixed fixed = header_of(rig->path);
	fixed.sections[LAYOUT_SLOTS].offset = fixed.sections[LAYOUT_STATISTICS].offset;
	seal(rig->path, &fixed);
}
static void spoil_pairs(const struct rig *rig)
{
	struct layout_fixed fixed = header_of(rig->path);
	fixed.pairs = UINT64_MAX / 128 + 2; /* times 128 it is small again */
	seal(rig->path, &fixed);
}
static void spoil_short(const struct rig *rig)
{
	if (truncate(rig->path, (off_t)header_of(rig->path).file_size - 1))
		rig_die(rig->path, "truncate");
}
static void spoil_long(const struct rig *rig)
{
	if (truncate(rig->path, (off_t)header_of(rig->path).file_size + 4096))
		rig_die(rig->path, "truncate");
}
static void spoil_empty(const struct rig *rig)
{
	if (truncate(rig->path, 0))
		rig_die(rig->path, "truncate");
}
static void spoil_group_writes(const struct rig *rig)
{
	chmod(rig->path, 0620);
}
static void spoil_folder_mode(const struct rig *rig)
{
	chmod(rig->folder, 0777);
}
static void spoil_owner(const struct rig *rig)
{
	if (chown(rig->path, SOMEONE, (gid_t)-1))
		rig_die(rig->path, "chown");
}
static void spoil_link(const struct rig *rig)
{
	char real[128];
	snprintf(real, sizeof real, "%s/real", rig->folder);
	if (rename(rig->path, real) || symlink(real, rig->path))
		rig_die(rig->path, "symlink");
}
static void spoil_fifo(const struct rig *rig)
{
	unlink(rig->path);
	if (mkfifo(rig->path, 0600))
		rig_die(rig->path, "mkfifo");
}
static void spoil_gone(const struct rig *rig)
{
	unlink(rig->path);
}

static const struct {
	const char *name;
	void (*spoil)(const struct rig *rig);
	enum weir_error error;
	const char *word; /* of the sentence */
} spoiled[] = {
	{"a good table", spoil_nothing, WEIR_OK, ""},
	{"a script", spoil_magic, WEIR_FOREIGN, "not a weir table"},
	{"another layout", spoil_version, WEIR_VERSION, "layout version 3, this weir has 2"},
	{"a flipped header byte", spoil_bit, WEIR_DAMAGED, "does not add up"},
	{"a section outside the file", spoil_outside, WEIR_DAMAGED, "does not add up"},
	{"sections that overlap", spoil_overlap, WEIR_DAMAGED, "does not add up"},
	{"a number of slots that overflows", spoil_pairs, WEIR_DAMAGED, "does not add up"},
	{"a byte missing", spoil_short, WEIR_DAMAGED, "truncated or grown"},
	{"a page too many", spoil_long, WEIR_DAMAGED, "truncated or grown"},
	{"an empty file", spoil_empty, WEIR_FOREIGN, "too short"},
	{"a file its group may write", spoil_group_writes, WEIR_OWNER, "mode 0620"},
	{"a folder anyone may write", spoil_folder_mode, WEIR_OWNER, "mode 0700, it is 0 and 0777"},
	{"someone else's file", spoil_owner, WEIR_OWNER, "belongs to uid 54321"},
	{"a symbolic link", spoil_link, WEIR_OWNER, "symbolic link"},
	{"a FIFO", spoil_fifo, WEIR_FOREIGN, "not a file"},
	{"no file", spoil_gone, WEIR_NOT_FOUND, "no such file"},
};

static void check_spoiled(void)
{
	for (size_t i = 0; i < sizeof spoiled / sizeof *spoiled; i++) {
		struct rig rig = rig_new(TABLE_SIZE_MIN, 2);
		char why[256] = "";
		struct table *table = rig_open(&rig);
		table_close(&table);
		spoiled[i].spoil(&rig);
		struct table_options options = {.path = rig.path};
		enum weir_error error = table_open(&options, &table, why, sizeof why);
		if (!ok(error == spoiled[i].error && !table == (error != WEIR_OK), spoiled[i].name))
			note("%s", weir_error_name(error));
		if (!ok(strstr(why, spoiled[i].word) && (error == WEIR_OK || strstr(why, rig.path)),
			"  and the sentence names path and reason"))
			note("'%s'", why);
		table_close(&table);
		rig_free(&rig);
	}
}

/* ---- making ---- */

static void check_making(void)
{
	struct rig rig = rig_new(0, 0);
	char deep[160], why[256];
	struct table *table;
	struct stat st;
	snprintf(deep, sizeof deep, "%s/in/table", rig.folder);
	struct table_options options = {.path = deep};
	is_u64(table_open(&options, &table, why, sizeof why), WEIR_NOT_FOUND,
	       "without `create`, no folder is made");
	options.create = true;
	mode_t before = umask(0);
	is_u64(table_open(&options, &table, why, sizeof why), WEIR_OK, "a missing folder is made");
	umask(before);
	is_str(table_path(table), deep, "the handle knows its path");
	ok(stat(deep, &st) == 0 && (st.st_mode & 07777) == 0600, "the file is 0600 under any umask");
	ok(st.st_size > (off_t)TABLE_SIZE_DEFAULT && st.st_size < (off_t)(TABLE_SIZE_DEFAULT + (4 << 20)),
	   "16 MiB by default, and a little");
	ok(st.st_blocks * 512 >= st.st_size, "every byte of it is there");
	table_close(&table);
	unlink(deep);
	*strrchr(deep, '/') = '\0';
	ok(stat(deep, &st) == 0 && (st.st_mode & 07777) == 0700, "the folder is 0700");
	rmdir(deep);

	static const struct {
		uint64_t size;
		uint32_t slots;
	} bad[] = {
		{TABLE_SIZE_MIN - 1, 0}, {TABLE_SIZE_MAX + 1, 0}, {TABLE_SIZE_MIN, LAYOUT_PROCESSES_MAX + 1}};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct table_options wrong = {
			.path = rig.path, .size = bad[i].size, .create = true, .process_slots = bad[i].slots};
		is_u64(table_open(&wrong, &table, NULL, 0), WEIR_BAD_SIZE, "a size out of range is refused");
	}
	is_u64(rig_files(&rig, NULL), 0, "and nothing is left behind");
	rig_free(&rig);
}

/* Several processes find no table at the same moment: one makes it, all have the same. */
static void check_creators(void)
{
	enum { CREATORS = 8 };
	struct rig rig = rig_new(1 << 20, CREATORS);
	_Atomic uint64_t *ids = rig_shared(4096);
	for (unsigned i = 0; i < CREATORS; i++)
		if (fork() == 0) {
			ids[CREATORS]++;
			while (ids[CREATORS] < CREATORS)
				sched_yield();
			struct table *table = rig_open(&rig);
			ids[i] = table ? header_of(rig.path).table_id : 0;
			ids[CREATORS + 1]++;
			while (ids[CREATORS + 1] < CREATORS) /* all hold a process slot at once */
				sched_yield();
			_exit(0);
		}
	while (wait(NULL) > 0)
		;
	uint64_t same = 0;
	for (unsigned i = 0; i < CREATORS; i++)
		same += ids[i] && ids[i] == ids[0];
	is_u64(same, CREATORS, "eight creators at once have one table");
	is_u64(rig_files(&rig, NULL), 1, "and there is one file");
	rig_free(&rig);
}

/* A tmpfs that is full is an error when the table is made, not a signal when it is used. */
static void check_full(void)
{
	struct rig rig = rig_new(8 << 20, 2);
	int status = 0;
	if (fork() == 0) {
		struct table *table;
		char why[256];
		if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
		    mount("weir-test", rig.folder, "tmpfs", 0, "size=4m,mode=0700"))
			_exit(1);
		struct table_options options = {.path = rig.path, .size = rig.size, .create = true};
		if (table_open(&options, &table, why, sizeof why) != WEIR_NO_SPACE ||
		    !strstr(why, "No space left"))
			_exit(2);
		if (rig_files(&rig, NULL) != 0)
			_exit(3);
		options.size = TABLE_SIZE_MIN;
		_exit(table_open(&options, &table, why, sizeof why) == WEIR_OK ? 0 : 4);
	}
	wait(&status);
	is_u64((uint64_t)status, 0, "a full tmpfs is refused, nothing is left, a smaller table fits");
	rig_free(&rig);
}

/* Without /proc a file cannot be made nameless, and boots cannot be told apart but by the clock. */
static void check_no_proc(void)
{
	struct rig rig = rig_new(TABLE_SIZE_MIN, 2);
	int status = 0;
	if (fork() == 0) {
		struct table *table;
		struct algo_time t, later;
		if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
		    umount2("/proc", MNT_DETACH) || access("/proc/self/fd", F_OK) == 0)
			_exit(1);
		table = rig_open(&rig);
		table_time(table, &t);
		uint64_t stamp = t.now + 1000 * RIG_SECOND;
		table->header->clock.stamp = stamp;
		if (table->header->clock.boot[0] || table->header->clock.boot[1] ||
		    rig_files(&rig, NULL) != 1)
			_exit(2);
		table_close(&table);
		table = rig_open(&rig);
		table_time(table, &later);
		_exit(later.now >= stamp + 2 * RIG_SECOND && later.now < stamp + 4 * RIG_SECOND ? 0 : 3);
	}
	wait(&status);
	is_u64((uint64_t)status, 0, "without /proc: one file, and time goes on");
	rig_free(&rig);
}

/* ---- two users ---- */

static bool use(const struct rig *rig, uint32_t generation)
{
	struct table *table;
	struct algo_numbers numbers = rig_token(10, RIG_SECOND, 10);
	struct table_look look;
	struct algo_time t;
	uint32_t row;
	if (rig_try_open(rig, false, &table) || ledger_lock(table, 1000) ||
	    ledger_row_for(table, generation, 0, &numbers, 0, "users", generation, &row))
		return false;
	ledger_unlock(table);
	struct table_key key = rig_key(table, 1, 1);
	table_time(table, &t);
	bool good = table_charge(table, &key, row, &t, 1, &look) == TABLE_CHARGED;
	table_close(&table);
	return good;
}

static bool use_as_someone(const struct rig *rig, uint32_t generation)
{
	int status = 1;
	if (fork() == 0)
		_exit(setgid(SOMEONE) || setuid(SOMEONE) || !use(rig, generation));
	wait(&status);
	return status == 0;
}

static void check_users(void)
{
	struct rig rig = rig_new(TABLE_SIZE_MIN, 4);
	struct stat st;
	char ledger[128];
	snprintf(ledger, sizeof ledger, "%s.ledger", rig.path);
	if (!ok(geteuid() == 0, "run as root: two users are needed"))
		return;
	if (chown(rig.folder, SOMEONE, SOMEONE))
		rig_die(rig.folder, "chown");
	ok(use(&rig, 1), "root makes a table in another user's folder");
	ok(stat(rig.path, &st) == 0 && st.st_uid == SOMEONE, "the table belongs to that user");
	ok(stat(ledger, &st) == 0 && st.st_uid == SOMEONE, "and so does the ledger");
	ok(use_as_someone(&rig, 2), "who can use both");
	ok(use(&rig, 3), "and then root again");
	unlink(rig.path);
	unlink(ledger);
	ok(use_as_someone(&rig, 1) && use(&rig, 2), "root uses what the user made");
	if (chown(rig.folder, 0, 0))
		rig_die(rig.folder, "chown");
	ok(use_as_someone(&rig, 1) == false, "a user cannot use root's folder");
	rig_free(&rig);
}

static void check_default_folder(void)
{
	struct table *table;
	struct stat st;
	char path[64] = "/dev/shm/weir-54321/table";
	struct table_options options = {.path = path, .size = TABLE_SIZE_MIN, .create = true};
	is_u64(table_open(&options, &table, NULL, 0), WEIR_OK, "root makes another user's default folder");
	table_close(&table);
	unlink(path);
	*strrchr(path, '/') = '\0';
	ok(stat(path, &st) == 0 && st.st_uid == SOMEONE && (st.st_mode & 07777) == 0700,
	   "and it belongs to that user");
	rmdir(path);
}

int main(void)
{
	check_spoiled();
	check_making();
	check_creators();
	check_full();
	check_no_proc();
	check_users();
	check_default_folder();
	return done_testing();
}
