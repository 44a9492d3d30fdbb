/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stage: a process killed at every step that matters.
 *
 * A child is stepped one instruction at a time (ptrace) through one call, while the parent compares the
 * shared files after each step. What a killed process leaves behind is those bytes and nothing else, so two
 * instructions with no shared write between them are the same death: killing the child once before each
 * change and once after the last is killing it after every instruction. The table is put back between two
 * deaths, so each is the same run up to its end. Calls that live in the kernel (opening, closing) are
 * killed at each entry to and exit from it instead.
 */
#ifndef WEIR_TESTS_TABLE_STAGE_H
#define WEIR_TESTS_TABLE_STAGE_H

#include <fcntl.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "tests/table/rig.h"
#include "tests/tap.h"

struct copy { /* a file as it was */
	char path[400];
	unsigned char *bytes, *now; /* now: the file itself, mapped for reading */
	size_t size;
	mode_t mode;
};

struct stage;
typedef void stage_act(struct stage *stage, struct table *table);

struct stage {
	struct rig rig;
	stage_act *ready; /* what the child does before it is stepped (may be NULL) */
	struct algo_numbers numbers, changed;
	uint32_t row, changed_row;
	struct algo_time time;
	struct copy copies[4];
	unsigned files;
};

static struct stage *stage_saving; /* rig_files has no argument to spare */

static inline int stage_save_one(const char *path)
{
	struct copy *copy = &stage_saving->copies[stage_saving->files++];
	struct stat st;
	int fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) != 0 || stage_saving->files > 4)
		rig_die(path, "cannot be saved");
	snprintf(copy->path, sizeof copy->path, "%s", path);
	copy->size = (size_t)st.st_size;
	copy->bytes = malloc(copy->size + 1);
	if (!copy->bytes || pread(fd, copy->bytes, copy->size, 0) != (ssize_t)copy->size)
		rig_die(path, "cannot be read");
	copy->now = copy->size ? mmap(NULL, copy->size, PROT_READ, MAP_SHARED, fd, 0) : NULL;
	if (copy->now == MAP_FAILED)
		rig_die(path, "cannot be mapped");
	close(fd);
	return 0;
}

/* Remember the files as they are now. Nobody may have them open. */
static inline void stage_save(struct stage *stage)
{
	stage_saving = stage;
	rig_files(&stage->rig, stage_save_one);
}

static inline void stage_restore(struct stage *stage)
{
	for (struct copy *copy = stage->copies; copy < stage->copies + stage->files; copy++) {
		int fd = open(copy->path, O_RDWR | O_CLOEXEC);
		if (fd < 0 || ftruncate(fd, (off_t)copy->size) != 0 ||
		    pwrite(fd, copy->bytes, copy->size, 0) != (ssize_t)copy->size)
			rig_die(copy->path, "cannot be put back");
		close(fd);
	}
}

static inline void stage_free(struct stage *stage)
{
	for (struct copy *copy = stage->copies; copy < stage->copies + stage->files; copy++) {
		free(copy->bytes);
		munmap(copy->now, copy->size);
	}
	rig_free(&stage->rig);
}

/* A child that stops before the act and again after it. It has the table open unless `bare`. */
static inline pid_t stage_child(struct stage *stage, stage_act *act, bool bare)
{
	pid_t child = fork();
	if (child < 0)
		rig_die("fork", "no process");
	if (child == 0) {
		struct table *table = bare ? NULL : rig_open(&stage->rig);
		if (ptrace(PTRACE_TRACEME, 0, 0, 0) != 0)
			rig_die("ptrace", "not permitted here");
		if (stage->ready)
			stage->ready(stage, table);
		raise(SIGSTOP);
		act(stage, table);
		raise(SIGSTOP);
		_exit(0);
	}
	int status;
	if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status))
		rig_die("stage", "the child did not come to its first stop");
	return child;
}

/* Lets the child go on by one step (`how`). False if the act is over. */
static inline bool stage_step(pid_t child, int how)
{
	int status;
	if (ptrace(how, child, 0, 0) != 0 || waitpid(child, &status, 0) != child || !WIFSTOPPED(status))
		rig_die("stage", "the child died by itself");
	if (WSTOPSIG(status) != SIGTRAP && WSTOPSIG(status) != SIGSTOP)
		rig_die("stage", "the child was stopped by a signal of its own");
	return WSTOPSIG(status) == SIGTRAP;
}

static inline void stage_kill(pid_t child)
{
	int status;
	if (kill(child, SIGKILL) != 0 || waitpid(child, &status, 0) != child || !WIFSIGNALED(status))
		rig_die("stage", "the child could not be killed");
}

/* Did the shared bytes change since `last`? Then `last` is brought up to date. */
static inline bool stage_changed(struct stage *stage, unsigned char **last)
{
	bool changed = false;
	for (unsigned i = 0; i < stage->files; i++) {
		struct copy *copy = &stage->copies[i];
		if (copy->size && memcmp(last[i], copy->now, copy->size) != 0) {
			memcpy(last[i], copy->now, copy->size);
			changed = true;
		}
	}
	return changed;
}

/* Runs the act up to its change number `changes` (from 1; 0: kills it before the first step) and kills the
 * child there. Returns how many changes were seen: fewer than asked for if the act came to its end, where it
 * is killed too. *steps counts the instructions. */
static inline unsigned stage_die_at(struct stage *stage, stage_act *act, unsigned changes, unsigned *steps)
{
	unsigned char *last[4];
	unsigned seen = 0;
	pid_t child = stage_child(stage, act, false);
	for (unsigned i = 0; i < stage->files; i++) {
		last[i] = malloc(stage->copies[i].size + 1);
		if (!last[i])
			rig_die("malloc", "no memory");
		memcpy(last[i], stage->copies[i].now, stage->copies[i].size);
	}
	*steps = 0;
	while (seen < changes && stage_step(child, PTRACE_SINGLESTEP)) {
		++*steps;
		seen += stage_changed(stage, last);
	}
	stage_kill(child);
	for (unsigned i = 0; i < stage->files; i++)
		free(last[i]);
	return seen;
}

/* The same for a bare act, by entries to and exits from the kernel. */
static inline unsigned stage_die_in_kernel(struct stage *stage, stage_act *act, unsigned calls)
{
	unsigned seen = 0;
	pid_t child = stage_child(stage, act, true);
	while (seen < calls && stage_step(child, PTRACE_SYSCALL))
		seen++;
	stage_kill(child);
	return seen;
}

#endif
