/* SPDX-License-Identifier: BSD-2-Clause */
/* load: a policy from its text to its image. */
#include "policy/load.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "policy/include.h"
#include "policy/sections.h"
#include "policy/words.h"

void load_hash(struct load *load, struct text bytes)
{
	uint64_t length = bytes.size;
	for (size_t i = 0; i < sizeof length; i++)
		load->hash = (load->hash ^ ((length >> (8 * i)) & 0xff)) * UINT64_C(0x100000001b3);
	for (size_t i = 0; i < bytes.size; i++)
		load->hash = (load->hash ^ (unsigned char)bytes.data[i]) * UINT64_C(0x100000001b3);
}

static void watch(struct load *load, const char ***list, size_t *count, size_t *capacity, const char *path)
{
	for (size_t i = 0; i < *count; i++)
		if (strcmp((*list)[i], path) == 0)
			return;
	*list = arena_grow(&load->arena, *list, *count, capacity, sizeof **list);
	(*list)[(*count)++] = arena_text(&load->arena, path, strlen(path)).data;
}

void load_watch_file(struct load *load, const char *path)
{
	watch(load, &load->files, &load->file_count, &load->file_capacity, path);
}

void load_watch_folder(struct load *load, const char *path)
{
	watch(load, &load->folders, &load->folder_count, &load->folder_capacity, path);
}

/* A word of the command line as a file of one line, so that findings show it as they show others. */
static struct node option_node(struct load *load, const char *name, const char *value)
{
	struct source *source = source_read(load, name, text_of(value), NULL, (struct model_mark){0});
	struct text text = source ? source->text : (struct text){"", 0};
	struct node node = {.kind = source ? NODE_SCALAR : NODE_BROKEN, .text = text};
	node.mark = (struct model_mark){load->sources[load->source_count - 1]->name, 1, 1,
					text.size ? (unsigned)text.size : 1};
	return node;
}

static const char *name_of(const struct policy_options *options)
{
	return options->path ? options->path : "policy";
}

static void run(struct load *load)
{
	const struct policy_options *options = load->options;
	struct model *model = &load->model;
	struct node root = {.kind = NODE_MAP}, to;
	int number;

	const struct source *source = source_read(load, name_of(options), text_of(options->text), NULL,
						  (struct model_mark){0});
	if (source)
		include_all(load, source, &root);
	if (options->to)
		to = option_node(load, "--to", options->to);

	model->source = text_of(name_of(options));
	load->respond = (struct model_respond){.status = 429,
					       .headers = IMAGE_HEADERS_X_RATELIMIT | IMAGE_HEADERS_RATELIMIT,
					       .body = IMAGE_BODY_JSON,
					       .cors_mirror = true};
	plans_read(load, yaml_get(&root, "plans"));
	clients_read(load, yaml_get(&root, "clients"));
	if (yaml_get(&root, "privacy") && words_value(load, yaml_get(&root, "privacy"), "privacy", &number))
		model->clients.privacy_hash = number;
	gateway_read(load, yaml_get(&root, "gateway"), options->to ? &to : NULL);
	respond_read(load, yaml_get(&root, "respond"), "'respond'", &load->respond);
	own_limits_read(load, yaml_get(&root, "respond"));
	limits_read(load, yaml_get(&root, "limits"));
	plans_check(load);
	warn_limits(load);
	model->source_hash = load->hash;
}

static struct image *compile(struct load *load)
{
	const struct policy_options *options = load->options;
	struct model_mark mark = {0};
	char why[512] = "";
	struct image *image = model_compile(&load->model,
					    options->name_space ? options->name_space : "policy", load->wall,
					    &mark, why, sizeof why);

	if (!mark.file)
		mark = (struct model_mark){load->source_count ? load->sources[0]->name : name_of(options), 1,
					   1, 1};
	if (!image)
		diag_error(load, mark, "%s", why);
	return image;
}

/* NULL-terminated copies on the heap; what does not fit in memory is left out. */
static char **copy_list(const char *const *list, size_t count)
{
	char **copy = calloc(count + 1, sizeof(*copy));
	for (size_t i = 0, kept = 0; copy && i < count; i++)
		if ((copy[kept] = strdup(list[i])))
			kept++;
	return copy;
}

static void clean_up(struct load *load)
{
	yaml_abandon(load);
	if (load->globbing)
		globfree(&load->glob);
	if (load->fd > STDERR_FILENO)
		close(load->fd);
	arena_free(&load->arena);
	free(load);
}

void policy_load(const struct policy_options *options, struct policy *out)
{
	struct load *load = calloc(1, sizeof *load);

	*out = (struct policy){0};
	if (!load) {
		out->errors = 1;
		return;
	}
	load->fd = -1;
	load->options = options;
	/* Policies are loaded off the request path, and every caller would hand in the same clock. */
	load->wall = options->wall ? options->wall : (int64_t)time(NULL);
	load->hash = UINT64_C(0xcbf29ce484222325);

	if (setjmp(load->arena.out_of_memory) == 0) {
		run(load);
		if (load->diag.errors == 0)
			out->image = compile(load);
		diag_hand_over(load, out);
	} else {
		free(out->image);
		*out = (struct policy){.errors = 1};
		out->findings[0] = (struct policy_finding){
			POLICY_ERROR, strdup(name_of(options)), 1, 1, 1, strdup("out of memory"), NULL};
		out->finding_count = out->findings[0].file && out->findings[0].message;
	}
	out->files = copy_list(load->files, load->file_count);
	out->folders = copy_list(load->folders, load->folder_count);
	clean_up(load);
}
