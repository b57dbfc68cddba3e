/*
 * Internal to the module: the recorded kernel and its modules, and what the running one shows
 * of itself. See dso__load_kernel_sym, tools/perf/util/symbol.c.
 */
#ifndef PERFLUA_SYMBOLS_KERNEL_H
#define PERFLUA_SYMBOLS_KERNEL_H

#include "internal.h"
#include "symbols/elf/build_id.h"

/* Does what ps_dso_load() does, for a caller that has the lock. */
typedef bool ps_load_other_fn(struct ps_dso *dso);

/*
 * Load the symbols of a dso of one kind; load_other() loads another dso. Return false if there
 * are none; dso->reason and dso->tried then say why.
 */
typedef bool ps_load_fn(struct ps_dso *dso, ps_load_other_fn *load_other);
ps_load_fn ps_load_kernel, ps_load_module;

/*
 * Returns true if the recorded kernel of a store is the one that runs here. load_other() loads
 * its symbols.
 */
bool ps_kernel_runs(struct ps_store *store, ps_load_other_fn *load_other);

/*
 * Writes the path of module "[name]" of a kernel release, below `symfs`, to path[size]. Returns
 * false if there is none.
 */
bool ps_module_path(const char *symfs, const char *release, const char *name, char *path,
		    size_t size);

#define PS_KERNEL_NOTES "/sys/kernel/notes"

/*
 * Reads the build-id among the notes in a file, which the running kernel shows of itself and of
 * its modules. Returns false if there is none.
 */
bool ps_read_notes(const char *path, struct ps_build_id *id);

#endif
