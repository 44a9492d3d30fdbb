/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * module_running: which module a running nginx has. A reload opens the module's file anew, but the loader gives
 * back the one that it has as long as the old configuration holds it: only a new process reads a file that was
 * put in its place. What is mapped stands in /proc/PID/maps, with its device and inode, and " (deleted)" behind
 * the name of a file that was removed or renamed over.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "cli/module.h"

#define NAME	"/ngx_http_weir_module.so"
#define DELETED " (deleted)"

/* Whether the file at `path`, as the process sees it, is another one than is mapped. File systems that show
 * another device here than there (overlay, btrfs) cannot be compared: then only " (deleted)" tells. */
static bool is_another(pid_t pid, const char *path, unsigned major_number, unsigned minor_number,
		       unsigned long inode)
{
	char here[PLACE_MAX + 32];
	struct stat st;
	snprintf(here, sizeof here, "/proc/%d/root%s", (int)pid, path);
	if (stat(here, &st) != 0)
		return false;
	return st.st_dev == makedev(major_number, minor_number) && st.st_ino != inode;
}

/* A line of maps: "address-address perms offset major:minor inode   path". */
static bool take(struct module_running *out, char *line)
{
	unsigned major_number, minor_number;
	unsigned long inode;
	int at = 0;
	line[strcspn(line, "\n")] = '\0';
	if (sscanf(line, "%*s %*s %*s %x:%x %lu %n", &major_number, &minor_number, &inode, &at) < 3 || !at)
		return false;
	char *path = line + at;
	size_t size = strlen(path), tail = sizeof DELETED - 1;
	bool deleted = size > tail && strcmp(path + size - tail, DELETED) == 0;
	if (deleted)
		path[size - tail] = '\0';
	/* "….so.bak" too: moved away while nginx runs it */
	const char *name = strrchr(path, '/');
	if (!name || strncmp(name, NAME, sizeof NAME - 1) != 0)
		return false;
	snprintf(out->path, sizeof out->path, "%s", path);
	out->state = deleted || is_another(out->pid, path, major_number, minor_number, inode)
			     ? MODULE_REPLACED
			     : MODULE_CURRENT;
	return true;
}

void module_running_look(pid_t pid, struct module_running *out)
{
	char path[64], line[PLACE_MAX + 256];
	*out = (struct module_running){.pid = pid, .state = MODULE_NONE};
	snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
	FILE *maps = fopen(path, "re");
	if (!maps) {
		out->state = errno == EACCES || errno == EPERM ? MODULE_UNREADABLE : MODULE_NO_PROCESS;
		return;
	}
	while (fgets(line, sizeof line, maps) && !take(out, line))
		;
	/* who may open it and not read it is told at the first read */
	if (ferror(maps))
		out->state = MODULE_UNREADABLE;
	fclose(maps);
}

/* nginx writes over its command line what each process is. */
static bool is_master(const char *pid)
{
	char path[320], title[32] = "";
	snprintf(path, sizeof path, "/proc/%s/cmdline", pid);
	FILE *file = fopen(path, "re");
	size_t n = file ? fread(title, 1, sizeof title - 1, file) : 0;
	if (file)
		fclose(file);
	return n > 0 && strncmp(title, "nginx: master", 13) == 0;
}

void module_running_every(void (*each)(void *context, const struct module_running *running), void *context)
{
	struct module_running running;
	DIR *all = opendir("/proc");
	const struct dirent *entry;
	while (all && (entry = readdir(all)) != NULL) {
		if (!isdigit((unsigned char)entry->d_name[0]) || !is_master(entry->d_name))
			continue;
		module_running_look((pid_t)strtol(entry->d_name, NULL, 10), &running);
		if (running.state != MODULE_NONE && running.state != MODULE_NO_PROCESS)
			each(context, &running);
	}
	if (all)
		closedir(all);
}
