/*
 * How a print fmt is read: each function reads what its name says and writes it anew; false: it is none, or is refused.
 */
#ifndef PERFLUA_TRACE_FMT_INSIDE_H
#define PERFLUA_TRACE_FMT_INSIDE_H

#include "fmt.h"
#include "token.h"

struct pt_reader {
	struct pt_fmt *fmt;
	const struct pd_tracepoint *tracepoint;
	struct pt_tokens t;
	unsigned open;
	bool constant; /* what is read is a value of __print_flags, of which it evaluates few operators */
};

/* The token at hand, written; on to the next one. */
bool pt_pass(struct pt_reader *r);
/* The same if it is that. */
bool pt_expect(struct pt_reader *r, const char *what);

/* The field that the token at hand names; NULL: there is none. */
const struct pd_tracepoint_field *pt_named_field(const struct pt_reader *r);

/* REC->field, without an index. */
const struct pd_tracepoint_field *pt_read_field(struct pt_reader *r);

/* String literals in a row. */
bool pt_read_strings(struct pt_reader *r);

/* What the library's parser takes for one operand; operands with operators between them. */
bool pt_read_operand(struct pt_reader *r);
bool pt_read_expression(struct pt_reader *r);

/* A call of one of the kernel's helpers. */
bool pt_read_function(struct pt_reader *r);

#endif
