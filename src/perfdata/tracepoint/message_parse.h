/*
 * How a print format is read: each function reads what its name says into a node, and returns
 * false if it is none, after refuse() said why.
 */
#ifndef PERFLUA_PERFDATA_MESSAGE_PARSE_H
#define PERFLUA_PERFDATA_MESSAGE_PARSE_H

#include "message_internal.h"
#include "token.h"

struct pd_parser {
	struct pb_arena *arena;
	const struct pd_tracepoint *tracepoint;
	unsigned text; /* enum pd_perf_text */
	struct pd_tokens t;
	unsigned depth;	 /* functions that read operands and operators, inside one another */
	const char *why; /* NULL: all is well so far */
	size_t why_at;	 /* offset of a token in the print format */
};

/* Notes why the token at hand is refused, unless something was already. Returns false. */
bool pd_parse_refuse(struct pd_parser *p, const char *why);

/* Steps over a token; refuses another one. */
bool pd_parse_expect(struct pd_parser *p, const char *token);

/* Returns zeroed memory; NULL: none, which is refused. */
void *pd_parse_get(struct pd_parser *p, size_t size);

/* String literals in a row, as they are written, without quotes. */
bool pd_parse_strings(struct pd_parser *p, struct pd_text *text);

/* REC->field, from the name on. */
bool pd_parse_field(struct pd_parser *p, struct pd_node *x);

#define PD_MAX_NESTING 500 /* operands and operators inside one another */

/* An operand; the operators that follow x, with their other operands; both. */
bool pd_parse_operand(struct pd_parser *p, struct pd_node *x);
bool pd_parse_operators(struct pd_parser *p, struct pd_node *x);
bool pd_parse_expression(struct pd_parser *p, struct pd_node *x);

/* Makes x an atom of this number, whose text is its digits. */
bool pd_parse_number(struct pd_parser *p, struct pd_node *x, uint64_t v);

/* A call of one of the kernel's helpers, from its name on. */
bool pd_parse_helper(struct pd_parser *p, struct pd_node *x);

/* Returns true for a field whose place in the raw data is said there. */
static inline bool pd_is_dynamic(const struct pd_tracepoint_field *field)
{
	return field->place == PD_ARG_DATA || field->place == PD_ARG_REL ||
	       field->place == PD_ARG_SHORT;
}

#endif
