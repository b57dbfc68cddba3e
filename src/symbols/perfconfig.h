/* Reads perf's own configuration. */
#ifndef PERFLUA_SYMBOLS_PERFCONFIG_H
#define PERFLUA_SYMBOLS_PERFCONFIG_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Writes the value of buildid.dir in the configuration file `path` to dir[size]. Returns false
 * if it is not set.
 */
bool ps_perfconfig_buildid_dir(const char *path, char *dir, size_t size);

#endif
