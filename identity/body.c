/* SPDX-License-Identifier: BSD-2-Clause */
/* body: form, multipart or JSON? */
#include "identity/body.h"
#include "identity/form.h"
#include "identity/json_body.h"
#include "identity/media_type.h"
#include "identity/multipart.h"

enum reader { READER_FORM = 1, READER_JSON = 2 };

static void as_json(struct text body, bool whole, struct reading *reading)
{
	reading->reader = READER_JSON;
	json_body_read(body, whole, reading);
}

static void as_form(struct text body, bool whole, struct reading *reading)
{
	reading->reader = READER_FORM;
	form_read(body, whole, reading);
}

/* PHP reads the form, Go's JSON reader does not ask for the type: they must find the same. One that has no `=` is no form. */
static void as_both(struct text body, bool whole, struct reading *reading)
{
	as_json(body, whole, reading);
	if (!form_looks(body))
		return;
	as_form(body, whole, reading);
	for (size_t i = 0; i < reading->count; i++) {
		struct said *said = &reading->said[i];
		said->doubtful |= said->readers == READER_FORM ||
				  (said->readers == READER_JSON && said->wish->what != BODY_COUNT);
	}
}

static void read(struct text content_type, struct text body, bool whole, struct reading *reading)
{
	struct text type = media_type(content_type);
	bool form = text_equal_folded(type, TEXT("application/x-www-form-urlencoded"));
	bool multipart = text_equal_folded(type, TEXT("multipart/form-data"));
	bool json = json_body_looks(body);

	reading->doubtful = !media_is_utf8(content_type);
	if (form && json)
		as_both(body, whole, reading);
	else if (form)
		as_form(body, whole, reading);
	else if (multipart && !json)
		multipart_read(content_type, body, whole, reading);
	else if (!multipart && (json || media_type_is_json(type)))
		as_json(body, whole, reading);
	else
		reading->doubtful = true;
}

void body_read(struct text content_type, struct text body, bool whole, struct body_wish *wishes, size_t count)
{
	struct reading reading = {.count = count, .reader = READER_FORM};

	if (body.size > BODY_MAX) {
		body.size = BODY_MAX;
		whole = false;
	}
	for (size_t i = 0; i < count; i++)
		reading.said[i] = (struct said){.wish = &wishes[i]};
	if (body.size)
		read(content_type, body, whole, &reading);
	for (size_t i = 0; i < count; i++)
		wishes[i].said = reading.doubtful || reading.said[i].doubtful ? BODY_DOUBTFUL
				 : reading.said[i].readers		      ? BODY_FOUND
				 : whole				      ? BODY_NONE
									      : BODY_DOUBTFUL;
}
