/* SPDX-License-Identifier: BSD-2-Clause */
/* people: what a policy knows clients by, opened, and opened again when it was replaced. */
#include "identity/people.h"

#include <stdio.h>
#include <string.h>

#define SECOND UINT64_C(1000000000)

/* The texts of an image are not strings. The rest of `out` is 0; NULL: there is no such text, or it is no path. */
static const char *string_of(const struct image *image, struct image_text text, char *out, size_t size)
{
	struct text from = image_text(image, text);

	if (!from.size || from.size >= size)
		return NULL;
	memset(out, 0, size);
	memcpy(out, from.data, from.size);
	return out;
}

/* The new one first: one that cannot be opened after all takes nobody his key. */
static void open_ring(struct people *people, uint64_t now)
{
	struct ring *ring;

	people->retry_at = now + SECOND;
	people->trouble[0] = 0;
	if (ring_open(people->database, &ring, people->trouble, sizeof people->trouble) != WEIR_OK)
		return;
	ring_close(&people->ring);
	people->ring = ring;
}

bool people_open(struct people *people, const struct image *image)
{
	const struct image_clients *clients = &image->clients;

	memset(people, 0, sizeof *people);
	people->image = image;
	if (string_of(image, clients->keys_database, people->database, sizeof people->database))
		open_ring(people, 0);
	if (!clients->jwt_algorithms)
		return true;
	people->rules = (struct jwt_rules){
		.algorithms = clients->jwt_algorithms,
		.jwks_file = string_of(image, clients->jwks_file, people->jwks, sizeof people->jwks),
		.secret_file = string_of(image, clients->jwt_secret_file, people->secret,
					 sizeof people->secret),
		.issuer = image_text(image, clients->jwt_issuer),
		.audiences = people->audiences,
		.leeway_s = clients->jwt_leeway_s,
	};
	for (uint32_t i = 0; i < clients->jwt_audiences.count && i < PEOPLE_AUDIENCES_MAX; i++) {
		const struct image_text *texts = image_at(image, clients->jwt_audiences.offset);

		people->audiences[people->rules.audience_count++] = image_text(image, texts[i]);
	}
	people->jwt = jwt_new(&people->rules);
	return people->jwt != NULL;
}

void people_close(struct people *people)
{
	ring_close(&people->ring);
	jwt_free(&people->jwt);
}

bool people_refresh(struct people *people, uint64_t now, char *why, size_t size)
{
	char before[sizeof people->trouble];

	if (people->jwt && jwt_refresh(people->jwt, now, why, size)) {
		people->wrong = jwt_trouble(people->jwt);
		return true;
	}
	if (!people->database[0] ||
	    (people->ring ? !ring_replaced(people->ring, now) : now < people->retry_at))
		return false;
	memcpy(before, people->trouble, sizeof before);
	open_ring(people, now);
	if (strcmp(before, people->trouble) == 0)
		return false;
	people->wrong = people->trouble[0] != 0;
	if (people->trouble[0])
		snprintf(why, size, "%s: %s",
			 people->ring ? "the API keys known before stay" : "API keys are unknown",
			 people->trouble);
	else
		snprintf(why, size, "%s: %llu API keys", people->database,
			 (unsigned long long)ring_count(people->ring));
	return true;
}
