/* SPDX-License-Identifier: BSD-2-Clause */
/* request: what the door handed in, in the one form that matching and keys compare. */
#include "flow/read.h"

/* Lower case, without port and trailing dots. A host past its buffer is no host name; its beginning stands
 * for it. */
static size_t host_normalise(struct text host, char *out, size_t size)
{
	size_t end = 0, used = 0;

	host = read_trim(host);
	if (host.size && host.data[0] == '[')
		while (end < host.size && host.data[end] != ']')
			end++;
	while (end < host.size && host.data[end] != ':')
		end++;
	while (end && host.data[end - 1] == '.')
		end--;
	while (used < end && used < size) {
		out[used] = text_lower(host.data[used]);
		used++;
	}
	return used;
}

void flow_request_read(struct flow *flow)
{
	const struct flow_request *request = flow->request;
	struct image_subject *subject = &flow->subject;
	struct text host = request->host, rest, type;

	subject->method = image_method(request->method);
	subject->header = request->header;
	subject->door = request->door;

	/* RFC 9112 3.2.2: the authority of an absolute-form target wins over the Host header. */
	if (request->target.size && request->target.data[0] != '/')
		flow_path_authority(request->target, &host, &rest);
	subject->host = (struct text){flow->host, host_normalise(host, flow->host, sizeof flow->host)};

	flow->path_ambiguous = flow_path_read(request->target, FLOW_PATH_WIDEST, &flow->path, &flow->query);
	read_path_into(subject, &flow->path);

	flow->preflight = subject->method == IMAGE_METHOD_BIT(OPTIONS) &&
			  read_present(request, TEXT("origin")) &&
			  read_present(request, TEXT("access-control-request-method"));
	flow->grpc = subject->method == IMAGE_METHOD_BIT(POST) &&
		     read_header(request, TEXT("content-type"), 0, &type) && type.size >= 16 &&
		     text_equal_folded((struct text){type.data, 16}, TEXT("application/grpc")) &&
		     (type.size == 16 || strchr("+-;", type.data[16]));
}
