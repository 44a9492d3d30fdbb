/* SPDX-License-Identifier: BSD-2-Clause */
/* table_file: a table or a ledger with arbitrary damage is opened and used. It is refused, or its decisions
 * are worth as little as its bytes; nothing crashes or hangs. */
#include "fuzz/table_ops.h"

static void raw(enum ops_file file, const struct feed *feed)
{
	ops_need(ftruncate(ops.fd[file], 0) == 0 &&
			 pwrite(ops.fd[file], feed->data, feed->size, 0) == (ssize_t)feed->size,
		 "raw");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct feed feed = {data, size};
	if (!ops.pristine[0])
		ops_prepare();
	ops_restore();
	unsigned mode = (unsigned)feed_take(&feed, 1);
	switch (mode & 7) {
	case 0:
		raw(OPS_TABLE, &feed);
		break;
	case 1:
		raw(OPS_LEDGER, &feed);
		break;
	case 2: /* cut off, or with something behind it */
		ops_need(ftruncate(ops.fd[mode >> 3 & 1], (off_t)feed_take(&feed, 3)) == 0, "cut");
		break;
	default:
		for (unsigned i = 0; i < (mode >> 3 & 7) + 1; i++)
			ops_patch(&feed);
	}
	if (mode & 64)
		ops_seal_rows();
	if (mode & 128)
		ops_seal_header();
	if (ops_open(mode & 4) == WEIR_OK) {
		ops_look_around();
		for (unsigned calls = 0; calls < 64 && ops_call(&feed, false); calls++)
			;
	}
	table_close(&ops.table);
	return 0;
}
