/* SPDX-License-Identifier: BSD-2-Clause */
/* module_build: the module for the nginx that is here: scripts/nginx-module in a folder of its own, and its
 * result looked at before it takes any place. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/module.h"
#include "cli/module_run.h"
#include "cli/out.h"
#include "control/tree.h"

#define RESULT "ngx_http_weir_module.so"
#define NEEDED                                                                                               \
	"what it takes: bash, make, a C compiler, and the headers of pcre2, zlib, openssl, libfyaml, "       \
	"jansson and utf8proc "                                                                              \
	"(Debian: apt-get install gcc make libpcre2-dev zlib1g-dev libssl-dev libfyaml-dev libjansson-dev "  \
	"libutf8proc-dev)"

struct build {
	struct nginx nginx; /* with the result as its module */
	struct module_source source;
	char folder[PLACE_MAX / 2], result[PLACE_MAX], out[PLACE_MAX];
};

/* Why a build failed is at its end. */
static void print_end(const char *said)
{
	const char *from = said ? said + strlen(said) : "";
	for (int lines = 0; said && from > said && lines<25; lines += from> said && from[-1] == '\n')
		from--;
	fputs(from, stderr);
}

static int compile(struct build *build)
{
	const char *flags[MODULE_FLAGS_MAX + 1],
		*argv[MODULE_FLAGS_MAX + 4] = {build->source.script, build->folder, ""};
	char *arguments = nginx_arguments(build->nginx.binary);
	int status;
	size_t count = arguments ? module_flags(arguments, flags) : 0;
	/* without any, the script chooses */
	memcpy(argv + 3, flags, count * sizeof *flags);
	setenv("NGX_SRC", build->source.nginx, 1);
	setenv("WEIR_LIB", build->source.archive, 1);
	char *said = module_run(argv, &status);
	if (status != 0)
		print_end(said);
	free(said);
	free(arguments);
	return status == 0 ? STATUS_FINE
			   : out_failure_cure(WEIR_SYSTEM, "the module could not be built", NEEDED);
}

/* By hand: copy_file_range does not reach from one file system into another. */
static bool copy(int source, int target)
{
	char piece[65536];
	ssize_t size;
	while ((size = read(source, piece, sizeof piece)) > 0)
		for (ssize_t at = 0, n; at < size; at += n)
			if ((n = write(target, piece + at, (size_t)(size - at))) < 0)
				return false;
	return size == 0;
}

/* Beside its place, then renamed: a running nginx keeps the file that it has mapped. */
static bool put(const char *from, const char *to)
{
	char fresh[PLACE_MAX + 8];
	int source = open(from, O_RDONLY | O_CLOEXEC), target = -1;
	snprintf(fresh, sizeof fresh, "%s.new", to);
	bool good = source >= 0 && (unlink(fresh) == 0 || errno == ENOENT) &&
		    (target = open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644)) >= 0;
	good = good && copy(source, target) && fsync(target) == 0 && rename(fresh, to) == 0;
	int error = errno;
	if (source >= 0)
		close(source);
	if (target >= 0)
		close(target);
	if (!good && target >= 0)
		unlink(fresh);
	errno = error;
	return good;
}

static int no_place(const struct build *build)
{
	char why[2 * PLACE_MAX];
	snprintf(why, sizeof why, "cannot write %s: %s", build->out, strerror(errno));
	return out_failure_cure(WEIR_SYSTEM, why, "name another place with --out");
}

/* Before the minute that a build may take. */
static bool has_place(const char *path)
{
	char folder[PLACE_MAX];
	snprintf(folder, sizeof folder, "%s", path);
	*(strrchr(folder, '/') + 1) = '\0';
	return access(folder, W_OK | X_OK) == 0;
}

static void tell(const struct build *build)
{
	char version[16];
	nginx_version_text(build->nginx.binary_version, version, sizeof version);
	if (out_as_json) {
		out_document(json_pack("{s:o, s:s, s:s, s:o, s:o}", "module", out_own(text_of(build->out)),
				       "nginx_version", version, "signature", build->nginx.module_signature,
				       "nginx", out_own(text_of(build->nginx.binary)), "source",
				       out_own(text_of(build->source.nginx))));
		return;
	}
	printf("%s is built for %s, nginx %s\n"
	       "at the top of nginx.conf, if it is not there:\n"
	       "  load_module %s;\n"
	       "then test it (nginx -t). A running nginx keeps the module that it has through reloads: "
	       "restart it, or\n"
	       "upgrade it by USR2; weir module check --running /run/nginx.pid tells which one it has\n",
	       build->out, build->nginx.binary, version, build->out);
}

static int finish(struct build *build)
{
	char binary[PLACE_MAX];
	int status = compile(build);
	if (status != STATUS_FINE)
		return status;
	snprintf(binary, sizeof binary, "%s", build->nginx.binary);
	if (!nginx_find(binary, build->result, &build->nginx)) {
		out_failure_cure(WEIR_SYSTEM, build->nginx.trouble,
				 "the sources are not those that this nginx was built from: name others with "
				 "--source");
		return STATUS_FINDINGS;
	}
	if (!put(build->result, build->out))
		return no_place(build);
	tell(build);
	return STATUS_FINE;
}

int module_build(const char *nginx, const char *source, const char *out)
{
	static struct build build;
	const char *place = getenv("TMPDIR");
	char version[16];
	/* whether a module is here already, and fits, does not matter */
	nginx_find(nginx, NULL, &build.nginx);
	if (!build.nginx.binary_version)
		return out_failure_cure(WEIR_SYSTEM, build.nginx.trouble, build.nginx.cure);
	if (!module_source_find(build.nginx.binary_version, source, &build.source))
		return out_failure_cure(WEIR_SYSTEM, build.source.trouble, build.source.cure);
	if (!policy_absolute_path(out ? out : RESULT, build.out, sizeof build.out) || !has_place(build.out))
		return no_place(&build);
	if (snprintf(build.folder, sizeof build.folder, "%s/weir-module-XXXXXX",
		     place && *place ? place : "/tmp") >= (int)sizeof build.folder ||
	    !mkdtemp(build.folder))
		return out_failure(WEIR_SYSTEM, "cannot make a folder to build in (TMPDIR)");
	snprintf(build.result, sizeof build.result, "%s/" RESULT, build.folder);
	if (!out_as_json) {
		printf("building for %s, nginx %s, from %s\n", build.nginx.binary,
		       nginx_version_text(build.nginx.binary_version, version, sizeof version),
		       build.source.nginx);
		fflush(stdout);
	}
	int status = finish(&build);
	tree_remove(build.folder);
	return status;
}
