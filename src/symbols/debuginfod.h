/*
 * Fetches files from the servers that DEBUGINFOD_URLS names, through libdebuginfod if this
 * machine has it.
 */
#ifndef PERFLUA_SYMBOLS_DEBUGINFOD_H
#define PERFLUA_SYMBOLS_DEBUGINFOD_H

#include "dso.h"

/*
 * Fetches the file with build-id `id`, its debug information if `debug` is true, into the cache
 * of the library, and writes its path to path[size]. Returns false if there is none.
 */
bool ps_debuginfod(const struct ps_build_id *id, bool debug, char *path, size_t size);

#endif
