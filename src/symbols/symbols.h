/*
 * The public header of symbols: finds the functions and source lines of addresses in binaries
 * of this machine. It knows files, kernels and elfutils, but no records, recorded threads or
 * Lua.
 *
 *	struct ps_store *store = ps_store_create(&options);
 *	struct ps_dso *dso = ps_store_dso(store, &id);
 *	const struct ps_symbol *symbol = ps_dso_symbol(dso, address);
 *
 * A file is opened when its first address is looked up, and only once. No process is started,
 * and nothing is fetched from a network unless options.debuginfod is true.
 */
#ifndef PERFLUA_SYMBOLS_SYMBOLS_H
#define PERFLUA_SYMBOLS_SYMBOLS_H

#include "base/vector.h"
#include "cfi.h"
#include "load.h"
#include "symbols/elf/interrupt.h"
#include "store.h"
#include "symbols/elf/table.h"

#endif
