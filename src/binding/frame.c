/* A frame of a call stack as a Lua value. Its fields are read when they are asked for. */
#include "stack.h"

#include <string.h>

#include "system.h"

#define PL_FRAME "perflua.frame"

/* A Frame. Its user value 1 is the pl_stacks. */
struct pl_frame {
	struct pl_stacks *of;
	uint32_t number;
};

void pl_push_frame(lua_State *L, struct pl_stacks *stacks, uint32_t number)
{
	struct pl_frame *frame = lua_newuserdatauv(L, sizeof(*frame), 1);

	frame->of = stacks;
	frame->number = number;
	luaL_setmetatable(L, PL_FRAME);
	lua_getiuservalue(L, 1, 1);
	lua_setiuservalue(L, -2, 1);
}

/* Pushes a field of a Frame. */

typedef void field_fn(lua_State *L, const struct pl_frame *frame,
		      const struct pq_stack_frame *data);

static void push_frame_text(lua_State *L, struct pd_text text)
{
	if (text.p)
		lua_pushlstring(L, text.p, text.n);
	else
		lua_pushnil(L);
}

static void push_if(lua_State *L, bool is_known, uint64_t value)
{
	if (is_known)
		lua_pushinteger(L, (lua_Integer)value);
	else
		lua_pushnil(L);
}

static void push_kind(lua_State *L, const struct pl_frame *frame,
		      const struct pq_stack_frame *data)
{
	(void)frame;
	lua_pushstring(L, pq_frame_kind_name(data->kind));
}

static void push_frame_symbol(lua_State *L, const struct pl_frame *frame,
			      const struct pq_stack_frame *data)
{
	(void)frame;
	push_frame_text(L, data->symbol);
}

static void push_symoff(lua_State *L, const struct pl_frame *frame,
			const struct pq_stack_frame *data)
{
	(void)frame;
	push_if(L, data->has_symoff, data->symoff);
}

static void push_dso(lua_State *L, const struct pl_frame *frame,
		     const struct pq_stack_frame *data)
{
	(void)frame;
	lua_pushstring(L, data->binary.p ? data->binary.p : PM_UNKNOWN);
}

static void push_build_id(lua_State *L, const struct pl_frame *frame,
			  const struct pq_stack_frame *data)
{
	char text[PS_BUILD_ID_TEXT];

	(void)frame;
	lua_pushstring(L, data->build_id.size ? ps_build_id_text(&data->build_id, text) : NULL);
}

static void push_address(lua_State *L, const struct pl_frame *frame,
			 const struct pq_stack_frame *data)
{
	(void)frame;
	lua_pushinteger(L, (lua_Integer)data->address);
}

static void push_ip(lua_State *L, const struct pl_frame *frame,
		    const struct pq_stack_frame *data)
{
	(void)frame;
	push_if(L, data->has_ip, data->ip);
}

/*
 * Finds the lines of a frame; once its recording is closed, only those that were asked for
 * before. Returns their number; 0 if there are none.
 */
static size_t lines_of(lua_State *L, const struct pl_frame *frame,
		       const struct pq_stack_frame *data, const struct ps_line **lines)
{
	size_t n;

	if (!data->dso)
		return 0;
	n = ps_dso_lines(data->dso, data->address, lines);
	pl_check_lines(L, frame->of);
	return n;
}

static void push_srcline(lua_State *L, const struct pl_frame *frame,
			 const struct pq_stack_frame *data)
{
	const struct ps_line *lines;
	size_t n = lines_of(L, frame, data, &lines);

	/* the line of the function itself, not of one that was inlined there */
	lua_pushstring(L, n ? lines[n - 1].srcline : NULL);
}

static void push_frame_inlined(lua_State *L, const struct pl_frame *frame,
			       const struct pq_stack_frame *data)
{
	const struct ps_line *lines;
	size_t n = lines_of(L, frame, data, &lines);

	pl_push_inlined(L, lines, n ? n - 1 : 0);
}

static const struct {
	const char *name;
	field_fn *push;
} fields[] = {
	{ "ip", push_ip },
	{ "address", push_address },
	{ "symbol", push_frame_symbol },
	{ "symoff", push_symoff },
	{ "dso", push_dso },
	{ "build_id", push_build_id },
	{ "kind", push_kind },
	{ "srcline", push_srcline },
	{ "inlined", push_frame_inlined },
};

#define N_FIELDS (sizeof(fields) / sizeof(fields[0]))
#define N_KNOWN	 (N_FIELDS - 2) /* are known without a look into the binary */

static const struct pl_frame *check_frame(lua_State *L, int index,
					  const struct pq_stack_frame **data)
{
	const struct pl_frame *frame = luaL_checkudata(L, index, PL_FRAME);

	*data = pq_stacks_frame(frame->of->stacks, frame->number);
	return frame;
}

static size_t find_field(const char *name)
{
	size_t i = 0;

	while (i < N_FIELDS && strcmp(fields[i].name, name) != 0)
		i++;
	return i;
}

/* frame.name -> value | nil */
static int frame_index(lua_State *L)
{
	const struct pq_stack_frame *data;
	const struct pl_frame *frame = check_frame(L, 1, &data);
	const char *name = luaL_checkstring(L, 2);
	size_t i = find_field(name);
	struct pl_closest closest;

	if (i < N_FIELDS) {
		fields[i].push(L, frame, data);
		return 1;
	}
	pl_closest_init(&closest, name);
	for (i = 0; i < N_FIELDS; i++)
		pl_closest_try(&closest, fields[i].name);
	return pl_closest_raise(L, &closest, "a frame has no field");
}

/*
 * next(frame, name | nil) -> name, value: the next field that it has, except for source lines
 */
static int frame_next(lua_State *L)
{
	const struct pq_stack_frame *data;
	const struct pl_frame *frame = check_frame(L, 1, &data);

	for (size_t i = lua_isnoneornil(L, 2) ? 0 : find_field(luaL_checkstring(L, 2)) + 1;
	     i < N_KNOWN; i++) {
		lua_pushstring(L, fields[i].name);
		fields[i].push(L, frame, data);
		if (!lua_isnil(L, -1))
			return 2;
		lua_pop(L, 2);
	}
	lua_pushnil(L);
	return 1;
}

static int frame_pairs(lua_State *L)
{
	luaL_checkudata(L, 1, PL_FRAME);
	lua_pushcfunction(L, frame_next);
	lua_pushvalue(L, 1);
	lua_pushnil(L);
	return 3;
}

static int frame_eq(lua_State *L)
{
	const struct pq_stack_frame *a, *b;

	if (!luaL_testudata(L, 1, PL_FRAME) || !luaL_testudata(L, 2, PL_FRAME)) {
		lua_pushboolean(L, 0);
		return 1;
	}
	check_frame(L, 1, &a);
	check_frame(L, 2, &b);
	lua_pushboolean(L, pq_stack_frame_equal(a, b));
	return 1;
}

void pl_frame_register(lua_State *L)
{
	static const luaL_Reg frame[] = {
		{ "__index", frame_index },
		{ "__pairs", frame_pairs },
		{ "__eq", frame_eq },
		{ NULL, NULL },
	};

	luaL_newmetatable(L, PL_FRAME);
	luaL_setfuncs(L, frame, 0);
	lua_pop(L, 1);
}
