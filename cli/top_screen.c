/* SPDX-License-Identifier: BSD-2-Clause */
/* top_screen: what is drawn is gathered first and written at once, so that nothing flickers. */
#include "cli/top_screen.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/signals.h"

static void say(const char *text, size_t size)
{
	while (size) {
		ssize_t got = write(STDOUT_FILENO, text, size);
		if (got <= 0)
			return;
		text += got;
		size -= (size_t)got;
	}
}

#define SAY(text) say(text, sizeof(text) - 1)

bool top_screen_open(struct top_screen *screen)
{
	*screen = (struct top_screen){.signals = signals_open()};
	if (screen->signals < 0)
		return false;
	screen->keyboard = tcgetattr(STDIN_FILENO, &screen->before) == 0;
	if (screen->keyboard) {
		struct termios raw = screen->before;
		raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
		tcsetattr(STDIN_FILENO, TCSANOW, &raw);
	}
	SAY("\033[?1049h\033[?25l"); /* a screen of its own, no cursor */
	return true;
}

void top_screen_begin(struct top_screen *screen)
{
	struct winsize size;
	screen->lines = 24;
	screen->columns = 80;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 3 && size.ws_col > 20) {
		screen->lines = size.ws_row;
		screen->columns = size.ws_col < 200 ? size.ws_col : 200;
	}
	screen->out = open_memstream(&screen->text, &screen->size);
	if (!screen->out)
		screen->out = stderr;
	fputs("\033[H", screen->out);
}

void top_screen_end(struct top_screen *screen)
{
	if (screen->out == stderr)
		return;
	fclose(screen->out);
	/* the rest of each line, and of the screen, is cleared */
	for (char *at = screen->text; at && *at;) {
		char *end = strchr(at, '\n');
		say(at, end ? (size_t)(end - at) : strlen(at));
		SAY("\033[K");
		if (!end)
			break;
		SAY("\r\n");
		at = end + 1;
	}
	SAY("\033[J");
	free(screen->text);
	screen->text = NULL;
}

bool top_screen_wait(struct top_screen *screen, int wait_ms)
{
	uint64_t end = signals_now_ms() + (uint64_t)wait_ms;
	for (;;) {
		uint64_t now = signals_now_ms();
		struct pollfd fds[] = {{.fd = screen->signals, .events = POLLIN},
				       {.fd = screen->keyboard ? STDIN_FILENO : -1, .events = POLLIN}};
		char key;
		if (now >= end)
			return true;
		if (poll(fds, 2, (int)(end - now)) <= 0)
			continue;
		if (fds[0].revents) {
			int number = signals_next(screen->signals);
			if (number == SIGINT || number == SIGTERM || number == SIGHUP)
				return false;
		}
		if (fds[1].revents &&
		    (read(STDIN_FILENO, &key, 1) != 1 || key == 'q' || key == 'Q' || key == 3))
			return false;
	}
}

void top_screen_close(struct top_screen *screen)
{
	SAY("\033[?25h\033[?1049l");
	if (screen->keyboard)
		tcsetattr(STDIN_FILENO, TCSANOW, &screen->before);
	close(screen->signals);
	signals_default();
}
