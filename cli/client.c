/* SPDX-License-Identifier: BSD-2-Clause */
/* client: which parts of each limit's key it has, and what its counters say. */
#include "cli/client.h"

#include <stdio.h>
#include <string.h>

#include "cli/counter.h"
#include "cli/keys_who.h"
#include "cli/out.h"
#include "flow/ban.h"
#include "flow/grant.h"
#include "policy/zones.h"
#include "table/given.h"

static bool add(struct client *client, const char *word, struct text value)
{
	struct client_part *part = &client->parts[client->count];
	if (client->count == CLIENT_PARTS_MAX || !value.size)
		return false;
	part->word = strlen(word);
	int n = snprintf(part->text, sizeof part->text, "%s=%.*s", word, (int)value.size, value.data);
	if (n < 0 || (size_t)n >= sizeof part->text || memchr(value.data, '\0', value.size))
		return false;
	client->count++;
	return true;
}

static const struct client_part *part_of(const struct client *client, const char *word)
{
	for (size_t i = 0; i < client->count; i++)
		if (client->parts[i].word == strlen(word) &&
		    strncasecmp(client->parts[i].text, word, client->parts[i].word) == 0)
			return &client->parts[i];
	return NULL;
}

static void add_key(struct client *client, struct text name)
{
	struct ring_key *key = &client->key;
	client->said_key = true;
	client->known = keys_who_named(client->live->image, name, live_wall(client->live), key);
	if (!client->known)
		return;
	add(client, "user", (struct text){key->owner, key->owner_size});
	add(client, "api-key.owner", (struct text){key->owner, key->owner_size});
	add(client, "api-key.tenant", (struct text){key->tenant, key->tenant_size});
	add(client, "api-key.plan", (struct text){key->plan, key->plan_size});
}

int client_read(struct client *client, const struct live *live, const struct options_list *words)
{
	*client = (struct client){.live = live};
	for (size_t i = 0; i < words->count; i++) {
		struct text word = text_of(words->items[i]);
		const char *equals = strchr(words->items[i], '='), *slash = strchr(words->items[i], '/');
		char kind[300];
		struct address address;
		bool good;
		if (address_parse(slash ? (struct text){word.data, (size_t)(slash - word.data)} : word,
				  &address)) {
			good = add(client, "ip", word);
		} else if (equals && equals != words->items[i] &&
			   (size_t)(equals - words->items[i]) < sizeof kind) {
			snprintf(kind, sizeof kind, "%.*s", (int)(equals - words->items[i]), words->items[i]);
			if (strcmp(kind, "key") == 0)
				snprintf(kind, sizeof kind, "api-key");
			good = add(client, kind, text_of(equals + 1));
			if (good && strcasecmp(kind, "api-key") == 0)
				add_key(client, text_of(equals + 1));
		} else {
			if (!live->image->clients.keys_database.size) {
				out_error("'%s' is no address, and the policy has no API keys; say "
					  "KIND=VALUE as in a limit's key: header.x-api-key=%s",
					  words->items[i], words->items[i]);
				return STATUS_USAGE;
			}
			good = add(client, "api-key", word);
			add_key(client, word);
		}
		if (!good) {
			out_error("'%s' is too long, empty, or one too many", words->items[i]);
			return STATUS_USAGE;
		}
	}
	return STATUS_FINE;
}

bool client_parts(const struct client *client, const struct image_limit *limit, struct options_list *out,
		  char *needs, size_t size)
{
	const struct image_key_part *parts = image_at(client->live->image, limit->key.offset);
	const struct client_part *ip = part_of(client, "ip");
	out->count = 0;
	needs[0] = '\0';
	if (client->live->image->kind == IMAGE_OF_ZONES) {
		struct text key = image_text(client->live->image, limit->key_text);
		if (ip && zones_key_is_address(key))
			out->items[out->count++] = ip->text + ip->word + 1;
		else
			snprintf(needs, size, "%.*s", (int)key.size, key.data);
		return !needs[0];
	}
	for (uint32_t at = 0, end; at < limit->key.count; at = end) {
		const struct client_part *found = NULL;
		char first[300] = "";
		bool site = false;
		for (end = at; end < limit->key.count && parts[end].alternative == parts[at].alternative;
		     end++) {
			char word[300];
			site |= parts[end].kind == IMAGE_KEY_SITE;
			keys_part_word(client->live->image, &parts[end], word, sizeof word);
			if (!first[0])
				snprintf(first, sizeof first, "%s", word);
			if (!found)
				found = part_of(client, word);
		}
		if (!found && !site &&
		    (limit->missing == IMAGE_MISSING_IP || limit->missing == IMAGE_MISSING_NONE))
			found = ip;
		if (found && out->count < OPTIONS_LIST_MAX) {
			out->items[out->count++] = found->text;
		} else if (!site) {
			size_t used = strlen(needs);
			snprintf(needs + used, size - used, "%s%s", used ? ", " : "", first);
		}
	}
	if (!out->count && !needs[0])
		out->items[out->count++] = "site";
	return !needs[0];
}

static json_t *when(const struct live *live, uint64_t table_time)
{
	return table_time == ALGO_NEVER ? json_null()
					: json_integer((json_int_t)live_wall_at(live, table_time));
}

static void add_grant(json_t *counter, const struct live *live, const struct flow_hit *hit)
{
	const struct image *image = live->image;
	struct algo_report report;
	struct table_look look;
	if (table_grants_until(live->table) <= live->now.now || image->clients.grant_row == TABLE_ROW_NONE)
		return;
	struct table_key key = grant_key(live->table, image, &hit->key);
	table_peek(live->table, &key, image->clients.grant_row, &live->now, 1, &look);
	if (!look.found || algo_recovered(&look.numbers, look.state, live->now.now))
		return;
	table_describe(&look, &live->now, 1, false, &report);
	json_object_set_new(counter, "granted", json_integer(report.remaining));
	json_object_set_new(counter, "granted_until", when(live, live->now.now + report.full_ns));
}

static json_t *counters_json(const struct live *live, struct flow *flow, bool *refuses, uint64_t *banned)
{
	json_t *out = json_array();
	for (size_t i = 0; i < flow->hit_count; i++) {
		struct flow_hit *hit = &flow->hits[i];
		if (hit->what == IMAGE_USAGE || hit->what == IMAGE_BANDWIDTH ||
		    hit->role == FLOW_ROLE_SKIPPED || hit->denied || hit->never)
			continue;
		json_t *counter = counter_json(live, flow, hit);
		const json_t *limit = json_object_get(counter, "limit"),
			     *left = json_object_get(counter, "remaining"),
			     *full = json_object_get(counter, "full_ns");
		if (limit && left && !json_object_get(counter, "used"))
			json_object_set_new(
				counter, "used",
				json_integer(json_integer_value(limit) - json_integer_value(left)));
		if (json_is_integer(full))
			json_object_set_new(counter, "reset_at",
					    when(live, live->now.now + (uint64_t)json_integer_value(full)));
		add_grant(counter, live, hit);
		if (json_is_false(json_object_get(counter, "fits")) && !json_object_get(counter, "granted") &&
		    hit->role == FLOW_ROLE_ENFORCED)
			*refuses = true;
		flow->ban.until = 0;
		ban_look(flow, hit);
		if (hit->banned && flow->ban.until > *banned)
			*banned = flow->ban.until;
		json_array_append_new(out, counter);
	}
	return out;
}

json_t *client_limit_json(const struct client *client, uint32_t index)
{
	static const char *const MODE[] = {
		[IMAGE_ENFORCE] = "enforce", [IMAGE_SHADOW] = "shadow", [IMAGE_DISABLED] = "disabled"};
	const struct live *live = client->live;
	const struct image_limit *limit = image_limit_at(live->image, index);
	json_t *out = json_pack("{s:o, s:s}", "limit", out_own(image_text(live->image, limit->name)), "mode",
				MODE[limit->mode]);
	bool refuses = false, unlimited = false, never = false;
	struct options_list parts;
	uint64_t banned = 0;
	struct keys keys;
	char needs[600];
	if (!client_parts(client, limit, &parts, needs, sizeof needs)) {
		json_object_set_new(out, "needs", json_string(needs));
		return out;
	}
	struct live with = *live;
	with.key = client->known ? &client->key : NULL;
	int status = keys_find(&keys, &with, index, &parts, 0);
	if (status != STATUS_FINE) {
		keys_free(&keys);
		json_decref(out);
		return NULL;
	}
	for (size_t i = 0; i < keys.flow->hit_count; i++) {
		unlimited |= keys.flow->hits[i].role == FLOW_ROLE_EXEMPT;
		never |= keys.flow->hits[i].never;
	}
	json_t *as = json_array();
	for (size_t i = 0; i < parts.count; i++)
		json_array_append_new(as, out_hostile(text_of(parts.items[i])));
	json_object_set_new(out, "as", as);
	json_object_set_new(out, "counters", counters_json(live, keys.flow, &refuses, &banned));
	json_object_set_new(out, "banned_until", banned ? when(live, banned) : json_null());
	json_object_set_new(out, "unlimited", json_boolean(unlimited));
	json_object_set_new(out, "never", json_boolean(never));
	json_object_set_new(out, "refuses", json_boolean(!unlimited && (refuses || never || banned)));
	keys_free(&keys);
	return out;
}

/* As if it came with everything that was said of it: whom the operator has banned, and the plan. */
json_t *client_json(const struct client *client)
{
	const struct live *live = client->live;
	const struct image_plan *plans = image_at(live->image, live->image->plans.offset);
	const struct client_part *ip = part_of(client, "ip"), *name = part_of(client, "api-key"),
				 *user = part_of(client, "user");
	struct image_key_part kinds[] = {{.kind = IMAGE_KEY_API_KEY}, {.kind = IMAGE_KEY_USER}};
	static struct keys keys;
	static struct flow flow;
	json_t *parts = json_array(), *key = json_null();
	memset(&keys, 0, sizeof keys);
	memset(&flow, 0, sizeof flow);
	request_init(&keys.request);
	if (name)
		keys_who_part(&keys, live->image, &kinds[0], text_of(name->text + name->word + 1));
	if (user)
		keys_who_part(&keys, live->image, &kinds[1], text_of(user->text + user->word + 1));
	keys_who_is(&keys, live);
	keys.env = (struct flow_env){.table = live->table, .image = live->image};
	flow.env = &keys.env;
	flow.time = live->now;
	flow.who = keys.who;
	flow.has_client = ip && address_parse(text_of(ip->text + 3), &flow.client);
	flow_ban_address(&flow);
	flow_ban(&flow);
	for (size_t i = 0; i < client->count; i++)
		json_array_append_new(parts, out_hostile(text_of(client->parts[i].text)));
	if (client->said_key)
		key = json_pack("{s:o, s:b}", "name",
				out_hostile((struct text){keys.who.key.name, keys.who.key.name_size}),
				"known", client->known);
	return json_pack("{s:o, s:o, s:o, s:o}", "parts", parts, "api_key", key, "plan",
			 keys.who.plan < live->image->plans.count
				 ? out_own(image_text(live->image, plans[keys.who.plan].name))
				 : json_null(),
			 "banned_until", flow.ban.by_operator ? when(live, flow.ban.until) : json_null());
}

static void print_counter(const json_t *counter, const struct live *live)
{
	char words[160], text[48];
	const json_t *full = json_object_get(counter, "full_ns"),
		     *granted = json_object_get(counter, "granted");
	const char *name = json_string_value(json_object_get(counter, "name"));
	printf("  %s: %s", name ? name : "", counter_words(counter, words, sizeof words));
	if (counter_has_time(counter) && json_is_false(json_object_get(counter, "fits"))) {
		const json_t *wait = json_object_get(counter, "wait_ns");
		printf(", the next one %s", json_is_integer(wait) ? "fits in " : "never fits");
		if (json_is_integer(wait))
			printf("%s", out_duration((uint64_t)json_integer_value(wait), text, sizeof text));
	}
	if (counter_has_time(counter) && json_integer_value(full) > 0)
		printf(", whole again in %s",
		       out_duration((uint64_t)json_integer_value(full), text, sizeof text));
	if (granted)
		printf(", and %lld granted", (long long)json_integer_value(granted));
	printf("\n");
	(void)live;
}

void client_print(const json_t *limits, const struct live *live)
{
	const json_t *limit, *counter;
	size_t i, k;
	for (i = 0; (limit = json_array_get(limits, i)); i++) {
		const char *needs = json_string_value(json_object_get(limit, "needs")),
			   *mode = json_string_value(json_object_get(limit, "mode"));
		const json_t *banned = json_object_get(limit, "banned_until");
		char text[32];
		printf("%s%s", json_string_value(json_object_get(limit, "limit")),
		       strcmp(mode, "shadow") == 0 ? " (shadow)" : "");
		if (needs) {
			printf(": counted by %s too; add it as KIND=VALUE\n", needs);
			continue;
		}
		if (json_is_true(json_object_get(limit, "never")))
			printf(": refused always, by its plan");
		else if (json_is_true(json_object_get(limit, "unlimited")))
			printf(": unlimited by its plan");
		if (json_is_integer(banned))
			printf(": banned until %s",
			       out_when(json_integer_value(banned), live_wall(live), text, sizeof text));
		printf("\n");
		for (k = 0; (counter = json_array_get(json_object_get(limit, "counters"), k)); k++)
			print_counter(counter, live);
	}
}
