/*
 * A Lua state with the library for the targets in Lua. Which lines of Lua an input reaches
 * guides libFuzzer as its own counters do.
 */
#ifndef PERFLUA_FUZZ_STATE_H
#define PERFLUA_FUZZ_STATE_H

#include <stddef.h>
#include <stdint.h>

/* Calls the function that the script returns with a string; an error ends the run. */
void fuzz_lua(const char *script, const void *bytes, size_t n);

#endif
