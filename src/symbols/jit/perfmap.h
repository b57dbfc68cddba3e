/*
 * The files /tmp/perf-PID.map in which programs that make code at run time say what they made:
 * a line for each function, its address and size in hexadecimal digits and its name.
 */
#ifndef PERFLUA_SYMBOLS_PERFMAP_H
#define PERFLUA_SYMBOLS_PERFMAP_H

#include "symbols/elf/table.h"

/*
 * Makes a table of the functions of a text; of several at one address the last one is there
 * now. Lines that are none are passed over. False: no memory.
 */
bool ps_perfmap_parse(struct ps_table *table, const char *text, size_t size);

#endif
