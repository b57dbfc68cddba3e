/*
 * Symbols of a running kernel as it tells them itself: /proc/kallsyms, and copies of it.
 *
 * A line is an address, a type as nm has it and a name; that of a module has a tab and its name
 * in brackets behind it. See kallsyms__parse, tools/lib/symbol/kallsyms.c.
 */
#ifndef PERFLUA_SYMBOLS_KALLSYMS_H
#define PERFLUA_SYMBOLS_KALLSYMS_H

#include <sys/stat.h>

#include "symbols/elf/table.h"

struct ps_kallsyms {
	struct ps_table kernel;	 /* symbols of the kernel itself, as the recording has them */
	struct ps_table modules; /* "name\t[module]", as they stand in the text */
	uint64_t delta;	  /* how much higher they were in the recording: the kernel was moved */
	uint64_t ends[2]; /* _etext and _edata, as they stand in the text; 0: not there */
	bool running;	  /* of the kernel that runs here */
};

/* A symbol and where it was in the recording: NULL or 0, it is not known. */
struct ps_reference {
	const char *name;
	uint64_t address;
};

/*
 * Reads a text; `interrupt` may end that. False: *reason says why not, and there is nothing to
 * free.
 */
bool ps_kallsyms_parse(struct ps_kallsyms *kallsyms, const char *text, size_t size,
		       struct ps_reference reference, struct ps_interrupt *interrupt,
		       const char **reason);

/* Reads a file that was opened, and closes it, as ps_text_take does. NULL: *reason says why. */
struct ps_kallsyms *ps_kallsyms_read(int fd, const struct stat *status,
				     struct ps_reference reference,
				     struct ps_interrupt *interrupt, const char **reason);
void ps_kallsyms_destroy(struct ps_kallsyms *kallsyms);

/*
 * Adds the symbols of a module "[name]" that lie in a range, as offsets from its start. False:
 * no memory.
 */
bool ps_kallsyms_module(const struct ps_kallsyms *kallsyms, const char *name, uint64_t start,
			uint64_t len, struct ps_table *table);

#endif
