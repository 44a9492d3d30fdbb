/* SPDX-License-Identifier: BSD-2-Clause */
/* said: the first value stands, the others must be the same. */
#include "identity/field_name.h"
#include "identity/normalise.h"
#include "identity/number.h"
#include "identity/said.h"

static void largest(struct reading *reading, struct said *said, uint32_t number)
{
	if (!said->readers || number > said->wish->number)
		said->wish->number = number;
	said->readers |= reading->reader;
}

static bool is_blank(struct text value)
{
	for (size_t i = 0; i < value.size; i++)
		if (!value.data[i] || !strchr(" \t\r\n", value.data[i]))
			return false;
	return true;
}

static void number(struct reading *reading, struct said *said, struct text value)
{
	uint32_t read;

	if (number_read(value, &read))
		largest(reading, said, read);
	else
		said->doubtful |= !is_blank(value);
}

static void text(struct reading *reading, struct said *said, struct text value)
{
	struct body_value other, *first = said->wish->text, *to = first;

	if (said->readers)
		to = &other;

	to->size = normalise(value, to->data, sizeof to->data);
	if (!to->size)
		return;
	if (said->readers &&
	    !text_equal((struct text){to->data, to->size}, (struct text){first->data, first->size}))
		said->doubtful = true;
	said->readers |= reading->reader;
}

bool said_is_named(const struct said *said, struct text field)
{
	struct text name = said->wish->name;

	if (said->wish->what ==
	    BODY_COUNT) /* a form is no array itself, but `items[0][id]` is one of `items` */
		return name.size && (field_name_is(field, name) || field_name_is_inside(field, name));
	return field_name_is(field, name);
}

void said_value(struct reading *reading, struct said *said, struct text value)
{
	if (said->wish->what == BODY_FIELD)
		text(reading, said, value);
	else if (said->wish->what == BODY_NUMBER)
		number(reading, said, value);
	else
		said->doubtful = true; /* no array that we could count */
}

void said_count(struct reading *reading, struct said *said, uint32_t elements)
{
	if (said->wish->what == BODY_COUNT)
		largest(reading, said, elements);
	else
		said->doubtful = true; /* ["alice"] is "alice" to some */
}
