/*
 * A set of constants, for the operator `in`. Values are equal if they are one key of a Lua
 * table.
 */
#ifndef PERFLUA_QUERY_SET_H
#define PERFLUA_QUERY_SET_H

#include "query/chains/value.h"

struct pq_set;

/* Creates a set of `n` values, whose texts it borrows. Returns NULL without memory. */
struct pq_set *pq_set_create(const struct pq_value *values, size_t n);
void pq_set_destroy(struct pq_set *set);

bool pq_set_has(const struct pq_set *set, const struct pq_value *value);

#endif
