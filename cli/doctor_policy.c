/* SPDX-License-Identifier: BSD-2-Clause */
/* doctor_policy: is what is in force what the file says, and who sees to it? */
#include <stdio.h>
#include <string.h>

#include "cli/doctor.h"
#include "cli/gateway_note.h"
#include "cli/out.h"
#include "cli/show.h"
#include "control/single.h"

static const char *get(const json_t *object, const char *name)
{
	const char *text = json_string_value(json_object_get(object, name));
	return text ? text : "";
}

static void file(struct doctor *doctor, const struct live *live, bool controlled)
{
	json_t *policy = show_policy(live);
	const char *state = get(policy, "file"), *source = get(policy, "source");
	unsigned long long generation = live->image->generation;
	char cure[PLACE_MAX + 64];
	if (strcmp(state, "broken") == 0) {
		const json_t *first = json_array_get(json_object_get(policy, "findings"), 0);
		snprintf(cure, sizeof cure, "weir check %s", source);
		doctor_say(doctor, DOCTOR_WRONG, "policy", cure,
			   "the file is broken (line %lld: %s); generation %llu stays in force",
			   (long long)json_integer_value(json_object_get(first, "line")),
			   get(first, "message"), generation);
	} else if (strcmp(state, "unset") == 0) {
		doctor_say(doctor, DOCTOR_NOTE, "policy",
			   "set it for weir doctor as for nginx, and look again",
			   "%s: whether %s has been edited since generation %llu cannot be told",
			   get(policy, "unset"), source, generation);
	} else if (strcmp(state, "unreadable") == 0) {
		doctor_say(doctor, DOCTOR_NOTE, "policy",
			   "look as a user who may, or as root: sudo weir doctor",
			   "%s is unreadable for this user: whether it has been edited since generation %llu "
			   "cannot be "
			   "told",
			   source, generation);
	} else if (strcmp(state, "differs") == 0) {
		snprintf(cure, sizeof cure, "weir publish %s", source);
		doctor_say(doctor, DOCTOR_WRONG, "policy", cure,
			   "%s has been edited since generation %llu was published%s", source, generation,
			   controlled ? ", though control runs" : "");
	} else if (strcmp(state, "missing") == 0) {
		doctor_say(doctor, DOCTOR_WRONG, "policy", "put it back; nginx cannot restart without it",
			   "%s is gone; generation %llu stays in force", source, generation);
	} else {
		doctor_say(doctor, DOCTOR_GOOD, "policy", NULL, "%s is in force, generation %llu", source,
			   generation);
	}
	json_decref(policy);
}

/* Does a counter remember somebody for over a minute? Then a reboot would be noticed. */
static bool remembers(const struct image *image)
{
	for (uint32_t i = 0; i < image->counters.count; i++) {
		const struct image_counter *counter = image_counter_at(image, i);
		if (counter->asker || (counter->what == IMAGE_RATE &&
				       algo_window_ns(&counter->numbers) > UINT64_C(60000000000)))
			return true;
	}
	return false;
}

/* nginx's own zones: only nginx can compare nginx.conf with what is in force. */
static void zones(struct doctor *doctor, const struct live *live, const char *path, bool controlled, int pid)
{
	json_t *policy = show_policy(live);
	const char *source = get(policy, "source");
	char cure[PLACE_MAX + 64];
	unsigned long long generation = live->image->generation;
	if (strcmp(get(policy, "file"), "missing") == 0)
		doctor_say(doctor, DOCTOR_WRONG, "zones", "put it back; nginx cannot restart without it",
			   "%s is gone; generation %llu of its zones stays in force", source, generation);
	else
		doctor_say(doctor, DOCTOR_GOOD, "zones", NULL,
			   "%u of %s are in force, generation %llu; an edit is after nginx -s reload",
			   live->image->limits.count, source, generation);
	json_decref(policy);
	snprintf(cure, sizeof cure, "weir control --table %s, as a service", path);
	if (controlled)
		doctor_say(doctor, DOCTOR_GOOD, "control", NULL, "process %d writes the table down", pid);
	else if (remembers(live->image))
		doctor_say(doctor, DOCTOR_NOTE, "control", cure,
			   "none runs: what takes over a minute to recover does not survive a reboot");
}

void doctor_policy(struct doctor *doctor, const char *path)
{
	char why[2 * PLACE_MAX] = "", note[1024];
	struct live live;
	int pid;
	bool controlled = single_runs(path, &pid);
	enum weir_error error = live_look(&live, path, why, sizeof why);
	if (error != WEIR_OK) {
		doctor_say(doctor, DOCTOR_WRONG, "policy", weir_error_cure(error), "%s",
			   *why ? why : weir_error_sentence(error));
		live_close(&live);
		return;
	}
	if (live.image->kind == IMAGE_OF_ZONES) {
		zones(doctor, &live, path, controlled, pid);
		live_close(&live);
		return;
	}
	file(doctor, &live, controlled);
	if (controlled)
		doctor_say(doctor, DOCTOR_GOOD, "control", NULL, "process %d publishes edits", pid);
	else
		doctor_say(doctor, DOCTOR_NOTE, "control",
			   "start weir control (or weir run), or publish each edit: weir publish",
			   "none runs: an edit takes effect only when it is published");
	if (gateway_note_read(path, note, sizeof note))
		doctor_say(doctor, DOCTOR_WRONG, "gateway", "mend that and save the policy again",
			   "the edited gateway is not in force: %s", note);
	doctor_clients(doctor, &live);
	json_t *untrusted = show_untrusted(&live);
	const json_t *one;
	size_t i;
	for (i = 0; (one = json_array_get(untrusted, i)); i++) {
		char cure[512];
		snprintf(cure, sizeof cure, "if it is a proxy of yours, add to the policy: %s",
			 get(one, "cure"));
		doctor_say(doctor, DOCTOR_WRONG, "proxy", cure,
			   "%s sends forwarding headers and is not trusted: all who come through it share "
			   "one bucket",
			   get(one, "address"));
	}
	json_decref(untrusted);
	live_close(&live);
}
