#include "host.h"

#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <lauxlib.h>
#include <lualib.h>

#include "base/progress.h"
#include "base/replacement.h"

/* Registry key: address of `interrupt`, for the core's passes over records. */
#define INTERRUPT_KEY "perflua.interrupt"
/* Registry key: address of `unfinished`, for the core's writing of files. */
#define UNFINISHED_KEY "perflua.unfinished"

/*
 * The first SIGINT ends what it meets. A pass ends as if the recording had ended, so that the
 * script still prints what was found; the script raises as soon as it has run for PATIENCE
 * without a call of the core or a write. Where there is no pass, the script raises immediately.
 * The second SIGINT raises wherever Lua is. A third one ends the process, if even that does not
 * help.
 */
static struct pb_interrupt interrupt;
static volatile sig_atomic_t met_pass; /* a pass was open when the first SIGINT came */
static lua_State *main_state;

#define PATIENCE 1000000000u /* ns */

/* Monotonic time of the end of the last call of the core or write since the SIGINT, in ns. */
static uint64_t last_call;

/* Temporary files that are not yet renamed to the files they replace. */
static struct pb_unfinished unfinished;

static void remove_unfinished_files(void)
{
	pb_unfinished_remove(&unfinished);
}

/* Ends the process by a signal, as it would have been ended without a handler. */
static void on_ending_signal(int sig)
{
	perflua_restore_terminal();
	remove_unfinished_files();
	if (perflua_leave_pager() && sig == SIGPIPE)
		_exit(EXIT_SUCCESS); /* its user has seen enough */
	signal(sig, SIG_DFL);
	raise(sig);
}

void perflua_arm_ending_signals(void)
{
	static const int signals[] = { SIGHUP, SIGTERM, SIGQUIT, SIGXCPU, SIGXFSZ };
	struct sigaction action = { .sa_handler = on_ending_signal }, before;

	sigfillset(&action.sa_mask);
	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		if (sigaction(signals[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
			sigaction(signals[i], &action, NULL);
	/* let `perflua … | head` end quietly, whatever the parent set */
	sigaction(SIGPIPE, &action, NULL);
	atexit(remove_unfinished_files); /* a script may call os.exit() while one is written */
}

void perflua_share_signals(lua_State *L)
{
	lua_pushlightuserdata(L, (void *)(uintptr_t)&interrupt);
	lua_setfield(L, LUA_REGISTRYINDEX, INTERRUPT_KEY);
	lua_pushlightuserdata(L, &unfinished);
	lua_setfield(L, LUA_REGISTRYINDEX, UNFINISHED_KEY);
}

/* Raises at the line that runs. */
static void raise_interrupted(lua_State *L, lua_Debug *ar)
{
	(void)ar;
	lua_sethook(L, NULL, 0, 0);
	luaL_where(L, 0);
	lua_pushliteral(L, "interrupted");
	lua_concat(L, 2);
	lua_error(L);
}

/* Has the next instruction of Lua raise. A signal handler may call this. */
static void raise_soon(lua_State *L)
{
	lua_sethook(L, raise_interrupted, LUA_MASKCOUNT, 1);
}

/*
 * Adds the C functions of the table on top to the set at `set`: false for those that write,
 * otherwise true. [-1, +0]
 */
static void add_functions(lua_State *L, int set)
{
	for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1)) {
		const char *name = lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : "";

		if (!lua_iscfunction(L, -1))
			continue;
		lua_pushvalue(L, -1);
		lua_pushboolean(L, strcmp(name, "print") != 0 && strcmp(name, "write") != 0);
		lua_rawset(L, set);
	}
	lua_pop(L, 1);
}

/* Pushes that set of the functions of Lua's libraries. [-0, +1] */
static void push_library_functions(lua_State *L)
{
	static const char *const names[] = { LUA_GNAME,	      LUA_COLIBNAME,   LUA_TABLIBNAME,
					     LUA_IOLIBNAME,   LUA_OSLIBNAME,   LUA_STRLIBNAME,
					     LUA_MATHLIBNAME, LUA_UTF8LIBNAME, LUA_DBLIBNAME,
					     LUA_LOADLIBNAME };
	static const char key;
	int set = lua_gettop(L) + 1;

	if (lua_rawgetp(L, LUA_REGISTRYINDEX, &key) == LUA_TTABLE)
		return;
	lua_pop(L, 1);
	lua_newtable(L);
	luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		luaL_getsubtable(L, set + 1, names[i]);
		add_functions(L, set);
	}
	luaL_getmetatable(L, LUA_FILEHANDLE);
	luaL_getsubtable(L, -1, "__index");
	add_functions(L, set);
	lua_settop(L, set);
	lua_pushvalue(L, set);
	lua_rawsetp(L, LUA_REGISTRYINDEX, &key);
}

enum function_kind {
	OF_LUA, /* of a script, or of Lua's libraries */
	WRITES,
	OF_CORE, /* all other C functions are taken for the core's */
};

static enum function_kind find_kind(lua_State *L, lua_Debug *ar)
{
	enum function_kind kind = OF_LUA;

	/* Lua's iterators, such as that of ipairs(), are in no table */
	lua_getinfo(L, "fn", ar);
	if (lua_iscfunction(L, -1) && strcmp(ar->namewhat, "for iterator") != 0) {
		push_library_functions(L);
		lua_pushvalue(L, -2);
		kind = lua_rawget(L, -2) == LUA_TNIL ? OF_CORE :
		       lua_toboolean(L, -1)	     ? OF_LUA :
						       WRITES;
		lua_pop(L, 2);
	}
	lua_pop(L, 1);
	return kind;
}

/* Returns whether a function of the core runs, perhaps one that has called Lua. */
static bool is_in_core(lua_State *L)
{
	lua_Debug ar, below;

	/* the lowest function is that of this program */
	for (int level = 0; lua_getstack(L, level + 1, &below); level++)
		if (lua_getstack(L, level, &ar) && find_kind(L, &ar) == OF_CORE)
			return true;
	return false;
}

static uint64_t read_monotonic(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Lets what follows an interrupted pass run, unless it calls nothing for too long. */
static void check_patience(lua_State *L, lua_Debug *ar)
{
	if (ar->event == LUA_HOOKCOUNT) {
		if (read_monotonic() - last_call > PATIENCE)
			raise_interrupted(L, ar);
	} else if (find_kind(L, ar) != OF_LUA) {
		last_call = read_monotonic();
	}
}

/* Decides what the first SIGINT ends, where Lua is after it came. */
static void decide_interrupt(lua_State *L, lua_Debug *ar)
{
	(void)ar;
	if (!met_pass && !is_in_core(L)) {
		raise_soon(L);
		return;
	}
	last_call = read_monotonic();
	lua_sethook(L, check_patience, LUA_MASKRET | LUA_MASKCOUNT, 1000);
}

static void on_sigint(int sig)
{
	if (perflua_is_paged()) /* it is the pager's */
		return;
	if (!interrupt.flag) {
		interrupt.flag = 1;
		met_pass = interrupt.passes > 0;
		lua_sethook(main_state, decide_interrupt, LUA_MASKRET | LUA_MASKCOUNT, 1);
		return;
	}
	signal(sig, on_ending_signal);
	raise_soon(main_state);
}

void perflua_arm_sigint(lua_State *L)
{
	struct sigaction action = { .sa_handler = on_sigint, .sa_flags = SA_RESTART };

	lua_rawgeti(L, LUA_REGISTRYINDEX, LUA_RIDX_MAINTHREAD);
	main_state = lua_tothread(L, -1);
	lua_pop(L, 1);
	interrupt.flag = 0;
	lua_sethook(main_state, NULL, 0, 0);
	sigemptyset(&action.sa_mask);
	sigaction(SIGINT, &action, NULL);
}

bool perflua_was_interrupted(void)
{
	return interrupt.flag != 0;
}

static void on_last_sigint(int sig)
{
	if (!perflua_is_paged())
		on_ending_signal(sig);
}

void perflua_disarm_sigint(void)
{
	lua_sethook(main_state, NULL, 0, 0);
	signal(SIGINT, on_last_sigint);
}
