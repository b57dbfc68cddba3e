/*
 * Call stacks and their frames as Lua values: see query/chains/stacks.h.
 */
#ifndef PERFLUA_BINDING_STACK_H
#define PERFLUA_BINDING_STACK_H

#include "binding.h"
#include "query/query.h"

/* A set of stacks, which Stacks and Frames keep and point to. */
struct pl_stacks {
	struct pq_stacks *stacks;
};

/*
 * Pushes an array of numbers, a userdata, and the set of the stacks of all chains of
 * PQ_CHAIN_VALUES of a result over the File at `file`, which it returns: that of chain i is
 * number numbers[i]. Looks functions up in the binaries of `system`. [-0, +2]
 */
const uint32_t *pl_push_chain_stacks(lua_State *L, int file, const struct pq_chains *chains,
				     struct pm_system *system);

/* Pushes stack `number` of the stacks at `stacks`, always the same object. [-0, +1] */
void pl_push_stack(lua_State *L, int stacks, uint32_t number);

/*
 * Sets *value to a PQ_CHAIN, the number among `stacks` of the Stack at `index`, which is added.
 * Returns false if there is no Stack, or `stacks` is NULL.
 */
bool pl_to_stack(lua_State *L, int index, const struct pl_stacks *stacks,
		 struct pq_value *value);

/* Raises, once, if source lines were not read because of an interrupt. */
void pl_check_lines(lua_State *L, const struct pl_stacks *stacks);

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

/*
 * Pushes frame `number` of `stacks`, which are user value 1 of the object at 1. The frame keeps
 * them. [-0, +1]
 */
void pl_push_frame(lua_State *L, struct pl_stacks *stacks, uint32_t number);

void pl_frame_register(lua_State *L);

#endif
