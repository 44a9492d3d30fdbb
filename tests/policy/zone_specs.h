/* SPDX-License-Identifier: BSD-2-Clause */
/* zone_specs: nginx's zones in a line each, and the image of some. */
#ifndef WEIR_TESTS_POLICY_ZONE_SPECS_H
#define WEIR_TESTS_POLICY_ZONE_SPECS_H

#include <stdlib.h>

#include "policy/zones.h"
#include "tests/tap.h"

#define S   UINT64_C(1000000000)
#define DAY (86400 * S)

#define REQ(n, k, r, c, p, b)                                                                                \
	{                                                                                                    \
		.name = TEXT(n), .key = TEXT(k), .rate = TEXT(r), .nginx = true, .count = (c),               \
		.period_ns = (p), .burst = (b), .file = "nginx.conf", .line = 7                              \
	}
#define EXACT(n, k, r, c, p, b)                                                                              \
	{                                                                                                    \
		.name = TEXT(n), .key = TEXT(k), .rate = TEXT(r), .count = (c), .period_ns = (p),            \
		.burst = (b), .file = "nginx.conf", .line = 8                                                \
	}
#define VARIES(n, k, r, c, p, b)                                                                             \
	{                                                                                                    \
		.name = TEXT(n), .key = TEXT(k), .rate = TEXT(r), .nginx = true, .count = (c),               \
		.period_ns = (p), .burst = (b), .burst_varies = true, .file = "nginx.conf", .line = 7        \
	}
#define CONN(n, k, most)                                                                                     \
	{                                                                                                    \
		.name = TEXT(n), .key = TEXT(k), .connections = true, .burst = (most)-1,                     \
		.file = "nginx.conf", .line = 9                                                              \
	}

static struct image *image_of(const struct zone_spec *zones, size_t count)
{
	char why[512] = "";
	struct image *image = zones_image(zones, count, "nginx", "/etc/nginx/nginx.conf", 1780272000, why,
					  sizeof why);

	if (!image) {
		printf("Bail out! %s\n", why);
		exit(1);
	}
	return image;
}

#endif
