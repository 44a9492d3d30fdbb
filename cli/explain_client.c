/* SPDX-License-Identifier: BSD-2-Clause */
/* explain_client: whose request it is. The most frequent mistake of all is a proxy that is not trusted (all
 * its clients then share one bucket), so that is said with the line that would cure it. */
#include <stdio.h>

#include "cli/explain.h"
#include "cli/out.h"

static const char *source_word(const struct image *image, char *out, size_t size)
{
	struct text name = image_text(image, image->address_header);
	switch ((enum image_source)image->address_from) {
	case IMAGE_FROM_X_FORWARDED_FOR:
		return "x-forwarded-for";
	case IMAGE_FROM_FORWARDED:
		return "forwarded";
	case IMAGE_FROM_PROXY_PROTOCOL:
		return "proxy-protocol";
	case IMAGE_FROM_HEADER:
		snprintf(out, size, "header.%.*s", (int)name.size, name.data);
		return out;
	case IMAGE_FROM_PEER:
		break;
	}
	return "peer";
}

json_t *explain_client(const struct image *image, const struct flow *flow)
{
	const struct flow_request *request = flow->request;
	char client[ADDRESS_TEXT_MAX] = "unix:", peer[ADDRESS_TEXT_MAX] = "unix:", word[300], why[600];
	const char *source = source_word(image, word, sizeof word);
	bool moved = flow->has_client != request->has_peer ||
		     memcmp(&flow->client, &request->peer, sizeof flow->client) != 0;
	const struct network *trusted = image_at(image, image->trusted.offset);
	bool peer_trusted = networks_contain(trusted, image->trusted.count, &request->peer);
	if (flow->has_client)
		address_format(&flow->client, client);
	if (request->has_peer)
		address_format(&request->peer, peer);
	if (moved)
		snprintf(why, sizeof why, "named by %s, which the trusted peer %s sent", source, peer);
	else if (flow->untrusted_forward)
		snprintf(why, sizeof why,
			 "the peer itself: it forwards for others, but is not trusted; if it is a proxy of "
			 "yours: "
			 "clients: {address: {from: %s, trusted: [%s]}}",
			 image->address_from == IMAGE_FROM_PEER ? "x-forwarded-for" : source, peer);
	else if (image->trusted.count == 0)
		snprintf(why, sizeof why, "the peer itself: the policy trusts no proxy");
	else if (!peer_trusted)
		snprintf(why, sizeof why, "the peer itself: it is no trusted proxy");
	else
		snprintf(why, sizeof why, "the peer itself: trusted, but %s names no address", source);
	return json_pack("{s:s, s:s, s:s, s:b}", "address", client, "peer", peer, "why", why,
			 "untrusted_forward", flow->untrusted_forward);
}
