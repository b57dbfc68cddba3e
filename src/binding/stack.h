/*
 * Call stacks as Lua values: see query/expr/stacks.h.
 */
#ifndef PERFLUA_BINDING_STACK_H
#define PERFLUA_BINDING_STACK_H

#include "binding.h"
#include "query/query.h"

/* A set of stacks, which Stacks and Frames keep and point to. */
struct pl_stacks {
	struct pq_stacks *stacks;
	struct pl_file *file; /* that binaries are of; NULL: they are not there any more */
};

/*
 * Makes the Stacks of all chains of PQ_CHAIN_VALUES of a result over the File at `file`, and
 * sets that of chain i at i + 1 of the table at `into`. Looks functions up in the binaries of
 * `system`. [-0, +0]
 */
void pl_push_chain_stacks(lua_State *L, int file, const struct pq_chains *chains,
			  struct pm_system *system, int into);

/* core.stacks() -> an empty set of stacks */
int pl_stacks(lua_State *L);
/*
 * core.stacks_number(stacks, stack) -> integer, which equal stacks share. Adds the stack if it
 * is new.
 */
int pl_stacks_number(lua_State *L);
/* core.stack_frames(stack) -> array of the numbers of its frames among the stacks, stacks */
int pl_stacks_frames(lua_State *L);
/*
 * core.stacks_frame(stacks, kind, dso | nil, build_id | nil, address, symbol | nil) -> the
 * number of a frame, or nothing if it is none
 */
int pl_stacks_add_frame(lua_State *L);
/* core.stacks_add(stacks, array of numbers of frames) -> Stack, or nothing if it is none */
int pl_stacks_add(lua_State *L);

void pl_stack_register(lua_State *L);

#endif
