/* SPDX-License-Identifier: BSD-2-Clause */
/* folder: a local user made /dev/shm/weir-33 before nginx's workers did, they refused it, and nothing was limited.
 * Each thing that can stand in a folder's place, and what becomes of it. */
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "tests/table/rig.h"
#include "tests/tap.h"

#define WORKER	 (1900000000u + (unsigned)getpid()) /* the user the doors decide as: nobody's uid */
#define STRANGER 65534u
#define GROUP	 1234u

enum thing { NOTHING, FOLDER, FILE_, LINK };
enum whose { ROOT, THE_WORKER, A_STRANGER };

struct folder_case {
	const char *what;
	bool by_default; /* /dev/shm/weir-UID; else a folder that was named */
	enum thing thing;
	enum whose whose;
	unsigned mode;
	enum weir_error error;
	const char *sentence; /* part of it; "": none */
	enum whose after;     /* whose folder is there then */
	bool moved;	      /* and what was there is beside it */
};

static const struct folder_case CASES[] = {
	{"nothing", true, NOTHING, ROOT, 0, WEIR_OK, "", THE_WORKER, false},
	{"the worker's", true, FOLDER, THE_WORKER, 0700, WEIR_OK, "", THE_WORKER, false},
	{"root's", true, FOLDER, ROOT, 0700, WEIR_OK, "", THE_WORKER, false},
	{"a stranger's", true, FOLDER, A_STRANGER, 0700, WEIR_OK, "is now", THE_WORKER, true},
	{"a stranger's, open", true, FOLDER, A_STRANGER, 0777, WEIR_OK, "is now", THE_WORKER, true},
	{"a stranger's file", true, FILE_, A_STRANGER, 0600, WEIR_OK, "is now", THE_WORKER, true},
	{"a stranger's link", true, LINK, A_STRANGER, 0, WEIR_OK, "is now", THE_WORKER, true},
	{"the worker's, open", true, FOLDER, THE_WORKER, 0707, WEIR_OWNER, "mode 0707", THE_WORKER, false},
	{"the worker's, for a group", true, FOLDER, THE_WORKER, 0770, WEIR_OWNER, "mode 0770", THE_WORKER,
	 false},
	{"root's link", true, LINK, ROOT, 0, WEIR_OWNER, "is a symbolic link", ROOT, false},
	{"root's file", true, FILE_, ROOT, 0600, WEIR_OWNER, "is not a folder", ROOT, false},
	{"named: nothing", false, NOTHING, ROOT, 0, WEIR_OK, "", THE_WORKER, false},
	{"named: the worker's", false, FOLDER, THE_WORKER, 0755, WEIR_OK, "", THE_WORKER, false},
	{"named: root's", false, FOLDER, ROOT, 0755, WEIR_OWNER, "belongs to root", ROOT, false},
	{"named: a stranger's", false, FOLDER, A_STRANGER, 0700, WEIR_OWNER, "belongs to uid 65534",
	 A_STRANGER, false},
	{"named: open", false, FOLDER, ROOT, 0777, WEIR_OWNER, "mode 0777", ROOT, false},
	{"named: a link", false, LINK, ROOT, 0, WEIR_OWNER, "is a symbolic link", ROOT, false},
};

static uid_t uid_of(enum whose whose)
{
	return whose == ROOT ? 0 : whose == THE_WORKER ? WORKER : STRANGER;
}

static void prepare(const char *folder, const struct folder_case *c)
{
	int failed = 0;
	FILE *file = c->thing == FILE_ ? fopen(folder, "we") : NULL;
	if (file)
		fclose(file);
	if (c->thing == FOLDER)
		failed = mkdir(folder, 0700);
	else if (c->thing == LINK)
		failed = symlink("/tmp", folder);
	if (failed || (c->thing != NOTHING && lchown(folder, uid_of(c->whose), 0) != 0) ||
	    (c->thing != LINK && c->thing != NOTHING && chmod(folder, c->mode) != 0))
		rig_die(folder, "cannot prepare");
}

/* What is beside it: moved there, or forgotten. Removed. */
static unsigned beside(const char *folder, struct stat *st)
{
	char parent[128], path[512];
	const char *name = strrchr(folder, '/') + 1;
	unsigned count = 0;
	snprintf(parent, sizeof parent, "%.*s", (int)(name - folder - 1), folder);
	DIR *dir = opendir(parent);
	for (struct dirent *entry; dir && (entry = readdir(dir));)
		if (strncmp(entry->d_name, name, strlen(name)) == 0 && entry->d_name[strlen(name)] == '.') {
			snprintf(path, sizeof path, "%s/%s", parent, entry->d_name);
			count++;
			if (lstat(path, st) != 0 || remove(path) != 0)
				rig_die(path, "cannot remove");
		}
	if (dir)
		closedir(dir);
	return count;
}

static const char *say(const struct folder_case *c, const char *what)
{
	static char text[800];
	snprintf(text, sizeof text, "%s: %s", c->what, what);
	return text;
}

static void check(const struct folder_case *c, const char *base)
{
	char folder[128], path[160], why[600];
	struct stat before = {0}, st = {0}, moved = {0};
	if (c->by_default)
		snprintf(folder, sizeof folder, "/dev/shm/weir-%u", WORKER);
	else
		snprintf(folder, sizeof folder, "%s/t", base);
	snprintf(path, sizeof path, "%s/table", folder);
	prepare(folder, c);
	lstat(folder, &before);

	enum weir_error error = table_folder(path, WORKER, GROUP, true, why, sizeof why);
	is_u64(error, c->error, say(c, "looked at"));
	ok(strstr(why, c->moved ? "will be moved aside" : c->sentence) != NULL, say(c, why));
	ok(lstat(folder, &st) == (c->thing == NOTHING ? -1 : 0) && st.st_ino == before.st_ino &&
		   st.st_uid == before.st_uid && beside(folder, &moved) == 0,
	   say(c, "looking changes nothing"));

	error = table_folder(path, WORKER, GROUP, false, why, sizeof why);
	is_u64(error, c->error, say(c, "made"));
	ok(c->sentence[0] ? strstr(why, c->sentence) != NULL : why[0] == '\0', say(c, why));
	is_u64(lstat(folder, &st), 0, say(c, "it is there"));
	is_u64(st.st_uid, uid_of(c->after), say(c, "and whose it is"));
	if (c->error == WEIR_OK && (c->moved || c->thing == NOTHING))
		ok(S_ISDIR(st.st_mode) && (st.st_mode & 07777) == 0700 && st.st_gid == GROUP,
		   say(c, "a private folder"));
	else
		ok(st.st_ino == before.st_ino && st.st_mode == before.st_mode, say(c, "as it was"));
	is_u64(beside(folder, &moved), c->moved, say(c, "what is beside it"));
	ok(!c->moved || (moved.st_ino == before.st_ino && moved.st_uid == STRANGER),
	   say(c, "the stranger's"));
	if (c->error == WEIR_OK)
		is_u64(table_folder(path, WORKER, GROUP, false, why, sizeof why), WEIR_OK,
		       say(c, "and again"));
	remove(folder);
}

/* A user's own doors: nothing can be moved, nothing is given away. */
static void check_user(const char *base)
{
	char path[160], folder[128], why[600];
	struct stat st;
	snprintf(folder, sizeof folder, "%s/t", base);
	snprintf(path, sizeof path, "%s/table", folder);
	if (chmod(base, 01777) != 0 || seteuid(STRANGER) != 0)
		rig_die(base, "cannot become another");
	is_u64(table_folder(path, STRANGER, GROUP, false, why, sizeof why), WEIR_OK, "a user makes his own");
	ok(lstat(folder, &st) == 0 && st.st_uid == STRANGER && (st.st_mode & 07777) == 0700, "for himself");
	if (seteuid(0) != 0 || chown(folder, WORKER, 0) != 0 || seteuid(STRANGER) != 0)
		rig_die(folder, "cannot give away");
	is_u64(table_folder(path, STRANGER, GROUP, false, why, sizeof why), WEIR_OWNER,
	       "or refuses another's");
	is_u64(table_folder("/nowhere/at/all", STRANGER, 0, false, why, sizeof why), WEIR_SYSTEM,
	       "no such parent");
	is_u64(table_folder("/table", STRANGER, 0, false, why, sizeof why), WEIR_OK,
	       "the root is not ours to make");
	is_u64(table_folder("table", STRANGER, 0, false, NULL, 0), WEIR_OK, "nor is the working folder");
	if (seteuid(0) != 0 || rmdir(folder) != 0)
		rig_die(folder, "cannot come back");
}

/* A stranger who takes the name again and again, as fast as he can, has it for no longer than until we look. */
static void check_race(void)
{
	char folder[128], path[160], why[600];
	struct stat st;
	unsigned bad = 0, moved = 0, uid = WORKER;
	snprintf(folder, sizeof folder, "/dev/shm/weir-%u", uid);
	snprintf(path, sizeof path, "%s/table", folder);
	pid_t child = fork();
	if (child == 0) {
		if (setresuid(STRANGER, STRANGER, STRANGER) != 0)
			_exit(1);
		for (;;) {
			mkdir(folder, 0777);
			rmdir(folder);
		}
	}
	for (unsigned i = 0; i < 100000 && moved < 100; i++) {
		if (table_folder(path, uid, GROUP, false, why, sizeof why) != WEIR_OK ||
		    lstat(folder, &st) != 0 || st.st_uid != uid || st.st_mode != (S_IFDIR | 0700))
			bad++;
		rmdir(folder);
		moved += beside(folder, &st);
	}
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	ok(moved >= 100, "one takes the name in a loop");
	is_u64(bad, 0, "and it is the worker's each time");
	rmdir(folder);
	beside(folder, &st);
}

int main(void)
{
	char base[] = "/dev/shm/weir-test-XXXXXX";
	if (!mkdtemp(base))
		rig_die("mkdtemp", base);
	for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++)
		check(&CASES[i], base);
	check_user(base);
	check_race();
	rmdir(base);
	return done_testing();
}
