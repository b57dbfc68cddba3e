/*
 * The entries of procedure linkage tables: code of the linker's own that goes on to a function,
 * mostly of another file. No symbol table has them.
 */
#ifndef PERFLUA_SYMBOLS_ELF_PLT_H
#define PERFLUA_SYMBOLS_ELF_PLT_H

#include <libelf.h>
#include <stdbool.h>

#include "table.h"

struct ps_parts;

/*
 * Adds them to a table that is finished: "name@plt", and ".plt" for what belongs to none.
 * False: no memory.
 */
bool ps_plt_add(struct ps_table *table, Elf *elf, const struct ps_parts *parts, bool mangled);

#endif
