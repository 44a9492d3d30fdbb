/* SPDX-License-Identifier: BSD-2-Clause */
/* run_edit: read, compare, try, take over. */
#include "cli/run_edit.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/gateway_note.h"
#include "cli/out.h"

/* Longer than a resolver that nobody answers tries. */
#define TRIAL_MS 40000

static void refuse(const struct run *run, const char *why)
{
	gateway_note_write(run->table, why); /* first: who reads the line may ask weir show */
	fprintf(stderr,
		"weir run: the gateway of the edited policy is not in force: %s; nginx serves on as before, "
		"the limits "
		"are in force. It is tried again at the next save\n",
		why);
}

static bool listens_on(const struct run *run, const struct run_listen *wanted)
{
	for (size_t i = 0; i < run->listen_count; i++)
		if (strcmp(run->listens[i].address, wanted->address) == 0)
			return true;
	return false;
}

static bool uses_port(const struct run *run, unsigned port)
{
	for (size_t i = 0; i < run->listen_count; i++)
		if (run->listens[i].port == port)
			return true;
	return false;
}

/* The ports that would be new must be free. */
static bool ports_are_free(const struct run *run, const struct run *next, char *why, size_t size)
{
	for (size_t i = 0; i < next->listen_count; i++) {
		const struct run_listen *listen = &next->listens[i];
		int reason = listens_on(run, listen) ? 0 : run_try_port(listen);
		if (reason == 0)
			continue;
		if (reason == EADDRINUSE && uses_port(run, listen->port))
			snprintf(why, size,
				 "listen: it cannot change to %s while it listens on that port already: "
				 "start weir "
				 "run again",
				 listen->address);
		else
			snprintf(why, size, "listen: %s: %s", listen->address,
				 reason == EADDRINUSE ? "the port is in use" : strerror(reason));
		return false;
	}
	return true;
}

static bool same_as_file(const char *path, const char *text)
{
	FILE *in = fopen(path, "re");
	size_t i = 0;
	int c = EOF;
	while (in && (c = getc(in)) != EOF && text[i] == (char)c)
		i++;
	if (in)
		fclose(in);
	return in && c == EOF && text[i] == '\0';
}

int run_write_conf(const char *path, const char *text)
{
	char why[2 * PLACE_MAX];
	unlink(path);
	int descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	FILE *out = descriptor >= 0 ? fdopen(descriptor, "w") : NULL;
	if (out)
		fputs(text, out);
	if (out && fclose(out) == 0)
		return STATUS_FINE;
	snprintf(why, sizeof why, "cannot write %s: %s", path, strerror(errno));
	unlink(path);
	return out_failure(WEIR_SYSTEM, why);
}

/* The plan as the file says it now. False: there is none, and why (if that is to be said). */
static bool plan(struct run *next, const struct run *run, char *why, size_t size)
{
	*next = *run;
	next->loaded = (struct policy){0};
	next->listen_count = 0;
	snprintf(next->policy, sizeof next->policy, "%s", run->source);
	policy_load(&(struct policy_options){.path = run->source, .to = run->file ? run->to : NULL},
		    &next->loaded);
	why[0] = '\0';
	if (!next->loaded.image)
		return false; /* control has said so */
	if (snprintf(next->conf, sizeof next->conf, "%s.next", run->conf) >= (int)sizeof next->conf)
		snprintf(why, size, "the path of the state folder is too long");
	else if (next->loaded.image->gateway.routes.count == 0)
		snprintf(why, size, "to: it names nothing to stand in front of");
	else if (!run_read_ports(next))
		snprintf(why, size, "listen: not all of it are a port or an address and a port");
	else
		return true;
	return false;
}

void run_edit_begin(struct run_edit *edit, const struct run *run, uint64_t now_ms)
{
	char why[2 * PLACE_MAX];
	char *text = NULL;
	run_edit_end(edit);
	if (plan(&edit->next, run, why, sizeof why)) {
		text = run_conf_text(&edit->next);
		if (!text)
			snprintf(why, sizeof why, "no memory");
		else if (same_as_file(run->conf, text))
			gateway_note_write(run->table, NULL);
		else if (ports_are_free(run, &edit->next, why, sizeof why) &&
			 run_write_conf(edit->next.conf, text) == STATUS_FINE &&
			 run_start_nginx(&edit->next, true, &edit->trial) == STATUS_FINE)
			edit->trying = true;
	}
	free(text);
	edit->begun_ms = now_ms;
	if (!edit->trying)
		policy_free(&edit->next.loaded);
	if (*why)
		refuse(run, why);
}

/* What nginx said against it, without its decoration. */
static void reason_of(const struct run_edit *edit, char *why, size_t size)
{
	static const char MARK[] = "[emerg] ";
	const struct run_child *trial = &edit->trial;
	char place[PLACE_MAX + 8];
	size_t kept = sizeof trial->last / sizeof trial->last[0];
	snprintf(why, size, "nginx -t refused its configuration");
	for (size_t i = 0; i < kept && i < trial->lines; i++) {
		const char *found = strstr(trial->last[i], MARK);
		if (!found)
			continue;
		found += sizeof MARK - 1;
		/* after the process and thread that said it: "7#7: " */
		size_t digits = strspn(found, "0123456789#");
		if (digits && strncmp(found + digits, ": ", 2) == 0)
			found += digits + 2;
		snprintf(why, size, "nginx: %s", found);
	}
	snprintf(place, sizeof place, " in %s", edit->next.conf);
	char *end = strstr(why, place);
	if (end)
		*end = '\0';
}

/* *status of the trial once it has ended. */
static bool has_ended(struct run_edit *edit, uint64_t now_ms, int *status)
{
	run_pass_lines(&edit->trial);
	if (now_ms > edit->begun_ms + TRIAL_MS)
		kill(edit->trial.pid, SIGKILL);
	if (waitpid(edit->trial.pid, status, WNOHANG) != edit->trial.pid)
		return false;
	run_pass_lines(&edit->trial);
	return true;
}

bool run_edit_work(struct run_edit *edit, struct run *run, uint64_t now_ms)
{
	char why[2 * PLACE_MAX];
	int status = 0;
	if (!edit->trying || !has_ended(edit, now_ms, &status))
		return false;
	edit->trial.pid = 0;
	bool good = WIFEXITED(status) && WEXITSTATUS(status) == 0;
	if (!good)
		reason_of(edit, why, sizeof why);
	else if (rename(edit->next.conf, run->conf) != 0)
		snprintf(why, sizeof why, "cannot write %s: %s", run->conf, strerror(errno));
	else
		why[0] = '\0';
	if (*why) {
		refuse(run, why);
		run_edit_end(edit);
		return false;
	}
	policy_free(&run->loaded);
	run->loaded = edit->next.loaded;
	edit->next.loaded = (struct policy){0};
	memcpy(run->listens, edit->next.listens, sizeof run->listens);
	run->listen_count = edit->next.listen_count;
	snprintf(run->policy, sizeof run->policy, "%s", edit->next.policy);
	gateway_note_write(run->table, NULL);
	run_edit_end(edit);
	return true;
}

int run_edit_descriptor(const struct run_edit *edit)
{
	return edit->trying ? edit->trial.output : -1;
}

void run_edit_end(struct run_edit *edit)
{
	if (!edit->trying)
		return;
	if (edit->trial.pid > 0) {
		kill(-edit->trial.pid, SIGKILL);
		kill(edit->trial.pid, SIGKILL); /* before it has a group of its own */
		waitpid(edit->trial.pid, NULL, 0);
	}
	if (edit->trial.output >= 0)
		close(edit->trial.output);
	unlink(edit->next.conf);
	policy_free(&edit->next.loaded);
	*edit = (struct run_edit){0};
}
