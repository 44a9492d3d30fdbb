/* SPDX-License-Identifier: BSD-2-Clause */
/* weir module: nginx's module: where it is, whether it fits, and making one that does. */
#include "cli/module.h"

#include <stdio.h>
#include <string.h>

#include "cli/options.h"
#include "cli/out.h"

static int path(void)
{
	static struct nginx found;
	nginx_find(NULL, NULL, &found);
	if (!found.module[0])
		return out_failure_cure(WEIR_SYSTEM, "weir's nginx module is not here",
					"build it (make), or: weir module build");
	if (out_as_json)
		out_document(json_pack("{s:o}", "module", out_own(text_of(found.module))));
	else
		puts(found.module);
	return STATUS_FINE;
}

int module_command(int argc, char **argv)
{
	const char *nginx = NULL, *source = NULL, *out = NULL, *running = NULL;
	const struct options_rule rules[] = {
		{"--nginx", OPTIONS_TEXT, &nginx, "BINARY", "the nginx that is to load it"},
		{"--source", OPTIONS_TEXT, &source, "DIR",
		 "build: nginx's sources (those of Debian's nginx-dev)"},
		{"--out", OPTIONS_TEXT, &out, "FILE", "build: the file to make (./ngx_http_weir_module.so)"},
		{"--running", OPTIONS_TEXT, &running, "PID",
		 "check: a process of nginx, or its pid file: which module it runs"},
	};
	struct options options = {
		.synopsis = "weir module (path | check [FILE] | build) [--nginx BINARY] [--source DIR] "
			    "[--out FILE]",
		.about = "path: where the module is. check: whether it (or FILE) fits the nginx that is "
			 "here, and "
			 "whether a running\n"
			 "one has it, or still the one before; exit 1 if not. build: makes it for the nginx "
			 "that is "
			 "here, from nginx's\n"
			 "sources of the same version, which are named if they are missing: nothing is "
			 "fetched.\n",
		.rules = rules,
		.rule_count = sizeof rules / sizeof *rules,
		.words_max = 2,
	};
	int status;
	if (!options_read(&options, argc, argv, &status))
		return status;
	const char *word = options.words.count ? options.words.items[0] : "";
	const char *file = options.words.count > 1 ? options.words.items[1] : NULL;
	if (strcmp(word, "check") == 0 && !source && !out)
		return module_check(file, nginx, running);
	if (strcmp(word, "build") == 0 && !file && !running)
		return module_build(nginx, source, out);
	if (strcmp(word, "path") == 0 && !file && !nginx && !source && !out && !running)
		return path();
	out_error("say weir module path, check [FILE] [--nginx BINARY] [--running PID], or build [--nginx "
		  "BINARY] "
		  "[--source DIR] [--out FILE]");
	return STATUS_USAGE;
}
