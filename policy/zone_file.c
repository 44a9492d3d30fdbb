/* SPDX-License-Identifier: BSD-2-Clause */
/* zone_file: a header with six counts, a block in 32 bits that is skipped, the same in 64 bits, a footer. */
#include "policy/zone_file.h"

#include "algo/zone.h"

#define HEADER_SIZE 44
#define TYPE_SIZE   6

#define CUT "is cut short"

struct header {
	uint64_t isut, isstd, leap, time, type, chars; /* counts, in the order of the file */
};

static uint64_t big_endian(const unsigned char *bytes, size_t size)
{
	uint64_t value = 0;
	for (size_t i = 0; i < size; i++)
		value = value << 8 | bytes[i];
	return value;
}

static const char *read_header(const unsigned char *bytes, uint64_t left, struct header *out)
{
	if (left < HEADER_SIZE)
		return CUT;
	if (memcmp(bytes, "TZif", 4) != 0)
		return "is no time zone file";
	if (bytes[4] < '2' || bytes[4] > '9')
		return "is a time zone file of the first version, without a rule for the future";
	uint64_t counts[6];
	for (size_t i = 0; i < 6; i++)
		counts[i] = big_endian(bytes + 20 + 4 * i, 4);
	*out = (struct header){counts[0], counts[1], counts[2], counts[3], counts[4], counts[5]};
	return NULL;
}

/* Bytes of the block behind the header, whose times have `width` bytes. No sum of 32-bit counts overflows. */
static uint64_t block_size(const struct header *h, uint64_t width)
{
	return h->time * (width + 1) + h->type * TYPE_SIZE + h->chars + h->leap * (width + 4) + h->isstd +
	       h->isut;
}

static const char *check(const struct zone_file *file, size_t types)
{
	for (size_t i = 0; i < types; i++) {
		int32_t offset = (int32_t)big_endian(file->types + i * TYPE_SIZE, 4);
		if (offset < -ZONE_OFFSET_MAX || offset > ZONE_OFFSET_MAX)
			return "has an offset of more than a day";
	}
	for (size_t i = 0; i < file->count; i++) {
		if (file->kinds[i] >= types)
			return "is damaged: a type that is not there";
		if (i > 0 && zone_file_time(file, i) <= zone_file_time(file, i - 1))
			return "is damaged: changes out of order";
	}
	return NULL;
}

static const char *find_footer(const unsigned char *bytes, size_t size, struct text *out)
{
	const unsigned char *end = size > 1 && bytes[0] == '\n' ? memchr(bytes + 1, '\n', size - 1) : NULL;
	if (!end)
		return "has no footer";
	*out = (struct text){(const char *)bytes + 1, (size_t)(end - bytes) - 1};
	return NULL;
}

const char *zone_file_parse(const unsigned char *bytes, size_t size, struct zone_file *out)
{
	struct header h;
	const char *wrong = read_header(bytes, size, &h);
	if (wrong)
		return wrong;
	uint64_t skip = HEADER_SIZE + block_size(&h, 4);
	if (skip > size)
		return CUT;
	bytes += skip;
	size -= skip;
	wrong = read_header(bytes, size, &h);
	if (wrong)
		return wrong;
	uint64_t block = block_size(&h, 8);
	if (block > size - HEADER_SIZE)
		return CUT;
	if (h.leap)
		return "counts leap seconds";
	if (h.type == 0 || h.type > 256)
		return "is damaged: no offset, or too many";
	out->count = h.time;
	out->times = bytes + HEADER_SIZE;
	out->kinds = out->times + h.time * 8;
	out->types = out->kinds + h.time;
	wrong = check(out, h.type);
	return wrong ? wrong
		     : find_footer(bytes + HEADER_SIZE + block, size - HEADER_SIZE - block, &out->footer);
}

int64_t zone_file_time(const struct zone_file *file, size_t i)
{
	return (int64_t)big_endian(file->times + 8 * i, 8);
}

int32_t zone_file_offset(const struct zone_file *file, size_t i)
{
	return (int32_t)big_endian(file->types + (size_t)file->kinds[i] * TYPE_SIZE, 4);
}

int32_t zone_file_first_offset(const struct zone_file *file)
{
	return (int32_t)big_endian(file->types, 4);
}
