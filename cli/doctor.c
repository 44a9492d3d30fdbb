/* SPDX-License-Identifier: BSD-2-Clause */
/* weir doctor: everything that can be looked at without a request, in one go. */
#include "cli/doctor.h"

#include <pwd.h>
#include <stdarg.h>
#include <stdio.h>

#include "cli/out.h"

static const char *const LEVEL[] = {[DOCTOR_GOOD] = "good", [DOCTOR_NOTE] = "note", [DOCTOR_WRONG] = "wrong"};

void doctor_say(struct doctor *doctor, enum doctor_level level, const char *what, const char *cure,
		const char *format, ...)
{
	char sentence[3 * PLACE_MAX];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(sentence, sizeof sentence, format, arguments);
	va_end(arguments);
	doctor->wrong += level == DOCTOR_WRONG;
	json_t *finding = json_pack("{s:s, s:s, s:o}", "what", what, "level", LEVEL[level], "sentence",
				    out_own(text_of(sentence)));
	if (cure && level != DOCTOR_GOOD)
		json_object_set_new(finding, "cure", out_own(text_of(cure)));
	json_array_append_new(doctor->findings, finding);
}

static void each(void *context, const char *path)
{
	doctor_table(context, path);
}

/* What somebody else left where a user's tables belong. */
static void foreign(void *context, const char *folder, uid_t user, uid_t owner)
{
	char cure[PLACE_MAX], whose[64] = "is no folder";
	const struct passwd *known = owner == (uid_t)-1 ? NULL : getpwuid(owner);
	if (known)
		snprintf(whose, sizeof whose, "belongs to %.32s", known->pw_name);
	else if (owner != (uid_t)-1)
		snprintf(whose, sizeof whose, "belongs to user %u", (unsigned)owner);
	snprintf(cure, sizeof cure, "see who made it, then as root: rm -r %s", folder);
	doctor_say(context, DOCTOR_WRONG, "table", cure,
		   "%s %s, not to user %u: no door that runs as that user can make its table there", folder,
		   whose, (unsigned)user);
}

static int tables(struct doctor *doctor, const struct find *find)
{
	char path[PLACE_MAX];
	if (find->table || find->policy || find->nginx_conf) {
		int status = find_table(find, false, path, sizeof path);
		if (status == STATUS_FINE)
			doctor_table(doctor, path);
		return status;
	}
	find_foreign(foreign, doctor);
	if (find_every(each, doctor) == 0)
		doctor_say(doctor, DOCTOR_NOTE, "table",
			   "weir run, or nginx with weir_policy; tables of other users are seen by root only",
			   "no table on this machine: no door has started");
	return STATUS_FINE;
}

static void print(const struct doctor *doctor)
{
	const json_t *finding;
	size_t i;
	for (i = 0; (finding = json_array_get(doctor->findings, i)); i++) {
		const char *cure = json_string_value(json_object_get(finding, "cure"));
		printf("%-6s %-9s %s\n", json_string_value(json_object_get(finding, "level")),
		       json_string_value(json_object_get(finding, "what")),
		       json_string_value(json_object_get(finding, "sentence")));
		if (cure)
			printf("                 cure: %s\n", cure);
	}
	if (doctor->wrong)
		printf("%u thing%s wrong\n", doctor->wrong, doctor->wrong == 1 ? " is" : "s are");
	else
		printf("nothing is wrong\n");
}

int doctor_command(int argc, char **argv)
{
	struct find find = {0};
	const struct options_rule rules[] = {FIND_OPTIONS(&find)};
	struct options options = {
		.synopsis = "weir doctor [--policy FILE | --nginx-conf FILE | --table PATH]",
		.about = "Looks at nginx and its module, shared memory, and every table (or the one named): "
			 "its soundness, its\n"
			 "policy against the file on disk, who publishes edits, proxies that are not "
			 "trusted. Each finding has\n"
			 "its cure. Exit 1 if something is wrong.\n",
		.rules = rules,
		.rule_count = sizeof rules / sizeof *rules,
	};
	struct doctor doctor = {0};
	int status;
	if (!options_read(&options, argc, argv, &status))
		return status;
	doctor.findings = json_array();
	doctor_machine(&doctor);
	status = tables(&doctor, &find);
	if (status == STATUS_FINE && doctor.wrong)
		status = STATUS_FINDINGS;
	if (out_as_json && status <= STATUS_FINDINGS)
		out_document(json_pack("{s:b, s:i, s:O}", "ok", doctor.wrong == 0, "wrong", (int)doctor.wrong,
				       "findings", doctor.findings));
	else if (status <= STATUS_FINDINGS)
		print(&doctor);
	json_decref(doctor.findings);
	return status;
}
