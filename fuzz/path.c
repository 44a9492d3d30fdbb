/* SPDX-License-Identifier: BSD-2-Clause */
/* path: any request target, against a reading that keeps everything in memory and takes its time. */
#include <stdlib.h>

#include "flow/flow.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool good)
{
	if (!good)
		abort();
}

static int hex(char c)
{
	const char *digits = "0123456789abcdef", *at = c ? strchr(digits, text_lower(c)) : NULL;

	return at ? (int)(at - digits) : -1;
}

/* Decodes all, splits, cuts, drops, resolves: one step after the other. Returns the length. */
static size_t slow(const char *path, size_t size, char *out)
{
	char *decoded = malloc(size + 1);
	size_t *starts = malloc((size + 2) * sizeof *starts), *ends = malloc((size + 2) * sizeof *ends);
	size_t used = 0, count = 0, length = 0;
	bool folder = false;

	for (size_t i = 0; i < size; i++) {
		char c = path[i];
		if (c == '%' && i + 2 < size && hex(path[i + 1]) >= 0 && hex(path[i + 2]) >= 0) {
			c = (char)(hex(path[i + 1]) << 4 | hex(path[i + 2]));
			i += 2;
		}
		decoded[used++] = c == '\\' ? '/' : c;
	}
	for (size_t i = 0; i < used;) {
		size_t end = i, cut;
		while (end < used && decoded[end] != '/')
			end++;
		for (cut = i; cut < end && decoded[cut] != ';' && decoded[cut] != '\0'; cut++)
			;
		folder = end < used || cut == i;
		if (cut - i == 1 && decoded[i] == '.') {
			folder = true;
		} else if (cut - i == 2 && decoded[i] == '.' && decoded[i + 1] == '.') {
			folder = true;
			count -= count > 0;
		} else if (cut > i) {
			starts[count] = i;
			ends[count++] = cut;
		}
		i = end + 1;
	}
	for (size_t i = 0; i < count; i++) {
		out[length++] = '/';
		memcpy(out + length, decoded + starts[i], ends[i] - starts[i]);
		length += ends[i] - starts[i];
	}
	if (length == 0 || folder)
		out[length++] = '/';
	free(decoded);
	free(starts);
	free(ends);
	return length;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char exact[IMAGE_PATH_MAX + 1], folded[IMAGE_PATH_MAX + 1], literal[IMAGE_PATH_MAX + 1];
	struct text target = {(const char *)data, size}, query, authority, rest;
	size_t exact_size, folded_size, literal_size, path_size, expected_size;
	char *expected = malloc(size + 2);
	const char *path = target.data;

	bool differs = flow_path_normalise(target, exact, &exact_size, folded, &folded_size, &query);

	flow_path_literal(target, literal, &literal_size, folded, &folded_size);
	must(literal_size >= 1 && literal_size <= IMAGE_PATH_MAX && literal[literal_size] == '\0' &&
	     literal[0] == '/');
	must(folded_size >= 1 && folded_size <= literal_size && folded[folded_size] == '\0');
	must(differs || (exact_size == literal_size && memcmp(exact, literal, exact_size) == 0));
	flow_path_normalise(target, exact, &exact_size, folded, &folded_size, &query);

	path_size = size;
	if (size && *path != '/' && flow_path_authority(target, &authority, &rest)) {
		must(authority.data >= target.data && authority.data + authority.size == rest.data);
		must(rest.data + rest.size == target.data + size);
		path = rest.data;
		path_size = rest.size;
	}
	for (size_t i = 0; i < path_size; i++)
		if (path[i] == '?' || path[i] == '#')
			path_size = i;
	if (path_size == 1 && *path == '*')
		path_size = 0;
	expected_size = slow(path, path_size, expected);

	must(exact_size >= 1 && exact_size <= IMAGE_PATH_MAX && exact[exact_size] == '\0' && exact[0] == '/');
	must(folded_size >= 1 && folded_size <= exact_size && folded[folded_size] == '\0');
	must(folded_size == 1 || folded[folded_size - 1] != '/');
	for (size_t i = 0; i < folded_size; i++)
		must(folded[i] == text_lower(exact[i]));
	must(exact_size == (expected_size < IMAGE_PATH_MAX ? expected_size : IMAGE_PATH_MAX));
	must(memcmp(exact, expected, exact_size) == 0);
	must(query.size == 0 || (query.data >= target.data && query.data + query.size <= target.data + size));
	free(expected);
	return 0;
}
