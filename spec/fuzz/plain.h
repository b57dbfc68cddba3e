/*
 * Comparing strings where no input decides what they are: libFuzzer notes each call of the C
 * library's functions, which costs more than the comparison.
 */
#ifndef PERFLUA_FUZZ_PLAIN_H
#define PERFLUA_FUZZ_PLAIN_H

#include <stdint.h>
#include <string.h>

static inline int fuzz_strncmp(const char *a, const char *b, size_t n)
{
	for (; n; a++, b++, n--) {
		if (*a != *b)
			return (unsigned char)*a < (unsigned char)*b ? -1 : 1;
		if (!*a)
			break;
	}
	return 0;
}

static inline int fuzz_strcmp(const char *a, const char *b)
{
	return fuzz_strncmp(a, b, SIZE_MAX);
}

#define strncmp fuzz_strncmp
#define strcmp	fuzz_strcmp

#endif
