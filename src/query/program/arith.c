/* Computes with values. */
#include <math.h>

#include "program.h"

static void set_float(struct pq_value *a, double f)
{
	a->type = PQ_FLOAT;
	a->f = f;
}

/* Converts both operands to floats. Sets *a to PQ_NIL if one is not a number. */
static bool convert_to_floats(struct pq_value *a, const struct pq_value *b, double *x,
			      double *y)
{
	if ((a->type != PQ_INT && a->type != PQ_FLOAT) ||
	    (b->type != PQ_INT && b->type != PQ_FLOAT)) {
		a->type = PQ_NIL;
		return false;
	}
	*x = a->type == PQ_INT ? (double)a->i : a->f;
	*y = b->type == PQ_INT ? (double)b->i : b->f;
	return true;
}

static bool convert_to_integer(const struct pq_value *a, int64_t *out)
{
	if (a->type == PQ_FLOAT)
		return pq_float_to_integer(a->f, out);
	*out = a->i;
	return a->type == PQ_INT;
}

/* Defines an operation, by its expression for two integers x and y, and else for two floats. */
#define OPERATION(name, of_integers, of_floats)                        \
	static void name(struct pq_value *a, const struct pq_value *b) \
	{                                                              \
		if (a->type == PQ_INT && b->type == PQ_INT) {          \
			uint64_t x = a->u, y = b->u;                   \
			a->u = (of_integers);                          \
		} else {                                               \
			double x, y;                                   \
			if (convert_to_floats(a, b, &x, &y))           \
				set_float(a, (of_floats));             \
		}                                                      \
	}

/* Divisions have no value for the integer 0. */
#define DIVISION(name, of_integers, of_floats)                           \
	OPERATION(name##_whole, of_integers, of_floats)                  \
	static void name(struct pq_value *a, const struct pq_value *b)   \
	{                                                                \
		if (a->type == PQ_INT && b->type == PQ_INT && b->u == 0) \
			a->type = PQ_NIL;                                \
		else                                                     \
			name##_whole(a, b);                              \
	}

/* Defines an operation on integers only. */
#define BITWISE(name, of_integers)                                            \
	static void name(struct pq_value *a, const struct pq_value *b)        \
	{                                                                     \
		int64_t i, j;                                                 \
		if (convert_to_integer(a, &i) && convert_to_integer(b, &j)) { \
			uint64_t x = (uint64_t)i, y = (uint64_t)j;            \
			a->u = (of_integers);                                 \
			a->type = PQ_INT;                                     \
		} else {                                                      \
			a->type = PQ_NIL;                                     \
		}                                                             \
	}

#define FLOATS_ONLY(name, of_floats)                                   \
	static void name(struct pq_value *a, const struct pq_value *b) \
	{                                                              \
		double x, y;                                           \
		if (convert_to_floats(a, b, &x, &y))                   \
			set_float(a, (of_floats));                     \
	}

/* Divides towards minus infinity, as Lua does; -2^63 // -1 wraps around. */
static uint64_t floor_divide(uint64_t x, uint64_t y)
{
	int64_t n = (int64_t)x, d = (int64_t)y;
	int64_t q;

	if (d == -1)
		return -x;
	q = n / d;
	return (uint64_t)((n ^ d) < 0 && n % d ? q - 1 : q);
}

/* The result has the sign of the divisor. */
static uint64_t floor_modulo(uint64_t x, uint64_t y)
{
	int64_t n = (int64_t)x, d = (int64_t)y;
	int64_t rest;

	if (d == -1)
		return 0;
	rest = n % d;
	return (uint64_t)(rest && (rest ^ d) < 0 ? rest + d : rest);
}

static double float_modulo(double x, double y)
{
	double rest = fmod(x, y);

	if (rest > 0 ? y < 0 : rest < 0 && y > 0)
		rest += y;
	return rest;
}

/* Shifts left, or right by a negative count; zeros come in. */
static uint64_t shift_bits(uint64_t x, int64_t count)
{
	if (count <= -64 || count >= 64)
		return 0;
	return count < 0 ? x >> -count : x << count;
}

OPERATION(add_numbers, x + y, x + y)
OPERATION(subtract_numbers, x - y, x - y)
OPERATION(multiply_numbers, x *y, x *y)
FLOATS_ONLY(divide_numbers, x / y)
FLOATS_ONLY(raise_to_power, y == 2 ? x * x : pow(x, y))
DIVISION(divide_whole, floor_divide(x, y), floor(x / y))
DIVISION(take_modulo, floor_modulo(x, y), float_modulo(x, y))
DIVISION(divide_unsigned, x / y, floor(x / y))
DIVISION(take_unsigned_modulo, x % y, float_modulo(x, y))
BITWISE(and_bits, x &y)
BITWISE(or_bits, x | y)
BITWISE(xor_bits, x ^ y)
BITWISE(shift_left, shift_bits(x, (int64_t)y))
BITWISE(shift_right, shift_bits(x, (int64_t)-y))
/* An unsigned count is never negative, however large. */
BITWISE(shift_left_wide, y < 64 ? x << y : 0)
BITWISE(shift_right_wide, y < 64 ? x >> y : 0)
/*
 * Rounds down to a multiple of a width above 0, towards minus infinity; the result may not fit
 * an integer.
 */
static void round_to_bucket(struct pq_value *a, const struct pq_value *b)
{
	int64_t x, from;

	if (!convert_to_integer(a, &x) || b->type != PQ_INT || b->i < 1) {
		a->type = PQ_NIL;
		return;
	}
	from = (int64_t)((uint64_t)x - floor_modulo((uint64_t)x, b->u));
	a->type = from <= x ? PQ_INT : PQ_NIL;
	a->i = from;
}

static void round_to_unsigned_bucket(struct pq_value *a, const struct pq_value *b)
{
	if (a->type == PQ_INT && b->type == PQ_INT && b->i > 0)
		a->u -= a->u % b->u;
	else
		a->type = PQ_NIL;
}

/* Unary operations ignore b. */
static void negate_number(struct pq_value *a, const struct pq_value *b)
{
	(void)b;
	if (a->type == PQ_INT)
		a->u = -a->u;
	else if (a->type == PQ_FLOAT)
		a->f = -a->f;
	else
		a->type = PQ_NIL;
}

static void invert_bits(struct pq_value *a, const struct pq_value *b)
{
	int64_t i;

	(void)b;
	if (convert_to_integer(a, &i)) {
		a->i = ~i;
		a->type = PQ_INT;
	} else {
		a->type = PQ_NIL;
	}
}

static pq_operation *const operations[] = {
	[PQ_ADD] = add_numbers,	   [PQ_SUB] = subtract_numbers, [PQ_MUL] = multiply_numbers,
	[PQ_DIV] = divide_numbers, [PQ_IDIV] = divide_whole,	[PQ_MOD] = take_modulo,
	[PQ_POW] = raise_to_power, [PQ_BAND] = and_bits,	[PQ_BOR] = or_bits,
	[PQ_BXOR] = xor_bits,	   [PQ_SHL] = shift_left,	[PQ_SHR] = shift_right,
	[PQ_NEG] = negate_number,  [PQ_BNOT] = invert_bits,	[PQ_BUCKET] = round_to_bucket,
};

/*
 * Returns the operation on integers, one of them unsigned, if it differs from that on signed
 * ones.
 */
static pq_operation *of_unsigned(enum pq_op op, enum pq_kind a, enum pq_kind b)
{
	bool left = pq_is_unsigned(a), right = pq_is_unsigned(b);

	switch (op) {
	case PQ_SHL:
		return right ? shift_left_wide : NULL;
	case PQ_SHR:
		return right ? shift_right_wide : NULL;
	case PQ_IDIV:
	case PQ_MOD:
		if ((!left && !right) || a == PQ_K_SIGNED || b == PQ_K_SIGNED)
			return NULL;
		return op == PQ_IDIV ? divide_unsigned : take_unsigned_modulo;
	case PQ_BUCKET:
		return left ? round_to_unsigned_bucket : NULL;
	default:
		return NULL;
	}
}

void pq_arith_of(enum pq_op op, enum pq_kind a, enum pq_kind b, struct pq_arith *out)
{
	pq_operation *special = NULL;

	out->floats = 0;
	if (a == PQ_K_ANY || b == PQ_K_ANY) {
		special = NULL;
	} else if (op == PQ_DIV || op == PQ_POW || a == PQ_K_FLOAT || b == PQ_K_FLOAT) {
		out->floats = (pq_is_unsigned(a) ? PQ_LEFT_UNSIGNED : 0) |
			      (pq_is_unsigned(b) ? PQ_RIGHT_UNSIGNED : 0);
	} else {
		special = of_unsigned(op, a, b);
	}
	out->run = special ? special : operations[op];
}
