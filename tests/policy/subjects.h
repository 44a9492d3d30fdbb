/* SPDX-License-Identifier: BSD-2-Clause */
/* subjects: requests for tests of matching, from one line: `GET /path host=NAME ip=ADDRESS
 * header.NAME=VALUE who=MASK key=NAME`. The path is taken as normalised; its folded form is made here. */
#ifndef WEIR_TESTS_POLICY_SUBJECTS_H
#define WEIR_TESTS_POLICY_SUBJECTS_H

#include "tests/policy/models.h"

struct subject_store { /* what a subject points into */
	struct image_subject subject;
	char folded[IMAGE_PATH_MAX + 1];
	struct text names[16], values[16];
	size_t headers;
};

static inline bool subjects_header(void *door, struct text name, unsigned nth, struct text *value)
{
	const struct subject_store *store = door;

	for (size_t i = 0; i < store->headers; i++)
		if (text_equal(store->names[i], name) && nth-- == 0) {
			*value = store->values[i];
			return true;
		}
	return false;
}

static inline void subjects_path(struct subject_store *store, struct text path)
{
	size_t size = path.size < IMAGE_PATH_MAX ? path.size : IMAGE_PATH_MAX;

	store->subject.path_exact = (struct text){path.data, size};
	for (size_t i = 0; i < size; i++)
		store->folded[i] = text_lower(path.data[i]);
	if (size > 1 && store->folded[size - 1] == '/')
		size--;
	store->subject.path_folded = (struct text){store->folded, size};
}

static inline void subjects_read(struct subject_store *store, const char *line)
{
	struct text rest = text_of(line);

	memset(store, 0, sizeof *store);
	store->subject.header = subjects_header;
	store->subject.door = store;
	store->subject.method = image_method(models_word(&rest, ' '));
	subjects_path(store, models_word(&rest, ' '));
	while (rest.size > 0) {
		struct text word = models_word(&rest, ' ');

		if (models_prefix(&word, "host=")) {
			store->subject.host = word;
		} else if (models_prefix(&word, "ip=")) {
			store->subject.has_client = address_parse(word, &store->subject.client);
		} else if (models_prefix(&word, "who=")) {
			store->subject.who = strtoull(word.data, NULL, 10);
		} else if (models_prefix(&word, "key=")) {
			store->subject.api_key = word;
		} else if (models_prefix(&word, "header.") && store->headers < 16) {
			store->names[store->headers] = models_word(&word, '=');
			store->values[store->headers++] = word;
		} else {
			models_wrong("request", word);
		}
	}
}

#endif
