/*
 * Reading from a byte range: bounds-checked, endian-aware, fails once and stays failed. The
 * only way bytes of a file are read, but for the fixed offsets that a layout has checked.
 *
 * A failed cursor reads zeros, so a decoder reads on and asks once, at its end. It says where
 * it failed (pb_cursor_offset()) and why (`reason`).
 */
#ifndef PERFLUA_BASE_CURSOR_H
#define PERFLUA_BASE_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct pb_cursor {
	const uint8_t *start, *pos, *end;
	bool swap; /* the bytes are of the other byte order than this host's */
	bool failed;
	const char *reason; /* reason of the failure: a constant */
};

static inline uint16_t pb_load16(const uint8_t *p, bool swap)
{
	uint16_t v;

	memcpy(&v, p, sizeof(v));
	return swap ? __builtin_bswap16(v) : v;
}

static inline uint32_t pb_load32(const uint8_t *p, bool swap)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return swap ? __builtin_bswap32(v) : v;
}

static inline uint64_t pb_load64(const uint8_t *p, bool swap)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return swap ? __builtin_bswap64(v) : v;
}

/* An integer of n bytes: 1, 2, 4 or 8; 0 of any other number. */
static inline uint64_t pb_load_bytes(const uint8_t *p, uint32_t n, bool swap)
{
	switch (n) {
	case 1:
		return *p;
	case 2:
		return pb_load16(p, swap);
	case 4:
		return pb_load32(p, swap);
	case 8:
		return pb_load64(p, swap);
	default:
		return 0;
	}
}

static inline void pb_cursor_init(struct pb_cursor *c, const void *bytes, size_t size,
				  bool swap)
{
	c->start = c->pos = bytes;
	c->end = c->start + size;
	c->swap = swap;
	c->failed = false;
	c->reason = NULL;
}

/* Fails, unless it did before: `reason`, a constant, says what was found at this place. */
static inline void pb_cursor_fail(struct pb_cursor *c, const char *reason)
{
	if (!c->failed)
		c->reason = reason;
	c->failed = true;
}

static inline size_t pb_cursor_left(const struct pb_cursor *c)
{
	return c->failed ? 0 : (size_t)(c->end - c->pos);
}

static inline size_t pb_cursor_offset(const struct pb_cursor *c)
{
	return (size_t)(c->pos - c->start);
}

/* Returns the next n bytes, or NULL (and fails) if there are fewer. */
static inline const uint8_t *pb_take(struct pb_cursor *c, uint64_t n)
{
	const uint8_t *at = c->pos;

	if (c->failed || (uint64_t)(c->end - c->pos) < n) {
		pb_cursor_fail(c, "the end");
		return NULL;
	}
	c->pos += n;
	return at;
}

static inline uint8_t pb_take8(struct pb_cursor *c)
{
	const uint8_t *p = pb_take(c, 1);

	return p ? *p : 0;
}

static inline uint16_t pb_take16(struct pb_cursor *c)
{
	const uint8_t *p = pb_take(c, 2);

	return p ? pb_load16(p, c->swap) : 0;
}

static inline uint32_t pb_take32(struct pb_cursor *c)
{
	const uint8_t *p = pb_take(c, 4);

	return p ? pb_load32(p, c->swap) : 0;
}

static inline uint64_t pb_take64(struct pb_cursor *c)
{
	const uint8_t *p = pb_take(c, 8);

	return p ? pb_load64(p, c->swap) : 0;
}

#endif
