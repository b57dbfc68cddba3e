/*
 * Values in queries, as Lua would see them: 64-bit integers, floats, strings, booleans, events.
 * The kind of the expression that made an integer tells whether it is signed. An absent value
 * is PQ_NIL.
 */
#ifndef PERFLUA_QUERY_VALUE_H
#define PERFLUA_QUERY_VALUE_H

#include "base/hash.h"
#include "machine/machine.h"

enum pq_type {
	PQ_NIL,
	PQ_BOOL,  /* .u: 0 or 1 */
	PQ_INT,	  /* .i */
	PQ_FLOAT, /* .f */
	PQ_TEXT,  /* .p: `size` bytes of any kind, without a NUL */
	PQ_EVENT, /* .event */
	/*
	 * .u: a call chain, by its number in the chains of a result (chains.h); of keys, and of
	 * rows by pq_rows_number_chains()
	 */
	PQ_CHAIN,
	/* .u: a value of the caller's, by the number that the caller gave it; of calls only */
	PQ_OBJECT,
	PQ_HIST, /* .p: the address of a struct pq_sketch of powers of two; of results only */
	PQ_TYPES,
};

/* The text of keys, but for events and numbers, of records for which there was no group. */
#define PQ_OTHERS "[others]"

struct pq_value {
	uint8_t type; /* enum pq_type */
	/* number that only this PQ_TEXT of a row has (rows.h); 0: none */
	uint16_t id;
	/* bytes of a PQ_TEXT; of a PQ_CHAIN that pq_chains_own() knows, what that returns */
	uint32_t size;
	union {
		int64_t i;
		uint64_t u;
		double f;
		const char *p;
		const struct pd_event *event;
	};
};

/*
 * Returns the bits of a number or address. On 32-bit machines an address fills only half of the
 * union, and the other half is undefined. Values of one type with equal bits are equal.
 */
static inline uint64_t pq_bits(const struct pq_value *value)
{
	if (sizeof(value->p) < sizeof(value->u) &&
	    (value->type == PQ_TEXT || value->type == PQ_EVENT))
		return (uintptr_t)value->p;
	return value->u;
}

/*
 * The kind of an expression: what is known about its values before any record is read, as in
 * lua/perflua/filter/arith.lua.
 */
enum pq_kind {
	PQ_K_ANY, /* known only for each record */
	PQ_K_SIGNED,
	PQ_K_UNSIGNED,
	PQ_K_ADDRESS,
	PQ_K_NATURAL, /* a constant of 0 … 2^63 - 1 */
	PQ_K_BITS,    /* a constant with the top bit set: as signed as the other operand */
	PQ_K_FLOAT,
	PQ_K_STRING, /* text or bytes */
	PQ_K_BOOLEAN,
	PQ_K_EVENT,
	PQ_K_VIEW,  /* a composite: only its presence counts */
	PQ_K_STACK, /* a call chain as a value: in keys and sets */
	PQ_K_NIL,
};

/* Returns true if integers of that kind are unsigned. */
static inline bool pq_is_unsigned(enum pq_kind kind)
{
	return kind == PQ_K_UNSIGNED || kind == PQ_K_ADDRESS;
}

/* Sets *out to the integer that equals `f`. Returns false if there is none. */
static inline bool pq_float_to_integer(double f, int64_t *out)
{
	if (!(f >= -0x1p63 && f < 0x1p63))
		return false;
	*out = (int64_t)f;
	return (double)*out == f;
}

/*
 * Returns true if two values are one key of a Lua table: an integer equals a float of its
 * value. PQ_NIL and NaN are not keys, and must not be passed.
 */
bool pq_same(const struct pq_value *a, const struct pq_value *b);

/*
 * Converts a value to the form that only its equals have: floats that are integers become
 * integers, and NaN becomes PQ_NIL.
 */
void pq_normalise(struct pq_value *value);

/*
 * Gives equal numbers of an expression of that kind one form: floats of kind float, else
 * integers where they are whole.
 */
void pq_unify(struct pq_value *value, enum pq_kind kind);

/* Returns a hash, which normalised values share that pq_same() calls equal. */
uint32_t pq_hash(const struct pb_secret *secret, const struct pq_value *value);

/* Returns true if a value is absent, NaN, or of a type that has no order. */
static inline bool pq_is_unordered(const struct pq_value *value)
{
	return value->type == PQ_NIL || value->type == PQ_EVENT || value->type > PQ_CHAIN ||
	       (value->type == PQ_FLOAT && value->f != value->f);
}

/* Does what pq_compare() does, for values that are not both integers. */
int pq_compare_others(const struct pq_value *a, const struct pq_value *b, bool is_unsigned);

/*
 * Compares two values: booleans, numbers, texts by their bytes, call chains by their numbers;
 * unordered ones come after all others. Numbers are compared exactly; integers are unsigned if
 * is_unsigned is true. Returns a number below 0 if a comes first, 0 if they are equal.
 */
static inline int pq_compare(const struct pq_value *a, const struct pq_value *b,
			     bool is_unsigned)
{
	if (a->type != PQ_INT || b->type != PQ_INT)
		return pq_compare_others(a, b, is_unsigned);
	return is_unsigned ? (a->u > b->u) - (a->u < b->u) : (a->i > b->i) - (a->i < b->i);
}

#endif
