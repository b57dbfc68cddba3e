/*
 * Loads the symbols of each kind of binary: load.c calls these. Some need the symbols of the
 * kernel first, for which load.c gives them a function.
 */
#ifndef PERFLUA_SYMBOLS_LOAD_INTERNAL_H
#define PERFLUA_SYMBOLS_LOAD_INTERNAL_H

#include "internal.h"

/* Does what ps_dso_load() does, for a caller that has the lock. */
typedef bool ps_load_other_fn(struct ps_dso *dso);

/*
 * Load the symbols of a dso of one kind; load_other() loads another dso. Return false if there
 * are none; dso->reason and dso->tried then say why.
 */
typedef bool ps_load_fn(struct ps_dso *dso, ps_load_other_fn *load_other);
ps_load_fn ps_load_user, ps_load_kernel, ps_load_module, ps_load_vdso, ps_load_jit;

/*
 * Returns true if the recorded kernel of a store is the one that runs here. load_other() loads
 * its symbols.
 */
bool ps_kernel_runs(struct ps_store *store, ps_load_other_fn *load_other);

#endif
