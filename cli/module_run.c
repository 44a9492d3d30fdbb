/* SPDX-License-Identifier: BSD-2-Clause */
/* module_run: fork, exec, and read to the end. */
#include "cli/module_run.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define SAID_MAX ((size_t)1 << 20)

extern char **environ;

/* Everything there is to read; what is over is thrown away, so that the program can end. */
static char *read_all(int from)
{
	size_t used = 0, room = 0;
	char *text = NULL, piece[4096];
	ssize_t n;
	while ((n = read(from, piece, sizeof piece)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			break;
		if (used + (size_t)n + 1 > room && room < SAID_MAX) {
			char *more = realloc(text, room ? room * 2 : 16384);
			room = more ? (room ? room * 2 : 16384) : room;
			text = more ? more : text;
		}
		if (used + (size_t)n + 1 <= room) {
			memcpy(text + used, piece, (size_t)n);
			used += (size_t)n;
		}
	}
	if (text)
		text[used] = '\0';
	return text;
}

static int start(const char *const *argv, int output, pid_t *pid)
{
	posix_spawn_file_actions_t actions;
	int error = posix_spawn_file_actions_init(&actions);
	if (error)
		return error;
	if ((error = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)) ==
		    0 &&
	    (error = posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)) == 0 &&
	    (error = posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO)) == 0)
		/* its declaration is older than const */
		error = posix_spawn(pid, argv[0], &actions, NULL, (char *const *)(const void *)argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	return error;
}

char *module_run(const char *const *argv, int *status)
{
	int ends[2], ended = 0;
	char *said = NULL;
	pid_t pid = -1;
	*status = -1;
	if (pipe2(ends, O_CLOEXEC) != 0)
		return NULL;
	int error = start(argv, ends[1], &pid);
	close(ends[1]);
	if (error == 0)
		said = read_all(ends[0]);
	close(ends[0]);
	while (error == 0 && waitpid(pid, &ended, 0) < 0)
		error = errno == EINTR ? 0 : errno;
	if (error == 0)
		*status = WIFEXITED(ended) ? WEXITSTATUS(ended) : 128 + WTERMSIG(ended);
	errno = error;
	return said;
}
