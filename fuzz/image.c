/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fuzz the policy image: whatever passes image_check can be walked and matched.
 *
 * An input is a list of edits, six bytes each {word number, new value}, made to a sound image that is
 * compiled here, so that inputs stay useful when the layout changes; or, if it begins with the magic, an
 * image itself.
 */
#include "tests/policy/walk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void try_image(const void *bytes, size_t size)
{
	char why[128] = "";

	if (image_check(bytes, size, why, sizeof why) ? walk_image(bytes) == 0 : why[0] == 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct image *sample;
	const uint64_t magic = IMAGE_MAGIC;
	bool whole = size >= sizeof magic && memcmp(data, &magic, sizeof magic) == 0;
	uint32_t *words;
	size_t length;

	if (!sample && !(sample = walk_sample()))
		abort();
	length = whole ? size : sample->size;
	words = malloc(length);
	if (!words)
		return 0;
	memcpy(words, whole ? (const void *)data : sample, length);
	for (size_t at = 0; !whole && at + 6 <= size; at += 6) {
		uint16_t word;
		uint32_t value;

		memcpy(&word, data + at, 2);
		memcpy(&value, data + at + 2, 4);
		words[word % (length / 4)] = value;
	}
	try_image(words, length);
	free(words);
	return 0;
}
