/* SPDX-License-Identifier: BSD-2-Clause */
/* sound: what the files share that check an image which was read from a file (image.h, image_check). Inside the layer only. */
#ifndef WEIR_POLICY_SOUND_H
#define WEIR_POLICY_SOUND_H

#include "policy/image.h"

struct sound {
	const struct image *image;
	uint64_t budget;
	uint32_t next_candidate, next_counter;
	char *why;
	size_t why_size;
};

/* Always false: what is wrong, for `why`. */
bool sound_refuse(struct sound *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Takes bytes off the budget; false after a refusal, as all below. */
bool sound_spend(struct sound *r, uint64_t bytes);
/* `count` whole records inside the image, aligned. */
bool sound_span(struct sound *r, struct image_span span, size_t record, const char *what);
/* Inside `whole`, on a whole record. */
bool sound_within(struct sound *r, struct image_span span, struct image_span whole, size_t record,
		  const char *what);
bool sound_text(struct sound *r, struct image_text text);
/* Texts that reach logs, terminals and header lines carry no control characters. */
bool sound_shown(struct sound *r, struct image_text shown);
/* A span of texts to be shown, at most `max`. */
bool sound_texts(struct sound *r, struct image_span span, uint32_t max, const char *what);
/* Names of image.plans; before everything that counts on their number. */
bool sound_plans(struct sound *r);
bool sound_clients(struct sound *r);
/* Does a mask of IMAGE_WHO_* name only plans that there are? */
bool sound_who(const struct sound *r, uint64_t who);
/* What plans make of a limit: their counters follow its own, one behind the other, from index *next, which moves on. */
bool sound_variants(struct sound *r, const struct image_limit *limit, uint32_t *next);
/* In order, none touching another. */
bool sound_networks(struct sound *r, struct image_span span);

/* What image_limit says beside match, key and numbers; `number` is its index. */
bool sound_words(struct sound *r, const struct image_limit *limit, uint32_t number);
/* The same of a counter. */
bool sound_counter_words(struct sound *r, const struct image_counter *counter);

#endif
