/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * identity: whose request it is (B10).
 *
 * The peer's own address, unless the peer is trusted: then the one source that the policy names may say whom
 * it speaks for. Never the first of several headers, never a header from anyone else. A source that says
 * nothing usable leaves the peer: its clients then share one bucket, which is seen, where guessing would be
 * exploited.
 */
#include "flow/forwarded.h"
#include "flow/read.h"

static const struct address loopback = {{[10] = 0xff, 0xff, 127, 0, 0, 1}};

/* A unix socket is as near as the loopback address, and has no address of its own to list. */
static bool peer_trusted(const struct flow_request *request, const struct image *image)
{
	const struct network *trusted = image_at(image, image->trusted.offset);

	return networks_contain(trusted, image->trusted.count,
				request->has_peer ? &request->peer : &loopback);
}

/* A header that carries one address: a second line, or anything else in it, and it says nothing. */
static bool single(const struct flow_request *request, struct text name, struct address *out)
{
	struct text value, second;

	return read_header(request, name, 0, &value) && !read_header(request, name, 1, &second) &&
	       address_parse(value, out);
}

/* Someone who is not trusted names another address: a forger, or a proxy that should be in `trusted`. */
static bool forwards(const struct flow_request *request, const struct image *image)
{
	struct text name = image_text(image, image->address_header);

	return read_present(request, TEXT("x-forwarded-for")) || read_present(request, TEXT("forwarded")) ||
	       (image->address_from == IMAGE_FROM_HEADER && read_present(request, name)) ||
	       (image->address_from == IMAGE_FROM_PROXY_PROTOCOL && request->has_proxied);
}

void flow_identity(struct flow *flow)
{
	const struct flow_request *request = flow->request;
	const struct image *image = flow->env->image;
	bool moved = false;

	flow->who.trusted_peer = peer_trusted(request, image);
	flow->client = request->peer;
	flow->has_client = request->has_peer;
	if (!flow->who.trusted_peer) {
		flow->untrusted_forward = forwards(request, image);
	} else {
		switch ((enum image_source)image->address_from) {
		case IMAGE_FROM_PEER:
			break;
		case IMAGE_FROM_X_FORWARDED_FOR:
			moved = forwarded_walk(request, TEXT("x-forwarded-for"), image, &flow->client);
			break;
		case IMAGE_FROM_FORWARDED:
			moved = forwarded_walk(request, TEXT("forwarded"), image, &flow->client);
			break;
		case IMAGE_FROM_PROXY_PROTOCOL:
			moved = request->has_proxied;
			if (moved)
				flow->client = request->proxied;
			break;
		case IMAGE_FROM_HEADER:
			moved = single(request, image_text(image, image->address_header), &flow->client);
			break;
		}
		flow->has_client |= moved;
	}
	flow->subject.client = flow->client;
	flow->subject.has_client = flow->has_client;
}
