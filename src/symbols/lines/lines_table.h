/*
 * A look at a table of line numbers before libdw has one.
 *
 * libdw makes a row of some tens of bytes from a byte of the table, and joins each file's name
 * to that of its directory; a small file could say that it has a million long ones, and that
 * all units share a large table from different places on.
 */
#ifndef PERFLUA_SYMBOLS_LINES_TABLE_H
#define PERFLUA_SYMBOLS_LINES_TABLE_H

#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What may still be read of a file's tables. */
struct ps_table_budget {
	uint64_t bytes; /* of programs of line numbers */
	uint64_t names; /* bytes of names, joined */
};

/* The sections they are in. */
struct ps_table_sections {
	const Elf_Data *line, *line_str, *str; /* NULL: there is none */
	bool big;			       /* byte order */
};

/* Of a file, or of a .dwo file. */
void ps_table_sections(struct ps_table_sections *sections, Elf *elf, bool dwo);

/* For all tables of a file. */
void ps_table_budget(struct ps_table_budget *budget, const struct ps_table_sections *sections);

/*
 * May the table at an offset be read? comp_dir is the length of the directory that the unit was
 * compiled in.
 */
bool ps_table_fits(const struct ps_table_sections *sections, uint64_t offset, size_t comp_dir,
		   struct ps_table_budget *budget);

#endif
