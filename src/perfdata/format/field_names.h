/*
 * The field names of all record types, numbered. A layout finds a field by its name's number.
 * The numbers follow from the tables alone, so they are the same for every file and every Lua
 * state.
 */
#ifndef PERFLUA_PERFDATA_FIELD_NAMES_H
#define PERFLUA_PERFDATA_FIELD_NAMES_H

#include <stddef.h>
#include <stdint.h>

#define PD_MAX_FIELD_NAMES 384

struct pd_field_names {
	unsigned n; /* numbers are 1 … n; 0 stands for no name */
	const char *name[PD_MAX_FIELD_NAMES + 1]; /* sorted */
};

/* Fills *names with the field names of all tables. It needs no deinit. */
void pd_field_names_init(struct pd_field_names *names);

/* Returns the number of the name of `n` bytes; 0 if no record type has such a field. */
unsigned pd_field_name_id(const struct pd_field_names *names, const char *name, size_t n);

#endif
