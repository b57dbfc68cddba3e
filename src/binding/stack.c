/*
 * Call stacks as Lua values: the object Stack, and the functions that the library saves and
 * merges them with.
 */
#include <string.h>

#include "stack.h"
#include "system.h"

#define PL_STACKS "perflua.stacks"
#define PL_STACK  "perflua.stack"

/* A Stack. Its user value 1 is the pl_stacks. */
struct pl_stack {
	struct pl_stacks *of;
	uint32_t number;
};

static int stacks_gc(lua_State *L)
{
	struct pl_stacks *s = lua_touserdata(L, 1);

	pq_stacks_destroy(s->stacks);
	s->stacks = NULL;
	return 0;
}

/* Pushes an empty set of stacks. [-0, +1] */
static struct pl_stacks *push_stacks(lua_State *L)
{
	struct pl_stacks *s;

	/* the user value has the Stacks by their numbers, from 1 */
	s = lua_newuserdatauv(L, sizeof(*s), 1);
	*s = (struct pl_stacks){ 0 };
	luaL_setmetatable(L, PL_STACKS);
	lua_newtable(L);
	lua_setiuservalue(L, -2, 1);
	s->stacks = pq_stacks_create();
	if (!s->stacks)
		luaL_error(L, "no memory for call stacks");
	return s;
}

void pl_push_stack(lua_State *L, int stacks, uint32_t number)
{
	struct pl_stack *stack;

	stacks = lua_absindex(L, stacks);
	lua_getiuservalue(L, stacks, 1);
	if (lua_rawgeti(L, -1, (lua_Integer)number + 1) == LUA_TNIL) {
		lua_pop(L, 1);
		stack = lua_newuserdatauv(L, sizeof(*stack), 1);
		stack->of = lua_touserdata(L, stacks);
		stack->number = number;
		luaL_setmetatable(L, PL_STACK);
		lua_pushvalue(L, stacks);
		lua_setiuservalue(L, -2, 1);
		lua_pushvalue(L, -1);
		lua_rawseti(L, -3, (lua_Integer)number + 1);
	}
	lua_remove(L, -2);
}

const uint32_t *pl_push_chain_stacks(lua_State *L, int file, const struct pq_chains *chains,
				     struct pm_system *system)
{
	const struct pl_file *f = lua_touserdata(L, file);
	uint32_t n = pq_chains_size(chains), *numbers;
	struct pm_resolver *resolver;
	struct pl_stacks *s;
	bool ok;

	luaL_checkstack(L, 8, "call stacks");
	numbers = lua_newuserdatauv(L, (n + (size_t)1) * sizeof(*numbers), 0);
	s = push_stacks(L);
	if (f->system == system) /* a finalizer may have closed it, which frees the system */
		pl_check_open_file(L, file);
	resolver = pm_resolver_create(system);
	ok = resolver && pq_stacks_add_chains(s->stacks, chains, resolver, numbers);
	pm_resolver_destroy(resolver);
	if (!ok)
		luaL_error(L, "no memory for call stacks");
	return numbers;
}

void pl_check_lines(lua_State *L, const struct pl_stacks *s)
{
	if (pq_stacks_were_cut(s->stacks))
		luaL_error(L, PM_INTERRUPTED);
}

bool pl_to_stack(lua_State *L, int index, const struct pl_stacks *stacks,
		 struct pq_value *value)
{
	const struct pl_stack *stack = luaL_testudata(L, index, PL_STACK);
	uint32_t number;

	if (!stack || !stacks)
		return false;
	number = pq_stacks_add_from(stacks->stacks, stack->of->stacks, stack->number);
	if (number == UINT32_MAX)
		luaL_error(L, "no memory for call stacks");
	*value = (struct pq_value){ .type = PQ_CHAIN, .u = number };
	return true;
}

static const struct pl_stack *check_stack(lua_State *L, int index)
{
	return luaL_checkudata(L, index, PL_STACK);
}

static const uint32_t *frames_of(const struct pl_stack *stack, size_t *n)
{
	return pq_stacks_frames(stack->of->stacks, stack->number, n);
}

/* stack[i] -> Frame | nil */
static int stack_index(lua_State *L)
{
	const struct pl_stack *stack = check_stack(L, 1);
	size_t n;
	const uint32_t *frames = frames_of(stack, &n);
	lua_Integer i;

	if (lua_type(L, 2) != LUA_TNUMBER)
		return luaL_error(L,
				  "a Stack has frames by number, stack[1] the innermost, "
				  "and no field '%s'",
				  luaL_tolstring(L, 2, NULL));
	i = lua_tointeger(L, 2); /* 0 for no integer */
	if (i < 1 || (lua_Unsigned)i > n)
		lua_pushnil(L);
	else
		pl_push_frame(L, stack->of, frames[i - 1]);
	return 1;
}

static int stack_len(lua_State *L)
{
	size_t n;

	frames_of(check_stack(L, 1), &n);
	lua_pushinteger(L, (lua_Integer)n);
	return 1;
}

static int stack_tostring(lua_State *L)
{
	const struct pl_stack *stack = check_stack(L, 1);
	size_t n = pq_stacks_text(stack->of->stacks, stack->number, NULL);
	luaL_Buffer buffer;
	char *to = luaL_buffinitsize(L, &buffer, n);

	luaL_pushresultsize(&buffer, pq_stacks_text(stack->of->stacks, stack->number, to));
	return 1;
}

/* stack == other: all frames are equal */
static int stack_eq(lua_State *L)
{
	const struct pl_stack *a = luaL_testudata(L, 1, PL_STACK);
	const struct pl_stack *b = luaL_testudata(L, 2, PL_STACK);

	lua_pushboolean(L, a && b &&
				   pq_stacks_equal(a->of->stacks, a->number, b->of->stacks,
						   b->number));
	return 1;
}

/* stack < other: compares by the names of the callers */
static int stack_lt(lua_State *L)
{
	const struct pl_stack *a = check_stack(L, 1), *b = check_stack(L, 2);

	lua_pushboolean(L, pq_stacks_compare(a->of->stacks, a->number, b->of->stacks,
					     b->number) < 0);
	return 1;
}

/* next(stack, i) -> i + 1, Frame */
static int stack_next(lua_State *L)
{
	const struct pl_stack *stack = check_stack(L, 1);
	size_t n;
	const uint32_t *frames = frames_of(stack, &n);
	lua_Integer i = luaL_optinteger(L, 2, 0);

	if (i < 0 || (lua_Unsigned)i >= n)
		return 0;
	lua_pushinteger(L, i + 1);
	pl_push_frame(L, stack->of, frames[i]);
	return 2;
}

static int stack_pairs(lua_State *L)
{
	check_stack(L, 1);
	lua_pushcfunction(L, stack_next);
	lua_pushvalue(L, 1);
	lua_pushnil(L);
	return 3;
}

static struct pl_stacks *check_stacks(lua_State *L, int index)
{
	struct pl_stacks *s = luaL_checkudata(L, index, PL_STACKS);

	luaL_argcheck(L, s->stacks, index, "no stacks");
	return s;
}

int pl_stacks(lua_State *L)
{
	push_stacks(L);
	return 1;
}

static int raise_no_memory(lua_State *L)
{
	return luaL_error(L, "no memory for call stacks");
}

int pl_stacks_number(lua_State *L)
{
	const struct pl_stacks *s = check_stacks(L, 1);
	const struct pl_stack *stack = check_stack(L, 2);
	uint32_t number;

	number = pq_stacks_add_from(s->stacks, stack->of->stacks, stack->number);
	if (number == UINT32_MAX)
		return raise_no_memory(L);
	lua_pushinteger(L, (lua_Integer)number + 1);
	return 1;
}

int pl_stacks_frames(lua_State *L)
{
	const struct pl_stack *stack = check_stack(L, 1);
	size_t n;
	const uint32_t *frames = frames_of(stack, &n);

	lua_createtable(L, (int)n, 0);
	for (size_t i = 0; i < n; i++) {
		lua_pushinteger(L, (lua_Integer)frames[i] + 1);
		lua_rawseti(L, -2, (lua_Integer)i + 1);
	}
	lua_getiuservalue(L, 1, 1);
	return 2;
}

/* Reads the text at `index`, which may be absent. Returns false if it has a NUL. */
static bool take_text(lua_State *L, int index, struct pd_text *text)
{
	*text = (struct pd_text){ 0 };
	if (lua_isnoneornil(L, index))
		return true;
	text->p = luaL_checklstring(L, index, &text->n);
	return strlen(text->p) == text->n;
}

static bool take_build_id(lua_State *L, int index, struct ps_build_id *id)
{
	struct pd_text text;

	*id = (struct ps_build_id){ 0 };
	if (!take_text(L, index, &text) || text.n % 2 || text.n > 2 * PS_MAX_BUILD_ID)
		return false;
	for (size_t i = 0; i < text.n; i++) {
		const char *digits = "0123456789abcdef", *digit = strchr(digits, text.p[i]);

		if (!digit)
			return false;
		id->bytes[i / 2] = (uint8_t)(id->bytes[i / 2] << 4 | (digit - digits));
	}
	id->size = (uint8_t)(text.n / 2);
	return true;
}

int pl_stacks_add_frame(lua_State *L)
{
	const struct pl_stacks *s = check_stacks(L, 1);
	const char *kind = luaL_checkstring(L, 2);
	struct pq_stack_frame frame = { .address = (uint64_t)luaL_checkinteger(L, 5) };
	uint32_t number;

	while (frame.kind < PQ_FRAME_KINDS && strcmp(pq_frame_kind_name(frame.kind), kind) != 0)
		frame.kind++;
	if (frame.kind == PQ_FRAME_KINDS || !take_text(L, 3, &frame.binary) ||
	    !take_build_id(L, 4, &frame.build_id) || !take_text(L, 6, &frame.symbol))
		return 0;
	number = pq_stacks_add_frame(s->stacks, &frame);
	if (number == UINT32_MAX)
		return raise_no_memory(L);
	lua_pushinteger(L, (lua_Integer)number + 1);
	return 1;
}

int pl_stacks_add(lua_State *L)
{
	struct pl_stacks *s = check_stacks(L, 1);
	uint32_t frames[PM_MAX_FRAMES + 1], number;
	size_t n;

	luaL_checktype(L, 2, LUA_TTABLE);
	n = (size_t)lua_rawlen(L, 2);
	if (n > PM_MAX_FRAMES)
		return 0;
	for (size_t i = 0; i < n; i++, lua_pop(L, 1)) {
		lua_Integer frame;

		lua_rawgeti(L, 2, (lua_Integer)i + 1);
		frame = lua_tointeger(L, -1);
		if (frame < 1 || (lua_Unsigned)frame > pq_stacks_n_frames(s->stacks))
			return 0;
		frames[i] = (uint32_t)(frame - 1);
	}
	number = pq_stacks_add(s->stacks, frames, n);
	if (number == UINT32_MAX)
		return raise_no_memory(L);
	pl_push_stack(L, 1, number);
	return 1;
}

void pl_stack_register(lua_State *L)
{
	static const luaL_Reg stack[] = {
		{ "__index", stack_index },
		{ "__len", stack_len },
		{ "__eq", stack_eq },
		{ "__lt", stack_lt },
		{ "__pairs", stack_pairs },
		{ "__tostring", stack_tostring },
		{ NULL, NULL },
	};
	static const luaL_Reg stacks[] = {
		{ "__gc", stacks_gc },
		{ NULL, NULL },
	};

	luaL_newmetatable(L, PL_STACK);
	luaL_setfuncs(L, stack, 0);
	luaL_newmetatable(L, PL_STACKS);
	luaL_setfuncs(L, stacks, 0);
	lua_pop(L, 2);
}
