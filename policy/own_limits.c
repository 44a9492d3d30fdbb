/* SPDX-License-Identifier: BSD-2-Clause */
/* own_limits: the path at which a client reads its own limits. */
#include "policy/load.h"
#include "policy/sections.h"
#include "policy/value.h"

/* A path as requests are matched: no pattern, nothing that would be resolved or cut off. */
static bool normalised(struct text path)
{
	for (size_t i = 0; i < path.size; i++) {
		char c = path.data[i];
		bool first = path.data[i] == '/', last = i + 1 == path.size;

		if (c <= ' ' || c >= 0x7f || strchr("?#*{};%\\\"", c) || (first && last) ||
		    (first && path.data[i + 1] == '/'))
			return false;
		if (first && path.data[i + 1] == '.') {
			size_t dots = i + 1;

			while (dots < path.size && path.data[dots] == '.')
				dots++;
			if (dots - i <= 3 && (dots == path.size || path.data[dots] == '/'))
				return false;
		}
	}
	return path.size > 0 && path.size <= IMAGE_SEGMENT_MAX && path.data[0] == '/';
}

void own_limits_read(struct load *load, const struct node *respond)
{
	const struct node *node = respond && respond->kind == NODE_MAP ? yaml_get(respond, "own_limits")
								       : NULL;
	struct text text;

	load->model.clients.own_limits = TEXT("/.weir/limits");
	if (!node || !value_text(load, node, "own_limits", &text))
		return;
	text = value_trim(text);
	if (text_equal_folded(text, TEXT("no")) || text_equal_folded(text, TEXT("off")) ||
	    text_equal_folded(text, TEXT("false")))
		load->model.clients.own_limits = (struct text){"", 0};
	else if (normalised(text))
		load->model.clients.own_limits = text;
	else
		diag_error(load, node->mark,
			   "'%.*s' is no path of one page; write it like /.weir/limits, or no", SHOW(text));
}
