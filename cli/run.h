/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * run: a gateway from one command. `weir run` plans (policy, ports, user, places), writes an nginx
 * configuration into a private state folder, starts nginx in the foreground and does control's work beside it
 * until it is told to stop.
 *
 * Who is who as root: nginx's master is root, its workers are www-data (or the like) and own the table;
 * control reads the policy as root and writes beside the table as its owner. Anyone else: everything under
 * the one user.
 */
#ifndef WEIR_CLI_RUN_H
#define WEIR_CLI_RUN_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/types.h>

#include "cli/nginx.h"
#include "cli/options.h"
#include "policy/place.h"
#include "policy/policy.h"

#define RUN_LISTENS_MAX 32

struct run_listen {
	char host[48];	  /* "127.0.0.1", "::" */
	char address[64]; /* "127.0.0.1:8080", "[::]:8080": as nginx wants it */
	unsigned port;
	bool v6;
	bool every; /* a bare port: this is one of the two that listen on every address */
};

struct run {
	/* what was asked for */
	const char *file, *to, *limit, *state_wish, *snapshot_wish, *size_wish, *nginx_wish, *module_wish;
	struct options_list listen_wish;
	bool use_last_good;

	/* the plan */
	uint64_t table_size;	/* bytes; 0: the usual */
	char source[PLACE_MAX]; /* the policy that is edited: FILE, or the one written into the state folder
				 */
	char policy[PLACE_MAX]; /* the one that is read: source, or its last good copy */
	char state[PLACE_MAX], conf[PLACE_MAX], lock_path[PLACE_MAX], last_good[PLACE_MAX], table[PLACE_MAX];
	char snapshot[PLACE_MAX]; /* "": the table is not written down */
	struct policy loaded;	  /* with the gateway */
	struct run_listen listens[RUN_LISTENS_MAX];
	size_t listen_count;
	uid_t worker_uid;
	gid_t worker_gid;
	char worker_user[64], worker_group[64]; /* "": the workers stay who we are */
	struct nginx nginx;
	int signals; /* signals_open's descriptor, from before anything is made to the end */
	int lock;    /* of the state folder */
	bool sound;  /* at the end the file was usable: its last good copy says nothing more */
};

/* Each returns STATUS_FINE, or an exit code after saying why. */

/* Reads and checks the policy; findings are printed. */
int run_read_policy(struct run *run);
/* The worker's user, if we are root: www-data or its like, if it can reach the state folder. */
int run_choose_user(struct run *run);
/* Makes and locks the state folder; knows all places in it. Before the policy is read. */
int run_make_state(struct run *run);
/* Is there room for the table? */
int run_check_room(const struct run *run);
/* Makes the table's folder for the workers; says so if it had to move a stranger's aside. */
int run_make_folder(const struct run *run);
/* Where the table is written down, and the folder for it. */
int run_choose_snapshot(struct run *run);
/* Removes everything that was ours, the table too (not its snapshot); the last good copy stays if the FILE is broken now. */
void run_remove_state(struct run *run);
/* The listening addresses, from --listen, else the policy, else 8080; refuses those that are taken by others.
 */
int run_choose_ports(struct run *run);
/* The same without looking whether they are taken. False after saying what is wrong. */
bool run_read_ports(struct run *run);
/* 0, or errno: nothing could listen there. */
int run_try_port(const struct run_listen *listen);
/* As bind(2) and connect(2) want it. */
socklen_t run_listen_socket(const struct run_listen *listen, struct sockaddr_storage *out);
/* The nginx.conf of the plan; malloc()ed, NULL: out of memory. */
char *run_conf_text(const struct run *run);
/* Its part of stored answers; nothing without `cache`. */
void run_cache_conf(const struct run *run, FILE *out);
/* Both texts, one behind the other, in nginx's double quotes. */
void run_conf_quoted(FILE *out, const char *text, const char *more);
/* Writes it anew. */
int run_write_conf(const char *path, const char *text);

/* nginx as a child. */
struct run_child {
	pid_t pid;
	int output; /* its standard error; -1 once it ended */
	bool quiet; /* its lines are only kept */
	char partial[1024];
	size_t partial_size;
	char last[8][1024]; /* the last lines, a ring */
	unsigned lines;
};
/* With `trial` it only tries run->conf (nginx -t) and ends, and its lines are only kept. */
int run_start_nginx(const struct run *run, bool trial, struct run_child *child);
/* Takes what it wrote and passes it on to our standard error. False at the end of the output. */
bool run_pass_lines(struct run_child *child);
/* The last lines again, for those who scrolled past them. */
void run_print_last(const struct run_child *child);

/* What is served, what it does, what to try. */
void run_print_banner(const struct run *run);

/* Starts, serves, stops. */
int run_serve(struct run *run);

#endif
