/* SPDX-License-Identifier: BSD-2-Clause */
/* site: a policy as people write it, from YAML to the limits that a request meets and the exceptions that
 * hold. */
#include "policy/policy.h"
#include "tests/policy/subjects.h"
#include "tests/tap.h"

static const char yaml[] = "clients:\n"
			   "  networks: {office: [198.51.100.0/24, \"2001:db8::/32\"]}\n"
			   "  exempt: [{ip: office, reason: ours}, {match: \"GET /healthz\"}]\n"
			   "  deny: [{ip: 203.0.113.7, reason: scraper}]\n"
			   "limits:\n"
			   "  edge: {key: ip, rate: 50/s, burst: 100}\n"
			   "  login: {match: POST /login, key: ip, rate: 5/min}\n"
			   "  api: {match: \"/api/*\", rate: [20/s, 1000/hour]}\n"
			   "  search: {match: GET /api/search, key: site, rate: 100/min}\n"
			   "  posts: {match: \"GET,POST /users/*/posts\", rate: 10/s}\n"
			   "  comments: {match: \"/users/{id}/posts/{post}/comments\", rate: 10/s}\n"
			   "  deep: {match: \"/docs/**\", rate: 10/s}\n"
			   "  several: {match: [\"/a\", \"PUT /b\"], rate: 10/s}\n"
			   "  shop: {match: {host: shop.example.com, path: \"/cart/*\"}, rate: 10/s}\n"
			   "  tenants: {match: {host: \"*.example.com\"}, rate: 10/s}\n"
			   "  keyless: {match: {not: {header.x-api-key: \"*\"}}, rate: 1/min}\n"
			   "  beta: {match: {header.x-stage: beta, method: GET}, rate: 10/s}\n"
			   "  inside: {match: {ip: 10.0.0.0/8}, rate: 10/s}\n"
			   "  off: {mode: disabled, rate: 1/s}\n"
			   "  case: {match: /Case, paths: exact, rate: 10/s}\n";

static const struct {
	const char *request, *expect;
} requests[] = {
	{"GET / header.x-api-key=k", "edge"},
	{"GET /", "edge keyless"},
	{"POST /login header.x-api-key=k", "edge login"},
	{"POST /LOGIN/ header.x-api-key=k", "edge login"},
	{"GET /login header.x-api-key=k", "edge"},
	{"GET /api header.x-api-key=k", "edge api"},
	{"GET /api/x/y header.x-api-key=k", "edge api"},
	{"GET /apix header.x-api-key=k", "edge"},
	{"HEAD /api/search header.x-api-key=k", "edge api search"},
	{"POST /users/7/posts header.x-api-key=k", "edge posts"},
	{"HEAD /users/7/posts header.x-api-key=k", "edge posts"},
	{"PUT /users/7/posts header.x-api-key=k", "edge"},
	{"GET /users/7/posts/8/comments header.x-api-key=k", "edge comments"},
	{"GET /users/7/posts/8 header.x-api-key=k", "edge"},
	{"GET /docs header.x-api-key=k", "edge deep"},
	{"GET /docs/a/b/c header.x-api-key=k", "edge deep"},
	{"GET /a header.x-api-key=k", "edge several"},
	{"PUT /b header.x-api-key=k", "edge several"},
	{"GET /b header.x-api-key=k", "edge"},
	{"GET /cart/1 host=shop.example.com header.x-api-key=k", "edge shop tenants"},
	{"GET /cart/1 host=www.example.com header.x-api-key=k", "edge tenants"},
	{"GET /cart/1 host=example.com header.x-api-key=k", "edge"},
	{"GET / header.x-stage=beta header.x-api-key=k", "edge beta"},
	{"GET / header.x-stage=alpha header.x-api-key=k", "edge"},
	{"POST / header.x-stage=beta header.x-api-key=k", "edge"},
	{"GET / ip=10.9.9.9 header.x-api-key=k", "edge inside"},
	{"GET /Case header.x-api-key=k", "edge case"},
	{"GET /case header.x-api-key=k", "edge"},
};

static void test_requests(const struct image *image)
{
	for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
		struct subject_store store;
		struct image_hit hits[32];
		char got[256] = "";
		size_t used = 0, count;

		subjects_read(&store, requests[i].request);
		count = image_match(image, &store.subject, hits, 32);
		for (size_t k = 0; k < count; k++) {
			struct text name = image_text(image, image_limit_at(image, hits[k].limit)->name);

			used += (size_t)snprintf(got + used, sizeof got - used, "%s%.*s", k ? " " : "",
						 (int)name.size, name.data);
		}
		is_str(got, requests[i].expect, requests[i].request);
	}
}

static const struct {
	const char *request;
	bool exempt, denied;
} lists[] = {
	{"GET / ip=198.51.100.7", true, false},	      {"GET / ip=2001:db8::1", true, false},
	{"GET / ip=198.51.101.7", false, false},      {"GET /healthz ip=192.0.2.1", true, false},
	{"HEAD /healthz/ ip=192.0.2.1", true, false}, {"POST /healthz ip=192.0.2.1", false, false},
	{"GET / ip=203.0.113.7", false, true},	      {"GET / ip=::ffff:203.0.113.7", false, true},
};

static void test_lists(const struct image *image)
{
	for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
		struct subject_store store;

		subjects_read(&store, lists[i].request);
		is_u64(image_exception(image, image->exempt, &store.subject, 0) != NULL, lists[i].exempt,
		       lists[i].request);
		is_u64(image_exception(image, image->deny, &store.subject, 0) != NULL, lists[i].denied,
		       "denied or not");
	}
}

int main(void)
{
	struct policy policy;
	char why[128] = "", *findings;

	policy_load(&(struct policy_options){.path = "site.yaml", .text = yaml}, &policy);
	findings = policy_findings_text(&policy);
	if (policy.errors > 0)
		note("%s", findings);
	free(findings);
	if (ok(policy.image != NULL, "the policy loads")) {
		ok(image_check(policy.image, policy.image->size, why, sizeof why),
		   "what it compiles to is sound");
		test_requests(policy.image);
		test_lists(policy.image);
	}
	policy_free(&policy);
	return done_testing();
}
