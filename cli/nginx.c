/* SPDX-License-Identifier: BSD-2-Clause */
/* nginx: where the binary and the module are. */
#include "cli/nginx.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/module_run.h"

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

bool nginx_beside(const char *name, char *out, size_t size)
{
	static const char *const WAYS[] = {"", "../lib/weir/"};
	char self[PLACE_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
	char *slash = n > 0 ? (self[n] = '\0', strrchr(self, '/')) : NULL;
	for (size_t i = 0; slash && i < sizeof WAYS / sizeof *WAYS; i++) {
		slash[1] = '\0';
		if (snprintf(out, size, "%s%s%s", self, WAYS[i], name) >= (int)size || access(out, R_OK) != 0)
			continue;
		char *clean = realpath(out, NULL);
		if (clean)
			snprintf(out, size, "%s", clean);
		free(clean);
		return true;
	}
	out[0] = '\0';
	return false;
}

static bool look_for_module(char *out, size_t size)
{
	static const char *const FOLDERS[] = {"/usr/lib/nginx/modules", "/usr/lib64/nginx/modules",
					      "/usr/local/lib/weir", "/usr/lib/weir"};
	if (nginx_beside(MODULE, out, size))
		return true;
	for (size_t i = 0; i < sizeof FOLDERS / sizeof *FOLDERS; i++)
		if (snprintf(out, size, "%s/" MODULE, FOLDERS[i]) < (int)size && access(out, R_OK) == 0)
			return true;
	out[0] = '\0';
	return false;
}

/* What `nginx -V` says: "nginx version: nginx/1.22.1", of OpenResty "nginx version: openresty/1.21.4.1"; 0 if it
 * says nothing of the kind. */
static unsigned version_in(const char *said)
{
	static const char *const NAMES[] = {"nginx/", "openresty/"};
	unsigned major, minor, patch;
	for (size_t i = 0; said && i < sizeof NAMES / sizeof *NAMES; i++) {
		const char *text = strstr(said, NAMES[i]);
		if (text && sscanf(text + strlen(NAMES[i]), "%3u.%3u.%3u", &major, &minor, &patch) == 3)
			return major * 1000000 + minor * 1000 + patch;
	}
	return 0;
}

static char *ask(const char *binary)
{
	int status;
	return module_run((const char *const[]){binary, "-V", NULL}, &status);
}

static unsigned ask_version(const char *binary)
{
	char *said = ask(binary);
	unsigned version = version_in(said);
	free(said);
	return version;
}

char *nginx_arguments(const char *binary)
{
	static const char LINE[] = "configure arguments:";
	char *said = ask(binary), *found = said ? strstr(said, LINE) : NULL, *arguments = NULL;
	if (found)
		arguments = strndup(found + strlen(LINE), strcspn(found + strlen(LINE), "\n"));
	free(said);
	return arguments;
}

const char *nginx_version_text(unsigned version, char *out, size_t size)
{
	snprintf(out, size, "%u.%u.%u", version / 1000000, version / 1000 % 1000, version % 1000);
	return out;
}

/* nginx's own two checks (ngx_add_module), with its words, so that who has met them in a log finds them here. */
static void compare(struct nginx *nginx)
{
	char has[16], wants[16];
	nginx_version_text(nginx->binary_version, has, sizeof has);
	nginx_version_text(nginx->module_version, wants, sizeof wants);
	if (nginx->binary_version != nginx->module_version)
		snprintf(nginx->trouble, sizeof nginx->trouble,
			 "%s is nginx %s, but the module %s was built for nginx %s (nginx refuses it: "
			 "\"version "
			 "%u instead of %u\")",
			 nginx->binary, has, nginx->module, wants, nginx->module_version,
			 nginx->binary_version);
	else if (nginx->binary_signature[0] && nginx->module_signature[0] &&
		 strcmp(nginx->binary_signature, nginx->module_signature) != 0)
		snprintf(nginx->trouble, sizeof nginx->trouble,
			 "%s is nginx %s with the features %s, but the module %s was built for an nginx %s "
			 "with "
			 "%s (nginx refuses it: \"is not binary compatible\")",
			 nginx->binary, has, nginx->binary_signature, nginx->module, wants,
			 nginx->module_signature);
	else
		return;
	snprintf(nginx->cure, sizeof nginx->cure,
		 "build the module again for this nginx: weir module build --nginx %s --out %s",
		 nginx->binary, nginx->module);
}

bool nginx_find(const char *binary, const char *module, struct nginx *out)
{
	struct modulefile file = {0};
	*out = (struct nginx){0};
	if (module)
		snprintf(out->module, sizeof out->module, "%s", module);
	if (module || look_for_module(out->module, sizeof out->module))
		modulefile_read(out->module, &file, out->trouble, sizeof out->trouble);
	else
		snprintf(out->trouble, sizeof out->trouble, "weir's nginx module " MODULE " is not here");
	out->module_version = file.version;
	snprintf(out->module_signature, sizeof out->module_signature, "%s", file.signature);
	if (out->trouble[0])
		snprintf(out->cure, sizeof out->cure, "build it (make), or: weir module build");
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
		snprintf(out->trouble, sizeof out->trouble, "%s is not nginx: `-V` does not say so",
			 out->binary);
		snprintf(out->cure, sizeof out->cure, INSTALL);
	} else {
		modulefile_signature_of_binary(out->binary, out->binary_signature);
		if (!out->trouble[0])
			compare(out);
	}
	return !out->trouble[0];
}
