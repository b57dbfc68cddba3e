/* Shared by the files that describe a recording. */
#ifndef PERFLUA_DESCRIBE_DESCRIBE_INTERNAL_H
#define PERFLUA_DESCRIBE_DESCRIBE_INTERNAL_H

#include "describe.h"

/* Fails for want of memory. Returns false. */
bool pw_describe_fail(struct pw_describer *d, struct pd_error *err);

/* Begins a statement: an empty table, in place of the last one. Returns NULL without memory. */
struct pd_node *pw_new_statement(struct pw_describer *d);

/* Notes a part of the file as described. Returns false without memory. */
bool pw_cover(struct pw_describer *d, uint64_t offset, uint64_t size);

#endif
