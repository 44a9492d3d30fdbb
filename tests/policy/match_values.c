/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * match_values: a header that comes more often than is looked at hides nothing.
 *
 * A hundred times `X-Tenant: z` and then `X-Tenant: free` once dodged the limit of the free tenants. What
 * cannot be told is decided strictly: limits and denials hold, exemptions and `not` do not.
 */
#include <stdlib.h>

#include "policy/policy.h"
#include "tests/tap.h"

struct values { /* `count` values `first`, then one `last` (NULL: none) of X-Tenant */
	unsigned count;
	const char *first, *last;
};

static bool header(void *door, struct text name, unsigned nth, struct text *value)
{
	const struct values *values = door;
	const char *is = nth < values->count ? values->first : nth == values->count ? values->last : NULL;

	if (!is || !text_equal(name, TEXT("x-tenant")))
		return false;
	*value = text_of(is);
	return true;
}

static const char policy_text[] =
	"clients:\n"
	"  exempt: [{match: {header.x-tenant: gold}}, {match: {method: PUT, not: {header.x-tenant: bad}}}]\n"
	"  deny: [{match: {header.x-tenant: evil}}, {match: {method: DELETE, not: {header.x-tenant: "
	"good}}}]\n"
	"limits:\n"
	"  free:  {match: {header.x-tenant: free}, rate: 5/min}\n"
	"  begun: {match: {header.x-tenant: 'fre*'}, rate: 5/min}\n"
	"  other: {match: {not: {header.x-tenant: free}}, rate: 5/min}\n"
	"  both:  {match: {header.x-tenant: free, not: {header.x-tenant: gold}}, rate: 5/min, exempt: "
	"[{match: {header.x-tenant: vip}}]}\n"
	"  any:   {match: {header.x-tenant: '*'}, rate: 5/min}\n"
	"  none:  {match: {not: {header.x-tenant: '*'}}, rate: 5/min}\n";

enum { FREE = 1, BEGUN = 2, OTHER = 4, BOTH = 8, ANY = 16, NONE = 32 };

static const struct {
	struct values values;
	const char *name;
	unsigned limits; /* a bit each, in file order */
	bool exempt, denied, own;
} cases[] = {
	{{0, "", NULL}, "none", OTHER | NONE, false, false, false},
	{{1, "free", NULL}, "one", FREE | BEGUN | BOTH | ANY, false, false, false},
	{{99, "z", "free"}, "the last that is looked at", FREE | BEGUN | BOTH | ANY, false, false, false},
	{{100, "z", NULL}, "as many as are looked at", OTHER | ANY, false, false, false},
	{{100, "z", "free"}, "the dodge", FREE | BEGUN | OTHER | BOTH | ANY, false, true, false},
	{{100, "z", "z"}, "one more, whatever it is", FREE | BEGUN | OTHER | BOTH | ANY, false, true, false},
	{{200, "", NULL}, "empty ones", FREE | BEGUN | OTHER | BOTH | ANY | NONE, false, true, false},
	{{99, "z", "gold"}, "an exemption that is seen", OTHER | ANY, true, false, false},
	{{100, "z", "gold"}, "and one that is not", FREE | BEGUN | OTHER | BOTH | ANY, false, true, false},
	{{100, "gold", "z"}, "seen at once", FREE | BEGUN | OTHER | ANY, true, true, false},
	{{99, "z", "vip"}, "a limit's own", OTHER | ANY, false, false, true},
	{{100, "z", "vip"}, "not seen", FREE | BEGUN | OTHER | BOTH | ANY, false, true, false},
	{{1, "evil", NULL}, "a denial", OTHER | ANY, false, true, false},
};

static const struct {
	const char *method, *name;
	struct values values;
	bool exempt, denied;
} nots[] = {
	{"PUT", "not the bad: exempt", {100, "z", NULL}, true, false},
	{"PUT", "perhaps the bad: not exempt", {100, "z", "z"}, false, true},
	{"DELETE", "not the good: denied", {100, "z", NULL}, false, true},
	{"DELETE", "the good: not denied", {99, "z", "good"}, false, false},
	{"DELETE", "perhaps the good: denied", {100, "z", "good"}, false, true},
};

static struct image_subject subject_of(const char *method, struct values *values)
{
	return (struct image_subject){.method = image_method(text_of(method)),
				      .path_folded = TEXT("/"),
				      .path_exact = TEXT("/"),
				      .header = header,
				      .door = values};
}

static void load(const char *text, struct policy *policy)
{
	struct policy_options options = {.path = "policy.yaml", .text = text, .wall = 1780272000};

	policy_load(&options, policy);
	if (!policy->image) {
		printf("Bail out! %s\n", policy->finding_count ? policy->findings[0].message : "no image");
		exit(1);
	}
}

/* The deny list is told by where it lies: one that is empty lies where another begins. */
static void test_no_deny(void)
{
	struct values values = {100, "z", "z"};
	struct image_subject subject = subject_of("GET", &values);
	struct policy policy;

	load("clients: {exempt: [{match: {header.x-tenant: gold}}]}\n"
	     "limits: {a: {match: POST /a, rate: 5/s, exempt: [{match: {header.x-tenant: vip}}]}}\n",
	     &policy);
	is_u64(image_exception(policy.image, policy.image->exempt, &subject, 0) != NULL, false,
	       "without a deny list nobody is exempt either");
	is_u64(image_exception(policy.image, image_limit_at(policy.image, 0)->exempt, &subject, 0) != NULL,
	       false, "nor from a limit");
	policy_free(&policy);
}

int main(void)
{
	struct policy policy;

	load(policy_text, &policy);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct values values = cases[i].values;
		struct image_subject subject = subject_of("GET", &values);
		struct image_hit hits[8];
		size_t count = image_match(policy.image, &subject, hits, 8);
		unsigned met = 0;

		for (size_t k = 0; k < count; k++)
			met |= 1u << hits[k].limit;
		is_u64(met, cases[i].limits, cases[i].name);
		is_u64(image_exception(policy.image, policy.image->exempt, &subject, 0) != NULL,
		       cases[i].exempt, "  exempt");
		is_u64(image_exception(policy.image, policy.image->deny, &subject, 0) != NULL,
		       cases[i].denied, "  denied");
		is_u64(image_exception(policy.image, image_limit_at(policy.image, 3)->exempt, &subject, 0) !=
			       NULL,
		       cases[i].own, "  exempt from one limit");
	}
	for (size_t i = 0; i < sizeof nots / sizeof *nots; i++) {
		struct values values = nots[i].values;
		struct image_subject subject = subject_of(nots[i].method, &values);

		is_u64(image_exception(policy.image, policy.image->exempt, &subject, 0) != NULL,
		       nots[i].exempt, nots[i].name);
		is_u64(image_exception(policy.image, policy.image->deny, &subject, 0) != NULL, nots[i].denied,
		       "  and the other list");
	}
	policy_free(&policy);
	test_no_deny();
	return done_testing();
}
