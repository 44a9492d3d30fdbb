/* SPDX-License-Identifier: BSD-2-Clause */
/* api_keys_words: what is said on the command line of `weir keys`: texts, times, files. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/api_keys.h"

#define LENGTH_MAX (INT64_C(100) * 366 * 86400)

bool api_keys_text(const char *what, const char *value, char *out, size_t size)
{
	if (!value)
		return true;
	if (strlen(value) >= size) {
		out_error("%s is longer than %zu bytes", what, size - 1);
		return false;
	}
	strcpy(out, value);
	return true;
}

static bool length(const char *value, int64_t *out)
{
	static const struct {
		const char *name;
		int64_t seconds;
	} UNITS[] = {{"s", 1},	   {"min", 60},	   {"m", 60},	    {"h", 3600},   {"hours", 3600},
		     {"d", 86400}, {"day", 86400}, {"days", 86400}, {"w", 604800}, {"weeks", 604800}};
	char *end;
	errno = 0;
	unsigned long long number = strtoull(value, &end, 10);
	if (!isdigit((unsigned char)*value) || errno || number > (unsigned long long)LENGTH_MAX)
		return false;
	while (*end == ' ')
		end++;
	if (number == 0 && !*end) {
		*out = 0;
		return true;
	}
	for (size_t i = 0; i < sizeof UNITS / sizeof *UNITS; i++)
		if (strcmp(end, UNITS[i].name) == 0) {
			*out = (int64_t)number * UNITS[i].seconds;
			return *out <= LENGTH_MAX;
		}
	return false;
}

bool api_keys_length(const char *what, const char *value, int64_t *out)
{
	if (length(value, out))
		return true;
	out_error("%s: '%s' is no time: say 12h, 7d or 2w", what, value);
	return false;
}

static bool date(const char *value, int64_t *out)
{
	static const char *const FORMS[] = {"%Y-%m-%d",		 "%Y-%m-%dT%H:%M:%SZ",	 "%Y-%m-%dT%H:%MZ",
					    "%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M",	 "%Y-%m-%d %H:%M:%S",
					    "%Y-%m-%d %H:%M",	 "%Y-%m-%d %H:%M:%S UTC"};
	for (size_t i = 0; i < sizeof FORMS / sizeof *FORMS; i++) {
		struct tm tm = {0};
		const char *end = strptime(value, FORMS[i], &tm);
		if (!end || *end)
			continue;
		int day = tm.tm_mday;
		*out = timegm(&tm); /* which makes 31 February another day */
		return day == tm.tm_mday && *out > 0;
	}
	return false;
}

bool api_keys_when(const char *what, const char *value, int64_t now, bool past_is_fine, int64_t *out)
{
	int64_t ahead;
	if (strcmp(value, "never") == 0 || !*value) {
		*out = 0;
		return true;
	}
	if (length(value, &ahead)) {
		*out = now + ahead;
	} else if (!date(value, out)) {
		out_error("%s: '%s' is no time: say 30d, 2026-12-31 or 2026-12-31T18:00 (UTC), or never",
			  what, value);
		return false;
	}
	if (*out <= now && !past_is_fine) {
		out_error("%s: %s is over already", what, value);
		return false;
	}
	return true;
}

const char *api_keys_time(int64_t when, char out[32])
{
	struct tm tm;
	time_t time = when;
	if (when == 0)
		strcpy(out, "never");
	else if (!gmtime_r(&time, &tm) || strftime(out, 32, "%Y-%m-%d %H:%M:%S UTC", &tm) == 0)
		snprintf(out, 32, "@%lld", (long long)when);
	return out;
}

bool api_keys_fields(const struct api_keys *keys, struct keys_key *key)
{
	char *end;
	if (!api_keys_text("the owner", keys->owner, key->owner, sizeof key->owner) ||
	    !api_keys_text("the tenant", keys->tenant, key->tenant, sizeof key->tenant) ||
	    !api_keys_text("the plan", keys->plan, keys->until ? key->plan_over : key->plan,
			   sizeof key->plan) ||
	    !api_keys_text("the notes", keys->notes, key->notes, sizeof key->notes))
		return false;
	if (keys->plan && !keys->until) { /* what is said last holds */
		key->plan_over[0] = '\0';
		key->plan_until = 0;
	}
	if (keys->until && !keys->plan) {
		out_error("--until says how long a plan holds: say --plan too");
		return false;
	}
	if (keys->until && !api_keys_when("--until", keys->until, keys->now, false, &key->plan_until))
		return false;
	if (keys->until && !key->plan_until) {
		out_error("--until never is what --plan alone says");
		return false;
	}
	if (keys->expires && !api_keys_when("--expires", keys->expires, keys->now, false, &key->expires))
		return false;
	if (keys->billing_day) {
		unsigned long day = strtoul(keys->billing_day, &end, 10);
		if (!*keys->billing_day || *end || day > 31 || !isdigit((unsigned char)*keys->billing_day)) {
			out_error("--billing-day: '%s' is no day of a month: 1 to 31, 0: none",
				  keys->billing_day);
			return false;
		}
		key->billing_day = (int)day;
	}
	const char *wrong = keys_wrong(key);
	if (wrong)
		out_error("%s: %s", key->name, wrong);
	return !wrong;
}

char *api_keys_slurp(const char *path, size_t most, size_t *size)
{
	bool standard = strcmp(path, "-") == 0;
	FILE *in = standard ? stdin : fopen(path, "re");
	size_t room = 0, n = 1;
	char *bytes = NULL;
	*size = 0;
	while (in && n > 0 && *size <= most) {
		if (*size + 4096 > room) {
			char *more = realloc(bytes, room = room ? 2 * room : 16384);
			if (!more)
				break;
			bytes = more;
		}
		n = fread(bytes + *size, 1, room - *size - 1, in);
		*size += n;
	}
	if (!in || !bytes || n > 0 || ferror(in)) {
		if (in && *size > most)
			out_error("%s: larger than %zu bytes", path, most);
		else
			out_error("%s: %s", path, strerror(errno));
		free(bytes);
		bytes = NULL;
	} else {
		bytes[*size] = '\0';
	}
	if (in && !standard)
		fclose(in);
	return bytes;
}
