/* SPDX-License-Identifier: BSD-2-Clause */
/* Files of keys: looked at once a second, taken whole or not at all, each change told once. */
#include "tests/identity/jwt_maker.h"
#include "tests/tap.h"

#define SECOND UINT64_C(1000000000)

static char folder[] = "/tmp/weir-test-XXXXXX", set_path[64], secret_path[64], why[512];
static struct maker_key rsa, ed, weak;

static bool told(struct jwt *jwt, uint64_t second)
{
	why[0] = 0;
	return jwt_refresh(jwt, second * SECOND, why, sizeof why);
}

/* Refreshed at that second it says this, whole, but for the path in front; and not again. */
static void says(struct jwt *jwt, uint64_t second, const char *path, const char *sentence, const char *what)
{
	char expected[512];

	snprintf(expected, sizeof expected, "%s: %s", path, sentence);
	told(jwt, second);
	is_str(why, expected, what);
	ok(!told(jwt, second + 1), "  told once");
}

static char *set_of(const struct maker_key *a, const struct maker_key *b)
{
	return maker_set(maker_jwk(a, ",\"kid\":\"1\""), b ? maker_jwk(b, ",\"kid\":\"2\"") : NULL, NULL,
			 NULL);
}

static void test_set(void)
{
	struct jwt_rules rules = {.algorithms = IMAGE_JWT_RS256 | IMAGE_JWT_EDDSA, .jwks_file = set_path};
	char *token = maker_token(&rsa, "{\"alg\":\"RS256\",\"kid\":\"1\"}", "{}");
	char *other = maker_token(&ed, "{\"alg\":\"EdDSA\",\"kid\":\"2\"}", "{}");
	char *one = set_of(&rsa, NULL), *both = set_of(&rsa, &ed), *second = set_of(&ed, NULL);
	char *left = set_of(&rsa, &weak);
	struct jwt *jwt = jwt_new(&rules);

	is_u64(maker_verify(jwt, token, 0), JWT_NO_KEY, "no file, no key");
	says(jwt, 1, set_path, "No such file or directory; tokens that need it are not believed", "no file");
	maker_write(set_path, one, 0644, true);
	ok(told(jwt, 2) == false, "within the second nobody looks");
	says(jwt, 4, set_path, "1 key", "it came to be");
	is_u64(maker_verify(jwt, token, 0), JWT_VALID, "verified with it");
	is_u64(maker_verify(jwt, other, 0), JWT_NO_KEY, "the other key is not there yet");
	maker_write(set_path, both, 0644, false);
	says(jwt, 10, set_path, "2 keys", "written in place");
	is_u64(maker_verify(jwt, other, 0), JWT_VALID, "verified with the new one");
	maker_write(set_path, "{\"keys\":[\n{\"kty\":\"RSA\",", 0644, false);
	says(jwt, 20, set_path,
	     "line 2 is not JSON: string or '}' expected near end of file; the keys read before stay",
	     "half of a file");
	is_u64(maker_verify(jwt, token, 0) | maker_verify(jwt, other, 0), JWT_VALID,
	       "both are still believed");
	maker_write(set_path, second, 0666, true);
	says(jwt, 30, set_path, "everybody may write it (chmod o-w); the keys read before stay",
	     "open to all");
	chmod(set_path, 0664);
	says(jwt, 33, set_path, "its group may write it (chmod g-w); the keys read before stay",
	     "open to its group");
	chmod(set_path, 0644);
	says(jwt, 40, set_path, "1 key", "its mode was mended");
	is_u64(maker_verify(jwt, token, 0), JWT_NO_KEY, "the key that is gone is not believed any more");
	unlink(set_path);
	says(jwt, 50, set_path, "No such file or directory; the keys read before stay", "removed");
	maker_write(set_path, left, 0644, true);
	says(jwt, 60, set_path, "1 key, 1 left out: RSA of less than 2048 or more than 8192 bits",
	     "a weak key is left out");
	unlink(set_path);
	mkdir(set_path, 0700);
	says(jwt, 70, set_path, "it is not a file; the keys read before stay", "a folder");
	rmdir(set_path);
	jwt_free(&jwt);
	free(token), free(other), free(one), free(both), free(second), free(left);
}

static void test_secrets(void)
{
	struct maker_key secret = maker_secret(MAKER_SECRET);
	struct jwt_rules rules = {
		.algorithms = IMAGE_JWT_HS256, .jwks_file = set_path, .secret_file = secret_path};
	char *token = maker_token(&secret, "{\"alg\":\"HS256\"}", "{}"), *set = set_of(&secret, NULL);
	struct jwt *jwt;

	maker_write(set_path, set, 0644, false);
	maker_write(secret_path, "too short to be one\n", 0600, false);
	jwt = jwt_new(&rules);
	told(jwt, 1);
	ok(strstr(why, "jwks.json: it holds a secret and everybody may read it (chmod o-r); "
		       "tokens that need it are not believed"),
	   "a secret that everybody may read");
	told(jwt, 1);
	ok(strstr(why, "secret: the secret is shorter than 32 bytes; tokens that need it are not believed"),
	   "the other file is told of too");
	ok(!told(jwt, 3), "each once");
	is_u64(maker_verify(jwt, token, 0), JWT_NO_KEY, "neither is a key");
	maker_write(secret_path, MAKER_SECRET "\n", 0644, false);
	says(jwt, 10, secret_path,
	     "it holds a secret and everybody may read it (chmod o-r); tokens that need it are not believed",
	     "also the plain one");
	chmod(secret_path, 0640);
	says(jwt, 20, secret_path, "1 key", "its group may read it");
	is_u64(maker_verify(jwt, token, 0), JWT_VALID, "its newline is not part of it");
	chmod(set_path, 0600);
	says(jwt, 30, set_path, "1 key", "the set is private now");
	is_u64(maker_verify(jwt, token, 0), JWT_VALID, "the same from the set");
	jwt_free(&jwt);
	unlink(set_path);
	unlink(secret_path);
	free(token), free(set);
}

/* As files are given to containers: a link to a link, of which the inner one is swapped. The file at the end is what counts. */
static void test_links(void)
{
	struct jwt_rules rules = {.algorithms = IMAGE_JWT_RS256, .jwks_file = set_path};
	char *one = set_of(&rsa, NULL), *both = set_of(&rsa, &ed), old[96], new[96], data[96], next[96];
	struct jwt *jwt;

	snprintf(old, sizeof old, "%s/1", folder);
	snprintf(new, sizeof new, "%s/2", folder);
	snprintf(data, sizeof data, "%s/data", folder);
	snprintf(next, sizeof next, "%s/next", folder);
	maker_write(old, one, 0644, false);
	maker_write(new, both, 0644, false);
	maker_must(symlink("1", data) == 0 && symlink("data", set_path) == 0);
	jwt = jwt_new(&rules);
	says(jwt, 1, set_path, "1 key", "a link to a link to a file");
	maker_must(symlink("2", next) == 0 && rename(next, data) == 0);
	says(jwt, 10, set_path, "2 keys", "swapped");
	chmod(new, 0666);
	says(jwt, 20, set_path, "everybody may write it (chmod o-w); the keys read before stay",
	     "a link is no way around the look at the file");
	jwt_free(&jwt);
	unlink(set_path), unlink(data), unlink(old), unlink(new);
	free(one), free(both);
}

/* Of somebody else's file only in his own folder: who may put it there owns what we were told to read. */
static void test_owner(void)
{
	struct jwt_rules rules = {.algorithms = IMAGE_JWT_RS256, .jwks_file = set_path};
	char *one = set_of(&rsa, NULL);
	struct jwt *jwt;

	if (geteuid() != 0) {
		ok(true, "# SKIP only root can give files away");
		free(one);
		return;
	}
	maker_write(set_path, one, 0644, false);
	maker_must(chown(set_path, 12345, 12345) == 0);
	jwt = jwt_new(&rules);
	says(jwt, 1, set_path,
	     "it belongs to uid 12345, who is neither root, nor uid 0, nor the folder's owner; tokens that "
	     "need it are not believed",
	     "a stranger's file");
	maker_must(chown(folder, 12345, 12345) == 0);
	maker_must(chown(set_path, 12345, 12346) == 0); /* a change, to be looked at again */
	says(jwt, 10, set_path, "1 key", "of the folder's owner");
	maker_must(chown(folder, 0, 0) == 0 && chown(set_path, 0, 0) == 0);
	says(jwt, 20, set_path, "1 key", "root's");
	jwt_free(&jwt);
	unlink(set_path);
	free(one);
}

int main(void)
{
	struct jwt *none = NULL;

	jwt_free(&none);
	rsa = maker_rsa(2048), weak = maker_rsa(1024), ed = maker_ed25519();
	maker_must(mkdtemp(folder) != NULL);
	snprintf(set_path, sizeof set_path, "%s/jwks.json", folder);
	snprintf(secret_path, sizeof secret_path, "%s/secret", folder);
	test_set();
	test_secrets();
	test_links();
	test_owner();
	ok(rmdir(folder) == 0, "nothing is left");
	return done_testing();
}
