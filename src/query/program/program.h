/*
 * Programs: compile.c makes them, and expr.c runs them. Each instruction says which one is
 * next.
 *
 * Conditions are jumps: a test has a next instruction if it holds, if it does not, and if its
 * operand is absent, so `and`, `or` and `not` cost nothing. Values are computed in registers,
 * as many as the tree is deep.
 */
#ifndef PERFLUA_QUERY_PROGRAM_H
#define PERFLUA_QUERY_PROGRAM_H

#include "base/pattern.h"
#include "base/string_builder.h"
#include "expr.h"

/*
 * Arithmetic and comparison of values (arith.c, order.c), exact for every mix of signed,
 * unsigned and float, as defined by lua/perflua/filter/arith.lua. The kinds of the operands,
 * which are known before any record is read, decide what an operator does.
 */

/* Bits that tell which of two operands has unsigned integers. */
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
 * Sets *out to an operator of expr.h, from PQ_ADD to the one before PQ_COUNT, for operands of
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

/*
 * A set of constants, for the operator `in`. Values are equal if they are one key of a Lua
 * table.
 */
struct pq_set;

/* Creates a set of `n` values, whose texts it borrows. Returns NULL without memory. */
struct pq_set *pq_set_create(const struct pq_value *values, size_t n);
void pq_set_destroy(struct pq_set *set);

bool pq_set_has(const struct pq_set *set, const struct pq_value *value);

#define PQ_NO_FIELD UINT32_MAX

struct pq_insn;

/*
 * The state of instructions over texts: the pattern of glob(), match() and under(); the
 * functions, by number, that under() has found to match; and room for the result of lower().
 */
struct pq_text_work {
	struct pb_pattern *pattern;
	struct pq_under under;
	struct pb_string result;
};

/* Executes an instruction, and returns the next one. */
typedef const struct pq_insn *pq_run(const struct pq_insn *in, struct pq_fields *fields,
				     struct pq_value *regs);

union pq_target {
	uint32_t label; /* while compiling */
	const struct pq_insn *to;
};

struct pq_insn {
	pq_run *run;		/* NULL: the end */
	union pq_target yes;	/* next one if a test holds, or after a value */
	union pq_target no;	/* next one if a test does not hold */
	union pq_target absent; /* next one if an operand of a test is absent */
	uint32_t reg;		/* register of the (left) operand, and of the result */
	uint32_t field; /* number of the field to read into `reg`; PQ_NO_FIELD: none is read */
	const struct pq_value *constant; /* right operand; NULL: in reg + 1 */
	union {
		/* accepts integers whose bits in `mask` are low to low + width, modulo 2^64 */
		struct {
			uint64_t low, width, mask;
		};
		struct {
			uint8_t orders; /* bit n: accept the pq_order n */
			uint8_t signs;
		};
		struct pq_arith arith;
		struct pq_set *set;	    /* set of pq_run_in, owned */
		struct pq_text_work *text;  /* state of instructions over texts, owned */
		const struct pq_call *call; /* its arguments are in registers from `reg` on */
		struct {
			const uint8_t *events;
			size_t n_events;
		};
	};
};

/*
 * Makes a comparison, of which `orders` and `signs` are set, a range if it compares integers
 * with a constant: sets low, width and mask, and *left to the field of which *left takes bits,
 * if it does. Returns false if it is none.
 */
bool pq_range_of(struct pq_insn *insn, const struct pq_node **left,
		 const struct pq_node *right);

/* Frees what belongs to an instruction. */
void pq_insn_deinit(const struct pq_insn *insn);

/* The functions that execute instructions: see expr.c. */
pq_run pq_run_load, pq_run_constant, pq_run_arith, pq_run_float_arith, pq_run_count,
	pq_run_length, pq_run_call, pq_run_lower;
pq_run pq_run_jump, pq_run_truth, pq_run_present, pq_run_range, pq_run_range_of, pq_run_compare,
	pq_run_is_text, pq_run_event_in, pq_run_in, pq_run_find, pq_run_starts, pq_run_match,
	pq_run_under;

struct pq_expr {
	/* [n_code]: the first ones are the ends, PQ_CODE_… */
	struct pq_insn *code;
	size_t n_code;
	struct pq_value *regs;
	uint32_t field;	   /* number of the field, if it is the expression; else PQ_NO_FIELD */
	bool is_condition; /* the end reached is the value; else it is in register 0 */
};

/* Numbers of the ends of conditions. Values end after all instructions. */
#define PQ_CODE_FALSE  0
#define PQ_CODE_TRUE   1
#define PQ_CODE_ABSENT 2 /* for `and` and `or` whose operands are not only true or false */
#define PQ_CODE_START  3

/*
 * Compiles a tree into *expr, which is all zero. Returns false without memory: *expr owns what
 * was made so far.
 */
bool pq_compile(struct pq_expr *expr, const struct pq_node *node, struct pq_fields *fields);

#endif
