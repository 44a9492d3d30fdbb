/* SPDX-License-Identifier: BSD-2-Clause */
/* error: the list of table/error.h, read out. */
#include "table/error.h"

const char *weir_error_name(enum weir_error error)
{
	switch (error) {
#define X(number, name, sentence, cure)                                                                      \
	case WEIR_##name:                                                                                    \
		return #name;
		WEIR_ERRORS(X)
#undef X
	}
	return "UNKNOWN";
}

const char *weir_error_sentence(enum weir_error error)
{
	switch (error) {
#define X(number, name, sentence, cure)                                                                      \
	case WEIR_##name:                                                                                    \
		return sentence;
		WEIR_ERRORS(X)
#undef X
	}
	return "unknown error";
}

const char *weir_error_cure(enum weir_error error)
{
	switch (error) {
#define X(number, name, sentence, cure)                                                                      \
	case WEIR_##name:                                                                                    \
		return cure;
		WEIR_ERRORS(X)
#undef X
	}
	return "";
}
