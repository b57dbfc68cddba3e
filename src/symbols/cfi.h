/*
 * Call frame information of a binary: how to find the registers of a function's caller, at each
 * address. libdw reads it from .eh_frame, else from .debug_frame; rows are remembered.
 * Registers have their DWARF numbers.
 */
#ifndef PERFLUA_SYMBOLS_CFI_H
#define PERFLUA_SYMBOLS_CFI_H

#include "dso.h"

#define PS_REGISTERS 33 /* registers with higher numbers are ignored */

enum ps_rule_kind {
	PS_REGISTER,	  /* value of register `from` + value */
	PS_CFA,		  /* CFA + value */
	PS_AT_CFA,	  /* memory at CFA + value */
	PS_EXPRESSION,	  /* result of `n_ops` operations from number `value` on */
	PS_AT_EXPRESSION, /* memory at that result */
};

struct ps_rule {
	uint8_t reg; /* register that the rule gives */
	uint8_t kind;
	uint8_t from;
	uint8_t n_ops;
	int32_t value;
};

/* An operation of a DWARF expression: DW_OP_… of dwarf.h. */
struct ps_op {
	uint64_t atom, number, number2;
	uint64_t offset; /* offset in the expression, for branches */
};

/* The rules for one address. A register keeps its value if it is not lost and has no rule. */
struct ps_row {
	uint32_t size; /* bytes of the row, with its ops */
	uint8_t ra;    /* register with the return address */
	bool signal;   /* a signal frame: its caller made no call */
	uint16_t n_rules;
	uint64_t lost;	    /* bit n is set if register n cannot be recovered */
	struct ps_rule cfa; /* rule of the CFA */
	struct ps_rule rules[];
	/* the ops follow */
};

static inline const struct ps_op *ps_row_ops(const struct ps_row *row)
{
	return (const struct ps_op *)(row->rules + row->n_rules);
}

struct ps_cfi;

/*
 * Opens the CFI of the file that was mapped; a file with another build-id is not used. Returns
 * NULL without one, or without memory.
 */
struct ps_cfi *ps_cfi_create(struct ps_dso *dso);
void ps_cfi_destroy(struct ps_cfi *cfi);

/* Returns the ELF machine of the file: EM_… of elf.h. */
uint16_t ps_cfi_machine(const struct ps_cfi *cfi);

/*
 * Returns the row for `address` of the dso; NULL: none. It belongs to `cfi` until the next
 * call.
 */
const struct ps_row *ps_cfi_row(struct ps_cfi *cfi, uint64_t address);

/*
 * Reads `n` bytes of the mapped file at `address` of the dso. Returns false if it does not have
 * them.
 */
bool ps_cfi_bytes(const struct ps_cfi *cfi, uint64_t address, void *bytes, size_t n);

#endif
