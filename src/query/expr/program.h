/*
 * What expr.c runs and compile.c makes: instructions, each of which says which one is next.
 *
 * Conditions are jumps: a test has an instruction to go on with if it holds, if it does not,
 * and if its operand is absent, so `and`, `or` and `not` cost nothing. Values are made in
 * registers, of which a tree's depth is the number.
 */
#ifndef PERFLUA_QUERY_PROGRAM_H
#define PERFLUA_QUERY_PROGRAM_H

#include "arith.h"
#include "expr.h"
#include "set.h"

#define PQ_NO_FIELD UINT32_MAX

struct pq_insn;

/* The instruction to go on with. */
typedef const struct pq_insn *pq_run(const struct pq_insn *in, struct pq_fields *fields,
				     struct pq_value *regs);

union pq_target {
	uint32_t label; /* while it is compiled */
	const struct pq_insn *to;
};

struct pq_insn {
	pq_run *run;		/* NULL: the end */
	union pq_target yes;	/* of a value: the next instruction */
	union pq_target no;	/* of tests */
	union pq_target absent; /* of tests: an operand is */
	uint32_t reg;		/* of the (left) operand, and of the result */
	uint32_t field; /* the operand is this one, read into reg; PQ_NO_FIELD: it is in reg */
	const struct pq_value *constant; /* the right operand; NULL: it is in reg + 1 */
	union {
		struct { /* an integer of low … low + width, as it comes, modulo 2^64 */
			uint64_t low, width;
		};
		struct {
			uint8_t orders; /* a bit for each enum pq_order that holds */
			uint8_t signs;
		};
		struct pq_arith arith;
		struct pq_set *set;	    /* owned */
		const struct pq_call *call; /* its arguments are in reg and behind */
		struct {
			const uint8_t *events;
			size_t n_events;
		};
	};
};

/* What instructions do (expr.c). */
pq_run pq_run_load, pq_run_constant, pq_run_arith, pq_run_float_arith, pq_run_count,
	pq_run_length, pq_run_call;
pq_run pq_run_jump, pq_run_truth, pq_run_present, pq_run_range, pq_run_range_of, pq_run_compare,
	pq_run_is_text, pq_run_event_in, pq_run_in, pq_run_find, pq_run_starts, pq_run_under;

struct pq_expr {
	struct pq_insn *
		/* the first two are ends: of what is false, or a value; of what is true */
		code;
	size_t n_code;
	struct pq_value *regs;
	uint32_t field;	   /* it is this field alone; else PQ_NO_FIELD */
	bool is_condition; /* where it ends is its value; else that is in register 0 */
};

/* Ends of conditions; values end behind all else. */
#define PQ_CODE_FALSE  0
#define PQ_CODE_TRUE   1
#define PQ_CODE_ABSENT 2 /* of `and` and `or`, whose operands may be more than true or false */
#define PQ_CODE_START  3

/*
 * Fills in a program that is all zero. False: no memory; what is there by then is the
 * program's.
 */
bool pq_compile(struct pq_expr *expr, const struct pq_node *node, struct pq_fields *fields);

#endif
