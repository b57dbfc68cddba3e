/*
 * Reading from a byte range: bounds-checked, endian-aware, fails once and stays failed. The only way
 * bytes of a file are read, but for the fixed offsets a layout has checked.
 *
 * A failed cursor reads zeros and empty strings, so a decoder reads on and asks once, at its end.
 */
#ifndef PERFLUA_PERFDATA_CURSOR_H
#define PERFLUA_PERFDATA_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct pd_cursor {
	const uint8_t *start, *pos, *end;
	bool swap; /* the bytes are of the other byte order than this host's */
	bool failed;
};

static inline uint16_t pd_load16(const uint8_t *p, bool swap)
{
	uint16_t v;

	memcpy(&v, p, sizeof(v));
	return swap ? __builtin_bswap16(v) : v;
}

static inline uint32_t pd_load32(const uint8_t *p, bool swap)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return swap ? __builtin_bswap32(v) : v;
}

static inline uint64_t pd_load64(const uint8_t *p, bool swap)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return swap ? __builtin_bswap64(v) : v;
}

/* An integer of n bytes: 1, 2, 4 or 8; 0 of any other number. */
static inline uint64_t pd_load_bytes(const uint8_t *p, uint32_t n, bool swap)
{
	switch (n) {
	case 1:
		return *p;
	case 2:
		return pd_load16(p, swap);
	case 4:
		return pd_load32(p, swap);
	case 8:
		return pd_load64(p, swap);
	default:
		return 0;
	}
}

static inline void pd_cursor_init(struct pd_cursor *c, const void *bytes, size_t size,
				  bool swap)
{
	c->start = c->pos = bytes;
	c->end = c->start + size;
	c->swap = swap;
	c->failed = false;
}

static inline size_t pd_cursor_left(const struct pd_cursor *c)
{
	return c->failed ? 0 : (size_t)(c->end - c->pos);
}

static inline size_t pd_cursor_offset(const struct pd_cursor *c)
{
	return (size_t)(c->pos - c->start);
}

/* The next n bytes, or NULL (and failed) if there are fewer. */
static inline const uint8_t *pd_take(struct pd_cursor *c, uint64_t n)
{
	const uint8_t *at = c->pos;

	if (c->failed || (uint64_t)(c->end - c->pos) < n) {
		c->failed = true;
		return NULL;
	}
	c->pos += n;
	return at;
}

static inline uint8_t pd_take8(struct pd_cursor *c)
{
	const uint8_t *p = pd_take(c, 1);

	return p ? *p : 0;
}

static inline uint16_t pd_take16(struct pd_cursor *c)
{
	const uint8_t *p = pd_take(c, 2);

	return p ? pd_load16(p, c->swap) : 0;
}

static inline uint32_t pd_take32(struct pd_cursor *c)
{
	const uint8_t *p = pd_take(c, 4);

	return p ? pd_load32(p, c->swap) : 0;
}

static inline uint64_t pd_take64(struct pd_cursor *c)
{
	const uint8_t *p = pd_take(c, 8);

	return p ? pd_load64(p, c->swap) : 0;
}

struct pd_text {
	const char *p; /* not NUL-terminated */
	size_t n;
};

/* size bytes that hold a string: up to its first NUL, or all of them. */
static inline struct pd_text pd_text_in(const void *bytes, size_t size)
{
	const void *nul = size ? memchr(bytes, 0, size) : NULL;

	return (struct pd_text){ bytes,
				 nul ? (size_t)((const char *)nul - (const char *)bytes) :
				       size };
}

/*
 * A header string: u32 length, then that many bytes, padded with zeros.
 * See do_write_string, tools/perf/util/header.c.
 */
static inline struct pd_text pd_take_string(struct pd_cursor *c)
{
	uint32_t size = pd_take32(c);
	const uint8_t *p = pd_take(c, size);

	return p ? pd_text_in(p, size) : (struct pd_text){ "", 0 };
}

#endif
