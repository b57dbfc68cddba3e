/*
 * Which of the files that may have the symbols of a binary does: one has a symbol table, one
 * was mapped, they may be the same. See dso__load, tools/perf/util/symbol.c.
 */
#ifndef PERFLUA_SYMBOLS_PICK_H
#define PERFLUA_SYMBOLS_PICK_H

#include <limits.h>

#include "symbols/elf/elf.h"
#include "find.h"

struct ps_picked {
	struct ps_elf elf;
	size_t tried; /* its place in dso->tried */
	char path[PATH_MAX];
};

struct ps_pick {
	struct ps_dso *dso;
	struct ps_build_id wanted; /* size 0: any will do */
	struct ps_picked files[2];
	size_t n_files;
	struct ps_picked *syms, *runtime; /* NULL: not found yet */
	bool others;			  /* met: files of other builds */
	const char *no_file; /* the reason if the recorded path is not a file; else NULL */
};

void ps_pick_init(struct ps_pick *pick, struct ps_dso *dso);
void ps_pick_deinit(struct ps_pick *pick);

/*
 * Is it the file of that build-id? Takes it over if it is good for something. True: nothing
 * else is needed. An `fn` of ps_find, with the pick as its arg.
 */
bool ps_pick_try(void *pick, const struct ps_candidate *candidate);

/*
 * Adds the symbols of what was found to the table of the dso, their addresses as `addresses`
 * says, and notes the paths. False: there are none, and the dso says why.
 */
bool ps_pick_load(struct ps_pick *pick, enum ps_addresses addresses);

#endif
