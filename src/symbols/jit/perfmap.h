/*
 * Reads /tmp/perf-PID.map files, in which programs that make code at run time list what they
 * made: a line for each function, with its address and size in hexadecimal and its name.
 */
#ifndef PERFLUA_SYMBOLS_PERFMAP_H
#define PERFLUA_SYMBOLS_PERFMAP_H

#include "symbols/elf/table.h"

/*
 * Fills a table with the functions of a text. Of several at one address the last one counts.
 * Lines of another form are skipped. Returns false without memory.
 */
bool ps_perfmap_parse(struct ps_table *table, const char *text, size_t size);

#endif
