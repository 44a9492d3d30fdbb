/* SPDX-License-Identifier: BSD-2-Clause */
/* aloud: what is read out of clients and plans. Inside the layer only. */
#ifndef WEIR_POLICY_ALOUD_H
#define WEIR_POLICY_ALOUD_H

#include "policy/spoken.h"

/* "for anonymous clients or plan pro, "; nothing for everybody. */
void aloud_who(struct spoken *spoken, const struct image *image, uint64_t who);
/* A line for each thing that plans make of a limit, "  for plans free, pro: …", with the worst case. */
void aloud_variants(struct spoken *spoken, const struct image *image, const struct image_limit *limit);
/* How clients are known, and which plan holds for whom; nothing where addresses are all there is. */
void aloud_clients(struct spoken *spoken, const struct image *image);
/* What the gateway stores, if it does. */
void aloud_gateway(struct spoken *spoken, const struct image *image);

/* One part of a key: "client address", "header x-tenant". */
void aloud_part(struct spoken *spoken, const struct image *image, const struct image_key_part *part);
/* A counter of the limit, or of one of its plans, with its worst case. */
void aloud_counter(struct spoken *spoken, const struct image *image, const struct image_limit *limit,
		   const struct image_counter *counter);
/* What the limit costs, whom it tells, what a refusal leads to and what stands in for it, each behind a semicolon. */
void aloud_words(struct spoken *spoken, const struct image *image, const struct image_limit *limit);

#endif
