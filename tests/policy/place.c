/* SPDX-License-Identifier: BSD-2-Clause */
/* Where a policy's table stands: the same for every spelling of the file's path, without following links. */
#include <stdlib.h>
#include <unistd.h>

#include "policy/place.h"
#include "table/table.h"
#include "tests/tap.h"

static const struct {
	const char *path, *expect;
} CLEAN[] = {
	{"/etc/weir/policy.yaml", "/etc/weir/policy.yaml"},
	{"//etc///weir/./policy.yaml", "/etc/weir/policy.yaml"},
	{"/etc/weir/../weir/policy.yaml", "/etc/weir/policy.yaml"},
	{"/etc/../../x", "/x"},
	{"/", "/"},
	{"/..", "/"},
	{"/a/b/", "/a/b"},
	{"/a/..b/...", "/a/..b/..."},
	{"policy.yaml", "/usr/policy.yaml"},
	{"./policy.yaml", "/usr/policy.yaml"},
	{"../policy.yaml", "/policy.yaml"},
	{"bin/../policy.yaml", "/usr/policy.yaml"},
};

int main(void)
{
	char out[PLACE_MAX], other[PLACE_MAX], small[8];
	if (chdir("/usr") != 0)
		return 1;
	for (size_t i = 0; i < sizeof CLEAN / sizeof *CLEAN; i++) {
		ok(policy_absolute_path(CLEAN[i].path, out, sizeof out), CLEAN[i].path);
		is_str(out, CLEAN[i].expect, "  is cleaned by its letters");
	}
	ok(!policy_absolute_path("", out, sizeof out), "an empty path is no path");
	ok(policy_absolute_path("/123456", small, sizeof small), "seven letters fit in eight bytes");
	is_str(small, "/123456", "  whole");
	ok(!policy_absolute_path("/1234567", small, sizeof small), "eight do not");
	is_str(small, "", "  and nothing is left half done");

	ok(policy_table_path("policy.yaml", 33, out, sizeof out), "a relative policy has a table");
	table_default_path("policy:/usr/policy.yaml", 33, other, sizeof other);
	is_str(out, other, "  that of its absolute path, under the given user");
	ok(policy_table_path("/usr//bin/../policy.yaml", 33, other, sizeof other),
	   "another spelling of the same file");
	is_str(out, other, "  has the same table");
	ok(policy_table_path("policy.yaml", 0, other, sizeof other) && strcmp(out, other) != 0,
	   "another user has another");
	return done_testing();
}
