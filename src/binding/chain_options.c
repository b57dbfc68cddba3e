/* Options of call chains: perf report --parent, --ignore-callees, --stitch-lbr. */
#include <regex.h>

#include "functions.h"
#include "handle.h"

#define PL_CHAIN_OPTIONS "perflua.chain_options"

/* Options of a file, which its table of options keeps. */
struct pl_chain_options {
	regex_t parent, root;
	struct ps_chain_options made; /* refers to those that were compiled */
};

static int chain_options_gc(lua_State *L)
{
	struct pl_chain_options *options = lua_touserdata(L, 1);

	if (options->made.parent)
		regfree(&options->parent);
	if (options->made.root)
		regfree(&options->root);
	options->made = (struct ps_chain_options){ 0 };
	return 0;
}

/*
 * Compiles the expression in a field of the table at 2. Returns NULL if the field is nil.
 * Raises if it is not a regular expression.
 */
static const regex_t *compile(lua_State *L, const char *field, regex_t *regex)
{
	const char *text;
	char why[128];
	int wrong;

	if (lua_getfield(L, 2, field) == LUA_TNIL) {
		lua_pop(L, 1);
		return NULL;
	}
	text = luaL_checkstring(L, -1);
	wrong = regcomp(regex, text, REG_EXTENDED | REG_NOSUB);
	if (wrong) {
		regerror(wrong, regex, why, sizeof(why));
		luaL_error(L, "'%s' is not a regular expression: %s", text, why);
	}
	lua_pop(L, 1);
	return regex;
}

#define OPTIONS_AT 3 /* place of the options on the stack, after the arguments */

/*
 * core.set_chain_options(file, {parent =, root =, from_caller =, is_named =, lbr_depth =,
 * branches =, max_frames =, inlined =}): the functions that the field `parent`
 * looks for in call chains, and those that call chains of reports begin with; the others: see
 * struct ps_chain_options. Nothing may have been looked up before.
 */
int pl_set_chain_options(lua_State *L)
{
	struct pl_file *f = pl_check_open_file(L, 1);
	struct pl_chain_options *options;
	static const char *const orders[] = {
		[PS_BRANCHES_NONE] = "none",
		[PS_BRANCHES_CALLEE] = "callee",
		[PS_BRANCHES_CALLER] = "caller",
		[PS_BRANCHES_CALLER + 1] = NULL,
	};
	static const char *const inlined[] = {
		[PS_INLINED_NONE] = "none",
		[PS_INLINED_UNWOUND] = "unwound",
		[PS_INLINED_ALL] = "all",
		[PS_INLINED_ALL + 1] = NULL,
	};

	luaL_checktype(L, 2, LUA_TTABLE);
	if (f->system)
		luaL_error(L, "%s: names were looked up already", f->file->path);
	lua_settop(L, 2);
	options = lua_newuserdatauv(L, sizeof(*options), 0);
	options->made = (struct ps_chain_options){ 0 };
	if (luaL_newmetatable(L, PL_CHAIN_OPTIONS)) {
		lua_pushcfunction(L, chain_options_gc);
		lua_setfield(L, -2, "__gc");
	}
	lua_setmetatable(L, -2);
	options->made.parent = compile(L, "parent", &options->parent);
	options->made.root = compile(L, "root", &options->root);
	lua_getfield(L, 2, "from_caller");
	options->made.from_caller = lua_toboolean(L, -1);
	lua_getfield(L, 2, "is_named");
	options->made.is_named = lua_toboolean(L, -1);
	lua_getfield(L, 2, "lbr_depth");
	options->made.lbr_depth = (uint32_t)luaL_optinteger(L, -1, 0);
	lua_getfield(L, 2, "branches");
	options->made.branches = (enum ps_branches)luaL_checkoption(L, -1, "none", orders);
	lua_getfield(L, 2, "max_frames");
	options->made.max_frames = (uint32_t)luaL_optinteger(L, -1, 0);
	lua_getfield(L, 2, "inlined");
	options->made.inlined = (enum ps_inlined)luaL_checkoption(L, -1, "none", inlined);
	lua_settop(L, OPTIONS_AT);
	if (lua_getiuservalue(L, 1, PL_FILE_SYMBOLS) != LUA_TTABLE) {
		lua_newtable(L);
		lua_pushvalue(L, -1);
		lua_setiuservalue(L, 1, PL_FILE_SYMBOLS);
	}
	lua_pushvalue(L, OPTIONS_AT);
	lua_setfield(L, -2, PL_CHAIN_OPTIONS);
	f->symbols.chains = &options->made;
	return 0;
}
