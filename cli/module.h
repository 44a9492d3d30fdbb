/* SPDX-License-Identifier: BSD-2-Clause */
/* module: what `weir module` and `weir doctor` do with nginx's module: build it, and tell whether it fits. */
#ifndef WEIR_CLI_MODULE_H
#define WEIR_CLI_MODULE_H

#include <stdbool.h>
#include <sys/types.h>

#include "cli/nginx.h"
#include "policy/place.h"

/* ---- weir module build, check: each returns the exit code. NULL: what is looked for. ---- */

/* `nginx`: the binary; `source`: nginx's sources; `out`: the file to make, replaced by a rename. */
int module_build(const char *nginx, const char *source, const char *out);
/* `running`: a process id, or a file that holds one. */
int module_check(const char *file, const char *nginx, const char *running);

/* ---- what a build takes (module_source.c) ---- */

struct module_source {
	char nginx[PLACE_MAX];	/* nginx's sources */
	char script[PLACE_MAX]; /* weir's: scripts/nginx-module, with what it builds from around it */
	char archive[PLACE_MAX];
	char trouble[3 * PLACE_MAX], cure[3 * PLACE_MAX]; /* what is missing; "" if nothing is */
};

/* Sources of exactly `version`, at `wish` or where Debian's nginx-dev puts them; and weir's own beside this
 * executable. False if there is trouble. */
bool module_source_find(unsigned version, const char *wish, struct module_source *out);

/* ---- what of nginx's own configure arguments a module needs (module_flags.c) ---- */

#define MODULE_FLAGS_MAX 128

/* Splits `arguments`, as `nginx -V` prints them, and keeps what changes nginx's structures or which of its parts
 * are there; not what names compilers, folders and other modules, or asks for libraries that no header of ours
 * needs. The pieces point into `arguments`, which is written to. Returns how many; the last is followed by NULL. */
size_t module_flags(char *arguments, const char *kept[MODULE_FLAGS_MAX + 1]);

/* ---- which module a running nginx has (module_running.c) ---- */

enum module_state {
	MODULE_CURRENT,	   /* the file at `path`, as it is there now */
	MODULE_REPLACED,   /* what used to be at `path`: removed, or another file has its name */
	MODULE_NONE,	   /* the process has no such module */
	MODULE_UNREADABLE, /* this user may not look */
	MODULE_NO_PROCESS
};

#define MODULE_RESTART "restart nginx, or upgrade it by USR2: a reload keeps the module that it has"

struct module_running {
	pid_t pid;
	enum module_state state;
	char path[PLACE_MAX]; /* "" unless CURRENT or REPLACED; as the process sees it */
};

void module_running_look(pid_t pid, struct module_running *out);
/* Calls `each` with every nginx master process that has weir's module, or may have one (UNREADABLE). */
void module_running_every(void (*each)(void *context, const struct module_running *running), void *context);

#endif
