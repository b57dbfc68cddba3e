/*
 * Field names by the address of their interned Lua string. There is one table for each Lua
 * state, in its registry, which keeps the strings, too. An id above PL_METHODS is a method of
 * Record.
 */
#ifndef PERFLUA_BINDING_NAMES_H
#define PERFLUA_BINDING_NAMES_H

#include "binding.h"
#include "perfdata/format/layout.h"

#define PL_NAME_SLOTS 2048 /* a power of two, several times PD_MAX_FIELD_NAMES */
#define PL_METHODS    0x8000

/*
 * The table: a hash table of its own, in memory of Lua's, which needs no finalizer. With base's
 * map the bench's line "loop: 3 fields of each record" takes 2 % more instructions.
 */
struct pl_names {
	struct pd_field_names names;
	struct pl_name {
		const void *key; /* address of the string (lua_topointer); NULL: a free slot */
		unsigned id;
	} slots[PL_NAME_SLOTS];
};

static inline unsigned pl_names_hash(const void *interned)
{
	uintptr_t p = (uintptr_t)interned;

	return (unsigned)((p >> 4 ^ p >> 13) % PL_NAME_SLOTS);
}

/*
 * Returns the id of the name at `index`; 0 if the value there is not a string, or not the name
 * of a field or method.
 */
static inline unsigned pl_names_find(lua_State *L, const struct pl_names *names, int index)
{
	const void *interned = lua_topointer(L, index);
	unsigned h = pl_names_hash(interned);

	while (names->slots[h].key != interned) {
		if (!names->slots[h].key)
			return 0;
		h = (h + 1) % PL_NAME_SLOTS;
	}
	return names->slots[h].id;
}

/* Returns the names of a state, which live as long as it does. */
const struct pl_names *pl_names_get(lua_State *L);

/* Raises that no record type has a field of that name, and names the closest one. */
int pl_unknown_name(lua_State *L, const struct pl_names *names, const char *name);

#endif
