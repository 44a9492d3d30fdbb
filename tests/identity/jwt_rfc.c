/* SPDX-License-Identifier: BSD-2-Clause */
/* The published examples: RFC 7515 A.1 (HS256), A.2 (RS256), A.3 (ES256), A.5 (none), RFC 8037 A.4 (Ed25519), with their keys. */
#include "identity/jwks.h"
#include "identity/jws.h"
#include "policy/image.h"
#include "tests/tap.h"

#define JOE	 "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ"
#define JOE_TEXT "{\"iss\":\"joe\",\r\n \"exp\":1300819380,\r\n \"http://example.com/is_root\":true}"

static const char keys[] = "{\"keys\":["
			   "{\"kty\":\"oct\",\"kid\":\"A.1\",\"k\":\"AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-"
			   "EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1"
			   "Z9CAow\"},"
			   "{\"kty\":\"RSA\",\"kid\":\"A.2\",\"e\":\"AQAB\",\"n\":"
			   "\"ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-"
			   "Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNMsD1W_"
			   "YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdb"
			   "BYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_"
			   "I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFk"
			   "MLs91kzk2PAcDTW9gb54h4FRWyuXpoQ\"},"
			   "{\"kty\":\"EC\",\"kid\":\"A.3\",\"crv\":\"P-256\",\"x\":"
			   "\"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU\","
			   "\"y\":\"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0\"},"
			   "{\"kty\":\"OKP\",\"kid\":\"A.4\",\"crv\":\"Ed25519\",\"x\":\"11qYAYKxCrfVS_"
			   "7TyWQHOg7hcvPapiMlrwIaaPcHURo\"}]}";

static const struct {
	const char *name, *token, *payload;
	uint32_t algorithm;
} examples[] = {
	{"RFC 7515 A.1, HS256",
	 "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9." JOE ".dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk",
	 JOE_TEXT, IMAGE_JWT_HS256},
	{"RFC 7515 A.2, RS256",
	 "eyJhbGciOiJSUzI1NiJ9." JOE
	 ".cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_"
	 "O8W2Fp5jujGbds9uJdbF9CUAr7t1dnZcAc"
	 "QjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO-"
	 "-xi12jzDwusC-eOkHWEsqt"
	 "FZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_"
	 "IoypGlUPQGe77Rw",
	 JOE_TEXT, IMAGE_JWT_RS256},
	{"RFC 7515 A.3, ES256",
	 "eyJhbGciOiJFUzI1NiJ9." JOE
	 ".DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q",
	 JOE_TEXT, IMAGE_JWT_ES256},
	{"RFC 8037 A.4, Ed25519",
	 "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc"
	 ".hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg",
	 "Example of Ed25519 signing", IMAGE_JWT_EDDSA},
};

int main(void)
{
	static struct jws jws;
	struct jwks set;
	char why[128] = "";

	ok(jwks_parse(text_of(keys), &set, why, sizeof why) && set.count == 4 && !set.left_out,
	   "the keys of the examples");
	ok(set.is_secret, "one of them is a secret");
	for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
		char token[1024];
		bool by_others = false;

		is_u64(jws_split(text_of(examples[i].token), &jws), JWT_VALID, examples[i].name);
		ok(text_equal(jws.payload, text_of(examples[i].payload)), "its payload");
		is_u64(jws.algorithm, examples[i].algorithm, "its algorithm");
		ok(jws_fits(&jws, &set.keys[i]) && jws_signed_by(&jws, &set.keys[i]), "its signature");
		for (size_t k = 0; k < 4; k++)
			by_others |= k != i && jws_fits(&jws, &set.keys[k]);
		ok(!by_others, "no other key fits");
		strcpy(token, examples[i].token);
		token[strlen(token) - 3] ^= 1; /* of the last whole byte */
		ok(jws_split(text_of(token), &jws) == JWT_VALID && !jws_signed_by(&jws, &set.keys[i]),
		   "one bit of the signature");
	}
	is_u64(jws_split(text_of("eyJhbGciOiJub25lIn0." JOE "."), &jws), JWT_VALID,
	       "RFC 7515 A.5 has the shape");
	is_u64(jws.algorithm, 0, "and no algorithm");
	jwks_clear(&set);
	return done_testing();
}
