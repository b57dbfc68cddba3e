/*
 * Registers of samples, per architecture, by the numbers that DWARF gives them: see the ABI
 * supplements, and arch/…/include/uapi/asm/perf_regs.h for the numbers that perf gives them.
 */
#ifndef PERFLUA_MACHINE_UNWIND_REGS_H
#define PERFLUA_MACHINE_UNWIND_REGS_H

#include "perfdata/format/record.h"
#include "symbols/symbols.h"

struct pm_unwind_arch {
	uint16_t machine;	  /* EM_… of elf.h */
	uint8_t word;		  /* bytes of an address */
	uint8_t sp, fp;		  /* by DWARF's numbers */
	uint8_t n;		  /* registers */
	uint8_t pc;		  /* the bit in perf's mask */
	uint8_t of[PS_REGISTERS]; /* by DWARF's number: the bit in perf's mask */
};

/* Of a sample with that ABI (PERF_SAMPLE_REGS_ABI_32 or 64); NULL: it cannot be unwound. */
const struct pm_unwind_arch *pm_unwind_arch(const struct pd_shape *shape, uint64_t abi);

/* The values of one frame's registers. */
struct pm_regs {
	uint64_t known; /* bit set: values has it */
	uint64_t values[PS_REGISTERS];
	uint64_t pc;
};

/*
 * Reads what a sample has, whose registers start at `at`; false: not the instruction and stack
 * pointers.
 */
bool pm_regs_read(struct pm_regs *regs, const struct pm_unwind_arch *arch,
		  const struct pd_record *rec, uint32_t at);

static inline bool pm_regs_get(const struct pm_regs *regs, unsigned reg, uint64_t *out)
{
	if (reg >= PS_REGISTERS || !(regs->known >> reg & 1))
		return false;
	*out = regs->values[reg];
	return true;
}

static inline void pm_regs_set(struct pm_regs *regs, unsigned reg, uint64_t value)
{
	regs->known |= UINT64_C(1) << reg;
	regs->values[reg] = value;
}

#endif
