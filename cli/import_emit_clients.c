/* SPDX-License-Identifier: BSD-2-Clause */
/* import_emit_clients: clients: whose word is taken for the address, and the networks that keys were found to need. */
#include "cli/import_emit.h"
#include "cli/import_secrets.h"
#include "cli/import_yaml.h"

static void write_networks(FILE *out, const struct import_condition *condition)
{
	fputs("    ", out);
	import_yaml_text(out, condition->name);
	fputs(":\n", out);
	for (size_t i = 0; i < condition->values.count; i++) {
		fputs("      - ", out);
		import_yaml_text(out, condition->values.items[i]);
		putc('\n', out);
	}
}

void import_emit_clients(struct import_model *model, FILE *out)
{
	if (!model->trusted.count && !model->network_count && !model->secrets)
		return;
	fputs("\nclients:\n", out);
	if (model->trusted.count) {
		fputs("  # ", out);
		import_yaml_comment(out, text_of(import_where(model, model->real_place)));
		fputs(": set_real_ip_from\n  address: {from: ", out);
		import_yaml_text(out, model->real_header);
		fputs(", trusted: ", out);
		import_yaml_texts(out, &model->trusted);
		fputs("}\n", out);
	}
	if (model->secrets) {
		fputs("  # the keys themselves: `weir keys import` of the file that was written beside this "
		      "one\n"
		      "  api_keys: {from: ",
		      out);
		import_yaml_text(out, model->secrets->from);
		fputs("}\n", out);
	}
	if (model->network_count)
		fputs("  networks:\n", out);
	for (size_t i = 0; i < model->network_count; i++)
		write_networks(out, &model->networks[i]);
	if (model->secrets && model->secrets->plan_names.count)
		fputs("\nplans:\n", out);
	for (size_t i = 0; model->secrets && i < model->secrets->plan_names.count; i++) {
		fputs("  ", out);
		import_yaml_text(out, model->secrets->plan_names.items[i]);
		fputs(": {}\n", out);
	}
}
