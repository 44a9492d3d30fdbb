/* SPDX-License-Identifier: BSD-2-Clause */
/* module_source: what a build of the module takes: nginx's sources of one version, and weir's own. Nothing is
 * fetched: what is missing is named. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/module.h"

#define DEBIAN "/usr/share/nginx/src"

/* Of which version the sources at `folder` are; 0: they are none. */
static unsigned version_at(const char *folder)
{
	static const char NAME[] = "#define nginx_version";
	char path[PLACE_MAX], line[256];
	unsigned version = 0;
	FILE *file = NULL;
	if (snprintf(path, sizeof path, "%s/src/core/nginx.h", folder) < (int)sizeof path)
		file = fopen(path, "re");
	while (file && !version && fgets(line, sizeof line, file))
		if (strncmp(line, NAME, sizeof NAME - 1) == 0)
			version = (unsigned)strtoul(line + sizeof NAME - 1, NULL, 10);
	if (file)
		fclose(file);
	return version;
}

static bool of_nginx(unsigned version, const char *wish, struct module_source *out)
{
	const char *folder = wish ? wish : DEBIAN;
	char needed[16], there[16];
	unsigned found = version_at(folder);
	char *clean = found == version ? realpath(folder, NULL) : NULL;
	if (clean && snprintf(out->nginx, sizeof out->nginx, "%s", clean) >= (int)sizeof out->nginx)
		out->nginx[0] = '\0';
	free(clean);
	if (out->nginx[0])
		return true;
	nginx_version_text(version, needed, sizeof needed);
	nginx_version_text(found, there, sizeof there);
	if (found)
		snprintf(out->trouble, sizeof out->trouble,
			 "%s has the sources of nginx %s; those of nginx %s are needed", folder, there,
			 needed);
	else if (wish)
		snprintf(out->trouble, sizeof out->trouble,
			 "%s has no sources of nginx (no src/core/nginx.h)", folder);
	else
		snprintf(out->trouble, sizeof out->trouble, "the sources of nginx %s are not here", needed);
	snprintf(out->cure, sizeof out->cure,
		 "%sget nginx-%s.tar.gz, the release's sources (nginx.org/en/download.html), unpack it, and: "
		 "weir "
		 "module build --source nginx-%s",
		 wish ? "for an nginx of Debian: apt-get install nginx-dev, and no --source; for another: "
		      : "for an nginx of Debian: apt-get install nginx-dev; for another: ",
		 needed, needed);
	return false;
}

bool module_source_find(unsigned version, const char *wish, struct module_source *out)
{
	*out = (struct module_source){0};
	if (!nginx_beside("source/scripts/nginx-module", out->script, sizeof out->script) ||
	    !nginx_beside("libweir.a", out->archive, sizeof out->archive)) {
		snprintf(out->trouble, sizeof out->trouble,
			 "weir's own sources are not beside this command, or in lib/weir");
		snprintf(out->cure, sizeof out->cure, "install weir as a whole: make install");
		return false;
	}
	return of_nginx(version, wish, out);
}
