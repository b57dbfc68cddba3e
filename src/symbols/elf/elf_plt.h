/*
 * Entries of procedure linkage tables: code that the linker makes, which goes on to a function,
 * mostly of another file. No symbol table has them.
 */
#ifndef PERFLUA_SYMBOLS_ELF_PLT_H
#define PERFLUA_SYMBOLS_ELF_PLT_H

#include <libelf.h>
#include <stdbool.h>

#include "table.h"

struct ps_parts;

/*
 * Adds the entries to a finished table: as "name@plt", and as ".plt" if no function is known.
 * Returns false without memory.
 */
bool ps_plt_add(struct ps_table *table, Elf *elf, const struct ps_parts *parts, bool mangled);

#endif
