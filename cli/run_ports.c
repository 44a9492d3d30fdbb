/* SPDX-License-Identifier: BSD-2-Clause */
/* run_ports: where to listen, and whether somebody listens there already: nginx would say so five times in
 * its log and then exit. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cli/out.h"
#include "cli/run.h"

static bool has_v6(void)
{
	int s = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_in6 any = {.sin6_family = AF_INET6};
	bool works = s >= 0 && bind(s, (struct sockaddr *)&any, sizeof any) == 0;
	if (s >= 0)
		close(s);
	return works;
}

static bool add(struct run *run, const char *host, unsigned port, bool every)
{
	if (run->listen_count == RUN_LISTENS_MAX)
		return false;
	struct run_listen *listen = &run->listens[run->listen_count++];
	*listen = (struct run_listen){.port = port, .v6 = strchr(host, ':') != NULL, .every = every};
	return snprintf(listen->host, sizeof listen->host, "%s", host) < (int)sizeof listen->host &&
	       snprintf(listen->address, sizeof listen->address, listen->v6 ? "[%s]:%u" : "%s:%u", host,
			port) < (int)sizeof listen->address;
}

/* "8080", ":8080", "127.0.0.1:8080", "[::1]:8080", "localhost:8080". A bare port listens on every address. */
static bool read_one(struct run *run, struct text text)
{
	char word[64];
	if (text.size == 0 || text.size >= sizeof word)
		return false;
	memcpy(word, text.data, text.size);
	word[text.size] = '\0';
	char *colon = strrchr(word, ':');
	const char *digits = colon ? colon + 1 : word;
	size_t n = strspn(digits, "0123456789");
	unsigned long port = n > 0 && n < 6 && digits[n] == '\0' ? strtoul(digits, NULL, 10) : 0;
	if (port == 0 || port > 65535)
		return false;
	if (colon)
		*colon = '\0';
	if (colon && colon != word && strcmp(word, "*") != 0) {
		struct address address;
		char host[ADDRESS_TEXT_MAX];
		size_t end = strlen(word) - 1;
		if (strcmp(word, "localhost") == 0)
			return add(run, "127.0.0.1", (unsigned)port, false);
		/* brackets just where there is a colon between them, and no second port */
		if ((word[0] == '[' ? word[end] != ']' : strchr(word, ':') != NULL) ||
		    !address_parse(text_of(word), &address))
			return false;
		address_format(&address, host);
		return add(run, host, (unsigned)port, false);
	}
	return add(run, "0.0.0.0", (unsigned)port, true) &&
	       (!has_v6() || add(run, "::", (unsigned)port, true));
}

bool run_read_ports(struct run *run)
{
	const struct image *image = run->loaded.image;
	const struct image_text *listens = image_at(image, image->gateway.listens.offset);
	size_t wished = run->listen_wish.count, said = image->gateway.listens.count;
	for (size_t i = 0; i < (wished ? wished : said); i++) {
		struct text text = wished ? text_of(run->listen_wish.items[i])
					  : image_text(image, listens[i]);
		if (!read_one(run, text)) {
			out_error("cannot listen on '%.*s': write a port (8080) or an address and a port "
				  "(127.0.0.1:8080)",
				  (int)text.size, text.data);
			return false;
		}
	}
	if (run->listen_count == 0)
		read_one(run, TEXT("8080"));
	return true;
}

socklen_t run_listen_socket(const struct run_listen *listen, struct sockaddr_storage *out)
{
	*out = (struct sockaddr_storage){.ss_family = listen->v6 ? AF_INET6 : AF_INET};
	struct sockaddr_in *v4 = (struct sockaddr_in *)out;
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)out;
	if (listen->v6) {
		v6->sin6_port = htons((uint16_t)listen->port);
		inet_pton(AF_INET6, listen->host, &v6->sin6_addr);
		return sizeof *v6;
	}
	v4->sin_port = htons((uint16_t)listen->port);
	inet_pton(AF_INET, listen->host, &v4->sin_addr);
	return sizeof *v4;
}

int run_try_port(const struct run_listen *listen)
{
	struct sockaddr_storage address;
	socklen_t size = run_listen_socket(listen, &address);
	int yes = 1, reason = 0, s = socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (s < 0)
		return errno;
	/* as nginx binds: connections that linger are no obstacle, another listener is */
	setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
	if (listen->v6)
		setsockopt(s, IPPROTO_IPV6, IPV6_V6ONLY, &yes, sizeof yes);
	if (bind(s, (struct sockaddr *)&address, size) != 0)
		reason = errno;
	close(s);
	return reason;
}

int run_choose_ports(struct run *run)
{
	if (!run_read_ports(run))
		return STATUS_USAGE;
	for (size_t i = 0; i < run->listen_count; i++) {
		const struct run_listen *listen = &run->listens[i];
		int reason = run_try_port(listen);
		if (reason == 0)
			continue;
		if (reason == EADDRINUSE)
			out_error("port %u is in use: stop the other one (ss -ltnp 'sport = :%u' names it), "
				  "or listen "
				  "elsewhere: --listen %u",
				  listen->port, listen->port, listen->port < 65535 ? listen->port + 1 : 8080);
		else if (reason == EACCES)
			out_error("port %u is only for root: choose one above 1023: --listen 8080",
				  listen->port);
		else
			out_error("cannot listen on %s: %s", listen->address, strerror(reason));
		return STATUS_SYSTEM;
	}
	return STATUS_FINE;
}
