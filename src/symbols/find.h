/*
 * The files that may have the symbols of a binary, in perf's order: see binary_type_symtab,
 * tools/perf/util/symbol.c.
 */
#ifndef PERFLUA_SYMBOLS_FIND_H
#define PERFLUA_SYMBOLS_FIND_H

#include "dso.h"

enum ps_found {
	PS_IMAGE,   /* what was mapped itself */
	PS_EXTRACT, /* what was taken from it: debug information, symbols */
};

/* A path that a search comes to. */
struct ps_candidate {
	const char *path; /* the search's: it does not outlive the call */
	enum ps_found found;
	const char *where; /* it comes from: "build-id cache" …; a constant string */
};

/* Called with each path in turn, also of files that are not there; true ends the search. */
typedef bool ps_try_fn(void *arg, const struct ps_candidate *candidate);
typedef bool ps_find_fn(struct ps_dso *dso, ps_try_fn *fn, void *arg);

/*
 * The build-id that those files must have: the recorded one, else that of the file in its
 * place; size 0: any will do.
 */
struct ps_build_id ps_wanted_build_id(const struct ps_dso *dso);

/*
 * Each returns true if `fn` accepted a path: ps_find tries all sources, ps_find_here only files
 * of this machine, ps_find_servers only debuginfod, if it may be asked. Without a recorded
 * build-id the caller asks ps_is_proven first.
 */
ps_find_fn ps_find, ps_find_here, ps_find_servers;

#endif
