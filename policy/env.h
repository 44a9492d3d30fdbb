/* SPDX-License-Identifier: BSD-2-Clause */
/* env: ${NAME} and ${NAME:-default} in values. */
#ifndef WEIR_POLICY_ENV_H
#define WEIR_POLICY_ENV_H

#include "policy/model.h"

struct load;

/* Replaces every ${NAME} in *text by the environment's value, ${NAME:-default} by the default where the
 * variable is unset or empty, and $${ by a literal ${. What is put in stays one value: it cannot bring YAML
 * of its own. False if a variable is not set or the text is not well formed: there was a finding at `mark`.
 */
bool env_expand(struct load *load, struct text *text, struct model_mark mark);

#endif
