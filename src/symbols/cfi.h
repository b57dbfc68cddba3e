/*
 * Call frame information of a binary: how the registers of a function's caller are found, at
 * each address of it. Read by libdw from .eh_frame, else from .debug_frame; what it says of an
 * address is kept.
 *
 * Registers have their DWARF numbers.
 */
#ifndef PERFLUA_SYMBOLS_CFI_H
#define PERFLUA_SYMBOLS_CFI_H

#include "dso.h"

#define PS_REGISTERS 33 /* those with higher numbers are left out */

enum ps_rule_kind {
	PS_REGISTER,	  /* the value of register `from`, plus value */
	PS_CFA,		  /* the frame's address, plus value */
	PS_AT_CFA,	  /* in memory, there */
	PS_EXPRESSION,	  /* what `n_ops` operations give, from op number `value` on */
	PS_AT_EXPRESSION, /* in memory, there */
};

struct ps_rule {
	uint8_t reg; /* whose it is */
	uint8_t kind;
	uint8_t from;
	uint8_t n_ops;
	int32_t value;
};

/* An operation of a DWARF expression: DW_OP_… of dwarf.h. */
struct ps_op {
	uint64_t atom, number, number2;
	uint64_t offset; /* in the expression: where branches go */
};

/* What holds at an address. Registers that are not lost and have no rule keep their values. */
struct ps_row {
	uint32_t size; /* of all of it */
	uint8_t ra;    /* the register that holds where the caller goes on */
	bool signal;   /* of a frame that calls a signal handler: its caller did not call */
	uint16_t n_rules;
	uint64_t lost;	    /* bit set: nothing says what the register was */
	struct ps_rule cfa; /* the frame's address */
	struct ps_rule rules[];
	/* then the ops */
};

static inline const struct ps_op *ps_row_ops(const struct ps_row *row)
{
	return (const struct ps_op *)(row->rules + row->n_rules);
}

struct ps_cfi;

/*
 * Opens the file that was mapped; one whose build-id differs is not used. NULL: there is none,
 * or no memory.
 */
struct ps_cfi *ps_cfi_create(struct ps_dso *dso);
void ps_cfi_destroy(struct ps_cfi *cfi);

/* What it is for: EM_… of elf.h. */
uint16_t ps_cfi_machine(const struct ps_cfi *cfi);

/*
 * What holds at an address of the dso; NULL: nothing is known. The cfi's, until it is asked
 * again.
 */
const struct ps_row *ps_cfi_row(struct ps_cfi *cfi, uint64_t address);

/*
 * Reads n bytes of the file that was mapped at an address of the dso; false: it has not so many
 * there.
 */
bool ps_cfi_bytes(const struct ps_cfi *cfi, uint64_t address, void *bytes, size_t n);

#endif
