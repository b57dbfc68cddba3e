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

#include "arith.h"
#include "base/pattern.h"
#include "base/string_builder.h"
#include "expr.h"
#include "set.h"

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
	uint32_t field; /* field to read into `reg`; PQ_NO_FIELD: the operand is there */
	const struct pq_value *constant; /* right operand; NULL: in reg + 1 */
	union {
		/* accepts integers from low to low + width, modulo 2^64 */
		struct {
			uint64_t low, width;
		};
		struct {
			uint8_t orders; /* bit n: accept the pq_order n */
			uint8_t signs;
		};
		struct pq_arith arith;
		struct pq_set *set;	    /* owned */
		struct pq_text_work *text;  /* owned; for instructions over texts */
		const struct pq_call *call; /* its arguments are in registers from `reg` on */
		struct {
			const uint8_t *events;
			size_t n_events;
		};
	};
};

/* Frees what belongs to an instruction. */
void pq_insn_deinit(const struct pq_insn *insn);

/* Execute the instructions: expr.c. */
pq_run pq_run_load, pq_run_constant, pq_run_arith, pq_run_float_arith, pq_run_count,
	pq_run_length, pq_run_call, pq_run_lower;
pq_run pq_run_jump, pq_run_truth, pq_run_present, pq_run_range, pq_run_range_of, pq_run_compare,
	pq_run_is_text, pq_run_event_in, pq_run_in, pq_run_find, pq_run_starts, pq_run_match,
	pq_run_under;

struct pq_expr {
	/* The first two are ends: for false, or a value; and for true. */
	struct pq_insn *code;
	size_t n_code;
	struct pq_value *regs;
	uint32_t field;	   /* the field that the expression is; else PQ_NO_FIELD */
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
