/*
 * Symbols of a kernel, as it lists them itself in /proc/kallsyms, and in copies of that.
 *
 * A line has an address, a type as nm has it, and a name; for a symbol of a module a tab and
 * the module's name in brackets follow. See kallsyms__parse, tools/lib/symbol/kallsyms.c.
 */
#ifndef PERFLUA_SYMBOLS_KALLSYMS_H
#define PERFLUA_SYMBOLS_KALLSYMS_H

#include <sys/stat.h>

#include "symbols/elf/table.h"

struct ps_kallsyms {
	struct ps_table kernel;	 /* symbols of the kernel itself, at their recorded addresses */
	struct ps_table modules; /* "name\t[module]", at the addresses in the text */
	uint64_t delta;	  /* recorded address - address in the text: the kernel was moved */
	uint64_t ends[2]; /* _etext and _edata in the text; 0: not there */
	bool running;	  /* the symbols are those of the running kernel */
};

/* A symbol and its recorded address; NULL or 0: not known. */
struct ps_reference {
	const char *name;
	uint64_t address;
};

/*
 * Parses a text; `interrupt` may end that. Returns false and sets *reason if it fails: nothing
 * has to be freed then.
 */
bool ps_kallsyms_parse(struct ps_kallsyms *kallsyms, const char *text, size_t size,
		       struct ps_reference reference, struct ps_interrupt *interrupt,
		       const char **reason);

/*
 * Reads an open file, and closes it, as ps_text_take() does. Returns NULL and sets *reason if
 * it fails.
 */
struct ps_kallsyms *ps_kallsyms_read(int fd, const struct stat *status,
				     struct ps_reference reference,
				     struct ps_interrupt *interrupt, const char **reason);

/*
 * Returns true if the beginning of the file at `path` has the reference symbol at another
 * address than the recorded one. False: it has not, or is not known.
 */
bool ps_kallsyms_is_elsewhere(const char *path, struct ps_reference reference);

void ps_kallsyms_destroy(struct ps_kallsyms *kallsyms);

/*
 * Adds the symbols of module "[name]" that lie in a range of `len` bytes, as offsets from its
 * start. Returns false without memory.
 */
bool ps_kallsyms_module(const struct ps_kallsyms *kallsyms, const char *name, uint64_t start,
			uint64_t len, struct ps_table *table);

#endif
