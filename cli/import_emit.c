/* SPDX-License-Identifier: BSD-2-Clause */
/* import_emit: the policy's text. */
#include "cli/import_emit.h"

#include "cli/import_yaml.h"

static void write_bytes(FILE *out, uint64_t bytes)
{
	if (bytes % (1 << 20) == 0)
		fprintf(out, "%lluMiB", (unsigned long long)(bytes >> 20));
	else if (bytes % (1 << 10) == 0)
		fprintf(out, "%lluKiB", (unsigned long long)(bytes >> 10));
	else
		fprintf(out, "%lluB", (unsigned long long)bytes);
}

static void write_from(struct import_model *model, FILE *out, const struct import_limit *limit)
{
	for (size_t i = 0; i < limit->line_count && i < 8; i++) {
		if (limit->lines[i]->dropped && limit->line_count > 1)
			continue;
		fputs("  # ", out);
		import_yaml_comment(out, text_of(import_where(model, limit->lines[i]->place)));
		fputs(": ", out);
		import_yaml_comment(out, text_of(limit->lines[i]->text));
		putc('\n', out);
	}
	if (limit->line_count > 8)
		fprintf(out, "  # and %zu lines more\n", limit->line_count - 8);
	if (!limit->line->zone)
		return;
	fputs("  # ", out);
	import_yaml_comment(out, text_of(import_where(model, limit->line->zone->place)));
	fputs(": ", out);
	import_yaml_comment(out, text_of(limit->line->zone->text));
	putc('\n', out);
}

static void write_key(FILE *out, const struct import_zone *zone)
{
	if (!zone)
		return;
	fputs("    key: ", out);
	if (zone->key.parts.count)
		import_yaml_texts(out, &zone->key.parts);
	else
		fputs("site", out);
	if (zone->key.audience.count) {
		fputs("\n    for: ", out);
		import_yaml_texts(out, &zone->key.audience);
	}
	fputs(zone->key.skip	  ? "\n    missing: skip\n"
	      : zone->key.address ? "\n    missing: ip\n"
				  : "\n",
	      out);
}

static void write_numbers(FILE *out, const struct import_limit *limit)
{
	const struct import_line *line = limit->line;
	if (line->kind == IMPORT_PACE) {
		fputs("    bandwidth: ", out);
		write_bytes(out, line->bytes);
		fputs("/s", out);
		if (limit->after) {
			fputs(" after ", out);
			write_bytes(out, limit->after);
		}
		putc('\n', out);
	} else if (line->kind == IMPORT_CONN) {
		fprintf(out, "    concurrent: %u\n", line->number);
	} else {
		fprintf(out, "    algorithm: %s\n    rate: %s\n",
			line->zone->nginx ? "nginx" : "leaky-bucket", line->zone->rate);
		if (line->burst)
			fprintf(out, "    queue: %u\n", line->burst);
		if (line->at_once)
			fprintf(out, "    at_once: %u\n", line->at_once);
	}
}

static void write_respond(FILE *out, const struct import_limit *limit, unsigned usual)
{
	bool status = limit->line->kind != IMPORT_PACE && limit->status != usual;
	if (!status && !limit->page_file)
		return;
	fputs("    respond: {", out);
	if (status)
		fprintf(out, "status: %u%s", limit->status, limit->page_file ? ", " : "");
	if (limit->page_file) {
		fputs("body: {file: ", out);
		import_yaml_text(out, text_of(limit->page_file));
		putc('}', out);
	}
	fputs("}\n", out);
}

static bool write_limit(struct import_model *model, FILE *out, const struct import_limit *limit,
			unsigned usual)
{
	char *bytes = NULL;
	size_t size = 0;
	FILE *match = open_memstream(&bytes, &size);
	if (!match)
		longjmp(model->arena->out_of_memory, 1);
	bool good = limit->clause_count > 0 && import_match(model, match, limit);
	fclose(match);
	if (good) {
		write_from(model, out, limit);
		fputs("  ", out);
		import_yaml_text(out, limit->name);
		fputs(":\n", out);
		fwrite(bytes, 1, size, out);
		write_key(out, limit->line->zone);
		write_numbers(out, limit);
		import_exempt(out, limit);
		if (limit->dry)
			fputs("    mode: shadow\n", out);
		write_respond(out, limit, usual);
	}
	free(bytes);
	return good;
}

/* The status of most limits. */
static unsigned usual_status(const struct import_model *model)
{
	size_t counts[600] = {0};
	unsigned usual = 0;
	for (size_t i = 0; i < model->limit_count; i++)
		if (model->limits[i].line->kind != IMPORT_PACE)
			counts[model->limits[i].status]++;
	for (unsigned status = 400; status < 600; status++)
		if (counts[status] > (usual ? counts[usual] : 0))
			usual = status;
	return usual;
}

/* Limits that hold where no policy can say it. A line may be others too: then it is a part of it that is lost. */
static void tell_unsaid(struct import_model *model)
{
	for (size_t i = 0; i < model->limit_count; i++) {
		const struct import_limit *limit = &model->limits[i];
		for (size_t k = 0; k < limit->line_count && !limit->emitted; k++) {
			struct import_line *line = limit->lines[k];
			if (!line->carried)
				import_drop(model, line, "a policy cannot say where it holds");
			else if (!line->dropped)
				import_note(
					model, IMPORT_LOST, line->place,
					"a part of `%s`: a policy cannot say where it holds with status %u%s",
					line->text, limit->status, limit->dry ? ", in a dry run" : "");
		}
	}
}

static void write_all(struct import_model *model, FILE *out)
{
	unsigned usual = usual_status(model);
	char *bytes = NULL;
	size_t size = 0;
	FILE *limits = open_memstream(&bytes, &size);

	if (!limits)
		longjmp(model->arena->out_of_memory, 1);
	for (size_t i = 0; i < model->limit_count; i++) {
		struct import_limit *limit = &model->limits[i];
		bool good = write_limit(model, limits, limit, usual);
		model->out->limits += good;
		limit->emitted = good;
		for (size_t k = 0; k < limit->line_count; k++)
			limit->lines[k]->carried |= good;
	}
	tell_unsaid(model);
	fclose(limits);
	fputs("# Written by `weir import`, from ", out);
	import_yaml_comment(out, text_of(model->conf->first));
	fputs(".\n", out);
	if (memmem(bytes, size, "ip/32/128", 9))
		fputs("# ip/32/128 counts each address by itself, as nginx does. With `key: ip` an IPv6 /64 "
		      "is one client, who cannot dodge it.\n",
		      out);
	import_emit_clients(model, out);
	if (model->out->limits) {
		fputs("\nlimits:\n", out);
		fwrite(bytes, 1, size, out);
	} else {
		fputs("\nlimits: {}\n", out);
	}
	if (model->out->limits && usual)
		fprintf(out, "\nrespond: {status: %u}\n", usual);
	free(bytes);
}

char *import_emit(struct import_model *model)
{
	char *bytes = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&bytes, &size);
	if (!out)
		return NULL;
	write_all(model, out);
	return fclose(out) == 0 ? bytes : NULL;
}
