/*
 * Turns the bytes of a recording to the other byte order. Numbers change their order, text and
 * raw bytes do not, and bit fields change their places, as compilers have them.
 */
#ifndef PERFLUA_WRITE_TURN_H
#define PERFLUA_WRITE_TURN_H

#include "base/string_builder.h"
#include "perfdata/container/file.h"
#include "perfdata/format/record.h"

/* Bytes that are turned in place, from front to back. */
struct pw_turn {
	uint8_t *bytes;
	size_t at, n;
	bool swap;   /* the bytes had the other order than this host's before */
	bool failed; /* they ended too early: further numbers are 0 */
};

/* Turn the next number and return it; skip bytes that stay as they are. */
uint64_t pw_turn_number(struct pw_turn *t, unsigned bytes);
void pw_turn_skip(struct pw_turn *t, uint64_t n);

/*
 * Turns what a format describes:
 *
 *	2 4 8	a number of so many bytes
 *	b c	8 bytes, or 16, that stay
 *	t	a text of a header feature: a u32, and as many bytes
 *	(…)	a u32, and the parts as many times; (…] the same with a u64
 *	+	the number before it, again to the end
 *
 * What follows the format stays.
 */
void pw_turn_format(struct pw_turn *t, const char *format);

/* Turn an attr of `n` bytes, and the flags of a branch; `swap` and `big`: what they were. */
void pw_turn_attr(uint8_t *attr, size_t n, bool swap, bool big);
uint64_t pw_turn_branch_flags(uint64_t flags, bool big);

/*
 * Appends the bytes of a record, turned, to `out`. Returns false, with `out` unchanged, if it
 * cannot be turned. Sets *drops_data if raw data or AUX data of a sample are left out.
 */
bool pw_turn_record(const struct pd_file *file, const struct pd_record *rec,
		    struct pb_string *out, bool *drops_data);
bool pw_turn_sample(const struct pd_record *rec, struct pb_string *out, bool *drops_data);

/* Turns the content of a header feature of `file`. Returns false if it cannot be turned. */
bool pw_turn_feature(const struct pd_file *file, unsigned bit, uint8_t *bytes, size_t n);

#endif
