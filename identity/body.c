/* SPDX-License-Identifier: BSD-2-Clause */
/* body: form, multipart or JSON? */
#include "identity/body.h"
#include "identity/form.h"
#include "identity/json_body.h"
#include "identity/media_type.h"
#include "identity/multipart.h"

static void limit(struct text *body, bool *whole)
{
	if (body->size > BODY_MAX) {
		body->size = BODY_MAX;
		*whole = false;
	}
}

static bool is_json(struct text content_type, struct text body)
{
	return media_type_is_json(media_type(content_type)) || json_body_looks(body);
}

static bool read(struct text content_type, struct text body, bool whole, struct text name, struct said *said)
{
	struct text type = media_type(content_type);

	limit(&body, &whole);
	if (is_json(content_type, body))
		json_body_read(body, whole, name, said);
	else if (text_equal_folded(type, TEXT("application/x-www-form-urlencoded")))
		form_read(body, whole, name, said);
	else if (text_equal_folded(type, TEXT("multipart/form-data")))
		multipart_read(content_type, body, whole, name, said);
	return said->found && !said->doubtful;
}

bool body_field(struct text content_type, struct text body, bool whole, struct text name,
		struct body_value *out)
{
	struct said said = {.text = out};

	return read(content_type, body, whole, name, &said);
}

bool body_number(struct text content_type, struct text body, bool whole, struct text name, uint32_t *out)
{
	struct said said = {0};

	if (!read(content_type, body, whole, name, &said))
		return false;
	*out = said.number;
	return true;
}

bool body_count(struct text content_type, struct text body, bool whole, struct text name, uint32_t *out,
		bool *more)
{
	*more = false;
	limit(&body, &whole);
	return is_json(content_type, body) && json_body_count(body, whole, name, out, more);
}
