/* Internal to the module: the parts of one binary. */
#ifndef PERFLUA_PACK_BINARY_H
#define PERFLUA_PACK_BINARY_H

#include "pack.h"
#include "text.h"

struct ps_dso;

/*
 * Adds the parts of a binary (enum ps_packed_part) to *out, if it was asked for something that
 * is known. Returns false without memory.
 */
bool pk_put_binary(struct ps_dso *dso, struct pk_texts *texts, struct pb_string *out,
		   struct pk_summary *summary);

#endif
