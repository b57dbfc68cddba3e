/* Build-ids, which the linker writes into a binary to tell its builds apart. */
#ifndef PERFLUA_SYMBOLS_BUILD_ID_H
#define PERFLUA_SYMBOLS_BUILD_ID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define PS_MAX_BUILD_ID 20

struct ps_build_id {
	uint8_t size; /* 0: not known */
	uint8_t bytes[PS_MAX_BUILD_ID];
};

/*
 * Returns true if two build-ids agree in the bytes that both have. Recorded ones are often
 * padded with zeros to 20 bytes.
 */
static inline bool ps_build_id_equal(const struct ps_build_id *a, const struct ps_build_id *b)
{
	size_t n = a->size < b->size ? a->size : b->size;

	for (size_t i = n; i < a->size; i++)
		if (a->bytes[i])
			return false;
	for (size_t i = n; i < b->size; i++)
		if (b->bytes[i])
			return false;
	return n && memcmp(a->bytes, b->bytes, n) == 0;
}

#define PS_BUILD_ID_TEXT (2 * PS_MAX_BUILD_ID + 1)

/* Writes a build-id as hexadecimal digits and a NUL; returns `text`. */
const char *ps_build_id_text(const struct ps_build_id *id, char text[PS_BUILD_ID_TEXT]);

#endif
