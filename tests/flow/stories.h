/* SPDX-License-Identifier: BSD-2-Clause */
/* stories: a policy file, with API keys and a secret for tokens beside it, and what happens to those who come, in virtual time. */
#ifndef WEIR_TESTS_FLOW_STORIES_H
#define WEIR_TESTS_FLOW_STORIES_H

#include <fcntl.h>

#include "tests/flow/steps.h"
#include "tests/identity/jwt_maker.h"
#include "tests/identity/ring_rig.h"

#pragma GCC diagnostic ignored "-Wmissing-field-initializers" /* an act says what matters */

#define SECONDS 1000u
#define MINUTES (60 * SECONDS)
#define HOURS	(60 * MINUTES)
#define DAYS	(24u * HOURS)

#define JSON " | Content-Type: application/json"
#define FORM " | Content-Type: application/x-www-form-urlencoded"

struct story_key { /* the first one's secret is "secret-1" */
	const char *name, *owner, *tenant, *plan;
	uint8_t billing_day;
};

struct act {
	uint64_t after_ms;   /* since the act before */
	const char *request; /* as world_read has it; "%d": counts through all the requests of the story */
	unsigned times, pass;
	const char *body;   /* "%d" as above */
	const char *status; /* of those that do not pass; NULL: REJECTED */
	unsigned answered;  /* by the backend; 0: 200 */
	const char *
		said; /* the answer's body, JSON or (from "data:") an event stream; "Name: value": a header of it */
	const char *passed; /* status of those that pass; NULL: PASSED or UNLIMITED */
};

struct story {
	struct world world;
	struct rig rig;
	struct ring_writer *writer;
	struct people people;
	int home; /* the folder that we came from */
	int number;
};

static inline char *story_file(const char *path)
{
	char *text = calloc(1, 65536);
	FILE *file = fopen(path, "r");

	maker_must(text && file && fread(text, 1, 65535, file) > 0 && fclose(file) == 0);
	return text;
}

static inline void story_keys(struct story *story, const struct story_key *keys, size_t count)
{
	struct ring_build *build;
	struct rig *rig = &story->rig;
	bool good;

	rig->state.keys = count;
	good = ring_write_open(rig->database, 1000, &story->writer, rig->why, sizeof rig->why) == WEIR_OK &&
	       ring_build_begin(story->writer, &rig->state, count, 0, count, &build, rig->why,
				sizeof rig->why) == WEIR_OK;
	for (size_t i = 0; good && i < count; i++) {
		struct ring_row row = rig_row(rig, i + 1, keys[i].name, keys[i].plan ? keys[i].plan : "");
		row.owner = text_of(keys[i].owner ? keys[i].owner : "");
		row.tenant = text_of(keys[i].tenant ? keys[i].tenant : "");
		row.billing_day = keys[i].billing_day;
		good = ring_build_add(build, &row, rig->why, sizeof rig->why) == WEIR_OK;
	}
	maker_must(good && ring_build_end(&build, true, rig->why, sizeof rig->why) == WEIR_OK);
}

/* The policy is read where it is, and lives in a folder with keys.db.ring and token.secret: names in it are relative to that. */
static inline void story_open(struct story *story, const char *path, const struct story_key *keys,
			      size_t count)
{
	char *text = story_file(path);

	memset(story, 0, sizeof *story);
	rig_begin(&story->rig);
	story->home = open(".", O_RDONLY | O_DIRECTORY);
	maker_must(story->home >= 0 && chdir(story->rig.folder) == 0);
	maker_write("token.secret", MAKER_SECRET, 0600, false);
	maker_must(link("token.secret", "blog.secret") == 0);
	if (count)
		story_keys(story, keys, count);
	world_open_sized(&story->world, text, UINT64_C(4) << 20);
	maker_must(people_open(&story->people, story->world.env.image));
	story->world.env.people = &story->people;
	free(text);
}

static inline void story_close(struct story *story)
{
	world_close(&story->world);
	people_close(&story->people);
	ring_write_close(&story->writer);
	unlink("token.secret");
	unlink("blog.secret");
	maker_must(fchdir(story->home) == 0);
	close(story->home);
	rig_end(&story->rig);
}

static const char *story_header; /* "Name: value" that the answer has */

static inline bool story_says(void *door, struct text name, struct text *value)
{
	size_t size = story_header ? strcspn(story_header, ":") : 0;

	(void)door;
	if (!size || !text_equal_folded((struct text){story_header, size}, name))
		return false;
	*value = text_of(story_header + size + 2);
	return true;
}

/* The backend answers. */
static inline void story_answer(struct world *world, const struct act *act)
{
	const unsigned status = act->answered ? act->answered : 200;
	bool body = act->said && strchr("{[d", act->said[0]), events = body && act->said[0] == 'd';
	struct flow_request *request = (struct flow_request *)(uintptr_t)world->flow->request;

	story_header = act->said && !body ? act->said : NULL;
	request->response_header = story_says;
	flow_responded(world->flow, &world->time, &status, 1);
	if (body && flow_wants_body(world->flow,
				    events ? TEXT("text/event-stream") : TEXT("application/json"), TEXT("")))
		flow_body(world->flow, &world->time, act->said, strlen(act->said), true);
}

static inline void story_act(struct story *story, const char *name, unsigned nth, const struct act *act)
{
	char line[2048], body[1024], what[256];
	unsigned pass = 0;
	const char *wrong = "";

	world_pass(&story->world, act->after_ms * MS);
	for (unsigned k = 0; k < act->times; k++) {
		const struct flow_verdict *verdict;
		const char *status;

		story->number++;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		snprintf(line, sizeof line, act->request, story->number);
		snprintf(body, sizeof body, act->body ? act->body : "", story->number);
#pragma GCC diagnostic pop
		verdict = steps_ask(&story->world, line, body);
		status = flow_status_word(verdict->status);
		if (verdict->action == FLOW_PASS) {
			pass++;
			if (act->passed ? strcmp(status, act->passed)
					: strcmp(status, "PASSED") && strcmp(status, "UNLIMITED"))
				wrong = status;
			story_answer(&story->world, act);
		} else if (strcmp(status, act->status ? act->status : "REJECTED")) {
			wrong = status;
		}
		world_end(&story->world);
	}
	snprintf(what, sizeof what, "%s, act %u: of %u '%.60s' %u pass", name, nth, act->times, act->request,
		 act->pass);
	is_u64(pass, act->pass, what);
	is_str(wrong, "", "... and for no other reason");
}

static inline void story_acts(struct story *story, const char *name, const struct act *acts, size_t count)
{
	for (size_t i = 0; i < count; i++)
		story_act(story, name, (unsigned)i + 1, &acts[i]);
}
#define ACTS(story, name, ...)                                                                               \
	story_acts(story, name, (const struct act[]){__VA_ARGS__},                                           \
		   sizeof((const struct act[]){__VA_ARGS__}) / sizeof(struct act))

static inline void story_tell(const char *path, const struct story_key *keys, size_t key_count,
			      const struct act *acts, size_t count)
{
	struct story story;

	story_open(&story, path, keys, key_count);
	story_acts(&story, path, acts, count);
	story_close(&story);
}
#define STORY(path, keys, key_count, ...)                                                                    \
	story_tell(path, keys, key_count, (const struct act[]){__VA_ARGS__},                                 \
		   sizeof((const struct act[]){__VA_ARGS__}) / sizeof(struct act))

#endif
