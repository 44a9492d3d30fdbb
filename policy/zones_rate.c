/* SPDX-License-Identifier: BSD-2-Clause */
/* zones_rate: `2r/s` as limit_req_zone has it, and what nginx has no word for. */
#include "policy/zones.h"

#define SECOND	   UINT64_C(1000000000)
#define DAY	   (86400 * SECOND)
#define YEAR	   (366 * DAY)
#define FASTEST	   UINT32_C(1000000) /* a second */
#define NGINX_MOST UINT64_C(1000)    /* a second: algo_limit_req */
#define TIMES_MOST UINT64_C(1000000) /* before the unit */

/* Digits at the beginning of *rest; *rest is then what follows. False: none, or beyond what nginx reads. */
static bool read_number(struct text *rest, uint64_t *out)
{
	size_t at = 0;

	*out = 0;
	for (; at < rest->size && rest->data[at] >= '0' && rest->data[at] <= '9'; at++) {
		unsigned digit = (unsigned)(rest->data[at] - '0');

		if (*out > ((uint64_t)INT64_MAX - digit) / 10)
			return false;
		*out = *out * 10 + digit;
	}
	*rest = (struct text){rest->data + at, rest->size - at};
	return at > 0;
}

static uint64_t unit_ns(char letter)
{
	switch (letter) {
	case 's':
		return SECOND;
	case 'm':
		return 60 * SECOND;
	case 'h':
		return 3600 * SECOND;
	case 'd':
		return DAY;
	case 'w':
		return 7 * DAY;
	default:
		return 0;
	}
}

/* `N`, `Nr/s` and `Nr/m`: whatever N is, nginx starts with it. True: it is cut. */
static bool as_nginx(uint64_t number, uint64_t seconds, uint32_t *count, uint64_t *period_ns, bool *nginx)
{
	uint64_t most = seconds * FASTEST;

	*count = (uint32_t)(number < most ? number : most);
	*period_ns = seconds * SECOND;
	*nginx = number <= seconds * NGINX_MOST;
	return number > most;
}

bool zones_rate(struct text text, uint32_t *count, uint64_t *period_ns, bool *nginx, bool *cut)
{
	uint64_t number, times = 1, unit;
	struct text rest = text;
	unsigned __int128 period;
	bool beyond;

	if (!read_number(&rest, &number) || number == 0)
		return false;
	if (rest.size == 0 || text_equal(rest, TEXT("r/s")) || text_equal(rest, TEXT("r/m"))) {
		beyond = as_nginx(number, rest.size && rest.data[2] == 'm' ? 60 : 1, count, period_ns, nginx);
		if (cut)
			*cut = beyond;
		return true;
	}
	if (rest.size < 3 || memcmp(rest.data, "r/", 2) != 0)
		return false;
	rest = (struct text){rest.data + 2, rest.size - 2};
	if (rest.size > 1 && (!read_number(&rest, &times) || times == 0 || times > TIMES_MOST))
		return false;
	unit = rest.size == 1 ? unit_ns(rest.data[0]) : 0;
	period = (unsigned __int128)unit * times;
	if (unit == 0 || number > ALGO_COUNT_MAX || period > ALGO_TIME_MAX ||
	    period > number * (unsigned __int128)YEAR ||
	    (unsigned __int128)number * SECOND > period * FASTEST)
		return false;
	*count = (uint32_t)number;
	*period_ns = (uint64_t)period;
	*nginx = false;
	if (cut)
		*cut = false;
	return true;
}
