/* Patterns of functions: perf report --parent and --ignore-callees. */
#include <regex.h>

#include "functions.h"
#include "handle.h"

#define PL_PATTERNS "perflua.patterns"

/* The patterns of a file, which its table of options keeps. */
struct pl_patterns {
	regex_t parent, root;
	struct ps_patterns made; /* refers to those that were compiled */
};

static int patterns_gc(lua_State *L)
{
	struct pl_patterns *patterns = lua_touserdata(L, 1);

	if (patterns->made.parent)
		regfree(&patterns->parent);
	if (patterns->made.root)
		regfree(&patterns->root);
	patterns->made = (struct ps_patterns){ 0 };
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

/*
 * core.set_patterns(file, {parent =, root =, from_caller =}): the functions that the field
 * `parent` looks for in call chains, and those that call chains of reports begin with. Nothing
 * may have been looked up before.
 */
int pl_set_patterns(lua_State *L)
{
	struct pl_file *f = pl_check_open_file(L, 1);
	struct pl_patterns *patterns;

	luaL_checktype(L, 2, LUA_TTABLE);
	if (f->system)
		luaL_error(L, "%s: names were looked up already", f->file->path);
	patterns = lua_newuserdatauv(L, sizeof(*patterns), 0);
	patterns->made = (struct ps_patterns){ 0 };
	if (luaL_newmetatable(L, PL_PATTERNS)) {
		lua_pushcfunction(L, patterns_gc);
		lua_setfield(L, -2, "__gc");
	}
	lua_setmetatable(L, -2);
	patterns->made.parent = compile(L, "parent", &patterns->parent);
	patterns->made.root = compile(L, "root", &patterns->root);
	lua_getfield(L, 2, "from_caller");
	patterns->made.from_caller = lua_toboolean(L, -1);
	lua_pop(L, 1);
	if (lua_getiuservalue(L, 1, PL_FILE_SYMBOLS) != LUA_TTABLE) {
		lua_newtable(L);
		lua_pushvalue(L, -1);
		lua_setiuservalue(L, 1, PL_FILE_SYMBOLS);
	}
	lua_pushvalue(L, -3);
	lua_setfield(L, -2, PL_PATTERNS);
	f->symbols.patterns = &patterns->made;
	return 0;
}
