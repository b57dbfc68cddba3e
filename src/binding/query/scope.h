/*
 * The scope of a query in C, from a table: types, container, events, event_nil, from and to as
 * a cursor has them (cursor.h); filter (a tree, see trees.h); threads (at most; nil: as the
 * file was opened); order: "time", "file", or "any" where the answer does not depend on it;
 * expand: samples with counter values are split; later_names: pm_resolver_use_later_names().
 */
#ifndef PERFLUA_BINDING_QUERY_SCOPE_H
#define PERFLUA_BINDING_QUERY_SCOPE_H

#include "binding/pass_progress.h"
#include "trees.h"

/*
 * Reads the scope from the table at `options`, except for its system. The progress and the
 * table at `keep` must live as long as the scope. [-0, +0]
 */
void pl_to_scope(lua_State *L, int keep, const struct pl_file *file, int options,
		 struct pl_progress *progress, struct pq_scope *scope);

/* Returns the recorded system, for a query of that scope. Raises as pl_system() does. */
struct pm_system *pl_scope_system(lua_State *L, struct pl_file *file,
				  const struct pq_scope *scope);

/*
 * Sets the scope's system if its filter needs it, or `asks` says that other parts of the query
 * do. A stream always adds to it, for later questions; a query that asks must then read in the
 * order of time and wait for late records. Raises as pl_system() does.
 */
void pl_scope_machine(lua_State *L, struct pl_file *file, int options, bool asks,
		      struct pq_scope *scope);

/*
 * Pushes an array of the passes that come before that of a scope, as --timing names them; its
 * field `with_system` is true if the recorded system is read in the scope's own pass. `asks`:
 * the query asks it; `reads`: and reads it, unless it was read before. [-0, +1]
 */
void pl_push_passes(lua_State *L, const struct pl_file *file, const struct pq_scope *scope,
		    bool asks, bool reads);

#endif
