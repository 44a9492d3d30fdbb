/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * keytext: a key as a reader knows it, for logs, events and `weir explain`. Hostile: as the client sent it. A session is a secret,
 * and under `privacy: hash` everybody's name is: of those a digest is told, the same each time.
 */
#include "flow/keywalk.h"
#include "flow/read.h"
#include "flow/writer.h"

static size_t put(char *out, size_t used, size_t size, struct text text)
{
	size_t piece = used < size ? size - used : 0;

	if (piece > text.size)
		piece = text.size;
	if (piece)
		memcpy(out + used, text.data, piece);
	return used + piece;
}

static size_t put_address(const struct key_walk *walk, char *out, size_t used, size_t size)
{
	char text[ADDRESS_TEXT_MAX + 5];
	struct writer w = {text, 0, sizeof text, false};
	const uint8_t *bytes = walk->masked.bytes;
	bool v4 = address_is_v4(&walk->masked);
	unsigned bits = v4 ? walk->part.bits4 : walk->part.bits6;

	if (!walk->flow->has_client)
		return put(out, used, size, TEXT("unix:"));
	if (v4) { /* by hand: this is on the path of every request */
		for (size_t i = 12; i < 16; i++) {
			if (i > 12)
				writer_text(&w, TEXT("."));
			writer_number(&w, bytes[i]);
		}
	} else {
		w.used = address_format(&walk->masked, text);
	}
	if (bits < (v4 ? 32u : 128u)) {
		writer_text(&w, TEXT("/"));
		writer_number(&w, bits);
	}
	return put(out, used, size, writer_since(&w, 0));
}

static size_t put_digest(uint64_t digest, char *out, size_t used, size_t size)
{
	char text[17] = "#";

	for (unsigned i = 0; i < 16; i++)
		text[1 + i] = "0123456789abcdef"[digest >> (60 - 4 * i) & 15];
	return put(out, used, size, (struct text){text, sizeof text});
}

/* The first so many bytes tell sessions apart. */
static uint64_t session_digest(const struct key_walk *walk)
{
	char bytes[4 + 512] = {'s', 'e', 's', ':'};
	size_t at = 0, got = named_read(&walk->value, &at, bytes + 4, sizeof bytes - 4);

	return table_key_digest(walk->flow->env->table, bytes, 4 + got);
}

size_t flow_key_text(const struct flow *flow, const struct flow_hit *hit, char *out, size_t size)
{
	struct key_walk walk = key_walk_begin(flow, hit);
	size_t used = 0;

	if (hit->anonymous)
		return put(out, 0, size, TEXT("anonymous"));
	if (flow->env->image->clients.privacy_hash && !walk.limit->shared)
		return hit->denied ? 0 : put_digest(flow_key_digest(flow, hit), out, 0, size);
	while (key_walk_next(&walk)) {
		size_t at = 0;

		if (used)
			used = put(out, used, size, TEXT(", "));
		if (walk.part.kind == IMAGE_KEY_IP)
			used = put_address(&walk, out, used, size);
		else if (walk.part.kind == IMAGE_KEY_SITE)
			used = put(out, used, size, TEXT("site"));
		else if (walk.part.kind == IMAGE_KEY_SESSION && walk.present)
			used = put_digest(session_digest(&walk), out, used, size);
		else if (!hit->denied || walk.present)
			used += named_read(&walk.value, &at, out + used, size - used);
	}
	return used;
}

size_t flow_client_text(const struct flow *flow, char *out)
{
	char bytes[4 + sizeof flow->client.bytes] = {'a', 'd', 'r', ':'};

	if (!flow->has_client)
		return put(out, 0, FLOW_CLIENT_TEXT, TEXT("unix:"));
	if (!flow->env->image->clients.privacy_hash)
		return address_format(&flow->client, out);
	memcpy(bytes + 4, flow->client.bytes, sizeof flow->client.bytes);
	return put_digest(table_key_digest(flow->env->table, bytes, sizeof bytes), out, 0, FLOW_CLIENT_TEXT);
}
