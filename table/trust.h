/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trust: whom we trust on the file system (T13).
 *
 * Write access to what weir keeps is full trust. So everything is opened in a folder that only its owner and root
 * can write, never through a symbolic link at the folder or the file, and the owner is looked at after
 * opening. Root may look after another user's folder: what it makes there belongs to that user, so that
 * the user's processes can go on with it.
 */
#ifndef WEIR_TABLE_TRUST_H
#define WEIR_TABLE_TRUST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "table/why.h"

/* Opens the folder of `path` (makes it, mode 0700, if `create`). *name: the last component, inside path. */
enum weir_error file_folder(const char *path, bool create, int *folder, const char **name,
			    const struct why *why);

/* Opens `name` in the folder for reading or, with `write`, for both, if it can be trusted. WEIR_NOT_FOUND:
 * there is none. The caller closes *fd. */
enum weir_error file_open(int folder, const char *name, bool write, int *fd, const struct why *why);

/* A file under construction: without a name where the file system can do that, so that nothing remains of
 * it if we are killed. */
struct file_new {
	int folder, fd;
	char temporary[40]; /* "": it has no name */
};

/* Mode 0600, the folder's owner, `size` bytes that are really there: a full tmpfs is WEIR_NO_SPACE now and
 * not a SIGBUS later. On failure nothing remains. */
enum weir_error file_make(int folder, uint64_t size, struct file_new *file, const struct why *why);
/* Gives it its name. *taken: the name was there already and was left alone (never with `replace`). */
enum weir_error file_name(struct file_new *file, const char *name, bool replace, bool *taken,
			  const struct why *why);
/* Closes it; if it was not named, nothing remains. */
void file_drop(struct file_new *file);

/* Writes or reads all of it at `at`, however the kernel portions it. WEIR_NO_SPACE: a full disk. */
enum weir_error file_write_all(int fd, const void *bytes, size_t size, uint64_t at, const struct why *why);
enum weir_error file_read_all(int fd, void *bytes, size_t size, uint64_t at, const struct why *why);

/* Reserves room to `size` bytes. */
enum weir_error file_reserve(int fd, uint64_t size, const struct why *why);

#endif
