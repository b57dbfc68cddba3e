/*
 * What perf's own configuration says of places.
 */
#ifndef PERFLUA_SYMBOLS_PERFCONFIG_H
#define PERFLUA_SYMBOLS_PERFCONFIG_H

#include <stdbool.h>
#include <stddef.h>

/* The key buildid.dir of a configuration file, into dir[size]; false: it is not there. */
bool ps_perfconfig_buildid_dir(const char *path, char *dir, size_t size);

#endif
