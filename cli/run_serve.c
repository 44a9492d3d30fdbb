/* SPDX-License-Identifier: BSD-2-Clause */
/* run_serve: nginx and control side by side, from the first start to the last stop. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/gateway_note.h"
#include "cli/out.h"
#include "cli/run.h"
#include "cli/run_edit.h"
#include "cli/signals.h"
#include "control/control.h"
#include "table/snapshot.h"

#define START_MS                                                                                             \
	30000 /* until it listens: a policy of 10,000 limits on a slow machine takes a second or two */
#define DRAIN_MS 10000 /* for requests in flight */
#define KILL_MS	 15000
#define WAKE_MS	 200
/* One wish to stop may come twice: a terminal's Ctrl-C to the whole group, and from a script that passes it on. */
#define SAME_WISH_MS 1000

struct serve {
	struct run *run;
	struct run_child child;
	struct run_edit edit;
	struct control *control;
	uint64_t edits;		    /* of control, when nginx.conf was last compared */
	uint64_t begun_ms, stop_ms; /* 0: not stopping */
	uint64_t woken_ms;	    /* while stopping: when nginx was last nudged */
	int asked;		    /* how urgently nginx was asked to stop: 0, SIGQUIT, SIGTERM, SIGKILL */
	bool gone, serving, told;   /* told: to stop, by a signal */
	bool makes_table;	    /* there was none before */
	int exit_code;		    /* of nginx */
};

static void say(void *context, const char *line)
{
	(void)context;
	fprintf(stderr, "weir run: %s\n", line);
}

static bool answers(const struct run_listen *listen)
{
	struct sockaddr_storage address;
	socklen_t size = run_listen_socket(listen, &address);
	int s = socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool good = s >= 0 && connect(s, (struct sockaddr *)&address, size) == 0;
	if (s >= 0)
		close(s);
	return good;
}

/* It listens, and its first worker has published the policy. */
static bool is_ready(const struct run *run)
{
	char image[PLACE_MAX + 8];
	snprintf(image, sizeof image, "%s.policy", run->table);
	return access(image, F_OK) == 0 && answers(&run->listens[0]);
}

/* What the table began with, if it began now: nginx tells its own log. */
static void say_restored(const struct run *run)
{
	char why[256], age[64], number[32];
	struct table *table;
	struct table_restored restored;
	const struct table_options options = {.path = run->table, .read_only = true};
	if (!run->snapshot[0] || table_open(&options, &table, why, sizeof why) != WEIR_OK)
		return;
	if (table_restored(table, &restored) && !restored.why[0] && restored.entries)
		fprintf(stderr, "weir run: %s counter%s on from %s, %s old\n",
			out_number(restored.entries, number, sizeof number),
			restored.entries == 1 ? " goes" : "s go", run->snapshot,
			out_duration(restored.age_ns, age, sizeof age));
	table_close(&table);
}

static void look_for_start(struct serve *serve, uint64_t now)
{
	char why[2 * PLACE_MAX];
	if (is_ready(serve->run)) {
		serve->serving = true;
		gateway_note_write(serve->run->table, NULL); /* an earlier one's, that was killed */
		char *said = policy_findings_text(&serve->run->loaded);
		serve->control = control_open(
			&(struct control_options){.policy = serve->run->source,
						  .table = serve->run->table,
						  .snapshot = serve->run->snapshot[0] ? serve->run->snapshot
										      : NULL,
						  .last_good = serve->run->last_good,
						  .said = said,
						  .say = say},
			why, sizeof why);
		free(said);
		if (!serve->control)
			fprintf(stderr, "weir run: edits will not be followed: %s\n", why);
		run_print_banner(serve->run);
		if (serve->makes_table)
			say_restored(serve->run);
	} else if (now > serve->begun_ms + START_MS && !serve->stop_ms) {
		out_error("nginx has not begun to serve within %d seconds", START_MS / 1000);
		serve->stop_ms = now;
	}
}

static void ask(struct serve *serve, int signal)
{
	if (serve->gone || serve->asked == signal)
		return;
	serve->asked = signal;
	/* the group, for the last one: workers whose master is gone */
	kill(signal == SIGKILL ? -serve->child.pid : serve->child.pid, signal);
}

static void stop_further(struct serve *serve, uint64_t now)
{
	uint64_t since = now - serve->stop_ms;
	if (since >= KILL_MS)
		ask(serve, SIGKILL);
	else if (since >= DRAIN_MS || serve->asked == SIGTERM)
		ask(serve, SIGTERM);
	else
		ask(serve, SIGQUIT);
	/* A master that is asked before it waits for signals notices at the next one only. This one harms nobody. */
	if (!serve->gone && now - serve->woken_ms >= WAKE_MS) {
		serve->woken_ms = now;
		kill(serve->child.pid, SIGCHLD);
	}
}

static void take_signals(struct serve *serve, uint64_t now)
{
	int status;
	for (int signal; (signal = signals_next(serve->run->signals));) {
		if (signal == SIGHUP && serve->serving && !serve->stop_ms) {
			run_edit_begin(&serve->edit, serve->run, now);
			kill(serve->child.pid, SIGHUP);
		}
		if (signal != SIGTERM && signal != SIGINT)
			continue;
		serve->told = true;
		if (!serve->stop_ms) {
			fprintf(stderr, "weir run: stopping; requests in flight have %d seconds\n",
				DRAIN_MS / 1000);
			serve->stop_ms = now;
		} else if (now - serve->stop_ms >= SAME_WISH_MS) {
			ask(serve, SIGTERM); /* asked twice: at once */
		}
	}
	if (waitpid(serve->child.pid, &status, WNOHANG) == serve->child.pid) {
		serve->gone = true;
		serve->exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	}
}

static int timeout_of(const struct serve *serve, uint64_t now)
{
	if (!serve->serving)
		return 20;
	if (serve->stop_ms || !serve->control)
		return 100;
	return control_timeout(serve->control, now);
}

/* Workers that outlived a killed master hold ports and table. They are our children then (run_start_nginx), so
 * we know when the last one is gone. */
static void end_workers(const struct run_child *child)
{
	kill(-child->pid, SIGKILL);
	while (waitpid(-child->pid, NULL, 0) > 0 || errno == EINTR)
		;
}

static void loop(struct serve *serve)
{
	while (!serve->gone) {
		uint64_t now = signals_now_ms();
		if (!serve->serving)
			look_for_start(serve, now);
		if (serve->stop_ms)
			stop_further(serve, now);
		else if (serve->control)
			control_work(serve->control, now);
		if (serve->control && !serve->stop_ms && serve->edits != control_edits(serve->control)) {
			serve->edits = control_edits(serve->control);
			run_edit_begin(&serve->edit, serve->run, now);
		}
		if (!serve->stop_ms && run_edit_work(&serve->edit, serve->run, now)) {
			say(NULL, "the gateway's part of the policy changed: nginx reloads");
			kill(serve->child.pid, SIGHUP);
		}
		struct pollfd wait[] = {
			{.fd = serve->run->signals, .events = POLLIN},
			{.fd = serve->child.output, .events = POLLIN},
			{.fd = serve->control ? control_descriptor(serve->control) : -1, .events = POLLIN},
			{.fd = run_edit_descriptor(&serve->edit), .events = POLLIN},
		};
		poll(wait, sizeof wait / sizeof *wait, timeout_of(serve, signals_now_ms()));
		run_pass_lines(&serve->child);
		take_signals(serve, signals_now_ms());
	}
	run_pass_lines(&serve->child);
	run_edit_end(&serve->edit);
	end_workers(&serve->child);
}

int run_serve(struct run *run)
{
	struct serve serve = {
		.run = run, .begun_ms = signals_now_ms(), .makes_table = access(run->table, F_OK) != 0};
	char *text = run_conf_text(run);
	int status = text ? run_write_conf(run->conf, text) : out_failure(WEIR_NO_MEMORY, NULL);
	free(text);
	if (status != STATUS_FINE || (status = run_start_nginx(run, false, &serve.child)) != STATUS_FINE)
		return status;
	loop(&serve);
	run->sound = serve.control && control_sound(serve.control);
	control_close(&serve.control);
	if (serve.told)
		return STATUS_FINE;
	out_error("nginx ended%s (exit code %d)%s", serve.serving ? "" : " before it served", serve.exit_code,
		  serve.child.lines ? "; its last words:" : "");
	run_print_last(&serve.child);
	return STATUS_SYSTEM;
}
