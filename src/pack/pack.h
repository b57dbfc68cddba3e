/*
 * Makes a bundle (symbols/bundle.h) of the answers that a store gave, if it collects them
 * (ps_options.collects): symbols at the addresses, source lines and inlined functions, and the
 * call frame information that unwound stacks.
 */
#ifndef PERFLUA_PACK_PACK_H
#define PERFLUA_PACK_PACK_H

#include "base/string_builder.h"

struct ps_store;

/* The contents of a bundle. */
struct pk_summary {
	uint64_t binaries, symbols, lines; /* lines: addresses that have some */
	uint64_t functions, texts;	   /* functions with code; lines of source text */
};

/*
 * Adds a bundle to *out; reads the lines that were not asked for yet. The store must have whole
 * paths of source files. The same answers give the same bytes. Returns false and sets *reason,
 * a constant, without memory or if the bundle is too large.
 */
bool pk_pack(struct ps_store *store, struct pb_string *out, struct pk_summary *summary,
	     const char **reason);

#endif
