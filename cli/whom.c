/* SPDX-License-Identifier: BSD-2-Clause */
/* whom: words about a client, and what they mean to the flow. */
#include "cli/whom.h"

#include <stdio.h>
#include <string.h>

#include "cli/client.h"
#include "cli/keys_who.h"
#include "cli/out.h"

static bool has_prefix(const char *word, const char *prefix, const char **rest)
{
	size_t size = strlen(prefix);
	if (strncmp(word, prefix, size) != 0)
		return false;
	*rest = word + size;
	return true;
}

/* As the doors mask it: an IPv6 client is its network. */
static void show_address(const struct live *live, struct whom *whom)
{
	struct address masked = whom->address;
	char text[ADDRESS_TEXT_MAX];
	bool v4 = address_is_v4(&masked);
	address_mask(&masked, 32, live->image->ipv6_prefix);
	address_format(&masked, text);
	snprintf(whom->part, sizeof whom->part, "ip=%.45s", text);
	if (v4 || live->image->ipv6_prefix == 128)
		snprintf(whom->shown, sizeof whom->shown, "%s", text);
	else
		snprintf(whom->shown, sizeof whom->shown, "%s/%u", text, live->image->ipv6_prefix);
}

static int named(const struct live *live, enum ban_whom kind, const char *name, bool must_be,
		 struct whom *out)
{
	struct ring_key key;
	char shown[256];
	if (!*name || strlen(name) > 255) {
		out_error("a name of 1 to 255 bytes is needed");
		return STATUS_USAGE;
	}
	bool known = kind == BAN_API_KEY && keys_who_named(live->image, text_of(name), live_wall(live), &key);
	out_escape(text_of(name), shown, sizeof shown);
	if (must_be && !known) {
		out_error("'%s' is no address, and no API key of that name is known: say key=%s or user=%s",
			  shown, shown, shown);
		return STATUS_USAGE;
	}
	out->kind = kind;
	out->name = name;
	snprintf(out->part, sizeof out->part, "%s=%s", kind == BAN_USER ? "user" : "api-key", name);
	snprintf(out->shown, sizeof out->shown, "%s %s", kind == BAN_USER ? "user" : "API key", shown);
	return STATUS_FINE;
}

int whom_read(const struct live *live, const char *word, struct whom *out)
{
	const char *rest = word;
	*out = (struct whom){.kind = BAN_ADDRESS, .name = word};
	if (has_prefix(word, "key=", &rest) || has_prefix(word, "api-key=", &rest))
		return named(live, BAN_API_KEY, rest, false, out);
	if (has_prefix(word, "user=", &rest))
		return named(live, BAN_USER, rest, false, out);
	bool says_so = has_prefix(word, "ip=", &rest);
	const char *slash = strchr(rest, '/');
	struct text text = {rest, slash ? (size_t)(slash - rest) : strlen(rest)};
	unsigned bits;
	char end;
	if (address_parse(text, &out->address)) {
		/* as `weir bans` shows it; no other network */
		bool v4 = address_is_v4(&out->address);
		if (slash && (sscanf(slash + 1, "%3u%c", &bits, &end) != 1 ||
			      bits != (v4 ? 32 : live->image->ipv6_prefix))) {
			out_error("%s: one client at a time: a network is banned by `deny` in the policy",
				  word);
			return STATUS_USAGE;
		}
		out->name = rest;
		show_address(live, out);
		return STATUS_FINE;
	}
	if (says_so) {
		out_error("'%s' is no address", rest);
		return STATUS_USAGE;
	}
	return named(live, BAN_API_KEY, word, true, out);
}

struct table_key whom_key(const struct live *live, const struct whom *whom)
{
	struct text value = text_of(whom->name);
	if (whom->kind == BAN_ADDRESS)
		value = (struct text){(const char *)whom->address.bytes, sizeof whom->address.bytes};
	return ban_key(live->table, live->image, whom->kind, value);
}

enum roster_whom whom_kind(const struct whom *whom)
{
	return whom->kind == BAN_ADDRESS   ? ROSTER_ADDRESS
	       : whom->kind == BAN_API_KEY ? ROSTER_API_KEY
					   : ROSTER_USER;
}

bool whom_is_all(const struct live *live, const struct image_limit *limit, const struct whom *whom)
{
	static const uint32_t KINDS[] = {
		[BAN_ADDRESS] = IMAGE_KEY_IP, [BAN_API_KEY] = IMAGE_KEY_API_KEY, [BAN_USER] = IMAGE_KEY_USER};
	const struct image_key_part *parts = image_at(live->image, limit->key.offset);
	bool there = whom->kind == BAN_ADDRESS && limit->missing == IMAGE_MISSING_IP;
	for (uint32_t i = 0; i < limit->key.count; i++) {
		if (parts[i].alternative != parts[0].alternative)
			return false;
		there |= parts[i].kind == KINDS[whom->kind] && parts[i].name.size == 0;
	}
	return there && limit->key.count > 0;
}

/* All words as `weir get` understands them: an address by its looks, an API key by its name, with its owner. False: this limit's key
 * is not made of that, or of less than was said. */
static bool as_client(const struct live *live, uint32_t limit, const struct options_list *words,
		      struct client *client, struct options_list *parts)
{
	bool silent = out_silent, good;
	char needs[600];
	for (size_t i = 0; i < words->count; i++)
		if (strcmp(words->items[i], "anonymous") == 0 || strcmp(words->items[i], "site") == 0)
			return false;
	out_silent = true; /* the words may be anything that the limit counts by */
	good = client_read(client, live, words) == STATUS_FINE &&
	       client_parts(client, image_limit_at(live->image, limit), parts, needs, sizeof needs) &&
	       parts->count == words->count && strcmp(parts->items[0], "site") != 0;
	out_silent = silent;
	return good;
}

int whom_parts(struct keys *keys, const struct live *live, uint32_t limit, const struct options_list *words)
{
	static struct client client; /* the request that is made up points there */
	char all[1536] = "";
	struct options_list parts;
	struct live with = *live;
	struct keys way;
	if (as_client(live, limit, words, &client, &parts)) {
		with.key = client.known ? &client.key : NULL;
		return keys_find(keys, &with, limit, &parts, 0);
	}
	int status = keys_find(keys, live, limit, words, 0);
	if (status != STATUS_FINE || keys->choices == 1)
		return status;
	for (size_t choice = 0; choice < keys->choices && strlen(all) < sizeof all / 2; choice++) {
		size_t used = strlen(all);
		if (keys_find(&way, live, limit, words, choice) == STATUS_FINE)
			snprintf(all + used, sizeof all - used, "%s%.700s", used ? " or " : "", way.chosen);
		keys_free(&way);
	}
	out_error("it is the value of several counters: say which part it is of, as KIND=VALUE: %s", all);
	return STATUS_USAGE;
}
