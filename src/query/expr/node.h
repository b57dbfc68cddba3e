/*
 * An expression as a tree: what filters, keys and measures are given as. It was parsed, checked
 * and typed before (lua/perflua/filter); here nothing is checked again but what would harm.
 */
#ifndef PERFLUA_QUERY_NODE_H
#define PERFLUA_QUERY_NODE_H

#include "perfdata/format/views.h"
#include "value.h"

enum pq_op {
	PQ_CONST, /* .constant; its text is whoever's made the tree */
	PQ_FIELD, /* .field */
	/* conditions: operands are conditions, an absent one is false */
	PQ_AND,
	PQ_OR,
	PQ_NOT,	    /* .left */
	PQ_PRESENT, /* is .left there? `negated`: is it absent? */
	/*
	 * comparisons: false if an operand is absent; `negated` turns the answer of operands
	 * that are there
	 */
	PQ_EQ,
	PQ_LT,
	PQ_LE,
	PQ_GT,
	PQ_GE,
	/*
	 * is the event of .left, a field, in .events? Negated likewise; false without an event
	 */
	PQ_EVENT_IN,
	PQ_IN,	   /* is .left one of .set? */
	PQ_FIND,   /* does the text .left contain the text .right? Plainly, no patterns */
	PQ_STARTS, /* does it start with it? */
	/*
	 * has a function of the call chain the name .right, a constant? .left is not looked at
	 */
	PQ_UNDER,
	/* arithmetic: no value if an operand is absent, or of integer division by zero */
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
	PQ_COUNT,  /* of a composite field .left: its items; of a text: its bytes */
	PQ_CALL,   /* .call, a function of the caller's */
};

/* A step into a composite field: a member, or an item. */
struct pq_step {
	const char *name; /* NULL: the item of that number, from 1 on */
	uint32_t index;
};

#define PQ_MAX_STEPS 8

#define PQ_MAX_DEPTH 256 /* levels of a tree; the makers of trees see to it */

/*
 * A field as a query names it, "callchain[1].symbol": the field of that name's number, and
 * steps into it. The steps of "event" are none: what an event is by itself is in `by_event`.
 */
struct pq_field {
	unsigned name; /* see names.h of perfdata */
	bool is_stack; /* the call chain that `name` is made of, as a value (stacks.h) */
	/*
	 * of a row of values (pq_fields_enter_row) its place there, from 1 on, and no more; 0:
	 * of records
	 */
	uint32_t row;
	unsigned n_steps;
	struct pq_step steps[PQ_MAX_STEPS];
	/*
	 * "event.config": by the number of the event, of so many; PQ_NIL of others. NULL: it is
	 * no such field
	 */
	const struct pq_value *by_event;
	size_t n_by_event;
	/*
	 * What was known of its values when the query was made, if there may be others since:
	 * of an event that came late, or of another recording. Those are absent. PQ_K_ANY:
	 * there are none.
	 */
	enum pq_kind kind;
	/*
	 * only records of these types have the part that the steps name; NULL: all that have
	 * the field
	 */
	const struct pd_types *types;
};

struct pq_fields;
struct pq_node;

/*
 * A function of the caller's as a leaf of a tree. `run` sets *out to its value for the record
 * or row that was entered; `args` are the values of the nodes below. A text of *out is valid
 * until the function is called again. It is called in the caller's thread only, and may leave
 * the query by a longjmp: see struct pq_calls.
 */
struct pq_call {
	void (*run)(const struct pq_call *call, struct pq_fields *fields,
		    const struct pq_value *args, struct pq_value *out);
	void *arg;
	uint32_t number; /* for the caller: which function it is */
	size_t n_args;
	const struct pq_node *const *args; /* [n_args] */
};

struct pq_node {
	enum pq_op op;
	enum pq_kind kind; /* of its value */
	bool negated;
	const struct pq_node *left, *right; /* NULL: it has none */
	union {
		struct pq_value constant;
		const struct pq_field *field;
		const struct pq_call *call;
		struct {
			const uint8_t *
				/* [n_events] by number: is it one? Later ones are not */
				events;
			size_t n_events;
		};
		struct {
			const struct pq_value *set; /* [n_set] */
			size_t n_set;
		};
	};
};

/* Does something in the tree (NULL: an empty one) ask the recorded system? */
bool pq_asks_system(const struct pq_node *node, const struct pd_session *session);

#endif
