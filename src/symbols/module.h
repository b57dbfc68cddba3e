/*
 * Modules of the kernel by their names.
 */
#ifndef PERFLUA_SYMBOLS_MODULE_H
#define PERFLUA_SYMBOLS_MODULE_H

#include <stdbool.h>
#include <stddef.h>

/* The file of a module "[name]" of a kernel's release, below `symfs`; false: there is none. */
bool ps_module_path(const char *symfs, const char *release, const char *name, char *path,
		    size_t size);

#endif
