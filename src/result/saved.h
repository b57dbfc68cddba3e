/*
 * Results as a line of printable ASCII, and back, exactly. Tokens are separated by tabs: the
 * head, which is a text of the caller's; the number of groups; for each group its section, its
 * keys and its states; "end".
 *
 * - A value is ~ (absent), t or f, a decimal integer, a float as %a prints it, "TEXT, @STACK,
 *   or $N for the Nth TEXT or STACK of the line. In texts, what is not printable ASCII, \ and |
 *   are \xx, two hex digits.
 * - A STACK is its frames, callee first, separated by commas: N for the Nth frame of the line,
 *   or KIND;BINARY;BUILD-ID;ADDRESS;SYMBOL, which is then the next one. BINARY, BUILD-ID and
 *   SYMBOL are "TEXT, in which also , and ; are escaped, or ~ for none.
 * - States are one value, or several that are separated by |: the two sums of a ratio; number,
 *   high and low part of an average; the values of a set, in order; BUCKET:COUNT … of a
 *   histogram, in order of the buckets; LEAST|GREATEST|BUCKET:COUNT … of a quantile.
 */
#ifndef PERFLUA_RESULT_SAVED_H
#define PERFLUA_RESULT_SAVED_H

#include "perfdata/format/print.h"
#include "result.h"

/* Writes the line, newline included. Returns false, with part of it written, without memory. */
bool pr_save(struct pd_print *out, const struct pr_result *result, const char *head,
	     size_t n_head);

struct pr_load_error {
	size_t at; /* offset in the body */
	const char *expected;
};

/*
 * Reads what follows the head in such a line: `body`, of n bytes, begins after the tab after
 * the head's token, and ends with the "end" of the line. `head` is the head's text. Sections
 * are 0 … n_sections. Adds the stacks to `stacks`, which must outlive the result; NULL: values
 * cannot be stacks. Groups with equal keys add up.
 *
 * Returns NULL if the body is damaged, or without memory: then err->expected is NULL.
 */
struct pr_result *pr_load(const char *head, size_t n_head, const char *body, size_t n,
			  const struct pr_shape *shape, struct pq_stacks *stacks,
			  unsigned n_sections, struct pr_load_error *err);

#endif
