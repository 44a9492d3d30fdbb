/* SPDX-License-Identifier: BSD-2-Clause */
/* keys: makes up a request that says exactly these key parts and lets the flow build the key, so that there
 * is one way of hashing and not two. */
#include "cli/keys.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/keys_who.h"
#include "cli/out.h"
#include "policy/zones.h"

struct fill {
	struct keys *keys;
	const struct image *image;
	const struct image_limit *limit;
	uint32_t clause;
	char word[300]; /* of the part that the last value was given to */
	bool no_client;
	size_t choice; /* what is left of it for the parts to come */
};

void keys_part_word(const struct image *image, const struct image_key_part *part, char *out, size_t size)
{
	static const char *const WORDS[] = {
		[IMAGE_KEY_SITE] = "site",	 [IMAGE_KEY_IP] = "ip",
		[IMAGE_KEY_HEADER] = "header.",	 [IMAGE_KEY_COOKIE] = "cookie.",
		[IMAGE_KEY_QUERY] = "query.",	 [IMAGE_KEY_HOST] = "host",
		[IMAGE_KEY_PATH] = "path",	 [IMAGE_KEY_METHOD] = "method",
		[IMAGE_KEY_ROUTE] = "route",	 [IMAGE_KEY_VAR] = "var.",
		[IMAGE_KEY_API_KEY] = "api-key", [IMAGE_KEY_USER] = "user",
		[IMAGE_KEY_JWT] = "jwt.",	 [IMAGE_KEY_SESSION] = "session",
		[IMAGE_KEY_BODY] = "body.",
	};
	struct text name = image_text(image, part->name);
	snprintf(out, size, "%s%s%.*s", WORDS[part->kind],
		 part->kind == IMAGE_KEY_API_KEY && name.size ? "." : "", (int)name.size, name.data);
}

/* Appends `text` with %XX for every byte that would end or change it there; `also` stands as it is. */
static bool percent(char *out, size_t size, struct text text, const char *also)
{
	size_t used = strlen(out);
	for (size_t i = 0; i < text.size; i++) {
		unsigned char c = (unsigned char)text.data[i];
		bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
			     (c && strchr(also, c));
		if (used + 4 > size)
			return false;
		used += (size_t)snprintf(out + used, size - used, plain ? "%c" : "%%%02x", c);
	}
	return true;
}

/* Appends `name=value` to a list of pairs; the names of cookies are compared as they are, those of a query
 * decoded. */
static bool add_pair(char *out, size_t size, char between, bool cookie, struct text name, struct text value)
{
	size_t used = strlen(out);
	if (used + name.size + 3 > size)
		return false;
	if (used)
		out[used++] = between;
	out[used] = '\0';
	if (cookie)
		snprintf(out + used, size - used, "%.*s", (int)name.size, name.data);
	else if (!percent(out, size, name, "-._"))
		return false;
	used = strlen(out);
	if (snprintf(out + used, size - used, "=") >= (int)(size - used))
		return false;
	return percent(out, size, value, "-._");
}

bool keys_cookie(struct keys *keys, struct text name, struct text value)
{
	return add_pair(keys->cookies, sizeof keys->cookies, ';', true, name, value);
}

static bool read_address(struct text value, struct address *out)
{
	/* as shown: a masked address carries its prefix length */
	const char *slash = value.size ? memchr(value.data, '/', value.size) : NULL;
	if (slash)
		value.size = (size_t)(slash - value.data);
	return text_equal(value, TEXT("unix:")) || address_parse(value, out);
}

static bool set_address(struct fill *fill, struct text value)
{
	fill->no_client = text_equal(value, TEXT("unix:"));
	return read_address(value, &fill->keys->request.flow.peer);
}

static bool set_route(struct fill *fill, struct text value)
{
	const struct image_clause *clauses = image_at(fill->image, fill->limit->clauses.offset);
	uint32_t first = (uint32_t)((fill->limit->clauses.offset - fill->image->clauses.offset) /
				    sizeof *clauses);
	for (uint32_t i = 0; i < fill->limit->clauses.count; i++)
		if (text_equal(image_text(fill->image, clauses[i].text), value)) {
			fill->clause = first + i;
			return true;
		}
	return fill->limit->clauses.count == 0 && text_equal(value, TEXT("*"));
}

static bool set_part(struct fill *fill, const struct image_key_part *part, struct text value)
{
	struct keys *keys = fill->keys;
	struct request *request = &keys->request;
	struct text name = image_text(fill->image, part->name);
	switch ((enum image_key_kind)part->kind) {
	case IMAGE_KEY_IP:
		return set_address(fill, value);
	case IMAGE_KEY_HEADER:
		return request_add_header(request, name, value);
	case IMAGE_KEY_COOKIE:
		return keys_cookie(keys, name, value);
	case IMAGE_KEY_QUERY:
		return add_pair(keys->query, sizeof keys->query, '&', false, name, value);
	case IMAGE_KEY_HOST:
		request->flow.host = value;
		return true;
	case IMAGE_KEY_PATH:
		return percent(keys->path, sizeof keys->path, value, "-._~/");
	case IMAGE_KEY_METHOD:
		request->flow.method = value;
		return true;
	case IMAGE_KEY_ROUTE:
		return set_route(fill, value);
	case IMAGE_KEY_VAR:
		return request_add_variable(request, name, value);
	case IMAGE_KEY_API_KEY: /* who a client is stands in no request that could be made up */
	case IMAGE_KEY_USER:
	case IMAGE_KEY_JWT:
	case IMAGE_KEY_SESSION:
	case IMAGE_KEY_BODY:
		return keys_who_part(keys, fill->image, part, value);
	case IMAGE_KEY_SITE:
		break;
	}
	return true;
}

static void note_choice(struct keys *keys, const char *word, struct text value)
{
	size_t used = strlen(keys->chosen);
	if (used + 3 >= sizeof keys->chosen)
		return;
	used += (size_t)snprintf(keys->chosen + used, sizeof keys->chosen - used, "%s", used ? ", " : "");
	int n = snprintf(keys->chosen + used, sizeof keys->chosen - used, "%s=", word);
	if (n > 0 && used + (size_t)n < sizeof keys->chosen)
		out_escape(value, keys->chosen + used + (size_t)n, sizeof keys->chosen - used - (size_t)n);
}

/* A value without its kind: one of the alternatives that could have it, by choice. */
static bool set_bare(struct fill *fill, const struct image_key_part *parts, uint32_t at, uint32_t end,
		     struct text value)
{
	struct address address;
	bool is_address = read_address(value, &address), stands_in = false;
	uint32_t could[OPTIONS_LIST_MAX], count = 0;
	for (uint32_t i = at; i < end && count + 1 < OPTIONS_LIST_MAX; i++) {
		stands_in |= parts[i].kind == IMAGE_KEY_IP;
		if (parts[i].kind != IMAGE_KEY_IP || is_address)
			could[count++] = i;
	}
	/* the address instead of a missing part: as `end` */
	if (is_address && !stands_in && fill->limit->missing == IMAGE_MISSING_IP)
		could[count++] = end;
	keys_part_word(fill->image, &parts[count && could[0] < end ? could[0] : at], fill->word,
		       sizeof fill->word);
	if (count < 2)
		return set_part(fill, &parts[count ? could[0] : at], value);
	uint32_t chosen = could[fill->choice % count];
	fill->choice /= count;
	fill->keys->choices *= count;
	snprintf(fill->word, sizeof fill->word, "ip");
	if (chosen < end)
		keys_part_word(fill->image, &parts[chosen], fill->word, sizeof fill->word);
	note_choice(fill->keys, fill->word, value);
	return chosen < end ? set_part(fill, &parts[chosen], value) : set_address(fill, value);
}

static bool is_kind(struct text word)
{
	static const char *const KINDS[] = {"site",    "ip",	  "host",   "path", "method",  "route",
					    "header.", "cookie.", "query.", "var.", "api-key", "api-key.",
					    "user",    "session", "jwt.",   "body."};
	for (size_t i = 0; i < sizeof KINDS / sizeof *KINDS; i++) {
		struct text kind = text_of(KINDS[i]);
		bool open = kind.data[kind.size - 1] == '.';
		if (word.size >= kind.size && (open || word.size == kind.size) &&
		    text_equal_folded((struct text){word.data, kind.size}, kind))
			return true;
	}
	return false;
}

/* Could be somebody's word for a part; "YWJj=" could not, if it ends there. */
static bool is_name(struct text word)
{
	for (size_t i = 0; i < word.size; i++)
		if (!((word.data[i] >= 'a' && word.data[i] <= 'z') || (i && strchr("-_.", word.data[i]))))
			return false;
	return word.size > 0;
}

/* The parts [at, end) are alternatives of one place in the key: give one of them the value. */
static bool set_group(struct fill *fill, const struct image_key_part *parts, uint32_t at, uint32_t end,
		      struct text value)
{
	const char *equals = value.size ? memchr(value.data, '=', value.size) : NULL;
	struct text word = {value.data, equals ? (size_t)(equals - value.data) : 0};
	for (uint32_t i = at; equals && i < end; i++) {
		bool by_name = parts[i].kind == IMAGE_KEY_API_KEY && parts[i].name.size == 0;
		keys_part_word(fill->image, &parts[i], fill->word, sizeof fill->word);
		if (text_equal_folded(word, text_of(fill->word)) ||
		    (by_name && text_equal(word, TEXT("key"))))
			return set_part(fill, &parts[i],
					(struct text){equals + 1, value.size - word.size - 1});
	}
	/* the address that stands in for a missing part */
	snprintf(fill->word, sizeof fill->word, "ip");
	if (equals && text_equal(word, TEXT("ip")))
		return set_address(fill, (struct text){equals + 1, value.size - word.size - 1});
	for (uint32_t i = at; equals && i < end; i++)
		if (parts[i].name.size && text_equal_folded(word, image_text(fill->image, parts[i].name)))
			return false;
	if (equals && is_kind(word))
		return false;
	if (equals && is_name(word) && fill->keys->choices == 1 && fill->choice == 0 && !out_silent)
		fprintf(stderr,
			"weir: no part of the key is called '%.*s': all of '%.*s…' is taken as the value\n",
			(int)word.size, word.data, (int)word.size + 1, word.data);
	return set_bare(fill, parts, at, end, value);
}

static uint32_t group_end(const struct image_key_part *parts, uint32_t count, uint32_t at)
{
	uint32_t end = at + 1;
	while (end < count && parts[end].alternative == parts[at].alternative)
		end++;
	return end;
}

/* The part that was given last, so that it can be said again. */
static void spell(struct fill *fill, bool alternatives, struct text value)
{
	char *out = fill->keys->spelled;
	size_t size = sizeof fill->keys->spelled, used = strlen(out), word = strlen(fill->word);
	bool says = value.size > word && value.data[word] == '=' &&
		    strncasecmp(value.data, fill->word, word) == 0;
	if (used + word + value.size + 4 > size)
		return;
	snprintf(out + used, size - used, "%s%s%s%.*s", used ? ", " : "",
		 alternatives && !says ? fill->word : "", alternatives && !says ? "=" : "", (int)value.size,
		 value.data);
}

/* One --key "a, b" as two: only if it comes out right. */
static size_t split(struct keys *keys, const struct options_list *parts, size_t wanted, struct text *out)
{
	size_t count = 0;
	if (parts->count != 1 || wanted < 2) {
		for (; count < parts->count; count++)
			out[count] = text_of(parts->items[count]);
		return count;
	}
	snprintf(keys->text, sizeof keys->text, "%s", parts->items[0]);
	for (char *rest = keys->text; count < OPTIONS_LIST_MAX;) {
		char *comma = strchr(rest, ',');
		out[count++] = (struct text){rest, comma ? (size_t)(comma - rest) : strlen(rest)};
		if (!comma)
			break;
		rest = comma + 1 + strspn(comma + 1, " ");
	}
	return count;
}

/* The key of one of nginx's zones is one value, whatever it is made of. Of $binary_remote_addr people know the address. */
static bool set_zone(struct fill *fill, const struct options_list *given)
{
	struct keys *keys = fill->keys;
	struct text key_text = image_text(fill->image, fill->limit->key_text),
		    value = text_of(given->items[0]);
	struct address address;
	if (given->count != 1) {
		out_error("the key is %.*s: one value, %zu given", (int)key_text.size, key_text.data,
			  given->count);
		return false;
	}
	if (zones_key_is_address(key_text)) {
		if (!address_parse(value, &address)) {
			out_error("'%s' is no address, and the key is %.*s", given->items[0],
				  (int)key_text.size, key_text.data);
			return false;
		}
		/* to a listener of both families nginx says ::ffff:1.2.3.4 in 16 bytes */
		bool v4 = address_is_v4(&address) && value.data[0] != ':';
		memcpy(keys->text, address.bytes + (v4 ? 12 : 0), v4 ? 4 : 16);
		value = (struct text){keys->text, v4 ? 4 : 16};
	}
	return request_add_variable(&keys->request, TEXT(""), value);
}

static bool set_all(struct fill *fill, const struct options_list *given)
{
	const struct image_key_part *parts = image_at(fill->image, fill->limit->key.offset);
	struct text values[OPTIONS_LIST_MAX] = {{0}},
		    key_text = image_text(fill->image, fill->limit->key_text);
	uint32_t count = fill->limit->key.count;
	size_t wanted = 0, next = 0;
	if (fill->image->kind == IMAGE_OF_ZONES)
		return set_zone(fill, given);
	for (uint32_t at = 0; at < count; at = group_end(parts, count, at))
		wanted += parts[at].kind != IMAGE_KEY_SITE;
	if (wanted == 0 && given->count == 1 && strcmp(given->items[0], "site") == 0)
		return true;
	size_t found = split(fill->keys, given, wanted, values);
	if (found != wanted) {
		out_error("the key is %.*s: %zu part%s, %zu given", (int)key_text.size, key_text.data, wanted,
			  wanted == 1 ? "" : "s", found);
		return false;
	}
	for (uint32_t at = 0; at < count; at = group_end(parts, count, at)) {
		if (parts[at].kind == IMAGE_KEY_SITE)
			continue;
		if (!set_group(fill, parts, at, group_end(parts, count, at), values[next])) {
			char shown[128];
			out_escape(values[next], shown, sizeof shown);
			out_error("'%s' cannot stand in the key %.*s%s", shown, (int)key_text.size,
				  key_text.data,
				  strchr(shown, '=') ? ": KIND=VALUE names the kind as the key does" : "");
			return false;
		}
		spell(fill, group_end(parts, count, at) - at > 1 || fill->limit->missing == IMAGE_MISSING_IP,
		      values[next++]);
	}
	return true;
}

/* Of a zone there is one counter; nginx says which requests meet it, so no list of the image does. */
static void meet_zone(struct keys *keys, const struct fill *fill, uint32_t limit)
{
	const struct image_counter *counters = image_at(fill->image, fill->limit->counters.offset);
	const struct image_counter *all = image_at(fill->image, fill->image->counters.offset);

	for (uint32_t i = 0; i < fill->limit->counters.count; i++) {
		struct flow_hit *hit = &keys->flow->hits[keys->flow->hit_count++];
		*hit = (struct flow_hit){.limit = limit,
					 .counter = (uint32_t)(counters - all) + i,
					 .clause = fill->clause,
					 .what = (uint8_t)counters[i].what,
					 .count = (uint8_t)fill->limit->count,
					 .cost = fill->limit->cost};
		flow_key_hit(keys->flow, hit);
	}
}

/* The stations that a key needs; matching is left out, for the limit is given. */
static int build(struct keys *keys, const struct live *live, const struct fill *fill, uint32_t limit)
{
	uint32_t count = live->image->counters.count;
	size_t size = flow_size(live->image) + (count + 1) * sizeof(struct flow_hit);
	keys->env = (struct flow_env){.table = live->table, .image = live->image};
	if (!(keys->flow = calloc(1, size)))
		return out_failure(WEIR_NO_MEMORY, NULL);
	if (!keys_who_is(keys, live))
		return STATUS_USAGE;
	flow_begin(keys->flow, &keys->env, &keys->request.flow, &live->now, false, true);
	keys->flow->inside = (void *)&keys->flow->hits[count + 1]; /* behind those that there is room for */
	flow_request_read(keys->flow);
	keys->flow->client = keys->flow->subject.client = keys->request.flow.peer;
	keys->flow->has_client = keys->flow->subject.has_client = !fill->no_client;
	keys->flow->who = keys->who;
	keys->flow->subject.who = UINT64_MAX; /* whom the limit is for was decided by who asks for it */
	if (live->image->kind == IMAGE_OF_ZONES) {
		meet_zone(keys, fill, limit);
	} else {
		flow_meet(keys->flow, limit, fill->clause);
		flow_key(keys->flow, false);
	}
	return STATUS_FINE;
}

int keys_find(struct keys *keys, const struct live *live, uint32_t limit, const struct options_list *parts,
	      size_t choice)
{
	struct fill fill = {.keys = keys,
			    .image = live->image,
			    .limit = image_limit_at(live->image, limit),
			    .clause = UINT32_MAX,
			    .choice = choice};
	bool anonymous = parts->count == 1 && strcmp(parts->items[0], "anonymous") == 0 &&
			 fill.limit->missing == IMAGE_MISSING_ANONYMOUS;
	keys->flow = NULL;
	keys->choices = 1;
	keys->who = (struct flow_who){0};
	keys->claims = NULL;
	keys->body[0] = keys->chosen[0] = keys->spelled[0] = keys->cookies[0] = keys->query[0] =
		keys->path[0] = '\0';
	request_init(&keys->request);
	keys->request.flow.host = TEXT("");
	if (!anonymous && !set_all(&fill, parts))
		return STATUS_USAGE;
	if (keys->cookies[0] && !request_add_header(&keys->request, TEXT("cookie"), text_of(keys->cookies)))
		return STATUS_USAGE;
	snprintf(keys->target, sizeof keys->target, "%s?%s", keys->path[0] ? keys->path : "/", keys->query);
	keys->request.flow.target = text_of(keys->target);
	return build(keys, live, &fill, limit);
}

void keys_free(struct keys *keys)
{
	jwt_drop(&keys->who.claims);
	json_decref(keys->claims);
	keys->claims = NULL;
	free(keys->flow);
	keys->flow = NULL;
}
