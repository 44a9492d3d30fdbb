/* SPDX-License-Identifier: BSD-2-Clause */
/* weir version: ours, and the nginx that the module was built for. */
#include "cli/version.h"

#include <stdio.h>

#include "cli/nginx.h"
#include "cli/options.h"
#include "cli/out.h"
#include "policy/image.h"

int version_command(int argc, char **argv)
{
	struct options options = {
		.synopsis = "weir version",
		.about = "Prints the version, and for which nginx the module beside it was built.\n",
	};
	struct nginx nginx;
	char built[16];
	int status;
	if (!options_read(&options, argc, argv, &status))
		return status;
	nginx_find(NULL, NULL, &nginx);
	nginx_version_text(nginx.module_version, built, sizeof built);
	if (out_as_json) {
		out_document(json_pack(
			"{s:s, s:i, s:o, s:o}", "version", VERSION_TEXT, "image_layout", (int)IMAGE_LAYOUT,
			"module", nginx.module[0] ? out_own(text_of(nginx.module)) : json_null(),
			"built_for_nginx", nginx.module_version ? json_string(built) : json_null()));
		return STATUS_FINE;
	}
	printf("weir %s\n", VERSION_TEXT);
	if (nginx.module_version)
		printf("%s for nginx %s\n", nginx.module, built);
	else
		printf("no nginx module here\n");
	return STATUS_FINE;
}
