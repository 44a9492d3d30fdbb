/* SPDX-License-Identifier: BSD-2-Clause */
/* import_token: the words of an nginx configuration. */
#ifndef WEIR_CLI_IMPORT_TOKEN_H
#define WEIR_CLI_IMPORT_TOKEN_H

#include "cli/import_conf.h"

enum conf_token { CONF_WORD, CONF_SEMICOLON, CONF_OPEN, CONF_CLOSE, CONF_END, CONF_BROKEN };

struct conf_reader {
	struct conf *conf;
	struct text text;
	size_t at, line_start;
	struct conf_place place; /* of the last token */
	unsigned line;
};

/* The next token; a word's text, unquoted, in *word. CONF_BROKEN after a mistake that is noted. */
enum conf_token conf_next(struct conf_reader *reader, struct text *word);
/* Skips the body of a *_by_lua_block whose '{' was read. */
bool conf_skip_lua(struct conf_reader *reader);

#endif
