/* SPDX-License-Identifier: BSD-2-Clause */
/* Fuzz addresses and networks: what is read is written and read back the same; masks and ranges agree with
 * each other. */
#include <stdlib.h>

#include "policy/address.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool good)
{
	if (!good)
		abort();
}

static void try_address(struct text text)
{
	struct address address, again, masked;
	char out[ADDRESS_TEXT_MAX];
	struct network network;
	size_t length;

	if (!address_parse(text, &address))
		return;
	check(text.size >= 2 && text.size < 1000);
	length = address_format(&address, out);
	check(length == strlen(out) && length < sizeof out);
	check(address_is_v4(&address) == (strchr(out, ':') == NULL));
	check(address_parse((struct text){out, length}, &again));
	check(memcmp(&address, &again, sizeof address) == 0);

	masked = address;
	address_mask(&masked, 32, 128);
	check(memcmp(&address, &masked, sizeof address) == 0);
	for (unsigned bits = 0; bits <= 128; bits += 1 + text.size % 7) {
		struct address once = address, twice;

		address_mask(&once, bits < 32 ? bits : 32, bits);
		twice = once;
		address_mask(&twice, bits < 32 ? bits : 32, bits);
		check(memcmp(&once, &twice, sizeof once) == 0);
		check(address_is_v4(&address) ? address_is_v4(&once)
					      : memcmp(&once, &address, sizeof once) <= 0);
	}
	/* the text that we write is a network of one */
	check(network_parse((struct text){out, length}, &network, NULL, 0));
	check(networks_contain(&network, 1, &address));
	check(memcmp(network.first, network.last, 16) == 0);
}

static void try_networks(struct text text)
{
	struct network networks[16];
	size_t count = 0, merged;
	char why[64];

	while (text.size > 0 && count < 16) {
		const char *comma = memchr(text.data, ',', text.size);
		struct text one = {text.data, comma ? (size_t)(comma - text.data) : text.size};
		size_t used = one.size + (comma ? 1 : 0);

		why[0] = 0;
		if (network_parse(one, &networks[count], why, sizeof why)) {
			check(memcmp(networks[count].first, networks[count].last, 16) <= 0);
			count++;
		} else {
			check(why[0] != 0 && strlen(why) < sizeof why);
		}
		text = (struct text){text.data + used, text.size - used};
	}
	merged = networks_sort(networks, count);
	check(merged <= count && (merged > 0) == (count > 0));
	for (size_t i = 0; i < merged; i++) {
		struct address first, last;

		check(i == 0 || memcmp(networks[i - 1].last, networks[i].first, 16) < 0);
		memcpy(first.bytes, networks[i].first, 16);
		memcpy(last.bytes, networks[i].last, 16);
		check(networks_contain(networks, merged, &first) &&
		      networks_contain(networks, merged, &last));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* a copy of exactly this size, so that reading beyond it shows */
	char *bytes = malloc(size ? size : 1);
	struct text text = {bytes, size};

	if (!bytes)
		return 0;
	if (size)
		memcpy(bytes, data, size);
	try_address(text);
	try_networks(text);
	free(bytes);
	return 0;
}
