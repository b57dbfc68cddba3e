/*
 * A print fmt: what the kernel's printk would be given, "format", argument, …, as C. It is read by its grammar and written
 * anew, in what of it the parser of libtraceevent does right.
 *
 * What is refused, because that one goes wrong with it or knows nothing of it: names of fields that there are not; functions
 * but those of the kernel's trace macros; statements in expressions; indexes behind an index; division by what is no
 * literal (it is evaluated while it is parsed); conversions of strange form or without an argument; nesting that would
 * use up the stack; sizes of what is known as a relative array. What is put in another way: sizeof is the number that it
 * is, __builtin_expect its first argument, names that end in _u64 are those without, an indexed field stands in
 * parentheses.
 */
#ifndef PERFLUA_TRACE_FMT_H
#define PERFLUA_TRACE_FMT_H

#include "text.h"
#include "perfdata/tracepoint/tracepoint.h"

#define PT_MAX_FMT  65536 /* bytes of a print fmt; the kernel's are a few thousand at most */
#define PT_MAX_ARGS 128	  /* arguments of one, and conversions */

struct pt_fmt {
	struct pt_text text;
	unsigned n_args;
	bool has_star, has_char; /* of its conversions: an argument is a width; a %c */
	/* bit i % 64 of word i / 64: is argument i a width or a precision? */
	uint64_t stars[PT_MAX_ARGS / 64];
};

/* Reads a tracepoint's print fmt, and writes it. False: it is refused, or there is no memory. */
bool pt_fmt_read(struct pt_fmt *fmt, const struct pd_tracepoint *tracepoint);
void pt_fmt_deinit(struct pt_fmt *fmt);

static inline bool pt_fmt_is_star(const struct pt_fmt *fmt, unsigned i)
{
	return i < PT_MAX_ARGS && (fmt->stars[i / 64] >> (i % 64) & 1);
}

/*
 * Reads the conversions of a format string, n characters of it, which a further piece may follow: *args counts the
 * arguments that they take.
 */
bool pt_conversions_read(struct pt_fmt *fmt, const char *p, size_t n, unsigned *args);

#endif
