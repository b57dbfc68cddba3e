/*
 * Finds the files that may have the symbols of a binary, in perf's order: see
 * binary_type_symtab, tools/perf/util/symbol.c.
 */
#ifndef PERFLUA_SYMBOLS_FIND_H
#define PERFLUA_SYMBOLS_FIND_H

#include "dso.h"

enum ps_found {
	PS_IMAGE,   /* the mapped file itself */
	PS_EXTRACT, /* an extract from it: debug information, symbols */
};

/* A path that a search comes to. */
struct ps_candidate {
	const char *path; /* valid during the call */
	enum ps_found found;
	const char *where; /* source of the path: "build-id cache" …; a constant string */
};

/*
 * Receives each path in turn, also of files that do not exist. Returns true to end the search.
 */
typedef bool ps_try_fn(void *arg, const struct ps_candidate *candidate);
typedef bool ps_find_fn(struct ps_dso *dso, ps_try_fn *fn, void *arg);

/*
 * Returns the build-id that those files must have: the recorded one, else that of the file in
 * its place; size 0: any.
 */
struct ps_build_id ps_wanted_build_id(const struct ps_dso *dso);

/*
 * Each calls `fn` with path after path, and returns true if it accepted one. ps_find() tries
 * all sources, ps_find_here() only files of this machine, ps_find_servers() only debuginfod, if
 * it may be asked. Without a recorded build-id the caller asks ps_is_proven() first.
 */
ps_find_fn ps_find, ps_find_here, ps_find_servers;

#endif
