/*
 * Files from the servers that DEBUGINFOD_URLS names: through libdebuginfod, if this machine has
 * it.
 */
#ifndef PERFLUA_SYMBOLS_DEBUGINFOD_H
#define PERFLUA_SYMBOLS_DEBUGINFOD_H

#include "dso.h"

/*
 * Fetches the file of that build-id into the library's cache: its debug information, or itself.
 * False: none.
 */
bool ps_debuginfod(const struct ps_build_id *id, bool debug, char *path, size_t size);

#endif
