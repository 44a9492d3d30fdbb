/* SPDX-License-Identifier: BSD-2-Clause */
/* error: everything that can go wrong outside of deciding, with a name, a sentence and a cure.
 * One list; `docs/errors.md` and the messages come from it. Numbers are never reused. */
#ifndef WEIR_TABLE_ERROR_H
#define WEIR_TABLE_ERROR_H

/* number, name, sentence, cure */
#define WEIR_ERRORS(X)                                                                                       \
	X(0, OK, "no error", "")                                                                             \
	X(1, SYSTEM, "a system call failed", "the message names the call and the system's reason")           \
	X(2, NO_SPACE, "no room for the table", "free space on the file system or make the table smaller")   \
	X(3, NOT_FOUND, "no such table", "start a door first, or name the table with --table")               \
	X(4, FOREIGN, "the file is not a weir table", "name another path, or remove the file")               \
	X(5, VERSION, "the table has another layout version",                                                \
	  "use the weir that made it, name another path, or remove the file")                                \
	X(6, DAMAGED, "the table's header is damaged", "stop the doors, remove the file, start again")       \
	X(7, OWNER, "the file or its folder belongs to someone else or others may write to it",              \
	  "correct owner and mode: folder 0700, file 0600")                                                  \
	X(8, BUSY, "every process slot is taken", "stop a process, or make the table with more slots")       \
	X(9, LEDGER_FULL, "the ledger of numbers is full", "restart the doors that hold old policies")       \
	X(10, BAD_SIZE, "the table's size is out of range", "give 64 KiB to 64 GiB")                         \
	X(11, BAD_POLICY, "the policy has errors", "run `weir check`")                                       \
	X(12, BAD_IMAGE, "the published policy image is damaged", "publish it again")                        \
	X(13, NO_POLICY, "no policy has been published", "start the door, or run `weir publish`")            \
	X(14, NO_MEMORY, "out of memory", "free memory")                                                     \
	X(15, READ_ONLY, "the table was opened for reading", "open it for deciding")                         \
	X(16, EXISTS, "there is a table already",                                                            \
	  "name another path, or say that it is to be replaced: --replace")                                  \
	X(17, OTHER_KIND, "the table serves limits of another kind",                                         \
	  "a policy and the zones of nginx.conf each need a table of their own: name another one")

enum weir_error {
#define X(number, name, sentence, cure) WEIR_##name = number,
	WEIR_ERRORS(X)
#undef X
};

/* Static strings; any number is answered ("unknown error"). */
const char *weir_error_name(enum weir_error error);
const char *weir_error_sentence(enum weir_error error);
const char *weir_error_cure(enum weir_error error);

#endif
