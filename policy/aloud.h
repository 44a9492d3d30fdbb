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

#endif
