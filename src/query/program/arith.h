/*
 * Arithmetic and comparison of values, exact for every mix of signed, unsigned and float, as
 * defined by lua/perflua/filter/arith.lua. The kinds of the operands, which are known before
 * any record is read, decide what an operator does.
 */
#ifndef PERFLUA_QUERY_ARITH_H
#define PERFLUA_QUERY_ARITH_H

#include "node.h"

/* Bits: which of two operands has unsigned integers. */
#define PQ_LEFT_UNSIGNED  1u
#define PQ_RIGHT_UNSIGNED 2u

/* Returns the bits for a comparison of operands of these kinds. */
unsigned pq_order_signs(enum pq_kind a, enum pq_kind b);

/*
 * The result of comparing a with b: exact for numbers, by bytes for text, as in Lua's locale
 * "C".
 */
enum pq_order {
	PQ_IS_LESS,
	PQ_IS_EQUAL,
	PQ_IS_GREATER,
	PQ_IS_SAME,   /* equal, and of a type without order */
	PQ_UNORDERED, /* of different types, or NaN */
};
enum pq_order pq_order(const struct pq_value *a, const struct pq_value *b, unsigned signs);

/* Sets *a to a ∘ b, both of which are present; to PQ_NIL if the operation has no such value. */
typedef void pq_operation(struct pq_value *a, const struct pq_value *b);

struct pq_arith {
	pq_operation *run;
	unsigned floats; /* PQ_…_UNSIGNED: operands that are converted to float first */
};

/*
 * Sets *out to an operator of node.h, from PQ_ADD to the one before PQ_COUNT, for operands of
 * these kinds. For unary ones `b` is ignored.
 */
void pq_arith_of(enum pq_op op, enum pq_kind a, enum pq_kind b, struct pq_arith *out);

/* Converts an unsigned integer to a float. */
static inline void pq_unsigned_to_float(struct pq_value *value)
{
	if (value->type != PQ_INT)
		return;
	value->type = PQ_FLOAT;
	value->f = (double)value->u;
}

#endif
