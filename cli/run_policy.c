/* SPDX-License-Identifier: BSD-2-Clause */
/* run_policy: which policy is served: the file's, the one that --to and --limit stand for, or the last good
 * one. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/findings.h"
#include "cli/out.h"
#include "cli/people_look.h"
#include "cli/run.h"
#include "control/lastgood.h"

/* In YAML's single quotes. */
static void quote(FILE *out, const char *text)
{
	fputc('\'', out);
	for (; *text; text++) {
		if (*text == '\'')
			fputc('\'', out);
		fputc(*text, out);
	}
	fputc('\'', out);
}

/* Without a file there is one all the same: what is edited, explained and shown needs no second way. */
static int write_policy(const struct run *run)
{
	char why[2 * PLACE_MAX];
	unlink(run->source);
	int descriptor = open(run->source, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	FILE *out = descriptor >= 0 ? fdopen(descriptor, "w") : NULL;
	if (out) {
		fputs("# Written by weir run at its start. Edit and save: in force at once.\n"
		      "gateway: {to: ",
		      out);
		quote(out, run->to);
		fputs("}\nlimits:\n  per-ip: {key: ip, rate: ", out);
		quote(out, run->limit ? run->limit : "50/s");
		fputs(run->limit ? "}\n" : ", burst: 100}\n", out);
	}
	if (out && fclose(out) == 0)
		return STATUS_FINE;
	snprintf(why, sizeof why, "cannot write %s: %s", run->source, strerror(errno));
	return out_failure(WEIR_SYSTEM, why);
}

static void warn(void *context, const char *sentence, const char *cure)
{
	fprintf(stderr, "weir run: warning: %s (%s)\n", sentence, cure);
	(void)context;
}

static void load(struct run *run)
{
	policy_free(&run->loaded);
	policy_load(&(struct policy_options){.path = run->policy, .to = run->file ? run->to : NULL},
		    &run->loaded);
}

/* The file is broken: the last good copy instead, if that is wanted. */
static int fall_back(struct run *run)
{
	char copy[PLACE_MAX];
	if (!lastgood_find(run->last_good, run->source, copy, sizeof copy)) {
		if (run->use_last_good)
			out_error("--last-good: no last good policy of %s was kept in %s", run->source,
				  run->state);
		return findings_status(&run->loaded, run->source);
	}
	if (!run->use_last_good) {
		out_error("%s has errors; the last good one was kept: to start with that: --last-good",
			  run->source);
		return STATUS_FINDINGS;
	}
	snprintf(run->policy, sizeof run->policy, "%s", copy);
	load(run);
	if (!run->loaded.image)
		return STATUS_FINDINGS;
	fprintf(stderr, "weir run: starting with the last good policy, %s\n", copy);
	return STATUS_FINE;
}

/* An error in what an option said, and not in the file: says so. Without FILE all of the policy comes from options, --to
 * on its second line. */
static bool blame_options(const struct run *run)
{
	bool found = false;
	for (size_t i = 0; i < run->loaded.finding_count; i++) {
		const struct policy_finding *finding = &run->loaded.findings[i];
		bool to = run->file ? strcmp(finding->file, "--to") == 0 : finding->line == 2;
		if (finding->severity != POLICY_ERROR || (run->file && !to))
			continue;
		found = true;
		if (to) /* the sentence begins with the value */
			out_error("--to %s", finding->message);
		else
			out_error("--limit: %s", finding->message);
	}
	return found;
}

int run_read_policy(struct run *run)
{
	int status = run->file ? STATUS_FINE : write_policy(run);
	if (status != STATUS_FINE)
		return status;
	snprintf(run->policy, sizeof run->policy, "%s", run->source);
	load(run);
	if (!run->loaded.image && run->to && blame_options(run))
		return STATUS_USAGE;
	/* nginx says the warnings too: where nobody wrote the file, that is enough */
	if (run->file || !run->loaded.image)
		findings_print(&run->loaded);
	if (!run->loaded.image && (status = fall_back(run)) != STATUS_FINE)
		return status;
	if (!run->loaded.image || run->loaded.image->gateway.routes.count == 0) {
		out_error("nothing to stand in front of: add `gateway: {to: http://127.0.0.1:3000}` to %s, "
			  "or say --to :3000",
			  run->source);
		return STATUS_FINDINGS;
	}
	people_look_keys(run->loaded.image, warn, NULL);
	people_look_tokens(run->loaded.image, true, warn, NULL);
	return STATUS_FINE;
}
