/* SPDX-License-Identifier: BSD-2-Clause */
/* gateway_note: TABLE.gateway says why the gateway of the edited policy is not in force, for as long as it is not.
 * weir run writes it; show and doctor read it. */
#ifndef WEIR_CLI_GATEWAY_NOTE_H
#define WEIR_CLI_GATEWAY_NOTE_H

#include <stdbool.h>
#include <stddef.h>

/* One sentence, without its end; NULL: everything is in force, the note is removed. Root writes as the table's owner.
 * A failure is passed over: the sentence was printed as well. */
void gateway_note_write(const char *table_path, const char *why);
/* What it says, escaped. False: nothing, or no weir run works for this table any more. */
bool gateway_note_read(const char *table_path, char *out, size_t size);

#endif
