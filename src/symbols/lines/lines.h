/*
 * Source lines of addresses, and the functions that were inlined there: DWARF, through libdw.
 * Read when it is asked for; what was asked once is kept.
 */
#ifndef PERFLUA_SYMBOLS_LINES_H
#define PERFLUA_SYMBOLS_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ps_dso;
struct ps_lines;

/*
 * A function at an address. Strings stay as long as the dso, end with a NUL, and may be NULL:
 * not known.
 */
struct ps_line {
	const char *function; /* demangled as the store says */
	const char *file;     /* its whole path, as the compiler wrote it */
	const char *srcline;  /* as perf prints it: "file.c:12" */
	uint32_t line;	      /* 0: not known */
};

/*
 * The functions at an address of a dso, the innermost first, the last one the one that has code
 * of its own; the dso's. Their number; 0: there is no debug information for it.
 */
size_t ps_dso_lines(struct ps_dso *dso, uint64_t address, const struct ps_line **lines);

/*
 * Finds the file that has the debug information of `dso`, without reading it: looks for the
 * symbols of `dso` first, if nobody has. Stores its path, with symfs, in path[size]. Returns
 * false where there is none.
 */
bool ps_dso_debug_file(struct ps_dso *dso, char *path, size_t size);

/* Frees what was kept; by the store, for each dso. */
void ps_lines_destroy(struct ps_lines *lines);

#endif
