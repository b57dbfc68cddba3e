/*
 * The compilation units of a file by their addresses, and what was read of them.
 */
#ifndef PERFLUA_SYMBOLS_LINES_UNITS_H
#define PERFLUA_SYMBOLS_LINES_UNITS_H

#include "lines_functions.h"
#include "lines_table.h"

struct ps_debug;

enum ps_table_state {
	PS_TABLE_UNREAD,
	PS_TABLE_FITS,
	PS_TABLE_UNFIT,
};

struct ps_unit {
	Dwarf_Die die;	/* has the lines */
	Dwarf_Die code; /* has the functions: of a .dwo file, or the same */
	struct ps_functions functions;
	enum ps_table_state lines, files; /* of die, and of code */
	bool read;			  /* code and functions */
};

struct ps_units {
	struct ps_unit *units; /* [n] */
	size_t n, capacity;
	struct ps_spans spans; /* owned by units */
	struct ps_budget budget;
	struct ps_table_sections sections;
	struct ps_table_budget tables;
};

/* All of a file, as far as they can be read; `interrupt` (NULL: nobody) may end that. */
void ps_units_read(struct ps_units *units, const struct ps_debug *debug,
		   struct ps_interrupt *interrupt);
void ps_units_deinit(struct ps_units *units);

/* The unit with an address, its functions read; NULL: none has it. */
struct ps_unit *ps_units_find(struct ps_units *units, uint64_t address);

/* The line of an address; NULL: it is not known. */
Dwarf_Line *ps_unit_line(struct ps_units *units, struct ps_unit *unit, uint64_t address);

/*
 * The path of a file, by the number that entries of functions have for it; NULL: it is not
 * known.
 */
const char *ps_unit_file(struct ps_units *units, struct ps_unit *unit, uint32_t file);

#endif
