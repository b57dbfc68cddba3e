/* The compilation units of a file by address, and what was read of them. */
#ifndef PERFLUA_SYMBOLS_LINES_UNITS_H
#define PERFLUA_SYMBOLS_LINES_UNITS_H

#include "lines_functions.h"

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

struct ps_debug;

enum ps_table_state {
	PS_TABLE_UNREAD,
	PS_TABLE_FITS,
	PS_TABLE_UNFIT,
};

struct ps_unit {
	Dwarf_Die die;	/* the unit with the lines */
	Dwarf_Die code; /* the unit with the functions: of a .dwo file, or `die` itself */
	struct ps_functions functions;
	enum ps_table_state lines,
		files; /* state of the lines of `die` and of the files of `code` */
	bool read;     /* `code` and functions were read */
};

struct ps_units {
	struct ps_unit *units; /* [n] */
	size_t n, capacity;
	struct ps_spans spans; /* owned by numbers of units */
	struct ps_budget budget;
	struct ps_table_sections sections;
	struct ps_table_budget tables;
};

/* Reads all units of a file that can be read; `interrupt`, which may be NULL, may end that. */
void ps_units_read(struct ps_units *units, const struct ps_debug *debug,
		   struct ps_interrupt *interrupt);
void ps_units_deinit(struct ps_units *units);

/* Returns the unit with an address, its functions read; NULL: none. */
struct ps_unit *ps_units_find(struct ps_units *units, uint64_t address);

/* Returns the line of an address; NULL: not known. */
Dwarf_Line *ps_unit_line(struct ps_units *units, struct ps_unit *unit, uint64_t address);

/* Returns the directory in which a unit was compiled; NULL: not known. */
const char *ps_unit_dir(struct ps_unit *unit);

/* Returns the path of a file by its number in entries of functions; NULL: not known. */
const char *ps_unit_file(struct ps_units *units, struct ps_unit *unit, uint32_t file);

#endif
