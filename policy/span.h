/* SPDX-License-Identifier: BSD-2-Clause */
/* span: how the parts of an image name each other: by offsets from its start. */
#ifndef WEIR_POLICY_SPAN_H
#define WEIR_POLICY_SPAN_H

#include <stdint.h>

struct image_text {
	uint32_t offset, size;
};
struct image_span { /* `count` records of the kind the field says, from `offset` */
	uint32_t offset, count;
};
struct image_range { /* `count` records of an array of the image, from index `first` */
	uint32_t first, count;
};

#endif
