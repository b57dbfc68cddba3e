/*
 * Scrubbing for Lua: the field `scrub` of a table of options is { rules = { KIND = ACTION },
 * key = KEY }, of the kinds and actions that core.scrub_kinds() returns.
 *
 * What scrubbing did is { kinds = { { name =, doc =, action =, n =, bytes =, distinct =,
 * examples = { TEXT, … } }, … }, names = { { SHOWN, KIND, NAME }, … }, of those that were
 * hashed, left_out =, unreadable = NUMBERS of records, features = NAMES of those that cannot be
 * read }.
 */
#ifndef PERFLUA_BINDING_QUERY_SCRUB_H
#define PERFLUA_BINDING_QUERY_SCRUB_H

#include "binding/handle.h"
#include "scrub/scrub.h"

struct pl_scrubbing {
	struct pv_scrubber *scrubber;
	struct pw_description description;
};

/*
 * Pushes the scrubbing of `file` that the table at `options` describes, and returns it; pushes
 * nil and returns NULL if it describes none. [-0, +1]
 */
struct pl_scrubbing *pl_push_scrubbing(lua_State *L, struct pl_file *file, int options);

/* Describes the scrubbed recording: see pv_describe(). */
bool pl_scrubbing_describe(struct pl_scrubbing *scrubbing, struct pd_error *err);

/* Pushes what scrubbing did. [-0, +1] */
void pl_push_scrubbed(lua_State *L, const struct pl_scrubbing *scrubbing);

#endif
