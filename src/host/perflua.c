/*
 * The interpreter, the `perflua` program: a Lua state with the core and the Lua library inside.
 * lua/perflua/cli/ handles the command line. This file does what Lua cannot do by itself: the
 * terminal, creating and closing the state.
 */
#define _GNU_SOURCE /* fallocate */
#include <dirent.h>
#include <fcntl.h>
#include <errno.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <lua.h>
#include <lauxlib.h>
#include <lualib.h>

#include "host.h"
#include "embed.h"
#include "heap.h"

int luaopen_perflua_core(lua_State *L);

/*
 * Registry key: true if the core may show its progress on the terminal, or the function that it
 * tells its progress instead.
 */
#define PROGRESS_KEY "perflua.progress"
/* Registry key: number of workers for recordings that are opened without the option. */
#define THREADS_KEY "perflua.threads"

#define MOST_CELLS 100000 /* columns or rows: what is more is a mistake */

struct terminal_size {
	int columns, rows;
};

/* Returns the number in a variable of the environment, `fallback` if there is none. */
static int read_variable(const char *name, int fallback)
{
	const char *text = getenv(name);
	char *end;
	long n = text ? strtol(text, &end, 10) : 0;

	return n > 0 && n <= MOST_CELLS && !*end ? (int)n : fallback;
}

/*
 * Returns the size of the terminal that `fd` is. $COLUMNS and $LINES win over what the terminal
 * says of itself; 80 x 24 stands for what neither tells.
 */
static struct terminal_size get_terminal_size(int fd)
{
	struct winsize told = { 0 };

	ioctl(fd, TIOCGWINSZ, &told);
	return (struct terminal_size){
		.columns = read_variable("COLUMNS", told.ws_col ? told.ws_col : 80),
		.rows = read_variable("LINES", told.ws_row ? told.ws_row : 24),
	};
}

/* host.is_terminal("stdin" | "stdout" | "stderr") -> boolean */
static int host_is_terminal(lua_State *L)
{
	static const char *const names[] = { "stdin", "stdout", "stderr", NULL };

	lua_pushboolean(L, isatty(luaL_checkoption(L, 1, NULL, names))); /* 0, 1, 2 */
	return 1;
}

/* host.terminal_size() -> columns, rows of the terminal that standard output is */
static int host_terminal_size(lua_State *L)
{
	struct terminal_size size = get_terminal_size(STDOUT_FILENO);

	lua_pushinteger(L, size.columns);
	lua_pushinteger(L, size.rows);
	return 2;
}

/* host.interrupted() -> boolean: returns true after a SIGINT */
static int host_interrupted(lua_State *L)
{
	lua_pushboolean(L, perflua_was_interrupted());
	return 1;
}

/* host.list(path) -> array of the names in a directory, in no order | nil */
static int host_list(lua_State *L)
{
	DIR *dir = opendir(luaL_checkstring(L, 1));
	const struct dirent *entry;

	if (!dir)
		return 0;
	lua_newtable(L);
	for (lua_Integer i = 1; (entry = readdir(dir)); i++) {
		lua_pushstring(L, entry->d_name);
		lua_rawseti(L, -2, i);
	}
	closedir(dir);
	return 1;
}

/*
 * host.run({word…}) -> status | nil, message: see perflua_run. A SIGINT is for that program,
 * not for what follows.
 */
static int host_run(lua_State *L)
{
	int n = perflua_run(L);

	perflua_arm_sigint(L);
	return n;
}

/* host.fork() -> see perflua_fork. A SIGINT of this process is not one of the new one. */
static int host_fork(lua_State *L)
{
	int n = perflua_fork(L);

	if (lua_isboolean(L, -n))
		perflua_arm_sigint(L);
	return n;
}

/* host.set_threads(n): sets the number of workers for recordings opened without the option */
static int host_set_threads(lua_State *L)
{
	lua_pushinteger(L, luaL_checkinteger(L, 1));
	lua_setfield(L, LUA_REGISTRYINDEX, THREADS_KEY);
	return 0;
}

/*
 * host.show_progress(fn): shows on a terminal how far long passes are. Instead, fn(text) is
 * called every 20 ms while one runs; if it returns true, all end as at a SIGINT
 */
static int host_show_progress(lua_State *L)
{
	if (!lua_isfunction(L, 1))
		lua_pushboolean(L, 1);
	lua_setfield(L, LUA_REGISTRYINDEX, PROGRESS_KEY);
	return 0;
}

/* host.forget_interrupt(): passes and Lua run again after a SIGINT */
static int host_forget_interrupt(lua_State *L)
{
	perflua_arm_sigint(L);
	return 0;
}

/*
 * host.read_line(prompt) -> string | nil at the end of input | false if ^C abandoned the line
 */
static int host_read_line(lua_State *L)
{
	const char *prompt = luaL_checkstring(L, 1), *line;
	bool abandoned;

	perflua_arm_sigint(L); /* a ^C while typing does not interrupt the code typed */
	line = perflua_read_line(L, prompt);
	abandoned = !line && perflua_was_interrupted();
	perflua_arm_sigint(L);
	if (abandoned) {
		putchar('\n');
		lua_pushboolean(L, 0);
	} else if (line) {
		lua_pushstring(L, line);
	} else {
		lua_pushnil(L);
	}
	return 1;
}

static const luaL_Reg host[] = {
	{ "interrupted", host_interrupted },
	{ "is_terminal", host_is_terminal },
	{ "terminal_size", host_terminal_size },
	{ "list", host_list },
	{ "run", host_run },
	{ "show_progress", host_show_progress },
	{ "forget_interrupt", host_forget_interrupt },
	{ "set_threads", host_set_threads },
	{ "read_line", host_read_line },
	{ "page", perflua_page },
	{ "fork", host_fork },
	{ "record", perflua_record },
	{ "wake", perflua_wake },
	{ "stop", perflua_stop },
	{ "wait", perflua_wait },
	{ NULL, NULL },
};

static struct {
	bool on, continued;
} warnings;

/*
 * Does what Lua's own function does, but in the style of our messages: "perflua: PATH: offset
 * 8: …".
 */
static void print_warning(void *ud, const char *message, int more)
{
	(void)ud;
	if (!warnings.continued && !more && *message == '@') {
		if (strcmp(message, "@on") == 0 || strcmp(message, "@off") == 0)
			warnings.on = message[2] == 'n';
		return;
	}
	if (warnings.on) {
		if (!warnings.continued) {
			fflush(stdout);
			if (strncmp(message, "perflua: ", strlen("perflua: ")) != 0)
				fputs("perflua: warning: ", stderr);
		}
		fputs(message, stderr);
		if (!more)
			fputc('\n', stderr);
	}
	warnings.continued = more;
}

/* Pushes the table `host` for lua/perflua/cli/. [-0, +1] */
static void push_host(lua_State *L)
{
	luaL_newlib(L, host);
	lua_pushliteral(L, PERFLUA_VERSION);
	lua_setfield(L, -2, "version");
	lua_pushliteral(L, LUA_RELEASE);
	lua_setfield(L, -2, "lua");
	perflua_add_editing(L);
	perflua_add_screen(L);
}

/* Loads an embedded module for require: (name, ":preload:") -> module */
static int load_embedded(lua_State *L)
{
	const struct embedded *file = lua_touserdata(L, lua_upvalueindex(1));

	if (luaL_loadbufferx(L, (const char *)file->code, file->size, file->module, "b") !=
	    LUA_OK)
		return lua_error(L);
	lua_insert(L, 1);
	lua_call(L, lua_gettop(L) - 1, 1);
	return 1;
}

/*
 * Adds the library to package.preload, where require looks first: so the library is always that
 * of this binary.
 */
static void preload_library(lua_State *L)
{
	luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
	for (const struct embedded *file = embedded_library; file->module; file++) {
		lua_pushlightuserdata(L, (void *)(uintptr_t)file);
		lua_pushcclosure(L, load_embedded, 1);
		lua_setfield(L, -2, file->module);
	}
	lua_pushcfunction(L, luaopen_perflua_core);
	lua_setfield(L, -2, "perflua.core");
	lua_pop(L, 1);
}

/*
 * Returns true if the options have -E. It must be known before the libraries are opened, which
 * read the environment.
 */
static bool ignores_environment(char **argv)
{
	if (!*argv)
		return false;
	for (argv++; *argv && (*argv)[0] == '-' && (*argv)[1] && strcmp(*argv, "--"); argv++) {
		if (!strcmp(*argv, "-E"))
			return true;
		if ((!strcmp(*argv, "-e") || !strcmp(*argv, "-l")) && argv[1])
			argv++;
	}
	return false;
}

/* The payload of the userdata whose finalizer ends the closing of the state. */
struct ending {
	bool is_closing;
	jmp_buf finalized;
};

static int end_closing(lua_State *L)
{
	struct ending *ending = lua_touserdata(L, 1);

	if (ending->is_closing)
		longjmp(ending->finalized, 1);
	return 0;
}

static const char ending_key; /* its address is the userdata's key in the registry */

/* Creates that userdata, the first with a finalizer: Lua calls that one last. [-0, +0] */
static void create_ending(lua_State *L)
{
	struct ending *ending = lua_newuserdatauv(L, sizeof(*ending), 0);

	ending->is_closing = false;
	lua_newtable(L);
	lua_pushcfunction(L, end_closing);
	lua_setfield(L, -2, "__gc");
	lua_setmetatable(L, -2);
	lua_rawsetp(L, LUA_REGISTRYINDEX, &ending_key);
}

/*
 * Closes the state as lua_close does, but leaves the objects to the end of the process, which
 * gives back their memory at once: freeing millions one by one takes most of a second.
 */
static void close_state(lua_State *L)
{
#ifndef __SANITIZE_ADDRESS__ /* it reports memory that was not freed */
	struct ending *ending;

	lua_rawgetp(L, LUA_REGISTRYINDEX, &ending_key);
	ending = lua_touserdata(L, -1);
	if (ending) {
		ending->is_closing = true;
		if (setjmp(ending->finalized))
			return;
	}
#endif
	lua_close(L);
}

/* (argv as light userdata) -> exit status */
static int run_interpreter(lua_State *L)
{
	char **argv = lua_touserdata(L, 1);

	create_ending(L);
	if (ignores_environment(argv)) {
		lua_pushboolean(L, 1);
		lua_setfield(L, LUA_REGISTRYINDEX, "LUA_NOENV");
	}
	luaL_openlibs(L);
	lua_setwarnf(L, print_warning, NULL);
	perflua_share_signals(L);
	preload_library(L);
	lua_gc(L, LUA_GCGEN, 0, 0);
	perflua_arm_sigint(L);

	lua_getglobal(L, "require");
	lua_pushliteral(L, "perflua.cli");
	lua_call(L, 1, 1);
	lua_getfield(L, -1, "main");
	lua_newtable(L); /* argv, numbered like `arg`: the program is at 0 */
	for (int i = 0; argv[i]; i++) {
		lua_pushstring(L, argv[i]);
		lua_rawseti(L, -2, i);
	}
	push_host(L);
	lua_call(L, 2, 1);
	return 1;
}

/*
 * Vectors of a large table grow by moving pages. malloc() raises the size from which it does so
 * to the largest memory freed, and copies below it: tables then need half as much again, how
 * much depending on the order in which workers free theirs.
 */
static void move_large_memory(void)
{
#ifdef M_MMAP_THRESHOLD
	mallopt(M_MMAP_THRESHOLD, 256 << 10);
#endif
}

/*
 * Returns why an earlier write to standard output failed, which stdio forgets, if that can be
 * found out without writing anything; else 0.
 */
static int find_write_error(void)
{
	struct stat st;

	if (fstat(STDOUT_FILENO, &st) < 0)
		return errno;
	if (S_ISCHR(st.st_mode) && !isatty(STDOUT_FILENO)) /* /dev/full */
		return write(STDOUT_FILENO, "\n", 1) < 0 ? errno : 0;
	if (S_ISREG(st.st_mode) &&
	    fallocate(STDOUT_FILENO, FALLOC_FL_KEEP_SIZE, st.st_size, 1) < 0 &&
	    (errno == ENOSPC || errno == EDQUOT))
		return errno;
	return 0;
}

int main(int argc, char **argv)
{
	int status = EXIT_FAILURE;
	struct heap heap = { 0 };
	lua_State *L;

	(void)argc;
	move_large_memory();
	L = lua_newstate(heap_alloc, &heap);
	if (!L) {
		fputs("perflua: not enough memory\n", stderr);
		return EXIT_FAILURE;
	}
	perflua_arm_ending_signals();
	lua_pushcfunction(L, run_interpreter);
	lua_pushlightuserdata(L, argv);
	if (lua_pcall(L, 1, 1, 0) == LUA_OK)
		status = (int)lua_tointeger(L, -1);
	else
		fprintf(stderr, "perflua: %s\n", luaL_tolstring(L, -1, NULL));
	perflua_disarm_sigint();
	close_state(L);
	perflua_free_line();
	errno = 0;
	if (fflush(stdout) || ferror(stdout)) {
		int error = errno ? errno : find_write_error();

		fprintf(stderr, "perflua: cannot write to standard output%s%s\n",
			error ? ": " : "", error ? strerror(error) : "");
		status = status ? status : EXIT_FAILURE;
	}
	perflua_end_pager();
	return status;
}
