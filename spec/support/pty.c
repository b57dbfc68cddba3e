/*
 * Programs on terminals of their own, for specs: the Lua module `pty`.
 *
 *   pty.start({word…}, columns, rows, {NAME = value | false…}) -> terminal
 *   terminal:read(seconds) -> text | nil after that time | false at the end
 *   terminal:write(text)
 *   terminal:resize(columns, rows)   the program gets SIGWINCH
 *   terminal:signal(number)          to its process group
 *   terminal:modes() -> "icanon echo isig", those that are on
 *   terminal:wait() -> exit status, or the negative number of the signal that ended it
 *   terminal:status() -> the same, nil while the program runs
 *   terminal:close()                 as a window that is closed: SIGHUP
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <lauxlib.h>
#include <lua.h>

#define TERMINAL   "perflua.spec.terminal"
#define MOST_WORDS 100

struct terminal {
	int fd; /* -1: closed */
	pid_t pid;
	int status; /* -pid_t's: as of waitpid(), once it has ended */
	int has_ended;
};

static struct terminal *check_terminal(lua_State *L)
{
	struct terminal *t = luaL_checkudata(L, 1, TERMINAL);

	luaL_argcheck(L, t->fd >= 0, 1, "closed");
	return t;
}

static struct winsize check_size(lua_State *L, int at)
{
	return (struct winsize){ .ws_col = (unsigned short)luaL_checkinteger(L, at),
				 .ws_row = (unsigned short)luaL_checkinteger(L, at + 1) };
}

/* In the new process: the variables of the table at 4, and then the program. */
static void run_program(lua_State *L, char *const *argv)
{
	for (lua_pushnil(L); lua_next(L, 4); lua_pop(L, 1)) {
		if (lua_toboolean(L, -1))
			setenv(lua_tostring(L, -2), lua_tostring(L, -1), 1);
		else
			unsetenv(lua_tostring(L, -2));
	}
	signal(SIGINT, SIG_DFL);
	signal(SIGQUIT, SIG_DFL);
	signal(SIGPIPE, SIG_DFL);
	execvp(argv[0], argv);
	_exit(127);
}

static int pty_start(lua_State *L)
{
	struct winsize size = check_size(L, 2);
	char *argv[MOST_WORDS + 1] = { NULL };
	struct terminal *t;
	lua_Integer n = luaL_len(L, 1);

	luaL_argcheck(L, n > 0 && n <= MOST_WORDS, 1, "no words, or too many");
	luaL_checktype(L, 4, LUA_TTABLE);
	luaL_checkstack(L, MOST_WORDS + 10, NULL);
	t = lua_newuserdatauv(L, sizeof(*t), 0);
	*t = (struct terminal){ .fd = -1, .has_ended = 1 };
	luaL_setmetatable(L, TERMINAL);
	for (lua_Integer i = 0; i < n; i++) {
		lua_rawgeti(L, 1, i + 1);
		argv[i] = (char *)luaL_checkstring(L, -1);
	}
	t->pid = forkpty(&t->fd, NULL, NULL, &size);
	if (t->pid < 0)
		return luaL_error(L, "forkpty: %s", strerror(errno));
	if (!t->pid)
		run_program(L, argv);
	t->has_ended = 0;
	lua_settop(L, 5);
	return 1;
}

static int terminal_read(lua_State *L)
{
	struct terminal *t = check_terminal(L);
	struct pollfd ready = { .fd = t->fd, .events = POLLIN };
	char text[65536];
	ssize_t n;

	if (poll(&ready, 1, (int)(1000 * luaL_checknumber(L, 2))) <= 0)
		return 0;
	n = read(t->fd, text, sizeof(text));
	if (n > 0)
		lua_pushlstring(L, text, (size_t)n);
	else
		lua_pushboolean(L, 0); /* EIO: nobody has the terminal open */
	return 1;
}

static int terminal_write(lua_State *L)
{
	struct terminal *t = check_terminal(L);
	size_t n;
	const char *text = luaL_checklstring(L, 2, &n);

	while (n) {
		ssize_t done = write(t->fd, text, n);

		if (done < 0)
			return luaL_error(L, "write: %s", strerror(errno));
		text += done;
		n -= (size_t)done;
	}
	return 0;
}

static int terminal_resize(lua_State *L)
{
	struct terminal *t = check_terminal(L);
	struct winsize size = check_size(L, 2);

	if (ioctl(t->fd, TIOCSWINSZ, &size) < 0)
		return luaL_error(L, "TIOCSWINSZ: %s", strerror(errno));
	return 0;
}

static int terminal_signal(lua_State *L)
{
	struct terminal *t = check_terminal(L);

	lua_pushboolean(L, kill(-t->pid, (int)luaL_checkinteger(L, 2)) == 0);
	return 1;
}

static int terminal_modes(lua_State *L)
{
	struct terminal *t = check_terminal(L);
	struct termios modes;

	if (tcgetattr(t->fd, &modes) < 0)
		return luaL_error(L, "tcgetattr: %s", strerror(errno));
	lua_pushfstring(L, "%s%s%s", modes.c_lflag & ICANON ? "icanon " : "",
			modes.c_lflag & ECHO ? "echo " : "",
			modes.c_lflag & ISIG ? "isig" : "");
	return 1;
}

static int push_status(lua_State *L, struct terminal *t, int flags)
{
	if (!t->has_ended) {
		pid_t pid = waitpid(t->pid, &t->status, flags);

		if (pid != t->pid)
			return 0;
		t->has_ended = 1;
	}
	lua_pushinteger(L,
			WIFSIGNALED(t->status) ? -WTERMSIG(t->status) : WEXITSTATUS(t->status));
	return 1;
}

static int terminal_wait(lua_State *L)
{
	return push_status(L, check_terminal(L), 0);
}

static int terminal_status(lua_State *L)
{
	return push_status(L, check_terminal(L), WNOHANG);
}

static int terminal_close(lua_State *L)
{
	struct terminal *t = luaL_checkudata(L, 1, TERMINAL);

	if (t->fd >= 0)
		close(t->fd);
	t->fd = -1;
	if (!t->has_ended) {
		kill(t->pid, SIGKILL);
		waitpid(t->pid, &t->status, 0);
	}
	t->has_ended = 1;
	return 0;
}

__attribute__((visibility("default"))) int luaopen_pty(lua_State *L);

int luaopen_pty(lua_State *L)
{
	static const luaL_Reg methods[] = {
		{ "read", terminal_read },     { "write", terminal_write },
		{ "resize", terminal_resize }, { "signal", terminal_signal },
		{ "modes", terminal_modes },   { "wait", terminal_wait },
		{ "status", terminal_status }, { "close", terminal_close },
		{ "__gc", terminal_close },    { NULL, NULL }
	};
	static const luaL_Reg functions[] = { { "start", pty_start }, { NULL, NULL } };

	luaL_newmetatable(L, TERMINAL);
	luaL_setfuncs(L, methods, 0);
	lua_pushvalue(L, -1);
	lua_setfield(L, -2, "__index");
	luaL_newlib(L, functions);
	return 1;
}
