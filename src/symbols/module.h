/* Finds files of kernel modules by name. */
#ifndef PERFLUA_SYMBOLS_MODULE_H
#define PERFLUA_SYMBOLS_MODULE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Writes the path of module "[name]" of a kernel release, below `symfs`, to path[size]. Returns
 * false if there is none.
 */
bool ps_module_path(const char *symfs, const char *release, const char *name, char *path,
		    size_t size);

#endif
