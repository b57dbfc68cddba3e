/*
 * Unwinds the stack of a user process from recorded registers and a copy of the stack's top, by
 * the call frame information of its binaries, and finds callers in the link register. The
 * registers and expressions that this takes stand below.
 */
#ifndef PERFLUA_MACHINE_UNWIND_H
#define PERFLUA_MACHINE_UNWIND_H

#include "perfdata/format/record.h"
#include "symbols/symbols.h"
#include "locations.h"

struct pm_unwinder;

/*
 * Creates an unwinder for one worker. It keeps binaries open. `system` must outlive it. Returns
 * NULL without memory.
 */
struct pm_unwinder *pm_unwinder_create(const struct pm_system *system);
void pm_unwinder_destroy(struct pm_unwinder *unwinder);

/*
 * Returns true if `rec` has the registers and the stack to be unwound, of a known architecture.
 */
bool pm_unwinder_knows(const struct pd_record *rec);

/*
 * Writes the addresses of a sample's user frames to `ips`, from its ip on, at most `n`, and
 * returns their number. As in perf, the address of a caller is its return address - 1, which
 * lies in the call, except after a signal frame: see unwind__get_entries,
 * tools/perf/util/unwind-libdw.c. Sets *is_whole to whether the last of them is the outermost
 * frame of the thread, and call frame information led to each.
 */
size_t pm_unwind(struct pm_unwinder *unwinder, const struct pd_record *rec,
		 const struct pm_addr_context *context, uint64_t *ips, size_t n,
		 bool *is_whole);

/*
 * Returns true if the samples of `shape` may lack the caller of a leaf function. On arm64 a
 * leaf function has no frame record, so its caller is only in the link register, which perf
 * records beside call chains of frame pointers. See get_leaf_frame_caller_aarch64,
 * tools/perf/util/arm64-frame-pointer-unwind-support.c.
 */
bool pm_unwinder_knows_leaf(const struct pd_shape *shape);

/*
 * Sets *caller to the caller of the function at `ip`, the first user address of the sample,
 * taken from the link register. Returns false if the function has a frame record, or the caller
 * is not known.
 */
bool pm_unwind_leaf(struct pm_unwinder *unwinder, const struct pd_record *rec,
		    const struct pm_addr_context *context, uint64_t ip, uint64_t *caller);

/*
 * The registers of an architecture. They have the numbers that DWARF gives them, which the ABI
 * supplements of each architecture define; arch/…/include/uapi/asm/perf_regs.h defines those of
 * samples.
 */
struct pm_unwind_arch {
	uint16_t elf_machine;	  /* EM_… of elf.h; EM_NONE: only the first frame is found */
	uint8_t word;		  /* bytes of an address */
	uint8_t sp, fp;		  /* DWARF numbers */
	uint8_t n;		  /* number of registers */
	uint8_t pc;		  /* bit in perf's mask */
	uint8_t of[PS_REGISTERS]; /* DWARF number → bit in perf's mask */
};

/*
 * Returns the architecture of samples of `shape` with that `abi` (PERF_SAMPLE_REGS_ABI_32 or
 * 64); NULL: they cannot be unwound.
 */
const struct pm_unwind_arch *pm_unwind_arch(const struct pd_shape *shape, uint64_t abi);

/* Values of the registers in one frame, by DWARF number. */
struct pm_regs {
	uint64_t known; /* bit n is set if values[n] is known */
	uint64_t values[PS_REGISTERS];
	uint64_t pc;
};

/*
 * Reads the user registers of a sample, which begin at offset `at` of the record. Returns false
 * if the instruction or stack pointer is not among them.
 */
bool pm_regs_read(struct pm_regs *regs, const struct pm_unwind_arch *arch,
		  const struct pd_record *rec, uint32_t at);

/* Sets *out to a register. Returns false, and leaves it untouched, if it is not known. */
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
