/* SPDX-License-Identifier: BSD-2-Clause */
/* schema_prose: what docs/policy.md says beside the table of words. Every ```yaml block in it is a whole
 * policy, and a test loads each. */
#ifndef WEIR_POLICY_SCHEMA_PROSE_H
#define WEIR_POLICY_SCHEMA_PROSE_H

extern const char schema_prose_begin[];	  /* up to the words of the file */
extern const char schema_prose_grammar[]; /* behind the words: rates, keys, matches, algorithms */
extern const char schema_prose_end[];	  /* who, how, and which requests count; plans */
extern const char schema_prose_words[];	  /* costs, bans, quotas, how a number is brought in */
extern const char schema_prose_close[];	  /* several limits and files, findings */

#endif
