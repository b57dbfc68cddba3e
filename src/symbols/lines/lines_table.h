/*
 * Checks a table of line numbers before libdw reads it.
 *
 * libdw makes a row of some tens of bytes from a byte of the table, and joins each file's name
 * to that of its directory. A small file could claim a million long names, or let all units
 * share a large table from different offsets on.
 */
#ifndef PERFLUA_SYMBOLS_LINES_TABLE_H
#define PERFLUA_SYMBOLS_LINES_TABLE_H

#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Limits of what may still be read of a file's tables. */
struct ps_table_budget {
	uint64_t bytes; /* bytes of line number programs */
	uint64_t names; /* bytes of joined names */
};

/* The sections of the tables. */
struct ps_table_sections {
	const Elf_Data *line, *line_str, *str; /* NULL: none */
	bool big;			       /* big-endian */
};

/* Finds the sections of a file; `dwo`: of a .dwo file. */
void ps_table_sections(struct ps_table_sections *sections, Elf *elf, bool dwo);

/* Sets the budget for all tables of a file. */
void ps_table_budget(struct ps_table_budget *budget, const struct ps_table_sections *sections);

/*
 * Returns true if the table at `offset` may be read. `comp_dir` is the length of the directory
 * that the unit was compiled in.
 */
bool ps_table_fits(const struct ps_table_sections *sections, uint64_t offset, size_t comp_dir,
		   struct ps_table_budget *budget);

#endif
