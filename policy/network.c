/* SPDX-License-Identifier: BSD-2-Clause */
/* network: ranges of addresses, as written in a policy and as looked up. */
#include <stdio.h>
#include <stdlib.h>

#include "policy/address.h"

static bool refuse(char *why, size_t size, const char *format, struct text text)
{
	/* %.*s: a policy's text has no NUL; at most 64 bytes of it are worth showing */
	if (size > 0)
		snprintf(why, size, format, (int)(text.size < 64 ? text.size : 64),
			 text.data ? text.data : "");
	return false;
}

/* `text` is 0..max in decimal without leading zeros. */
static bool read_bits(struct text text, unsigned max, unsigned *out)
{
	unsigned value = 0;

	if (text.size == 0 || text.size > 3 || (text.size > 1 && text.data[0] == '0'))
		return false;
	for (size_t i = 0; i < text.size; i++) {
		if (text.data[i] < '0' || text.data[i] > '9')
			return false;
		value = value * 10 + (unsigned)(text.data[i] - '0');
	}
	*out = value;
	return value <= max;
}

/* Without port, brackets, quotes and zone, which address_parse takes and which have no sense here. */
static bool is_bare(struct text host)
{
	for (size_t i = 0; i < host.size; i++) {
		char c = host.data[i];

		if (c == '[' || c == ']' || c == '"' || c == '%' || (c == ':' && memchr(host.data, '.', i)))
			return false;
	}
	return true;
}

bool network_parse(struct text text, struct network *out, char *why, size_t size)
{
	const char *slash = text.size ? memchr(text.data, '/', text.size) : NULL;
	struct text host = {text.data, slash ? (size_t)(slash - text.data) : text.size};
	bool six = host.size && memchr(host.data, ':', host.size);
	unsigned full = six ? 128 : 32, bits = full, keep;
	struct address address, masked;

	if (!is_bare(host) || !address_parse(host, &address))
		return refuse(why, size, "'%.*s' is not an address or network like 10.0.0.0/8", text);
	if (slash && !read_bits((struct text){slash + 1, text.size - host.size - 1}, full, &bits))
		return refuse(why, size,
			      six ? "'%.*s': the prefix length of an IPv6 network is 0 to 128"
				  : "'%.*s': the prefix length of an IPv4 network is 0 to 32",
			      text);

	keep = six ? bits : bits + 96;
	masked = address;
	for (unsigned i = 0; i < 16; i++) {
		unsigned kept = keep >= 8 * (i + 1) ? 8 : keep <= 8 * i ? 0 : keep - 8 * i;
		uint8_t host_bits = (uint8_t)(0xff >> kept);

		masked.bytes[i] = address.bytes[i] & (uint8_t)~host_bits;
		out->first[i] = masked.bytes[i];
		out->last[i] = masked.bytes[i] | host_bits;
	}
	if (memcmp(masked.bytes, address.bytes, 16) != 0) {
		char meant[ADDRESS_TEXT_MAX];

		address_format(&masked, meant);
		/* ::ffff:10.1.2.3/104 is shown as the IPv4 network that it is */
		if (size > 0)
			snprintf(why, size, "'%.*s' has bits set behind its prefix; the network is %s/%u",
				 (int)(text.size < 64 ? text.size : 64), text.data, meant,
				 six && address_is_v4(&masked) ? bits - 96 : bits);
		return false;
	}
	return true;
}

static int by_first(const void *a, const void *b)
{
	return memcmp(((const struct network *)a)->first, ((const struct network *)b)->first, 16);
}

/* Does the range `b` begin inside `a` or right behind it? */
static bool touches(const struct network *a, const struct network *b)
{
	uint8_t next[16];

	if (memcmp(b->first, a->last, 16) <= 0)
		return true;
	memcpy(next, a->last, 16);
	for (int i = 15; i >= 0 && ++next[i] == 0; i--)
		;
	return memcmp(b->first, next, 16) == 0;
}

size_t networks_sort(struct network *networks, size_t count)
{
	size_t kept = 0;

	if (count == 0)
		return 0;
	qsort(networks, count, sizeof *networks, by_first);
	for (size_t i = 1; i < count; i++) {
		if (!touches(&networks[kept], &networks[i]))
			networks[++kept] = networks[i];
		else if (memcmp(networks[i].last, networks[kept].last, 16) > 0)
			memcpy(networks[kept].last, networks[i].last, 16);
	}
	return kept + 1;
}

bool networks_contain(const struct network *networks, size_t count, const struct address *address)
{
	size_t low = 0, high = count; /* networks[low..high) may begin at or before the address */

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (memcmp(networks[middle].first, address->bytes, 16) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low > 0 && memcmp(address->bytes, networks[low - 1].last, 16) <= 0;
}
