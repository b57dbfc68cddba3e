/*
 * Values as queries handle them.
 *
 * They are what Lua would see: integers of 64 bits, of which the kind of what made them says
 * how they are read, floats, strings, booleans, events. What is absent is PQ_NIL.
 */
#ifndef PERFLUA_QUERY_VALUE_H
#define PERFLUA_QUERY_VALUE_H

#include "machine/machine.h"

enum pq_type {
	PQ_NIL,
	PQ_BOOL,  /* .u: 0 or 1 */
	PQ_INT,	  /* .i */
	PQ_FLOAT, /* .f */
	PQ_TEXT,  /* .p: `size` bytes, of any kind; not NUL-terminated */
	PQ_EVENT, /* .event */
	/* .u: a call chain, by its number in the chains of a result (chains.h); of keys only */
	PQ_CHAIN,
	/* .u: a value of the caller's, by the number that he knows it by; of calls only */
	PQ_OBJECT,
	PQ_TYPES,
};

struct pq_value {
	uint8_t type; /* enum pq_type */
	/* of PQ_TEXT, in a row (rows.h): a number that only this text has; 0: none */
	uint16_t id;
	uint32_t size; /* of PQ_TEXT */
	union {
		int64_t i;
		uint64_t u;
		double f;
		const char *p;
		const struct pd_event *event;
	};
};

/*
 * Returns the number or the address that a value is, as 64 bits. On 32-bit machines an address
 * fills only half of the union, and the other half is undefined. Values of one type with equal
 * bits are equal.
 */
static inline uint64_t pq_bits(const struct pq_value *value)
{
	if (sizeof(value->p) < sizeof(value->u) &&
	    (value->type == PQ_TEXT || value->type == PQ_EVENT))
		return (uintptr_t)value->p;
	return value->u;
}

/*
 * What is known of a value before there is a record: as lua/perflua/filter/arith.lua has them.
 */
enum pq_kind {
	PQ_K_ANY, /* only the record tells */
	PQ_K_SIGNED,
	PQ_K_UNSIGNED,
	PQ_K_ADDRESS,
	PQ_K_NATURAL, /* a constant of 0 … 2^63-1 */
	PQ_K_BITS,    /* a constant with the top bit set: takes the sign of its other operand */
	PQ_K_FLOAT,
	PQ_K_STRING, /* text or bytes */
	PQ_K_BOOLEAN,
	PQ_K_EVENT,
	PQ_K_VIEW,  /* a composite: only whether it is there */
	PQ_K_STACK, /* the call chain as a value: of keys and sets */
	PQ_K_NIL,
};

/* Are its integers read without a sign? */
static inline bool pq_is_unsigned(enum pq_kind kind)
{
	return kind == PQ_K_UNSIGNED || kind == PQ_K_ADDRESS;
}

/*
 * Equal as keys of a Lua table are: an integer and a float of its value are one key. Not for
 * PQ_NIL and NaN, which are no keys: both are absent.
 */
bool pq_same(const struct pq_value *a, const struct pq_value *b);

/*
 * The form of a value that only its equals have: floats that are integers become them, NaN
 * becomes PQ_NIL.
 */
void pq_normalise(struct pq_value *value);

#endif
