/*
 * Demangles names of C++, Rust and OCaml, the first two through libiberty if it was found at
 * build time. As in perf, functions of C++ are shown without the types of their parameters.
 */
#ifndef PERFLUA_SYMBOLS_DEMANGLE_H
#define PERFLUA_SYMBOLS_DEMANGLE_H

#include <stddef.h>

/*
 * Returns the demangled name, which the caller frees. Returns NULL if it is not mangled or too
 * long, or without memory.
 */
char *ps_demangle(const char *name);

/*
 * Does what ps_demangle() does, within a budget of *room bytes, as a few letters can stand for
 * a name without end. What demangling took is subtracted from *room, whether it succeeded or
 * not. Sets *length to the length of the result.
 */
char *ps_demangle_within(const char *name, size_t *room, size_t *length);

#endif
