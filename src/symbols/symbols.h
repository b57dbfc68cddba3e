/*
 * The public header of symbols: binaries of this machine → the functions and lines of
 * addresses. Knows files, kernels and elfutils; nothing of records, threads or Lua.
 *
 *	struct ps_store *store = ps_store_create(&options);
 *	struct ps_dso *dso = ps_store_dso(store, &id);
 *	const struct ps_symbol *symbol = ps_dso_symbol(dso, address);
 *
 * Nothing is opened before the first address is asked for, and each file once. No process is
 * started, and nothing is fetched from a network unless `debuginfod` says so.
 */
#ifndef PERFLUA_SYMBOLS_SYMBOLS_H
#define PERFLUA_SYMBOLS_SYMBOLS_H

#include "base/vector.h"
#include "cfi.h"
#include "load.h"
#include "symbols/elf/interrupt.h"
#include "store.h"
#include "symbols/elf/table.h"

/*
 * What was built in: the version of elfutils, and whether names of C++ and Rust can be
 * demangled.
 */
const char *ps_elfutils_version(void);
bool ps_can_demangle(void);

#endif
