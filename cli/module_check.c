/* SPDX-License-Identifier: BSD-2-Clause */
/* module_check: does the module fit the nginx, and does a running nginx have it? */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/module.h"
#include "cli/out.h"

/* A process id, or the first line of a file that holds one; 0: neither. */
static pid_t process_of(const char *word)
{
	char line[32] = "", *end = NULL;
	const char *text = word;
	if (word[strspn(word, "0123456789")] != '\0') {
		FILE *file = fopen(word, "re");
		text = file && fgets(line, sizeof line, file) ? line : "";
		if (file)
			fclose(file);
	}
	long pid = strtol(text, &end, 10);
	return end != text && pid > 0 && pid <= INT32_MAX ? (pid_t)pid : 0;
}

static bool same(const char *a, const char *b)
{
	char *one = realpath(a, NULL), *two = realpath(b, NULL);
	bool equal = strcmp(one ? one : a, two ? two : b) == 0;
	free(one);
	free(two);
	return equal;
}

/* STATUS_FINE, or an exit code after saying why. */
static int running(const char *word, const char *module, struct module_running *out)
{
	char why[2 * PLACE_MAX];
	const char *cure = "";
	int status = STATUS_SYSTEM;
	pid_t pid = process_of(word);
	if (!pid) {
		snprintf(why, sizeof why, "'%s' is no process, and no file that holds the number of one",
			 word);
		return out_failure_cure(WEIR_SYSTEM, why, "--running $(pgrep -o nginx), or /run/nginx.pid");
	}
	module_running_look(pid, out);
	switch (out->state) {
	case MODULE_NO_PROCESS:
		snprintf(why, sizeof why, "there is no process %d", (int)pid);
		break;
	case MODULE_UNREADABLE:
		snprintf(why, sizeof why, "this user may not see what process %d has loaded", (int)pid);
		cure = "look as root";
		break;
	case MODULE_NONE:
		status = STATUS_FINDINGS;
		snprintf(why, sizeof why, "process %d has not loaded weir's module", (int)pid);
		cure = "load_module at the top of nginx.conf, then restart nginx or reload it";
		break;
	case MODULE_REPLACED:
		status = STATUS_FINDINGS;
		snprintf(why, sizeof why, "process %d still runs the module that was at %s before", (int)pid,
			 out->path);
		cure = MODULE_RESTART;
		break;
	case MODULE_CURRENT:
		if (same(out->path, module))
			return STATUS_FINE;
		status = STATUS_FINDINGS;
		snprintf(why, sizeof why, "process %d runs another module: %s", (int)pid, out->path);
		cure = "if load_module in nginx.conf is right: " MODULE_RESTART;
	}
	out_failure_cure(WEIR_SYSTEM, why, cure);
	return status;
}

static json_t *side(const char *path, unsigned version, const char *signature)
{
	char text[16];
	nginx_version_text(version, text, sizeof text);
	return json_pack("{s:o, s:o, s:o}", "path", *path ? out_own(text_of(path)) : json_null(),
			 "nginx_version", version ? json_string(text) : json_null(), "signature",
			 *signature ? json_string(signature) : json_null());
}

static void document(const struct nginx *nginx, int status, const struct module_running *mapped)
{
	static const char *const STATE[] = {[MODULE_CURRENT] = "current",
					    [MODULE_REPLACED] = "replaced",
					    [MODULE_NONE] = "none",
					    [MODULE_UNREADABLE] = "unreadable",
					    [MODULE_NO_PROCESS] = "no process"};
	json_t *all = json_pack("{s:b, s:o, s:o}", "ok", status == STATUS_FINE, "module",
				side(nginx->module, nginx->module_version, nginx->module_signature), "nginx",
				side(nginx->binary, nginx->binary_version, nginx->binary_signature));
	if (nginx->trouble[0]) {
		json_object_set_new(all, "trouble", out_own(text_of(nginx->trouble)));
		json_object_set_new(all, "cure", out_own(text_of(nginx->cure)));
	}
	if (mapped)
		json_object_set_new(
			all, "running",
			json_pack("{s:i, s:s, s:o}", "pid", (int)mapped->pid, "state", STATE[mapped->state],
				  "module", mapped->path[0] ? out_own(text_of(mapped->path)) : json_null()));
	out_document(all);
}

static void print_side(const char *what, const char *path, unsigned version, const char *signature)
{
	char text[16];
	if (version)
		printf("%-8s %s: nginx %s, signature %s\n", what, path,
		       nginx_version_text(version, text, sizeof text), *signature ? signature : "unknown");
}

int module_check(const char *file, const char *nginx, const char *running_word)
{
	static struct nginx found;
	struct module_running mapped = {0};
	int status = STATUS_FINE;
	bool fits = nginx_find(nginx, file, &found);
	if (!out_as_json) {
		print_side("module", found.module, found.module_version, found.module_signature);
		print_side("nginx", found.binary, found.binary_version, found.binary_signature);
	}
	if (!fits) {
		out_failure_cure(WEIR_SYSTEM, found.trouble, found.cure);
		bool readable = found.module_version || (file && access(file, R_OK) == 0);
		status = readable && found.binary_version ? STATUS_FINDINGS : STATUS_SYSTEM;
	} else if (!out_as_json) {
		printf("they fit\n");
	}
	if (running_word) {
		int more = running(running_word, found.module, &mapped);
		status = more > status ? more : status;
		if (more == STATUS_FINE && !out_as_json)
			printf("process %d runs it\n", (int)mapped.pid);
	}
	if (out_as_json && (status <= STATUS_FINDINGS))
		document(&found, status, running_word ? &mapped : NULL);
	return status;
}
