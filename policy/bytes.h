/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bytes: how a policy writes sizes and bandwidths.
 *
 *   size       Nunit                  N: up to three decimals
 *   bandwidth  SIZE/s                 also "SIZE per s"; nginx's units need no /s
 *   unit       B · KB MB GB (1000, 1000^2, 1000^3) · KiB MiB GiB (1024, ...) · nginx's k m g, which are those too
 */
#ifndef WEIR_POLICY_BYTES_H
#define WEIR_POLICY_BYTES_H

#include <stdbool.h>
#include <stdint.h>

#include "policy/text.h"

/* Reads "1MiB/s" or, if `free_bytes` is not NULL, "1MiB/s after 500KiB" (*free_bytes: 0 unless said). Rounded down
 * to whole bytes, at most IMAGE_BYTES_MAX. False with a sentence in why: what is wrong and what to write. */
bool bytes_rate_parse(struct text text, uint64_t *bytes_per_s, uint64_t *free_bytes, char *why, size_t size);
/* Reads "100MiB", also as nginx writes it, "100m". As above. */
bool bytes_size_parse(struct text text, uint64_t *bytes, char *why, size_t size);

#endif
