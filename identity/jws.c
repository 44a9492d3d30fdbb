/* SPDX-License-Identifier: BSD-2-Clause */
/* jws: three parts, a header. A token that could be read in two ways is refused. */
#include "identity/jws.h"

#include <jansson.h>

#include "identity/base64url.h"

/* Cuts off the first part and its dot. False: there is no dot. */
static bool cut(struct text *rest, struct text *part)
{
	const char *dot = rest->size ? memchr(rest->data, '.', rest->size) : NULL;

	if (!dot)
		return false;
	*part = (struct text){rest->data, (size_t)(dot - rest->data)};
	rest->data += part->size + 1;
	rest->size -= part->size + 1;
	return true;
}

bool jws_is_shallow(struct text json)
{
	bool quoted = false;
	unsigned depth = 0;

	for (size_t i = 0; i < json.size; i++) {
		char c = json.data[i];

		if (quoted && c == '\\')
			i++;
		else if (c == '"')
			quoted = !quoted;
		else if (!quoted && (c == '{' || c == '[') && ++depth >= JWS_DEPTH_MAX)
			return false;
		else if (!quoted && (c == '}' || c == ']') && depth)
			depth--;
	}
	return true;
}

/* RFC 7515 4.1.11: an extension in `crit` must be understood, and we understand none. RFC 7797: b64 false is one of them, also when
 * crit does not say so. */
static enum jwt_result read_header(const json_t *header, struct jws *out)
{
	const json_t *alg = json_object_get(header, "alg"), *kid = json_object_get(header, "kid");
	const json_t *b64 = json_object_get(header, "b64");

	if (!json_is_object(header) || !json_is_string(alg) || (kid && !json_is_string(kid)))
		return JWT_MALFORMED;
	if (json_object_get(header, "crit") || (b64 && !json_is_true(b64)))
		return JWT_EXTENSION;
	out->algorithm = jwk_algorithm((struct text){json_string_value(alg), json_string_length(alg)});
	out->has_kid = kid != NULL;
	if (kid && json_string_length(kid) <= JWS_KID_MAX) {
		out->kid_size = json_string_length(kid);
		memcpy(out->kid, json_string_value(kid), out->kid_size);
	} else if (kid) {
		out->kid_size = SIZE_MAX;
	}
	return JWT_VALID;
}

static enum jwt_result parse_header(struct text text, struct jws *out)
{
	enum jwt_result result;
	json_t *header;

	if (text.size > JWS_HEADER_MAX)
		return JWT_TOO_LARGE;
	if (!jws_is_shallow(text))
		return JWT_MALFORMED;
	header = json_loadb(text.data, text.size, JSON_REJECT_DUPLICATES, NULL);
	result = read_header(header, out);
	json_decref(header);
	return result;
}

/* Decodes behind what is in out->bytes already. */
static bool decode(struct text part, struct jws *out, size_t *used, struct text *decoded)
{
	decoded->data = out->bytes + *used;
	if (!base64url_decode(part, out->bytes + *used, sizeof out->bytes - *used, &decoded->size))
		return false;
	*used += decoded->size;
	return true;
}

enum jwt_result jws_split(struct text token, struct jws *out)
{
	struct text rest = token, parts[2], header;
	size_t used = 0;

	out->algorithm = 0;
	out->kid_size = 0;
	out->has_kid = false;
	if (token.size > JWT_TOKEN_MAX)
		return JWT_TOO_LARGE;
	if (!cut(&rest, &parts[0]) || !cut(&rest, &parts[1]) || !parts[0].size || !parts[1].size)
		return JWT_MALFORMED;
	out->signed_part = (struct text){token.data, parts[0].size + 1 + parts[1].size};
	if (!decode(parts[0], out, &used, &header) || !decode(parts[1], out, &used, &out->payload) ||
	    !decode(rest, out, &used, &out->signature))
		return JWT_MALFORMED; /* also a fourth part: its dot is not base64url */
	return parse_header(header, out);
}

bool jws_fits(const struct jws *jws, const struct jwk *key)
{
	if (key->algorithm != jws->algorithm)
		return false;
	return !jws->has_kid || !key->kid ||
	       text_equal((struct text){jws->kid, jws->kid_size}, (struct text){key->kid, key->kid_size});
}
