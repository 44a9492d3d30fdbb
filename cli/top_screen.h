/* SPDX-License-Identifier: BSD-2-Clause */
/* top_screen: a terminal that is drawn anew each second, and keys without a newline. ANSI sequences that every terminal knows. */
#ifndef WEIR_CLI_TOP_SCREEN_H
#define WEIR_CLI_TOP_SCREEN_H

#include <stdbool.h>
#include <stdio.h>
#include <termios.h>

struct top_screen {
	FILE *out; /* what is drawn now, between begin and end */
	char *text;
	size_t size, lines;
	unsigned columns;
	struct termios before;
	bool keyboard; /* standard input is a terminal; `before` is how it was */
	int signals;
};

/* False: it cannot be; nothing has been changed. */
bool top_screen_open(struct top_screen *screen);
void top_screen_begin(struct top_screen *screen);
void top_screen_end(struct top_screen *screen);
/* False: somebody has pressed q, or a signal says to end. */
bool top_screen_wait(struct top_screen *screen, int wait_ms);
/* The terminal as it was. */
void top_screen_close(struct top_screen *screen);

#endif
