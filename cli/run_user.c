/* SPDX-License-Identifier: BSD-2-Clause */
/* run_user: who nginx's workers are. They read bytes from strangers, so as root they become the user that the
 * distribution keeps for web servers. */
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/out.h"
#include "cli/run.h"

/* Can that user pass through every folder down to `path`? Asked as that user, so that every rule of the
 * system counts. */
static bool can_reach(const struct passwd *user, const char *path)
{
	int status = 0;
	pid_t child = fork();
	if (child < 0)
		return false;
	if (child == 0)
		_exit(setgroups(0, NULL) == 0 && setgid(user->pw_gid) == 0 && setuid(user->pw_uid) == 0 &&
				      access(path, X_OK) == 0
			      ? 0
			      : 1);
	return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

int run_choose_user(struct run *run)
{
	static const char *const NAMES[] = {"www-data", "nginx", "http", "nobody"};
	run->worker_uid = geteuid();
	run->worker_gid = getegid();
	if (run->worker_uid != 0)
		return STATUS_FINE;
	/* the workers write request bodies below the state folder; others may pass through it, not look into
	 * it */
	if (chmod(run->state, 0711) != 0)
		return out_failure(WEIR_SYSTEM, "cannot set the state folder's mode");
	for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
		const struct passwd *user = getpwnam(NAMES[i]);
		const struct group *group = user ? getgrgid(user->pw_gid) : NULL;
		if (!user || !group || user->pw_uid == 0)
			continue;
		if (!can_reach(user, run->state)) {
			fprintf(stderr,
				"weir run: nginx's workers stay root: user %s cannot reach %s; to change "
				"that: --state a folder it "
				"can pass through\n",
				NAMES[i], run->state);
			return STATUS_FINE;
		}
		run->worker_uid = user->pw_uid;
		run->worker_gid = user->pw_gid;
		snprintf(run->worker_user, sizeof run->worker_user, "%s", NAMES[i]);
		snprintf(run->worker_group, sizeof run->worker_group, "%s", group->gr_name);
		return STATUS_FINE;
	}
	return STATUS_FINE;
}
