/* SPDX-License-Identifier: BSD-2-Clause */
/* multipart: the field username in bodies as clients write them, and as somebody would who wants the gate to see another. */
#include "tests/identity/body_rig.h"

#define TYPE "multipart/form-data; boundary=B"
#define END  "\r\n--B--\r\n"
#define PART "--B\r\nContent-Disposition: form-data; "
#define NEXT "\r\n" PART

static const struct {
	const char *body, *value, *why;
} BODIES[] = {
	{PART "name=\"username\"\r\n\r\nalice" END, "alice", "as browsers write it"},
	{"preamble\r\n" PART "name=\"username\"\r\n\r\nalice" END "epilogue", "alice", "with text around it"},
	{PART "name=\"x\"\r\n\r\n1" NEXT "name=\"username\"\r\n\r\nAlice " NEXT "name=\"y\"\r\n\r\n2" END,
	 "alice", "one of three"},
	{PART "name=username\r\n\r\nalice" END, "alice", "not quoted"},
	{PART "name='username'\r\n\r\nalice" END, "alice", "in single quotes (PHP)"},
	{PART "NAME = \"username\" ; x=y\r\n\r\nalice" END, "alice", "spaces, capitals, another parameter"},
	{"--B\r\ncontent-type: text/plain; "
	 "charset=utf-8\r\ncontent-disposition:form-data;name=\"username\"\r\n\r\nalice" END,
	 "alice", "a type of its own"},
	{"--B \t\r\nContent-Disposition: form-data; name=\"username\"\r\n\r\nalice\r\n--B-- ", "alice",
	 "white space behind the delimiter"},
	{PART "name=\"username\"\r\n\r\nal\r\nice" END, "al\r\nice", "a value of two lines"},
	{PART "name=\"username\"\r\n\r\n-- B\r\n--C" END, "-- b\r\n--c", "what is nearly a delimiter"},
	{PART "name=\"username\"\r\n\r\n" END, "-", "empty"},
	{PART "name=\"username[]\"\r\n\r\nalice" END, "alice", "an array of one"},
	{PART "name=\"password\"\r\n\r\nusername=alice" END, "-", "another field"},
	{PART "name=\"x\"; filename=\"username\"\r\n\r\nalice" END, "-", "a file of that name"},
	{PART "name=\"f\"; filename=\"f.txt\"\r\nContent-Type: "
	      "text/plain\r\n\r\n\r\n--\r\nname=\"username\"\r\n\r\nbob" NEXT
	      "name=\"username\"\r\n\r\nalice" END,
	 "alice", "behind a file"},
	{PART "name=\"username\"\r\n\r\nalice" NEXT "name=\"username\"\r\n\r\nALICE" END, "alice",
	 "the same twice"},
	{"", "-", "nothing"},
	{"--B--\r\n", "-", "no part"},
	/* whose reading is not the same everywhere */
	{PART "name=\"username\"\r\n\r\nbob" NEXT "name=\"username\"\r\n\r\nalice" END, "?",
	 "two that differ"},
	{PART "name=\"username\"\r\n\r\nbob\r\n--B--\r\n" PART "name=\"username\"\r\n\r\nalice" END, "?",
	 "... one behind the end, where PHP reads on"},
	{PART "name=\"username\"\r\n\r\nbob" NEXT "name=\"username\"; filename=\"\"\r\n\r\nalice" END, "?",
	 "... one of them a file"},
	{PART "name=\"x\"; name=\"username\"\r\n\r\nalice" END, "?", "two names"},
	{PART "name=\"x\"; name*=UTF-8''username\r\n\r\nalice" END, "?", "a name as RFC 5987 has it (Go)"},
	{PART "name*0=\"user\"; name*1=\"name\"\r\n\r\nalice" END, "?", "... in two pieces"},
	{"--B\r\nContent-Disposition: form-data;\r\n name=\"username\"\r\n\r\nalice" END, "?",
	 "a folded header"},
	{"--B\nContent-Disposition: form-data; name=\"username\"\n\nalice\n--B--\n", "alice",
	 "lines that end in LF"},
	{PART "name=\"x\"\r\n\r\n\n--B\nContent-Disposition: form-data; name=\"username\"\n\nbob" NEXT
	      "name=\"username\"\r\n\r\nalice" END,
	 "?", "... inside another part"},
	{"--B\r\nX: y\n\nContent-Disposition: form-data; name=\"username\"\r\n\r\nalice" END, "?",
	 "a header block that ends early for some"},
	{PART "name=\"username\"\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n=61lice" END, "?",
	 "an encoding, which Go undoes"},
	{PART "name=\"username\"\r\nContent-Type: text/plain; charset=utf-7\r\n\r\n+AGE-lice" END, "?",
	 "a charset, which some undo"},
	{PART "name=\"x\"\r\nContent-Type: text/plain; charset=ibm037\r\n\r\n1" NEXT
	      "name=\"username\"\r\n\r\nalice" END,
	 "?", "... of another part"},
	{PART "name=\"username\"\r\nContent-Transfer-Encoding: 8bit\r\n\r\nalice" END, "alice",
	 "... and one that is none"},
	{PART "name=\"username\"\r\n"
	      "Content-Disposition: form-data; name=\"x\"\r\n\r\nalice" END,
	 "?", "two descriptions"},
	{"--B\r\n\r\nalice" END, "?", "none"},
	{PART "name=\"a\\\"; name=\"username\"\r\n\r\nalice" END, "?", "a quote that some take for the end"},
	{PART "name=\"username\r\n\r\nalice" END, "?", "a quote without its end"},
	{PART "name=\"username\"\r\n\r\nalice", "?", "without an end (PHP takes it)"},
	{PART "name=\"username\"\r\n\r\nbob\r\n--Bx\r\n" END, "?", "a delimiter and more"},
	{"{\"username\":\"alice\"}\r\n" PART "name=\"username\"\r\n\r\nbob" END, "?",
	 "a preamble that Go may read as JSON"},
};

static const struct {
	const char *type, *value;
} TYPES[] = {
	{"multipart/form-data; boundary=B", "alice"},
	{"multipart/form-data;boundary=\"B\"", "alice"},
	{"MULTIPART/Form-Data ; charset=utf-8; BOUNDARY=B", "alice"},
	{"multipart/form-data; boundary=B; x=y", "alice"},
	{"multipart/form-data; boundary=C", "-"},
	{"multipart/form-data; boundary=b", "-"},
	{"multipart/form-data; boundary=\"B", "?"},
	{"multipart/form-data; boundary='B'", "?"},
	{"multipart/form-data; boundary=B; boundary=C", "?"},
	{"multipart/form-data; boundary=B; boundary*=us-ascii''C", "?"},
	{"multipart/form-data; boundary=B; boundary*0=C", "?"},
	{"multipart/form-data; Boundary*0=C; boundary=B", "?"},
	{"multipart/form-data; boundary=B; charset=utf-7", "?"},
	{"multipart/form-data; boundary=", "?"},
	{"multipart/form-data", "?"},
	{"multipart/mixed; boundary=B", "?"},
};

static const struct {
	const char *said, *wanted;
} QUOTED[] = {
	{"a\\\"b", "a\"b"}, {"a%22b", "a\"b"},	    {"a%22b", "a%22b"}, {"a\\\\b", "a\\b"},
	{"a\\b", "a\\b"},   {"a%0D%0Ab", "a\r\nb"}, {"a%41b", "a%41b"}, {"a b", "a_b"},
};

int main(void)
{
	char body[512];

	for (size_t i = 0; i < sizeof BODIES / sizeof *BODIES; i++)
		is_str(said(TYPE, text_of(BODIES[i].body), true, "username"), BODIES[i].value, BODIES[i].why);
	for (size_t i = 0; i < sizeof TYPES / sizeof *TYPES; i++)
		is_str(said(TYPES[i].type, text_of(BODIES[0].body), true, "username"), TYPES[i].value,
		       TYPES[i].type);
	for (size_t i = 0; i < sizeof QUOTED / sizeof *QUOTED; i++) {
		snprintf(body, sizeof body, PART "name=\"%s\"\r\n\r\nx" END, QUOTED[i].said);
		is_str(said(TYPE, text_of(body), true, QUOTED[i].wanted), "x", QUOTED[i].said);
	}

	/* of a body that goes on, a value is there when the delimiter behind it is */
	struct text first = text_of(PART "name=\"username\"\r\n\r\nalice\r\n--B");
	size_t wrong = 0;
	snprintf(body, sizeof body, PART "name=\"username\"\r\n\r\nalice" NEXT "name=\"x\"\r\n\r\n1" END);
	for (size_t size = 0; size <= strlen(body); size++) {
		bool there = strcmp(said(TYPE, (struct text){body, size}, false, "username"), "?") != 0;
		wrong += there != (size >= first.size);
	}
	is_u64(wrong, 0, "a body that is cut anywhere");
	return done_testing();
}
