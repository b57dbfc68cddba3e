/*
 * Expressions: as trees, in which filters, keys and measures are given, and as small typed
 * programs, compiled from trees. Trees were parsed, checked and typed before
 * (lua/perflua/filter); here only what could do harm is checked again.
 *
 * A program belongs to one worker, as does the pq_fields that it reads.
 */
#ifndef PERFLUA_QUERY_EXPR_H
#define PERFLUA_QUERY_EXPR_H

#include "query/fields/fields.h"

enum pq_op {
	PQ_CONST, /* .constant; its text belongs to the maker of the tree */
	PQ_FIELD, /* .field */
	/* operators on conditions; an absent one is false */
	PQ_AND,
	PQ_OR,
	PQ_NOT,	    /* .left */
	PQ_PRESENT, /* true if .left is present; `negated`: absent */
	/*
	 * comparisons: false if an operand is absent; `negated` inverts the result of present
	 * ones
	 */
	PQ_EQ,
	PQ_LT,
	PQ_LE,
	PQ_GT,
	PQ_GE,
	/*
	 * true if the event of field .left is in .events; `negated` likewise; false without an
	 * event
	 */
	PQ_EVENT_IN,
	PQ_IN,	   /* true if .left is in .set */
	PQ_FIND,   /* true if the text .left contains the text .right, literally */
	PQ_STARTS, /* true if the text .left starts with .right */
	PQ_GLOB,   /* true if the text .left matches the glob .right, a constant */
	PQ_MATCH,  /* true if the text .left matches the Lua pattern .right, a constant */
	/*
	 * true if a function of the call chain has the name .right, a constant that may be a
	 * glob; .left is ignored
	 */
	PQ_UNDER,
	/* arithmetic: absent if an operand is, and for integer division by zero */
	PQ_ADD,
	PQ_SUB,
	PQ_MUL,
	PQ_DIV,
	PQ_IDIV,
	PQ_MOD,
	PQ_POW,
	PQ_BAND,
	PQ_BOR,
	PQ_BXOR,
	PQ_SHL,
	PQ_SHR,
	PQ_NEG,	   /* .left */
	PQ_BNOT,   /* .left */
	PQ_BUCKET, /* .left rounded down to a multiple of .right, a constant above 0 */
	PQ_COUNT,  /* number of items of a composite field .left, or of bytes of a text */
	PQ_CALL,   /* .call, a function of the caller's */
	PQ_LOWER,  /* the text .left with ASCII letters in lower case */
	PQ_GIVEN,  /* the value .right if the condition .left holds; else absent */
	PQ_EITHER, /* the value .left, or .right where .left is absent */
};

#define PQ_MAX_DEPTH 256 /* levels of a tree; its makers see to it */

struct pq_node;

/*
 * A function of the caller's as a leaf of a tree. `run` sets *out to its value for the record
 * or row that was entered; `args` are the values of the nodes below. A text of *out is valid
 * until the function is called again. It is called only in the caller's thread, and may leave
 * the query by longjmp(): see struct pq_calls.
 */
struct pq_call {
	void (*run)(const struct pq_call *call, struct pq_fields *fields,
		    const struct pq_value *args, struct pq_value *out);
	void *arg;
	uint32_t number; /* tells the caller which function it is */
	size_t n_args;
	const struct pq_node *const *args; /* [n_args] */
};

struct pq_node {
	enum pq_op op;
	enum pq_kind kind; /* kind of its value */
	bool negated;
	const struct pq_node *left, *right; /* NULL: none */
	union {
		struct pq_value constant;
		const struct pq_field *field;
		const struct pq_call *call;
		struct {
			/* [n_events], by number: true for its events, false for late ones */
			const uint8_t *events;
			size_t n_events;
		};
		struct {
			const struct pq_value *set; /* [n_set] */
			size_t n_set;
		};
	};
};

/*
 * Returns true if both trees are the same field, or compute the same by operators of arithmetic
 * on fields and constants; false of other trees.
 */
bool pq_computes_same(const struct pq_node *a, const struct pq_node *b);

struct pq_expr;

/*
 * Compiles a tree, which must outlive the program, and adds its fields to `fields`. Returns
 * NULL without memory.
 */
struct pq_expr *pq_expr_create(const struct pq_node *node, struct pq_fields *fields);
void pq_expr_destroy(struct pq_expr *expr);

/* Returns true if the condition holds for the record that `fields` entered. */
bool pq_expr_test(const struct pq_expr *expr, struct pq_fields *fields);

/* Sets *out to the value for that record. A text is valid as for pq_fields_get(). */
void pq_expr_value(const struct pq_expr *expr, struct pq_fields *fields, struct pq_value *out);

/* Returns the number of the field if the expression is only that; else UINT32_MAX. */
uint32_t pq_expr_field(const struct pq_expr *expr);

#endif
