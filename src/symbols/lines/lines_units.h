/*
 * The compilation units of a file by address, and what was read of them: their functions,
 * inlined ones included, by address, and their tables of lines and files.
 */
#ifndef PERFLUA_SYMBOLS_LINES_UNITS_H
#define PERFLUA_SYMBOLS_LINES_UNITS_H

#include <elfutils/libdw.h>
#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbols/elf/interrupt.h"

#define PS_NO_OWNER UINT32_MAX

/* An address range, which belongs to a unit or function. */
struct ps_span {
	uint64_t low, high; /* `high` is the first address after it */
	uint32_t owner;
};

struct ps_spans {
	struct ps_span *spans; /* [n]; once finished, sorted and without overlap */
	size_t n, capacity;
};

/*
 * A limit of what reading a file's debug information may cost: it may claim that every function
 * lies everywhere. Honest files need a small part.
 */
struct ps_budget {
	size_t spans;			/* ranges that may still be added */
	uint64_t until;			/* CPU time of this thread, ns; set for each reading */
	uint64_t time;			/* ns that may still be spent */
	struct ps_interrupt *interrupt; /* ends reading; may be NULL */
};

void ps_budget_start(struct ps_budget *budget);
void ps_budget_stop(struct ps_budget *budget);
/*
 * Returns true if the time is used up, or reading was interrupted. Costs up to a system call.
 */
bool ps_budget_late(const struct ps_budget *budget);

/* Adds an address range; an empty one is ignored. Returns false without memory or budget. */
bool ps_spans_add(struct ps_spans *spans, uint64_t low, uint64_t high, uint32_t owner,
		  struct ps_budget *budget);

/* Adds the address ranges of an entry. Returns false without memory or budget. */
bool ps_spans_add_die(struct ps_spans *spans, Dwarf_Die *die, uint32_t owner,
		      struct ps_budget *budget);

/* Resolves overlaps in favour of the greatest owner. Returns false without memory. */
bool ps_spans_finish(struct ps_spans *spans);

/* Returns the owner of an address; PS_NO_OWNER: none. */
uint32_t ps_spans_find(const struct ps_spans *spans, uint64_t address);

void ps_spans_deinit(struct ps_spans *spans);

struct ps_function {
	void *die;	 /* offset of its entry in the unit's Dwarf_CU */
	uint32_t caller; /* function that it is inlined into; PS_NO_OWNER: not inlined */
};

struct ps_functions {
	struct ps_function *functions; /* [n]; callers precede those inlined into them */
	size_t n, capacity;
	struct ps_spans spans; /* owned by numbers of functions */
};

/* Reads the functions of a unit, up to where it is damaged. */
void ps_functions_read(struct ps_functions *functions, Dwarf_Die *unit,
		       struct ps_budget *budget);
void ps_functions_deinit(struct ps_functions *functions);

/*
 * Returns the name of a function, preferably its linkage name, which may be in an entry that
 * this one refers to. NULL: it has none.
 */
const char *ps_function_name(Dwarf_Die *die);

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
