/* SPDX-License-Identifier: BSD-2-Clause */
/* nginx: where the binary and the module are. */
#include "cli/nginx.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MODULE	"ngx_http_weir_module.so"
#define INSTALL "install it (Debian: apt-get install nginx), or name it with --nginx"

static bool is_program(const char *path)
{
	struct stat st;
	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

/* The first folder of a colon-separated list that holds the program. */
static bool look_in(const char *folders, char *out, size_t size)
{
	while (folders && *folders) {
		size_t n = strcspn(folders, ":");
		if (n > 0 && snprintf(out, size, "%.*s/nginx", (int)n, folders) < (int)size &&
		    is_program(out))
			return true;
		folders += n + (folders[n] == ':');
	}
	out[0] = '\0';
	return false;
}

static bool look_for_module(char *out, size_t size)
{
	static const char *const FOLDERS[] = {"/usr/lib/nginx/modules", "/usr/lib64/nginx/modules",
					      "/usr/local/lib/weir", "/usr/lib/weir"};
	char self[PLACE_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
	char *slash = n > 0 ? (self[n] = '\0', strrchr(self, '/')) : NULL;
	if (slash) {
		*slash = '\0';
		if (snprintf(out, size, "%s/" MODULE, self) < (int)size && access(out, R_OK) == 0)
			return true;
		/* PREFIX/bin/weir, PREFIX/lib/weir/module */
		if (snprintf(out, size, "%s/../lib/weir/" MODULE, self) < (int)size &&
		    access(out, R_OK) == 0) {
			char *clean = realpath(out, NULL);
			if (clean)
				snprintf(out, size, "%s", clean);
			free(clean);
			return true;
		}
	}
	for (size_t i = 0; i < sizeof FOLDERS / sizeof *FOLDERS; i++)
		if (snprintf(out, size, "%s/" MODULE, FOLDERS[i]) < (int)size && access(out, R_OK) == 0)
			return true;
	out[0] = '\0';
	return false;
}

/* What `nginx -v` says, as a number; 0 if it says nothing of the kind. */
static unsigned ask_version(const char *binary)
{
	char command[PLACE_MAX + 32], line[256];
	unsigned major, minor, patch, version = 0;
	/* no quoting games: a path with a quote in it is not asked */
	if (strchr(binary, '\'') ||
	    snprintf(command, sizeof command, "'%s' -v 2>&1 </dev/null", binary) >= (int)sizeof command)
		return 0;
	FILE *pipe = popen(command, "re");
	while (pipe && fgets(line, sizeof line, pipe)) {
		const char *text = strstr(line, "nginx/");
		if (text && sscanf(text, "nginx/%3u.%3u.%3u", &major, &minor, &patch) == 3)
			version = major * 1000000 + minor * 1000 + patch;
	}
	if (pipe)
		pclose(pipe);
	return version;
}

const char *nginx_version_text(unsigned version, char *out, size_t size)
{
	snprintf(out, size, "%u.%u.%u", version / 1000000, version / 1000 % 1000, version % 1000);
	return out;
}

static void compare(struct nginx *nginx)
{
	char has[16], wants[16];
	if (nginx->binary_version == nginx->module_version)
		return;
	nginx_version_text(nginx->binary_version, has, sizeof has);
	nginx_version_text(nginx->module_version, wants, sizeof wants);
	snprintf(nginx->trouble, sizeof nginx->trouble,
		 "%s is nginx %s, but the module %s was built for nginx %s", nginx->binary, has,
		 nginx->module, wants);
	snprintf(nginx->cure, sizeof nginx->cure,
		 "build weir again against the headers of nginx %s (Debian: apt-get install nginx-dev, "
		 "then make), or install nginx %s",
		 has, wants);
}

bool nginx_find(const char *binary, const char *module, struct nginx *out)
{
	*out = (struct nginx){0};
	if (module)
		snprintf(out->module, sizeof out->module, "%s", module);
	if (module || look_for_module(out->module, sizeof out->module))
		out->module_version = modulefile_version(out->module, out->trouble, sizeof out->trouble);
	else
		snprintf(out->trouble, sizeof out->trouble, "weir's nginx module " MODULE " is not here");
	if (out->trouble[0])
		snprintf(out->cure, sizeof out->cure, "build it (make), or name it with --module");
	if (binary)
		snprintf(out->binary, sizeof out->binary, "%s", binary);
	bool found = binary ? is_program(binary)
			    : look_in(getenv("PATH"), out->binary, sizeof out->binary) ||
				      look_in("/usr/sbin:/usr/local/sbin:/sbin:/usr/local/nginx/sbin",
					      out->binary, sizeof out->binary);
	if (!found) {
		snprintf(out->trouble, sizeof out->trouble,
			 binary ? "no program %s" : "nginx is not installed", binary);
		snprintf(out->cure, sizeof out->cure, INSTALL);
		out->binary[0] = '\0';
	} else if (!(out->binary_version = ask_version(out->binary))) {
		snprintf(out->trouble, sizeof out->trouble, "%s is not nginx: `-v` does not say so",
			 out->binary);
		snprintf(out->cure, sizeof out->cure, INSTALL);
	} else if (!out->trouble[0]) {
		compare(out);
	}
	return !out->trouble[0];
}
