/* SPDX-License-Identifier: BSD-2-Clause */
/* network: what a policy may write for a range, and who is in it. */
#include <stdlib.h>

#include "policy/address.h"
#include "tests/tap.h"

/* text; first and last address, or NULL and what is said */
static const struct {
	const char *text, *first, *last;
} networks[] = {
	{"10.0.0.0/8", "10.0.0.0", "10.255.255.255"},
	{"10.1.2.3", "10.1.2.3", "10.1.2.3"},
	{"10.1.2.3/32", "10.1.2.3", "10.1.2.3"},
	{"0.0.0.0/0", "0.0.0.0", "255.255.255.255"},
	{"192.168.1.128/25", "192.168.1.128", "192.168.1.255"},
	{"2001:db8::/32", "2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff"},
	{"2001:db8::1", "2001:db8::1", "2001:db8::1"},
	{"fe80::/10", "fe80::", "febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff"},
	{"::/0", "::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"},
	{"::ffff:10.0.0.0/104", "10.0.0.0", "10.255.255.255"},
	{"::ffff:0:0/96", "0.0.0.0", "255.255.255.255"},
	{"10.1.2.3/8", NULL, "'10.1.2.3/8' has bits set behind its prefix; the network is 10.0.0.0/8"},
	{"2001:db8::1/32", NULL,
	 "'2001:db8::1/32' has bits set behind its prefix; the network is 2001:db8::/32"},
	{"::ffff:10.1.2.3/104", NULL,
	 "'::ffff:10.1.2.3/104' has bits set behind its prefix; the network is 10.0.0.0/8"},
	{"10.0.0.0/33", NULL, "'10.0.0.0/33': the prefix length of an IPv4 network is 0 to 32"},
	{"10.0.0.0/", NULL, "'10.0.0.0/': the prefix length of an IPv4 network is 0 to 32"},
	{"10.0.0.0/08", NULL, "'10.0.0.0/08': the prefix length of an IPv4 network is 0 to 32"},
	{"10.0.0.0/-1", NULL, "'10.0.0.0/-1': the prefix length of an IPv4 network is 0 to 32"},
	{"10.0.0.0/8/8", NULL, "'10.0.0.0/8/8': the prefix length of an IPv4 network is 0 to 32"},
	{"10.0.0.0/255.0.0.0", NULL, "'10.0.0.0/255.0.0.0': the prefix length of an IPv4 network is 0 to 32"},
	{"::/129", NULL, "'::/129': the prefix length of an IPv6 network is 0 to 128"},
	{"10.0.0.0:80", NULL, "'10.0.0.0:80' is not an address or network like 10.0.0.0/8"},
	{"[::1]", NULL, "'[::1]' is not an address or network like 10.0.0.0/8"},
	{"[::]/8", NULL, "'[::]/8' is not an address or network like 10.0.0.0/8"},
	{"\"10.0.0.1\"", NULL, "'\"10.0.0.1\"' is not an address or network like 10.0.0.0/8"},
	{"fe80::1%eth0", NULL, "'fe80::1%eth0' is not an address or network like 10.0.0.0/8"},
	{"10.0.0", NULL, "'10.0.0' is not an address or network like 10.0.0.0/8"},
	{"010.0.0.0/8", NULL, "'010.0.0.0/8' is not an address or network like 10.0.0.0/8"},
	{"office", NULL, "'office' is not an address or network like 10.0.0.0/8"},
	{"/8", NULL, "'/8' is not an address or network like 10.0.0.0/8"},
	{"", NULL, "'' is not an address or network like 10.0.0.0/8"},
};

static void test_reading(void)
{
	for (size_t i = 0; i < sizeof networks / sizeof *networks; i++) {
		char why[160] = "", first[ADDRESS_TEXT_MAX], last[ADDRESS_TEXT_MAX];
		struct network network;
		struct address address;
		bool read = network_parse(text_of(networks[i].text), &network, why, sizeof why);

		if (!networks[i].first) {
			ok(!read, networks[i].text);
			is_str(why, networks[i].last, "and is told why");
			continue;
		}
		ok(read, networks[i].text);
		memcpy(address.bytes, network.first, 16);
		address_format(&address, first);
		memcpy(address.bytes, network.last, 16);
		address_format(&address, last);
		is_str(first, networks[i].first, "begins");
		is_str(last, networks[i].last, "ends");
	}
	ok(!network_parse(TEXT("x"), &(struct network){0}, NULL, 0), "nobody needs to ask why");
}

static size_t read_list(const char *list, struct network *out)
{
	size_t count = 0;

	while (*list) {
		size_t size = strcspn(list, " ");

		if (!network_parse((struct text){list, size}, &out[count++], NULL, 0))
			abort();
		list += size + (list[size] == ' ');
	}
	return networks_sort(out, count);
}

static const struct {
	const char *list;
	size_t merged;
	const char *inside, *outside;
} lists[] = {
	{"", 0, "", "1.2.3.4 ::1"},
	{"10.0.0.0/8", 1, "10.0.0.0 10.255.255.255 10.1.2.3", "9.255.255.255 11.0.0.0 :: a00::"},
	{"10.0.0.0/9 10.128.0.0/9", 1, "10.127.255.255 10.128.0.0", "11.0.0.0"},
	{"10.128.0.0/9 10.0.0.0/9 10.1.0.0/16 10.1.2.3", 1, "10.1.2.3 10.200.0.0", "11.0.0.0"},
	{"10.0.0.2 10.0.0.0", 2, "10.0.0.0 10.0.0.2", "10.0.0.1 10.0.0.3"},
	{"10.0.0.1 10.0.0.1", 1, "10.0.0.1", "10.0.0.0 10.0.0.2"},
	{"::/0", 1, ":: 1.2.3.4 ffff::", ""}, /* everything, IPv4 too */
	{"0.0.0.0/0", 1, "0.0.0.0 255.255.255.255", "::1 2001:db8::1 ::fffe:ffff:ffff"},
	{"2001:db8::/32 192.0.2.0/24 2001:db7::/32", 2, "2001:db7::1 2001:db8::1 192.0.2.9",
	 "2001:db9:: 192.0.3.0 2001:db6:ffff::"},
	{"ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff ::", 2,
	 "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff ::", "::1"},
};

static size_t count_inside(const struct network *list, size_t count, const char *texts, size_t *of)
{
	size_t inside = 0;

	for (*of = 0; *texts; (*of)++) {
		size_t size = strcspn(texts, " ");
		struct address address;

		if (!address_parse((struct text){texts, size}, &address))
			abort();
		inside += networks_contain(list, count, &address);
		texts += size + (texts[size] == ' ');
	}
	return inside;
}

static void test_lists(void)
{
	for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
		struct network list[8];
		size_t count = read_list(lists[i].list, list), of, inside;

		is_u64(count, lists[i].merged, lists[i].list);
		inside = count_inside(list, count, lists[i].inside, &of);
		is_u64(inside, of, "contains what is inside");
		is_u64(count_inside(list, count, lists[i].outside, &of), 0, "and nothing else");
	}
}

/* Random ranges of a small world, against looking at each. */
static void test_against_scan(void)
{
	uint64_t state = 99, wrong = 0;

	for (int round = 0; round < 2000; round++) {
		struct network list[12], plain[12];
		size_t count = (size_t)round % 12, merged;

		for (size_t i = 0; i < count; i++) {
			unsigned bits = 24 + (unsigned)((state = state * 6364136223846793005u + 1) >> 61);
			unsigned low = (unsigned)((state = state * 6364136223846793005u + 1) >> 56);
			char text[32];

			low &= 0xff00u >> (bits - 24);
			snprintf(text, sizeof text, "10.0.0.%u/%u", low & 255, bits);
			if (!network_parse(text_of(text), &plain[i], NULL, 0))
				abort();
			list[i] = plain[i];
		}
		merged = networks_sort(list, count);
		for (unsigned last = 0; last < 256; last++) {
			struct address address = {
				{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, (uint8_t)last}};
			bool expect = false;

			for (size_t i = 0; i < count; i++)
				expect |= memcmp(plain[i].first, address.bytes, 16) <= 0 &&
					  memcmp(plain[i].last, address.bytes, 16) >= 0;
			wrong += networks_contain(list, merged, &address) != expect;
		}
		for (size_t i = 1; i < merged; i++)
			wrong += memcmp(list[i - 1].last, list[i].first, 16) >= 0;
	}
	is_u64(wrong, 0, "2,000 lists of ranges hold what a scan finds, in order");
}

int main(void)
{
	test_reading();
	test_lists();
	test_against_scan();
	return done_testing();
}
