/* SPDX-License-Identifier: BSD-2-Clause */
/* usage_scan: in the making. */
#include "identity/usage_scan.h"

bool usage_scan_begin(struct usage_scan *scan, struct text content_type, struct text encoding,
		      struct text name)
{
	(void)scan, (void)content_type, (void)encoding, (void)name;
	return false;
}
void usage_scan_feed(struct usage_scan *scan, const void *data, size_t size)
{
	(void)scan, (void)data, (void)size;
}
bool usage_scan_found(const struct usage_scan *scan, uint32_t *out)
{
	(void)scan, (void)out;
	return false;
}
