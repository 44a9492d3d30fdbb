/* SPDX-License-Identifier: BSD-2-Clause */
/* said: the first value stands, the others must be the same. */
#include "identity/normalise.h"
#include "identity/number.h"
#include "identity/said.h"

void said_value(struct said *said, struct text value)
{
	struct body_value other, *to = said->found ? &other : said->text;
	uint32_t number;

	if (!said->text) {
		if (number_read(value, &number)) {
			said->number = said->found && said->number > number ? said->number : number;
			said->found = true;
		}
		return;
	}
	to->size = normalise(value, to->data, sizeof to->data);
	if (!to->size)
		return;
	if (!said->found)
		said->found = true;
	else if (!text_equal((struct text){to->data, to->size},
			     (struct text){said->text->data, said->text->size}))
		said->doubtful = true;
}
