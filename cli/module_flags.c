/* SPDX-License-Identifier: BSD-2-Clause */
/* module_flags: nginx built its headers' structures by its configure arguments, so a module must be configured
 * alike. With --with-compat only the version matters, and a few do no harm. */
#include <string.h>

#include "cli/module.h"

/* Nothing of nginx's core depends on them, and their libraries need not be here. */
static const char *const DROP[] = {
	"--with-google_perftools_module",  "--with-cpp_test_module",   "--with-http_xslt_module",
	"--with-http_image_filter_module", "--with-http_geoip_module", "--with-http_perl_module",
	"--with-stream_geoip_module",
};

/* What has a value names a compiler, its options, a folder, or says =dynamic: a file of its own. */
static bool wanted(const char *word)
{
	if ((strncmp(word, "--with-", 7) != 0 && strncmp(word, "--without-", 10) != 0) || strchr(word, '='))
		return false;
	for (size_t i = 0; i < sizeof DROP / sizeof *DROP; i++)
		if (strcmp(word, DROP[i]) == 0)
			return false;
	return true;
}

/* The next word, without the quotes that configure put around values with spaces in them; NULL: no more. */
static char *next(char **at)
{
	char *from = *at + strspn(*at, " \t"), *word = from, *to = from;
	char quote = 0;
	if (*from == '\0')
		return NULL;
	for (; *from && (quote || (*from != ' ' && *from != '\t')); from++) {
		if (quote ? *from == quote : (*from == '\'' || *from == '"'))
			quote = quote ? 0 : *from;
		else
			*to++ = *from;
	}
	*at = *from ? from + 1 : from;
	*to = '\0';
	return word;
}

size_t module_flags(char *arguments, const char *kept[MODULE_FLAGS_MAX + 1])
{
	size_t count = 0;
	char *word;
	while (count < MODULE_FLAGS_MAX && (word = next(&arguments)) != NULL)
		if (wanted(word))
			kept[count++] = word;
	kept[count] = NULL;
	return count;
}
