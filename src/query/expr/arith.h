/*
 * Arithmetic and order of values, exact for every mix of signed, unsigned and float, as
 * lua/perflua/filter/arith.lua has them: what an operator does follows from the kinds of its
 * operands, which are known before there is a record.
 */
#ifndef PERFLUA_QUERY_ARITH_H
#define PERFLUA_QUERY_ARITH_H

#include "node.h"

/* Which of two operands have integers without a sign. */
#define PQ_LEFT_UNSIGNED  1u
#define PQ_RIGHT_UNSIGNED 2u

/* Operands of a comparison: by their kinds. */
unsigned pq_order_signs(enum pq_kind a, enum pq_kind b);

/* How a lies to b, exactly; text by its bytes, as in Lua's locale "C". */
enum pq_order {
	PQ_IS_LESS,
	PQ_IS_EQUAL,
	PQ_IS_GREATER,
	PQ_IS_SAME,   /* equal, of a type that has no order */
	PQ_UNORDERED, /* values of different types, NaN */
};
enum pq_order pq_order(const struct pq_value *a, const struct pq_value *b, unsigned signs);

/* a becomes a ∘ b, of operands that are there: PQ_NIL where that has no value. */
typedef void pq_operation(struct pq_value *a, const struct pq_value *b);

struct pq_arith {
	pq_operation *run;
	unsigned floats; /* PQ_…_UNSIGNED: these operands are made floats before */
};

/*
 * An operator of node.h from PQ_ADD to PQ_COUNT's predecessor, by the kinds of its operands (of
 * unary ones b is any).
 */
void pq_arith_of(enum pq_op op, enum pq_kind a, enum pq_kind b, struct pq_arith *out);

/* An unsigned integer as a float. */
static inline void pq_unsigned_to_float(struct pq_value *value)
{
	if (value->type != PQ_INT)
		return;
	value->type = PQ_FLOAT;
	value->f = (double)value->u;
}

/* The integer that a float is; false: it is none. */
static inline bool pq_float_to_integer(double f, int64_t *out)
{
	if (!(f >= -0x1p63 && f < 0x1p63))
		return false;
	*out = (int64_t)f;
	return (double)*out == f;
}

#endif
