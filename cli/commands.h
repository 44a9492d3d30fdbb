/* SPDX-License-Identifier: BSD-2-Clause */
/* commands: the subcommands of `weir`, one file each, one row each; the dispatch, `weir help` and the shell
 * completion are expansions of this list. */
#ifndef WEIR_CLI_COMMANDS_H
#define WEIR_CLI_COMMANDS_H

/* name, what it does in one line */
#define COMMANDS(X)                                                                                          \
	X(run, "run a gateway in front of an HTTP server, from one command")                                 \
	X(check, "check a policy file and read it aloud")                                                    \
	X(explain, "walk one request through the policy, station by station")                                \
	X(show, "what was allowed and refused, to whom, under which policy")                                 \
	X(top, "who asks most, who is refused, who is near a limit, now")                                    \
	X(get, "what one client has used of every limit")                                                    \
	X(why, "why a request was refused, or a client is")                                                  \
	X(plans, "the plans, and what each gets of every limit")                                             \
	X(shadow, "what limits that are tried would have refused")                                           \
	X(promote, "put a limit in force that was tried, in the policy's file")                              \
	X(reset, "forget counters: everybody's, a limit's, or one client's")                                 \
	X(ban, "refuse a client for a while")                                                                \
	X(unban, "lift a ban")                                                                               \
	X(bans, "who is banned, by whom, until when and why")                                                \
	X(grant, "give a client more than its limit allows, until a date")                                   \
	X(keys, "API keys: add, list, show, set, rotate, revoke, import, export")                            \
	X(usage, "what API keys were charged in a month, for the bill")                                      \
	X(publish, "check a policy file and make it the one in force")                                       \
	X(control, "watch a policy file and publish every edit")                                             \
	X(table, "what is in the table of counters, and whether it is sound")                                \
	X(module, "build nginx's module, and tell whether it fits the nginx that is here")                   \
	X(doctor, "find what is wrong with an installation, with the cure")                                  \
	X(import, "an nginx configuration's limits as a policy, and what differs")                           \
	X(schema, "the policy file's words, as Markdown or JSON Schema")                                     \
	X(version, "the version, and what it was built for")                                                 \
	X(help, "this list, or a subcommand's options")

/* The exit codes of every subcommand. */
#define STATUSES(X)                                                                                          \
	X(0, FINE, "fine")                                                                                   \
	X(1, FINDINGS, "errors in the policy, a request refused (explain), something unsound or unwell")     \
	X(2, USAGE, "the command line was not understood")                                                   \
	X(3, SYSTEM, "the system said no: unreadable file, no table, no room, port in use, no nginx")        \
	X(4, PARTLY, "done, but not everything could be carried over (import)")

enum status {
#define X(number, name, sentence) STATUS_##name = number,
	STATUSES(X)
#undef X
};

/* argv[0] is the subcommand's name. The result is the exit code. */
#define X(name, line) int name##_command(int argc, char **argv);
COMMANDS(X)
#undef X

#endif
