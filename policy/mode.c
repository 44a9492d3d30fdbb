/* SPDX-License-Identifier: BSD-2-Clause */
/* mode: whether a limit acts: on everybody, on a share of its keys, or on nobody. */
#include "policy/load.h"
#include "policy/sections.h"
#include "policy/value.h"
#include "policy/words.h"

void mode_read(struct load *load, const struct node *node, uint32_t *mode, uint32_t *percent)
{
	struct text text = node->kind == NODE_SCALAR ? value_trim(node->text) : (struct text){"", 0};
	int number;

	*percent = 100;
	if (text.size > 8 && memcmp(text.data, "enforce ", 8) == 0) {
		struct node share = *node;

		share.text = value_trim((struct text){text.data + 8, text.size - 8});
		share.mark = yaml_mark_part(node, share.text);
		if (percent_read(load, &share, "enforce", 1, 100, percent))
			*mode = IMAGE_ENFORCE;
	} else if (words_value(load, node, "mode", &number)) {
		*mode = (uint32_t)number;
	}
}

bool percent_read(struct load *load, const struct node *node, const char *what, uint32_t min, uint32_t max,
		  uint32_t *out)
{
	struct node number = *node;

	if (node->kind == NODE_SCALAR) {
		number.text = value_trim(node->text);
		if (number.text.size < 2 || number.text.data[number.text.size - 1] != '%') {
			diag_error(load, node->mark, "'%s' is a share in per cent, like 25%%", what);
			return false;
		}
		number.text.size--;
		number.text = value_trim(number.text);
	}
	return value_number(load, &number, what, min, max, out);
}
