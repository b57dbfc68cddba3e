/*
 * Picks, from files that may have the symbols of a binary, the one with the symbol table and
 * the one that was mapped, which may be the same. See dso__load, tools/perf/util/symbol.c.
 */
#ifndef PERFLUA_SYMBOLS_PICK_H
#define PERFLUA_SYMBOLS_PICK_H

#include <limits.h>

#include "symbols/elf/elf.h"
#include "find.h"

struct ps_picked {
	struct ps_elf elf;
	size_t tried; /* number in dso->tried */
	char path[PATH_MAX];
};

struct ps_pick {
	struct ps_dso *dso;
	struct ps_build_id wanted; /* size 0: any */
	struct ps_picked files[2];
	size_t n_files;
	struct ps_picked *syms, *runtime; /* NULL: not found yet */
	bool others;			  /* files of other builds were seen */
	const char *no_file;		  /* why the recorded path is not a file; NULL: it is */
};

void ps_pick_init(struct ps_pick *pick, struct ps_dso *dso);
void ps_pick_deinit(struct ps_pick *pick);

/*
 * Tries a file, and takes it over if it is of use. Returns true if nothing else is needed. It
 * is an `fn` of ps_find(), whose `arg` is the pick.
 */
bool ps_pick_try(void *pick, const struct ps_candidate *candidate);

/*
 * Adds the symbols of the picked files to the table of the dso, with addresses as `addresses`
 * says, and sets its paths. Returns false if there are none, and sets dso->reason.
 */
bool ps_pick_load(struct ps_pick *pick, enum ps_addresses addresses);

#endif
