/* Evaluates DWARF expressions, as call frame information uses them. */
#ifndef PERFLUA_MACHINE_UNWIND_EXPR_H
#define PERFLUA_MACHINE_UNWIND_EXPR_H

#include "unwind_regs.h"

/*
 * Reads `n` ≤ 8 bytes of the process's memory as a number. Returns false if they are not known.
 */
typedef bool pm_memory_fn(void *arg, uint64_t address, unsigned n, uint64_t *out);

/*
 * Holds the operands of an expression: the registers of a frame, its CFA (0 while that is
 * computed), the size of an address in bytes, and memory.
 */
struct pm_expr_context {
	const struct pm_regs *regs;
	uint64_t cfa;
	unsigned word;
	pm_memory_fn *memory;
	void *arg;
};

/* Sets *out to the result of `n` operations. Returns false if they yield none. */
bool pm_evaluate(const struct pm_expr_context *context, const struct ps_op *ops, size_t n,
		 uint64_t *out);

#endif
