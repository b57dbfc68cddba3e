/*
 * The scope of a query, read from a table of options:
 *	types, container, events, event_nil, from, to   the records
 *	filter        a tree (trees.h)
 *	threads       at most; nil: as the file was opened
 *	order         "time", "file", or "any" if the answer does not depend on it
 *	expand        split samples with several counter values
 *	later_names   see pm_resolver_use_later_names()
 */
#ifndef PERFLUA_BINDING_QUERY_SCOPE_H
#define PERFLUA_BINDING_QUERY_SCOPE_H

#include "binding/pass_progress.h"
#include "trees.h"

/*
 * Reads the scope, except for its system, from the table at `options`. `progress` and the table
 * at `keep` must outlive it. [-0, +0]
 */
void pl_to_scope(lua_State *L, int keep, const struct pl_file *file, int options,
		 struct pl_progress *progress, struct pq_scope *scope);

/*
 * Sets events[n] from the table {[index] = true} at `index`: 1 for events that are in it.
 * [-0, +0]
 */
void pl_to_events(lua_State *L, int index, uint8_t *events, size_t n);

/* Reads the types from the table {[type_id] = true} at `index`. [-0, +0] */
struct pd_types pl_to_types(lua_State *L, int index);

/* Returns the recorded system for a query with this scope. Raises as pl_system() does. */
struct pm_system *pl_scope_system(lua_State *L, struct pl_file *file,
				  const struct pq_scope *scope);

/*
 * Sets the scope's system if its filter needs it, or if `asks` is true because other parts of
 * the query do. Reading a stream always adds to the system, for later queries; a query that
 * asks it must then read in time order, and wait for late records. Raises as pl_system() does.
 */
void pl_scope_machine(lua_State *L, struct pl_file *file, int options, bool asks,
		      struct pq_scope *scope);

/*
 * Pushes an array of the passes that precede that of a scope, as --timing names them. Its field
 * `with_system` is true if the scope's own pass also reads the recorded system. `asks`: the
 * query asks the system; `reads`: and reads it, unless that was done before. [-0, +1]
 */
void pl_push_passes(lua_State *L, const struct pl_file *file, const struct pq_scope *scope,
		    bool asks, bool reads);

#endif
