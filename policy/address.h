/* SPDX-License-Identifier: BSD-2-Clause */
/* address: one IP address, decided on bits and never on text (IPv4-mapped IPv6 is IPv4). */
#ifndef WEIR_POLICY_ADDRESS_H
#define WEIR_POLICY_ADDRESS_H

#include <stdint.h>

#include "policy/text.h"

struct address {
	uint8_t bytes[16]; /* network order; IPv4 as ::ffff:a.b.c.d */
};

#define ADDRESS_TEXT_MAX 46

/* Reads `1.2.3.4`, `1.2.3.4:80`, `2001:db8::1`, `[2001:db8::1]`, `[2001:db8::1]:443`, quoted or not, with a
 * zone id (`%eth0`) dropped. Nothing else: no leading zeros in IPv4, no names, no spaces inside. */
bool address_parse(struct text text, struct address *out);
bool address_is_v4(const struct address *address);
/* Keeps `bits4` (0..32) of an IPv4 or `bits6` (0..128) of an IPv6 address, clears the rest. */
void address_mask(struct address *address, unsigned bits4, unsigned bits6);
/* Writes at most ADDRESS_TEXT_MAX bytes with NUL; returns the length. IPv4 dotted, IPv6 as RFC 5952. */
size_t address_format(const struct address *address, char *out);

struct network { /* inclusive range, network order compares as memcmp */
	uint8_t first[16], last[16];
};
/* `10.0.0.0/8`, `2001:db8::/32`, a bare address. Refuses host bits set (`why` says which network was meant). */
bool network_parse(struct text text, struct network *out, char *why, size_t size);
/* Sorts and merges in place; returns the new count. */
size_t networks_sort(struct network *networks, size_t count);
/* Over a sorted, merged array. */
bool networks_contain(const struct network *networks, size_t count, const struct address *address);

#endif
