/* SPDX-License-Identifier: BSD-2-Clause */
/* address: what is an address, what is not, and that both ends agree on the text. */
#include <arpa/inet.h>
#include <stdlib.h>

#include "policy/address.h"
#include "tests/tap.h"

/* text, as written back; NULL: not an address */
static const struct {
	const char *text, *expect;
} addresses[] = {
	{"1.2.3.4", "1.2.3.4"},
	{"0.0.0.0", "0.0.0.0"},
	{"255.255.255.255", "255.255.255.255"},
	{"1.2.3.4:80", "1.2.3.4"},
	{"1.2.3.4:0", "1.2.3.4"},
	{"1.2.3.4:65535", "1.2.3.4"},
	{"\"1.2.3.4\"", "1.2.3.4"},
	{"\"1.2.3.4:80\"", "1.2.3.4"},
	{"::", "::"},
	{"::1", "::1"},
	{"1::", "1::"},
	{"2001:db8::1", "2001:db8::1"},
	{"2001:DB8::A", "2001:db8::a"},
	{"[2001:db8::1]", "2001:db8::1"},
	{"[2001:db8::1]:443", "2001:db8::1"},
	{"\"[2001:db8::1]:443\"", "2001:db8::1"},
	{"fe80::1%eth0", "fe80::1"},
	{"[fe80::1%25eth0]:80", "fe80::1"},
	{"fe80::1%wlan0.2_a-b~", "fe80::1"},
	{"2001:0db8:0000:0000:0001:0000:0000:0001", "2001:db8::1:0:0:1"}, /* the first of two equal runs */
	{"2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"},		  /* one zero group is written out */
	{"2001:0:0:1:0:0:0:1", "2001:0:0:1::1"},			  /* the longer run */
	{"0:0:0:0:0:0:0:0", "::"},
	{"1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0"}, /* :: for one group may be read, not written */
	{"::2:3:4:5:6:7:8", "0:2:3:4:5:6:7:8"},
	{"1:0:0:2::", "1:0:0:2::"},
	{"::ffff:1.2.3.4", "1.2.3.4"},
	{"::ffff:102:304", "1.2.3.4"},
	{"::FFFF:102:304", "1.2.3.4"},
	{"0:0:0:0:0:ffff:1.2.3.4", "1.2.3.4"},
	{"[::ffff:1.2.3.4]:8080", "1.2.3.4"},
	{"::ffff:1.2.3.4%eth0", "1.2.3.4"},
	{"2001:db8::1.2.3.4", "2001:db8::102:304"}, /* not mapped: stays IPv6 */
	{"::1.2.3.4", "::102:304"},
	{"::ffff:0:1.2.3.4", "::ffff:0:102:304"},
	{"64:ff9b::192.0.2.33", "64:ff9b::c000:221"},
	{"", NULL},
	{" ", NULL},
	{"\"\"", NULL},
	{"\"", NULL},
	{"[]", NULL},
	{"[", NULL},
	{"]", NULL},
	{":", NULL},
	{":::", NULL},
	{"1", NULL},
	{"16909060", NULL},
	{"0x1.2.3.4", NULL},
	{"1.2.3", NULL},
	{"1.2.3.", NULL},
	{"1.2.3.4.", NULL},
	{"1.2.3.4.5", NULL},
	{".1.2.3.4", NULL},
	{"1..2.3", NULL},
	{"01.2.3.4", NULL},
	{"1.2.3.04", NULL},
	{"1.2.3.00", NULL},
	{"1.2.3.256", NULL},
	{"1.2.3.1000", NULL},
	{"999999999999.2.3.4", NULL},
	{"-1.2.3.4", NULL},
	{"+1.2.3.4", NULL},
	{" 1.2.3.4", NULL},
	{"1.2.3.4 ", NULL},
	{"1.2 .3.4", NULL},
	{"1.2.3.4\n", NULL},
	{"1.2.3.4:", NULL},
	{"1.2.3.4:65536", NULL},
	{"1.2.3.4:123456", NULL},
	{"1.2.3.4:-1", NULL},
	{"1.2.3.4:http", NULL},
	{"1.2.3.4:80:80", NULL},
	{"1.2.3.4%eth0", NULL},
	{"[1.2.3.4]", NULL},
	{"[1.2.3.4]:80", NULL},
	{"1.2.3.4/8", NULL},
	{"1.2.3.4,5.6.7.8", NULL},
	{"\"1.2.3.4", NULL},
	{"1.2.3.4\"", NULL},
	{"'1.2.3.4'", NULL},
	{"\"\"1.2.3.4\"\"", NULL},
	{"1:2:3:4:5:6:7", NULL},
	{"1:2:3:4:5:6:7:8:9", NULL},
	{"1:2:3:4:5:6:7:8::", NULL},
	{"::1:2:3:4:5:6:7:8", NULL},
	{"1::2::3", NULL},
	{"1:::2", NULL},
	{":1:2:3:4:5:6:7", NULL},
	{"1:2:3:4:5:6:7:", NULL},
	{"12345::", NULL},
	{"g::1", NULL},
	{"::1%", NULL},
	{"%eth0", NULL},
	{"::1%et/h", NULL},
	{"::1%a b", NULL},
	{"[::1]x", NULL},
	{"[::1]:", NULL},
	{"[::1]80", NULL},
	{"[::1", NULL},
	{"::1]", NULL},
	{"[[::1]]", NULL},
	{"::1.2.3", NULL},
	{"::1.2.3.4:1", NULL},
	{"::1.2.3.4.5", NULL},
	{"::01.2.3.4", NULL},
	{"1:2:3:4:5:6:7:1.2.3.4", NULL},
	{"1.2.3.4::", NULL},
	{"unknown", NULL},
	{"_hidden", NULL},
	{"localhost", NULL},
	{"example.com:80", NULL},
	{"unix:", NULL},
};

static void test_reading(void)
{
	for (size_t i = 0; i < sizeof addresses / sizeof *addresses; i++) {
		char out[ADDRESS_TEXT_MAX] = "", what[128];
		struct address address;
		bool read = address_parse(text_of(addresses[i].text), &address);

		snprintf(what, sizeof what, "'%.60s' is %s", addresses[i].text,
			 addresses[i].expect ? addresses[i].expect : "no address");
		if (!addresses[i].expect) {
			ok(!read, what);
			continue;
		}
		if (read)
			is_u64(address_format(&address, out), strlen(addresses[i].expect),
			       "its length is told");
		is_str(out, addresses[i].expect, what);
	}
}

static uint64_t random_next(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* inet_pton reads bare addresses by the same rules: on random text of the right letters both must agree. */
static void test_against_libc(void)
{
	static const char letters[] = "0123456789abcdefABCDEF::::....";
	uint64_t state = 42, differ = 0, read6 = 0, read4 = 0;

	for (int round = 0; round < 500000; round++) {
		char text[48];
		size_t size = 0, wanted = 2 + random_next(&state) % 24;
		uint8_t expect[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
		struct address got;
		bool is_address;

		if (round % 2) { /* groups and dots more or less where they belong */
			unsigned groups = 1 + (unsigned)(random_next(&state) % 9);
			char separator = round % 4 == 1 ? ':' : '.';

			for (unsigned g = 0; g < groups && size < 40; g++) {
				uint64_t r = random_next(&state);

				size += (size_t)snprintf(text + size, sizeof text - size,
							 separator == ':' ? "%.*x%s" : "%.*u%s",
							 (int)(r >> 32 & 1),
							 (unsigned)(r % (separator == ':' ? 0x11000 : 270)),
							 g + 1 == groups	   ? ""
							 : separator == '.'	   ? "."
							 : random_next(&state) % 5 ? ":"
										   : "::");
			}
		} else {
			while (size < wanted)
				text[size++] = letters[random_next(&state) % (sizeof letters - 1)];
			text[size] = 0;
		}
		is_address = inet_pton(AF_INET6, text, expect) == 1;
		read6 += is_address;
		if (!is_address) {
			is_address = inet_pton(AF_INET, text, expect + 12) == 1;
			read4 += is_address;
		}
		if (!is_address && strchr(text, '.') && strchr(text, ':') > strchr(text, '.'))
			continue; /* a port: ours alone */
		if (address_parse((struct text){text, size}, &got) != is_address ||
		    (is_address && memcmp(got.bytes, expect, 16) != 0)) {
			note("differs on '%s'", text);
			differ++;
		}
	}
	is_u64(differ, 0, "500,000 random texts are read as inet_pton reads them");
	ok(read6 > 5000 && read4 > 5000, "and enough of them are addresses");
}

static void test_round_trip(void)
{
	uint64_t state = 7, wrong = 0;

	for (int round = 0; round < 200000; round++) {
		char mine[ADDRESS_TEXT_MAX], libc[INET6_ADDRSTRLEN];
		struct address address, again;

		for (int i = 0; i < 16; i++)
			address.bytes[i] = random_next(&state) % 3 ? 0 : (uint8_t)random_next(&state);
		if (round % 8 == 0)
			memcpy(address.bytes, "\0\0\0\0\0\0\0\0\0\0\xff\xff", 12);
		address_format(&address, mine);
		inet_ntop(AF_INET6, address.bytes, libc, sizeof libc);
		if (!address_parse(text_of(mine), &again) || memcmp(again.bytes, address.bytes, 16) != 0)
			wrong++;
		if (!strchr(libc, '.') && strcmp(libc, mine) != 0)
			wrong++;
	}
	is_u64(wrong, 0, "200,000 addresses are written as inet_ntop writes them and read back");
}

static const struct {
	const char *text;
	unsigned bits4, bits6;
	const char *expect;
} masks[] = {
	{"1.2.3.4", 32, 0, "1.2.3.4"},
	{"1.2.3.255", 24, 0, "1.2.3.0"},
	{"1.2.255.4", 17, 0, "1.2.128.0"},
	{"255.255.255.255", 0, 128, "0.0.0.0"},
	{"::ffff:1.2.3.4", 16, 56, "1.2.0.0"}, /* IPv4 in IPv6 clothes must not fall into one /56 */
	{"2001:db8:1:2:3:4:5:6", 8, 64, "2001:db8:1:2::"},
	{"2001:db8:1:2ff:3:4:5:6", 8, 56, "2001:db8:1:200::"},
	{"2001:db8:1:2:3:4:5:6", 8, 128, "2001:db8:1:2:3:4:5:6"},
	{"2001:db8:1:2:3:4:5:6", 8, 0, "::"},
	{"ffff:ffff::", 8, 31, "ffff:fffe::"},
};

static void test_masks(void)
{
	for (size_t i = 0; i < sizeof masks / sizeof *masks; i++) {
		char out[ADDRESS_TEXT_MAX], what[128];
		struct address address;

		address_parse(text_of(masks[i].text), &address);
		address_mask(&address, masks[i].bits4, masks[i].bits6);
		address_format(&address, out);
		snprintf(what, sizeof what, "%s masked /%u and /%u", masks[i].text, masks[i].bits4,
			 masks[i].bits6);
		is_str(out, masks[i].expect, what);
	}
}

static void test_one_client_per_64(void)
{
	struct address first, address;
	unsigned same = 0;

	address_parse(TEXT("2001:db8:5:6::"), &first);
	for (unsigned i = 0; i < 65536; i++) {
		char text[64];

		snprintf(text, sizeof text, "2001:db8:5:6:%x:%x:%x:%x", i * 40503 % 65536, i, i ^ 0xaaaa,
			 i / 3);
		address_parse(text_of(text), &address);
		address_mask(&address, 32, 64);
		same += memcmp(first.bytes, address.bytes, 16) == 0;
	}
	is_u64(same, 65536, "65,536 addresses of one /64 are one client");
}

int main(void)
{
	test_reading();
	test_against_libc();
	test_round_trip();
	test_masks();
	test_one_client_per_64();
	return done_testing();
}
