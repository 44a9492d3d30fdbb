/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cases: what the checker says about each policy in tests/policy/cases, letter for letter.
 *
 * A file is a list of blocks. "=== case TITLE" begins a case and is its policy.yaml. Then may follow:
 *   === bytes           policy.yaml instead, with C escapes (\r \n \xNN)
 *   === file NAME       another file, from the policy's folder
 *   === fill NAME SIZE  a file of SIZE letters
 *   === env NAME=VALUE  an environment variable
 *   === to URL          as `weir run --to URL`
 *   === findings        what must be said; nothing: it is a good policy, and compiles to a sound image
 */
#include <dirent.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "policy/policy.h"
#include "tests/tap.h"

#define WALL INT64_C(1780272000) /* 2026-06-01 00:00 UTC: what `until` is judged by */

struct setting { /* the case that is being gathered */
	char title[160];
	char env[8][64];
	size_t env_count;
	char to[64];
};

static size_t case_count;

static void write_file(const char *name, const char *data, size_t size)
{
	char path[512];
	snprintf(path, sizeof path, "%s", name);
	for (char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(path, 0700);
		*slash = '/';
	}
	FILE *out = fopen(path, "wb");
	if (!out || fwrite(data, 1, size, out) != size)
		abort();
	fclose(out);
}

static void write_escaped(const char *data, size_t size)
{
	char *plain = malloc(size + 1);
	size_t used = 0;
	for (size_t i = 0; i < size; i++) {
		if (data[i] == '\\' && i + 3 < size && data[i + 1] == 'x') {
			char hex[3] = {data[i + 2], data[i + 3], 0};
			plain[used++] = (char)strtoul(hex, NULL, 16);
			i += 3;
		} else if (data[i] == '\\' && i + 1 < size) {
			plain[used++] = data[++i] == 'n' ? '\n' : data[i] == 'r' ? '\r' : data[i];
		} else if (data[i] != '\n') { /* the end of the block's line */
			plain[used++] = data[i];
		}
	}
	write_file("policy.yaml", plain, used);
	free(plain);
}

static void empty_folder(void)
{
	/* every case has its files to itself */
	if (system("rm -rf ./*") != 0)
		abort();
}

static void check(const struct setting *setting, const char *expected)
{
	struct policy_options options = {
		.path = "policy.yaml", .to = *setting->to ? setting->to : NULL, .wall = WALL};
	struct policy policy;
	char what[224], why[256] = "";

	policy_load(&options, &policy);
	char *said = policy_findings_text(&policy);
	is_str(said, expected, setting->title);
	bool sound = policy.image && image_check(policy.image, policy.image->size, why, sizeof why);
	snprintf(what, sizeof what, "%s: %s", setting->title, policy.errors ? "no image" : "a sound image");
	if (!ok(policy.errors ? !policy.image : sound, what))
		note("%s", why);
	free(said);
	policy_free(&policy);
	case_count++;
}

static bool begins(const char *line, const char *word, const char **rest)
{
	size_t size = strlen(word);
	*rest = line + size;
	return strncmp(line, word, size) == 0;
}

/* One block: its heading (without "=== ") and its body. */
static void block(struct setting *setting, const char *heading, const char *body, size_t size)
{
	const char *rest;

	if (begins(heading, "case ", &rest)) {
		for (size_t i = 0; i < setting->env_count; i++)
			unsetenv(setting->env[i]);
		*setting = (struct setting){0};
		empty_folder();
		snprintf(setting->title, sizeof setting->title, "%s", rest);
		write_file("policy.yaml", body, size);
	} else if (strcmp(heading, "bytes") == 0) {
		write_escaped(body, size);
	} else if (begins(heading, "file ", &rest)) {
		write_file(rest, body, size);
	} else if (begins(heading, "fill ", &rest)) {
		char name[64];
		size_t length;
		if (sscanf(rest, "%63s %zu", name, &length) != 2)
			abort();
		char *letters = malloc(length);
		memset(letters, 'x', length);
		write_file(name, letters, length);
		free(letters);
	} else if (begins(heading, "env ", &rest)) {
		char *name = setting->env[setting->env_count++];
		size_t length = strcspn(rest, "=");
		snprintf(name, sizeof setting->env[0], "%.*s", (int)length, rest);
		setenv(name, rest + length + 1, 1);
	} else if (begins(heading, "to ", &rest)) {
		snprintf(setting->to, sizeof setting->to, "%s", rest);
	} else if (strcmp(heading, "findings") == 0) {
		char *expected = strndup(body, size);
		check(setting, expected);
		free(expected);
	} else {
		ok(false, heading);
	}
}

static void run_file(const char *path, char *text)
{
	struct setting *setting = calloc(1, sizeof *setting);
	char *at = strncmp(text, "=== ", 4) == 0 ? text : strstr(text, "\n=== ");

	note("%s", path);
	while (at) {
		at += *at == '\n';
		char *heading = at + 4, *end = strchr(heading, '\n');
		*end = '\0';
		char *body = end + 1,
		     *next = strncmp(body, "=== ", 4) == 0 ? body - 1 : strstr(body, "\n=== ");
		size_t size = next ? (size_t)(next + 1 - body) : strlen(body);
		block(setting, heading, body, size);
		at = next ? next + 1 : NULL;
	}
	for (size_t i = 0; i < setting->env_count; i++)
		unsetenv(setting->env[i]);
	free(setting);
}

static char *slurp(const char *path)
{
	FILE *in = fopen(path, "rb");
	char *text = calloc(1, 1 << 20);
	if (!in || !text)
		abort();
	size_t size = fread(text, 1, (1 << 20) - 2, in);
	fclose(in);
	if (size && text[size - 1] != '\n')
		text[size] = '\n';
	return text;
}

int main(void)
{
	struct dirent **names;
	int count = scandir("tests/policy/cases", &names, NULL, alphasort);
	char *paths[64], *texts[64], folder[] = "/tmp/weir-cases-XXXXXX";
	size_t files = 0;

	for (int i = 0; i < count; i++) {
		size_t size = strlen(names[i]->d_name);
		if (size > 5 && strcmp(names[i]->d_name + size - 5, ".case") == 0 && files < 64) {
			paths[files] = malloc(size + 20);
			snprintf(paths[files], size + 20, "tests/policy/cases/%s", names[i]->d_name);
			texts[files] = slurp(paths[files]);
			files++;
		}
		free(names[i]);
	}
	if (count >= 0)
		free(names);
	umask(022); /* who can read a secret is a finding */
	if (!mkdtemp(folder) || chdir(folder) != 0)
		abort();
	for (size_t i = 0; i < files; i++) {
		run_file(paths[i], texts[i]);
		free(paths[i]);
		free(texts[i]);
	}
	empty_folder();
	ok(chdir("/") == 0 && rmdir(folder) == 0, "the folder is gone");
	ok(files >= 8 && case_count >= 200, "all cases were there");
	return done_testing();
}
