/*
 * Loads the symbols of each kind of binary: load.c calls these, and module loading that of the
 * kernel.
 */
#ifndef PERFLUA_SYMBOLS_LOAD_INTERNAL_H
#define PERFLUA_SYMBOLS_LOAD_INTERNAL_H

#include "internal.h"

/*
 * Load the symbols of a dso of one kind. Return false if there are none; dso->reason and
 * dso->tried then say why.
 */
typedef bool ps_load_fn(struct ps_dso *dso);
ps_load_fn ps_load_user, ps_load_kernel, ps_load_module, ps_load_vdso, ps_load_jit;

/* Does what ps_dso_load() does, for a caller that has the lock. */
bool ps_dso_load_locked(struct ps_dso *dso);

#endif
