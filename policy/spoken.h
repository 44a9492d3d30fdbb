/* SPDX-License-Identifier: BSD-2-Clause */
/* spoken: numbers of counters in words, for reading a policy out and for reports. */
#ifndef WEIR_POLICY_SPOKEN_H
#define WEIR_POLICY_SPOKEN_H

#include "policy/image.h"

#define SPOKEN_MAX 160

/* A growing line of text, malloc()ed; NULL once memory has run out. */
struct spoken {
	char *text;
	size_t size, capacity;
	bool failed;
};
void spoken_add(struct spoken *spoken, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* "12 s", "0.5 s", "3.6 s", "144 min", "33.3 ms". At most SPOKEN_MAX bytes with NUL, as below. */
void spoken_duration(uint64_t ns, char *out);
/* What a rate is per: "minute", "15 minutes", "day". */
void spoken_period(uint64_t ns, char *out);
/* P of the "N per P" that the numbers were built from, to one part in 10^6; 0 if nothing ever passes. */
uint64_t spoken_period_ns(const struct algo_numbers *numbers);
/* "1.5 MiB", "500 KB", "1234 B": exact. */
void spoken_bytes(uint64_t bytes, char *out);
/* "100 per minute", "100 per minute, burst 20", "2 per second, queue 5", "2 per second as nginx counts, queue 5", "1000 per day in windows",
 * "1000 per day in windows (Europe/Berlin)", "2 at the same time, queue 5", "1 MiB/s per response"; of zones "2r/s, burst 5", "2r/s, burst by variable",
 * "10 connections at the same time". */
void spoken_counter(const struct image *image, const struct image_counter *counter, char *out);

#endif
