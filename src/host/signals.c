#include "signals.h"

#include <signal.h>
#include <stdint.h>
#include <stdlib.h>

#include <lauxlib.h>

#include "base/replacement.h"

/* Registry key: address of `interrupted`, for the core's loops over records. */
#define INTERRUPT_KEY "perflua.interrupt"
/* Registry key: address of `unfinished`, for the core's writing of files. */
#define UNFINISHED_KEY "perflua.unfinished"

/*
 * Set by the first SIGINT. Loops over a recording then end as if the recording had ended, so
 * that a script still prints what it found. The second SIGINT raises an error wherever Lua is.
 * A third ends the process, if even that does not help.
 */
static volatile sig_atomic_t interrupted;
static lua_State *main_state;

/* Temporary files that are not yet renamed to the files they replace. */
static struct pb_unfinished unfinished;

static void remove_unfinished_files(void)
{
	pb_unfinished_remove(&unfinished);
}

/* Ends the process by a signal, as it would have been ended without a handler. */
static void on_ending_signal(int sig)
{
	remove_unfinished_files();
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
	lua_pushlightuserdata(L, (void *)(uintptr_t)&interrupted);
	lua_setfield(L, LUA_REGISTRYINDEX, INTERRUPT_KEY);
	lua_pushlightuserdata(L, &unfinished);
	lua_setfield(L, LUA_REGISTRYINDEX, UNFINISHED_KEY);
}

static void raise_interrupted(lua_State *L, lua_Debug *ar)
{
	(void)ar;
	lua_sethook(L, NULL, 0, 0);
	luaL_error(L, "interrupted");
}

static void on_sigint(int sig)
{
	if (!interrupted) {
		interrupted = 1;
		return;
	}
	signal(sig, on_ending_signal);
	lua_sethook(main_state, raise_interrupted,
		    LUA_MASKCALL | LUA_MASKRET | LUA_MASKLINE | LUA_MASKCOUNT, 1);
}

void perflua_arm_sigint(lua_State *L)
{
	struct sigaction action = { .sa_handler = on_sigint, .sa_flags = SA_RESTART };

	lua_rawgeti(L, LUA_REGISTRYINDEX, LUA_RIDX_MAINTHREAD);
	main_state = lua_tothread(L, -1);
	lua_pop(L, 1);
	interrupted = 0;
	lua_sethook(main_state, NULL, 0, 0);
	sigemptyset(&action.sa_mask);
	sigaction(SIGINT, &action, NULL);
}

bool perflua_was_interrupted(void)
{
	return interrupted != 0;
}

void perflua_disarm_sigint(void)
{
	signal(SIGINT, on_ending_signal);
}
