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
		size_t kept = ends[i] - starts[i];
		kept = kept < IMAGE_SEGMENT_MAX ? kept : IMAGE_SEGMENT_MAX;
		out[length++] = '/';
		memcpy(out + length, decoded + starts[i], kept);
		length += kept;
	}
	if (length == 0 || folder)
		out[length++] = '/';
	free(decoded);
	free(starts);
	free(ends);
	return length;
}

/* As nginx routes: decode, `/` separates, dots; `merged` is its merge_slashes. Segments past their limit are
 * cut as flow cuts them. Returns the length, 0 if it is longer than what is compared. */
static size_t nginx(const char *path, size_t size, bool merged, char *out)
{
	char *decoded = malloc(size + 1);
	size_t used = 0, length = 0;

	for (size_t i = 0; i < size; i++) {
		char c = path[i];
		if (c == '%' && i + 2 < size && hex(path[i + 1]) >= 0 && hex(path[i + 2]) >= 0) {
			c = (char)(hex(path[i + 1]) << 4 | hex(path[i + 2]));
			i += 2;
		}
		decoded[used++] = c;
	}
	for (size_t i = used && decoded[0] == '/'; i <= used;) {
		size_t end = i, kept;
		while (end < used && decoded[end] != '/')
			end++;
		kept = end - i;
		if (kept == 2 && decoded[i] == '.' && decoded[i + 1] == '.') {
			while (length && out[--length] != '/')
				;
		} else if (kept == 1 && decoded[i] == '.') {
			;
		} else if (kept || (!merged && end < used)) {
			kept = kept < IMAGE_SEGMENT_MAX ? kept : IMAGE_SEGMENT_MAX;
			out[length++] = '/';
			memcpy(out + length, decoded + i, kept);
			length += kept;
		}
		i = end + 1;
	}
	free(decoded);
	for (size_t i = used = 0; i < length; i++)
		if (out[i] != '/' || (i + 1 < length && out[i + 1] != '/'))
			out[used++] = out[i];
	if (used == 0)
		out[used++] = '/';
	return used < IMAGE_PATH_MAX ? used : 0;
}

/* Where nginx goes, one of the readings goes too. */
static void includes_nginx(const char *path, size_t size, const struct flow_path *widest,
			   const struct flow_path *others, size_t count)
{
	for (int merged = 0; merged < 2; merged++) {
		char *out = malloc(2 * size + 2);
		size_t length = nginx(path, size, merged, out);
		bool found = length == 0;

		for (size_t i = 0; i <= count && !found; i++) {
			const struct flow_path *reading = i < count ? &others[i] : widest;
			size_t its = reading->exact_size;
			while (its > 1 && reading->exact[its - 1] == '/')
				its--;
			found = its == length && memcmp(reading->exact, out, length) == 0;
		}
		must(found);
		free(out);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct flow_path widest, others[FLOW_PATH_OTHERS + 1];
	struct text target = {(const char *)data, size}, query, authority, rest;
	size_t path_size, expected_size, count;
	char *expected = malloc(size + 2);
	const char *path = target.data;
	bool differs = flow_path_read(target, FLOW_PATH_WIDEST, &widest, &query);

	must(query.size == 0 || (query.data >= target.data && query.data + query.size <= target.data + size));
	count = flow_path_others(target, &widest, others);
	must(count <= FLOW_PATH_OTHERS);
	must(differs || count == 0 || size >= IMAGE_PATH_MAX); /* (empty segments take room) */
	for (size_t i = 0; i <= count; i++) {
		const struct flow_path *it = i < count ? &others[i] : &widest;
		must(it->exact_size >= 1 && it->exact_size <= IMAGE_PATH_MAX && it->exact[0] == '/');
		must(it->exact[it->exact_size] == '\0' && it->folded[it->folded_size] == '\0');
		must(it->folded_size >= 1 && it->folded_size <= it->exact_size);
		/* (an encoded slash that does not separate is one more byte) */
		must(it != &widest || it->folded_size == 1 || it->folded[it->folded_size - 1] != '/');
		for (size_t k = 0; k < it->folded_size; k++)
			must(it->folded[k] == text_lower(it->exact[k]));
	}

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
	must(widest.exact_size == (expected_size < IMAGE_PATH_MAX ? expected_size : IMAGE_PATH_MAX));
	must(memcmp(widest.exact, expected, widest.exact_size) == 0);
	if (path_size == 0 || (*path == '/' && path_size < IMAGE_PATH_MAX))
		includes_nginx(path, path_size, &widest, others, count);
	free(expected);
	return 0;
}
