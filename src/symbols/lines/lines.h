/*
 * Source lines of addresses, and the functions that were inlined there, from DWARF through
 * libdw. They are read on demand, and remembered.
 */
#ifndef PERFLUA_SYMBOLS_LINES_H
#define PERFLUA_SYMBOLS_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ps_dso;
struct ps_lines;
struct ps_symbol;

/*
 * A function at an address. The strings live as long as the dso, end with a NUL, and are NULL
 * if not known.
 */
struct ps_line {
	const char *function; /* demangled unless the store's options say otherwise */
	const char *file;     /* whole path, as the compiler wrote it */
	const char *srcfile;  /* as perf prints it: "file.c", or with the option its path */
	const char *srcline;  /* the same with its line: "file.c:12" */
	uint32_t line;	      /* 0: not known */
};

/*
 * Sets *lines to the functions at an address of a dso, innermost first; the last one is not
 * inlined. They are the dso's. Returns their number; 0: there is no debug information for it.
 */
size_t ps_dso_lines(struct ps_dso *dso, uint64_t address, const struct ps_line **lines);

/*
 * Closes the file with the debug information of a dso: it takes much memory. Lines that were
 * asked for stay; for others it is opened again.
 */
void ps_dso_close_lines(struct ps_dso *dso);

/*
 * Writes symbols of the functions inlined at an address of a dso, innermost first, to
 * symbols[room], of further ones none. Their names end with " (inlined)", as perf shows them,
 * and live as long as the dso. One with the name of `symbol`, in which the address is, is that,
 * as in perf; `symbol` may be NULL. Returns their number.
 */
size_t ps_dso_inlined(struct ps_dso *dso, uint64_t address, const struct ps_symbol *symbol,
		      const struct ps_symbol **symbols, size_t room);

/*
 * Finds the file with the debug information of `dso`, without reading it, and writes its path,
 * with symfs, to path[size]. Loads the symbols of `dso` first, if needed. Returns false if
 * there is none.
 */
bool ps_dso_debug_file(struct ps_dso *dso, char *path, size_t size);

/* Frees the lines of a dso; called by the store. */
void ps_lines_destroy(struct ps_lines *lines);

#endif
