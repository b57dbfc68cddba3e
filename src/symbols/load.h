/*
 * Symbols of a binary, which are loaded when one of its addresses is looked up: load.c loads
 * those of files that processes mapped, of the vdso, of code made at run time (jitdumps, perf
 * maps) and of BPF programs, kernel.c those of the kernel and its modules.
 */
#ifndef PERFLUA_SYMBOLS_LOAD_H
#define PERFLUA_SYMBOLS_LOAD_H

#include "asked.h"
#include "dso.h"

/*
 * Loads the symbols of `dso`, unless that was tried before. Returns true if it has some. If it
 * is interrupted, it returns false, and the state stays.
 */
bool ps_dso_load(struct ps_dso *dso);

/* Returns whether an address can be looked up. Notes it where that is wanted. */
static inline bool ps_dso_prepare(struct ps_dso *dso, uint64_t address)
{
	enum ps_state state = __atomic_load_n(&dso->state, __ATOMIC_ACQUIRE);

	if (state != PS_LOADED && (state == PS_MISSING || !ps_dso_load(dso)))
		return false;
	if (dso->asked)
		ps_note_address(dso->asked, address);
	return true;
}

/* Returns the symbol that covers an address; NULL: none. Any number of threads may call it. */
static inline const struct ps_symbol *ps_dso_symbol(struct ps_dso *dso, uint64_t address)
{
	return ps_dso_prepare(dso, address) ? ps_table_find(&dso->table, address) : NULL;
}

/*
 * Does what ps_dso_symbol() does, and sets *ret to addresses around this one, and it, that need
 * not be looked up, as the answer is the same.
 */
static inline const struct ps_symbol *ps_dso_symbol_range(struct ps_dso *dso, uint64_t address,
							  struct ps_range *ret)
{
	*ret = (struct ps_range){ address, address };
	if (!ps_dso_prepare(dso, address))
		return NULL;
	if (dso->asked)
		return ps_table_find(&dso->table, address);
	return ps_table_find_range(&dso->table, address, ret);
}

/*
 * Returns the symbol that covers an address at `time` (ns of the recording's clock); NULL:
 * none. The time matters only for symbols of jitdumps.
 */
const struct ps_symbol *ps_dso_symbol_at(struct ps_dso *dso, uint64_t address, uint64_t time);

/* Returns the last time at which ps_dso_symbol_at() still returns what it returns at `time`. */
uint64_t ps_dso_symbol_last(struct ps_dso *dso, uint64_t address, uint64_t time);

/* Returns the number of symbols loaded by now. */
size_t ps_dso_symbols(const struct ps_dso *dso);

/*
 * Turns an address of `dso`, whose symbols were looked for, into that of its ELF file, which nm
 * and addr2line show. Returns false if there is no such file or no segment of it holds the
 * address.
 */
bool ps_dso_elf_address(struct ps_dso *dso, uint64_t address, uint64_t *elf_address);

/*
 * Return the version of elfutils, and whether names of C++ and Rust can be demangled, as of the
 * build.
 */
const char *ps_elfutils_version(void);
bool ps_can_demangle(void);

#endif
