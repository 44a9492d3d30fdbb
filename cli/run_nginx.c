/* SPDX-License-Identifier: BSD-2-Clause */
/* run_nginx: nginx as our child, and what it says. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cli/out.h"
#include "cli/run.h"
#include "cli/signals.h"

static void become_nginx(const struct run *run, bool trial, pid_t parent, int output)
{
	struct rlimit limit;
	/* a group of its own: Ctrl-C is for us, and we let it finish what it serves */
	setpgid(0, 0);
	/* should we be killed, it must not stay behind on our ports */
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(1);
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
	signals_default();
	int nothing = open("/dev/null", O_RDONLY);
	if (dup2(nothing, STDIN_FILENO) < 0 || dup2(output, STDERR_FILENO) < 0 ||
	    dup2(output, STDOUT_FILENO) < 0)
		_exit(1);
	execl(run->nginx.binary, "nginx", "-c", run->conf, "-p", run->state, "-e", "stderr",
	      trial ? "-t" : NULL, (char *)NULL);
	fprintf(stderr, "cannot run %s: %s\n", run->nginx.binary, strerror(errno));
	_exit(1);
}

int run_start_nginx(const struct run *run, bool trial, struct run_child *child)
{
	int ends[2];
	pid_t parent = getpid();
	*child = (struct run_child){.output = -1, .quiet = trial};
	/* whose workers become ours if it is killed; where this is refused, somebody else sees to them */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	if (pipe2(ends, O_CLOEXEC) != 0)
		return out_failure(WEIR_SYSTEM, "cannot make a pipe");
	fcntl(ends[0], F_SETFL, O_NONBLOCK);
	fflush(NULL);
	child->pid = fork();
	if (child->pid == 0)
		become_nginx(run, trial, parent, ends[1]);
	close(ends[1]);
	if (child->pid < 0) {
		close(ends[0]);
		return out_failure(WEIR_SYSTEM, "cannot start a process");
	}
	child->output = ends[0];
	return STATUS_FINE;
}

/* nginx's own words, without what it says on the way to every exit. */
static void pass_line(struct run_child *child, const char *line)
{
	size_t room = sizeof child->last[0];
	if (line[0] == '\0')
		return;
	if (!child->quiet)
		fprintf(stderr, "%s\n", line);
	snprintf(child->last[child->lines++ % (sizeof child->last / room)], room, "%s", line);
}

static void take(struct run_child *child, char c)
{
	/* a longer line is passed on in pieces */
	if (c != '\n')
		child->partial[child->partial_size++] = c;
	if (c != '\n' && child->partial_size + 1 < sizeof child->partial)
		return;
	child->partial[child->partial_size] = '\0';
	child->partial_size = 0;
	pass_line(child, child->partial);
}

bool run_pass_lines(struct run_child *child)
{
	char buffer[4096];
	ssize_t n;
	while (child->output >= 0 && (n = read(child->output, buffer, sizeof buffer)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return true; /* nothing more for now */
		for (ssize_t i = 0; i < n; i++)
			take(child, buffer[i]);
	}
	if (child->output >= 0) {
		if (child->partial_size)
			take(child, '\n');
		close(child->output);
	}
	child->output = -1;
	return false;
}

void run_print_last(const struct run_child *child)
{
	unsigned kept = sizeof child->last / sizeof child->last[0];
	for (unsigned i = child->lines > kept ? child->lines - kept : 0; i < child->lines; i++)
		fprintf(stderr, "      %s\n", child->last[i % kept]);
}
