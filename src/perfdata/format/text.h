/*
 * Texts of a recording: bytes and their number.
 */
#ifndef PERFLUA_PERFDATA_TEXT_H
#define PERFLUA_PERFDATA_TEXT_H

#include "base/cursor.h"

struct pd_text {
	const char *p; /* not NUL-terminated */
	size_t n;
};

/* Returns the string in `size` bytes: up to its first NUL, or all of them. */
static inline struct pd_text pd_text_in(const void *bytes, size_t size)
{
	const void *nul = size ? memchr(bytes, 0, size) : NULL;

	return (struct pd_text){ bytes,
				 nul ? (size_t)((const char *)nul - (const char *)bytes) :
				       size };
}

/*
 * Reads a header string: u32 length, then as many bytes, padded with zeros. See
 * do_write_string, tools/perf/util/header.c. Returns an empty text if the cursor fails.
 */
static inline struct pd_text pd_take_string(struct pb_cursor *c)
{
	uint32_t size = pb_take32(c);
	const uint8_t *p = pb_take(c, size);

	return p ? pd_text_in(p, size) : (struct pd_text){ "", 0 };
}

#endif
