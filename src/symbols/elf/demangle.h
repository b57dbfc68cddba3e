/*
 * Names of C++, Rust and OCaml as their authors wrote them; the first two through libiberty if
 * it was found when this was built. As perf shows them: functions of C++ without the types of
 * their parameters.
 */
#ifndef PERFLUA_SYMBOLS_DEMANGLE_H
#define PERFLUA_SYMBOLS_DEMANGLE_H

#include <stddef.h>

/*
 * To be freed; NULL: the name is no mangled one, is longer than it is worth, or there is no
 * memory.
 */
char *ps_demangle(const char *name);

/*
 * The same, of not more than *room bytes, from which is taken what was made of the name in vain
 * or not: a few letters can stand for a name without end. `length` is set to that of what is
 * returned.
 */
char *ps_demangle_within(const char *name, size_t *room, size_t *length);

#endif
