/*
 * The symbols of a binary, which are loaded when one of its addresses is asked for.
 */
#ifndef PERFLUA_SYMBOLS_LOAD_H
#define PERFLUA_SYMBOLS_LOAD_H

#include "dso.h"

/*
 * Looks for the symbols of `dso`, if nobody has. Returns true if it has some. Returns false,
 * and the state stays, if that is interrupted.
 */
bool ps_dso_load(struct ps_dso *dso);

/* Returns the symbol that covers an address, or NULL. Any number of threads may ask. */
static inline const struct ps_symbol *ps_dso_symbol(struct ps_dso *dso, uint64_t address)
{
	enum ps_state state = __atomic_load_n(&dso->state, __ATOMIC_ACQUIRE);

	if (state != PS_LOADED && (state == PS_MISSING || !ps_dso_load(dso)))
		return NULL;
	return ps_table_find(&dso->table, address);
}

/*
 * Returns the symbol that covers an address at a time (ns of the recording's clock), or NULL.
 * Only symbols of jitdump files are valid from a time on; for all others the time does not
 * matter.
 */
const struct ps_symbol *ps_dso_symbol_at(struct ps_dso *dso, uint64_t address, uint64_t time);

/* Returns the last time up to which ps_dso_symbol_at() gives what it gives at `time`. */
uint64_t ps_dso_symbol_last(struct ps_dso *dso, uint64_t address, uint64_t time);

/* Returns how many symbols it has by now. */
size_t ps_dso_symbols(const struct ps_dso *dso);

/*
 * Turns an address of `dso`, whose symbols were looked for, into the one that its ELF file has
 * for it, as nm and addr2line show. Returns false where there is no such file or no segment of
 * it holds the address.
 */
bool ps_dso_elf_address(struct ps_dso *dso, uint64_t address, uint64_t *elf_address);

#endif
