/*
 * DWARF expressions, as call frame information uses them.
 */
#ifndef PERFLUA_MACHINE_UNWIND_EXPR_H
#define PERFLUA_MACHINE_UNWIND_EXPR_H

#include "unwind_regs.h"

/* Reads n ≤ 8 bytes of the process's memory as a number; false: they are not known. */
typedef bool pm_memory_fn(void *arg, uint64_t address, unsigned n, uint64_t *out);

/*
 * What an expression is about: a frame's registers, its address (0 while that is looked for),
 * memory.
 */
struct pm_context {
	const struct pm_regs *regs;
	uint64_t cfa;
	unsigned word;
	pm_memory_fn *memory;
	void *arg;
};

/* The value of n operations; false: they make none. */
bool pm_evaluate(const struct pm_context *context, const struct ps_op *ops, size_t n,
		 uint64_t *out);

#endif
