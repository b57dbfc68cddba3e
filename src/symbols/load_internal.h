/*
 * How the symbols of each kind of binary are loaded: load.c calls these, and for modules the
 * kernel's.
 */
#ifndef PERFLUA_SYMBOLS_LOAD_INTERNAL_H
#define PERFLUA_SYMBOLS_LOAD_INTERNAL_H

#include "internal.h"

/*
 * How symbols are looked for, by kind. False: there are none, and why is in reason and tried.
 */
typedef bool ps_load_fn(struct ps_dso *dso);
ps_load_fn ps_load_user, ps_load_kernel, ps_load_module, ps_load_vdso, ps_load_jit;

/* Looks for symbols, by one who has the lock. */
bool ps_dso_load_locked(struct ps_dso *dso);

#endif
