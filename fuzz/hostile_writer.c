/* SPDX-License-Identifier: BSD-2-Clause */
/* hostile_writer: somebody with write access changes geometry, slots, rows and statistics while a handle is
 * open. Counters may come out wrong; no index, length or address is taken on trust (T13). */
#include "fuzz/table_ops.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct feed feed = {data, size};
	if (!ops.pristine[0])
		ops_prepare();
	ops_restore();
	bool open = ops_open(feed_take(&feed, 1) & 1) == WEIR_OK;
	ops_need(open, "a sound table");
	for (unsigned calls = 0; calls < 200 && feed.size && open; calls++)
		open = ops_call(&feed, true);
	table_close(&ops.table);
	return 0;
}
