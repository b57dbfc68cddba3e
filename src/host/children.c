/*
 * Starts other processes. Copies of this one each write to an unlinked file, which is read
 * after the process has ended: so no process waits for its reader, and each that ends makes
 * room for the next.
 */
#define _GNU_SOURCE /* asprintf, mkostemp */
#include "host.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <lauxlib.h>
#include <lualib.h>

#define MAX_WORDS 1000

extern char **environ;

static int close_output_file(lua_State *L)
{
	luaL_Stream *stream = luaL_checkudata(L, 1, LUA_FILEHANDLE);

	return luaL_fileresult(L, fclose(stream->f) == 0, NULL);
}

/* Opens a file without a name in $TMPDIR. Returns -1 with errno on failure. */
static int open_unlinked_file(void)
{
	const char *dir = getenv("TMPDIR");
	char *name;
	int fd;

	if (asprintf(&name, "%s/perflua-XXXXXX", dir && *dir ? dir : "/tmp") < 0)
		return -1;
	fd = mkostemp(name, O_CLOEXEC);
	if (fd >= 0)
		unlink(name);
	free(name);
	return fd;
}

/* Opens such a file as one of Lua's. Returns NULL with errno on failure. [-0, +1] */
static FILE *push_output_file(lua_State *L)
{
	luaL_Stream *stream = lua_newuserdatauv(L, sizeof(*stream), 0);
	int fd;

	stream->closef = NULL; /* closed until the file is open */
	luaL_setmetatable(L, LUA_FILEHANDLE);
	fd = open_unlinked_file();
	if (fd < 0)
		return NULL;
	stream->f = fdopen(fd, "w+b");
	if (!stream->f) {
		close(fd);
		return NULL;
	}
	stream->closef = close_output_file;
	return stream->f;
}

/* Makes standard input empty, and standard output write to `out`. Returns an errno, or 0. */
static int redirect_streams(int out)
{
	int input = open("/dev/null", O_RDONLY | O_CLOEXEC);
	bool ok = input >= 0 && dup2(input, STDIN_FILENO) >= 0 && dup2(out, STDOUT_FILENO) >= 0;
	int error = ok ? 0 : errno;

	if (input >= 0)
		close(input);
	return error;
}

/*
 * Pushes an array for the words of the table at 1, which it leaves there, with their strings
 * above it. Raises for anything but a list of strings.
 */
static char *const *push_words(lua_State *L)
{
	const char **argv;
	lua_Integer n;

	luaL_checktype(L, 1, LUA_TTABLE);
	n = luaL_len(L, 1);
	luaL_argcheck(L, n > 0 && n <= MAX_WORDS, 1, "too many words");
	lua_settop(L, 1);
	argv = lua_newuserdatauv(L, sizeof(*argv) * (size_t)(n + 1), 0);
	/* the words stay on the stack while argv refers to them */
	luaL_checkstack(L, (int)n + 4, NULL);
	for (lua_Integer i = 1; i <= n; i++) {
		lua_rawgeti(L, 1, i);
		argv[i - 1] = luaL_checkstring(L, -1);
	}
	argv[n] = NULL;
	return (char *const *)argv;
}

static int push_start_error(lua_State *L, const char *what, int error)
{
	lua_pushnil(L);
	lua_pushfstring(L, "cannot start %s: %s", what, strerror(error));
	return 2;
}

int perflua_fork(lua_State *L)
{
	FILE *out = push_output_file(L);
	pid_t pid;
	int error;

	if (out)
		fflush(stdout); /* else both processes write what is in its buffer */
	pid = out ? fork() : -1;
	if (pid < 0)
		return push_start_error(L, "a process", errno);
	if (pid) {
		lua_pushinteger(L, pid);
		lua_insert(L, -2);
		return 2;
	}
	error = redirect_streams(fileno(out));
	lua_pushboolean(L, 0);
	if (!error)
		return 1;
	lua_pushstring(L, strerror(error));
	return 2;
}

int perflua_run(lua_State *L)
{
	char *const *argv = push_words(L);
	int status, error;
	pid_t pid, ended;

	error = posix_spawnp(&pid, argv[0], NULL, NULL, argv, environ);
	if (error)
		return push_start_error(L, argv[0], error);
	do
		ended = waitpid(pid, &status, 0);
	while (ended < 0 && errno == EINTR);
	lua_pushinteger(L, WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status));
	return 1;
}

static int control = -1; /* the socket to perf record */

#define CONTROL_FD 3 /* its number in perf record */

/* Sets the descriptors that perf record begins with. Returns an errno, or 0. */
static int set_descriptors(posix_spawn_file_actions_t *actions, int pipe_to, int socket,
			   int errors)
{
	int error = posix_spawn_file_actions_adddup2(actions, pipe_to, STDOUT_FILENO);

	if (!error && errors >= 0)
		error = posix_spawn_file_actions_adddup2(actions, errors, STDERR_FILENO);
	if (!error && errors >= 0 && isatty(STDIN_FILENO))
		error = posix_spawn_file_actions_addopen(actions, STDIN_FILENO, "/dev/null",
							 O_RDONLY, 0);
	/* the last: the others may have its number */
	if (!error)
		error = posix_spawn_file_actions_adddup2(actions, socket, CONTROL_FD);
	return error;
}

/* Starts the words with standard output in a pipe that becomes our input. Returns an errno. */
static int start_recording(char *const *argv, int errors, pid_t *pid)
{
	int data[2] = { -1, -1 }, sockets[2] = { -1, -1 }, error = 0;
	posix_spawn_file_actions_t actions;

	if (pipe2(data, O_CLOEXEC) < 0)
		return errno;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) < 0)
		error = errno;
	/* dup2() to the same number would leave it to be closed */
	if (!error && sockets[1] == CONTROL_FD &&
	    (sockets[1] = fcntl(sockets[1], F_DUPFD_CLOEXEC, 10)) < 0)
		error = errno;
	if (!error && !(error = posix_spawn_file_actions_init(&actions))) {
		error = set_descriptors(&actions, data[1], sockets[1], errors);
		if (!error)
			error = posix_spawnp(pid, argv[0], &actions, NULL, argv, environ);
		posix_spawn_file_actions_destroy(&actions);
	}
	if (!error && dup2(data[0], STDIN_FILENO) < 0)
		error = errno;
	close(data[0]);
	close(data[1]);
	if (sockets[1] >= 0)
		close(sockets[1]);
	control = sockets[0];
	return error;
}

int perflua_record(lua_State *L)
{
	bool is_screen = lua_toboolean(L, 2);
	FILE *errors = NULL;
	char *const *argv;
	int error;
	pid_t pid;

	argv = push_words(L);
	if (is_screen && !(errors = push_output_file(L)))
		return push_start_error(L, argv[0], errno);
	error = start_recording(argv, errors ? fileno(errors) : -1, &pid);
	if (error)
		return push_start_error(L, argv[0], error);
	lua_pushinteger(L, pid);
	if (!is_screen)
		return 1;
	lua_insert(L, -2);
	return 2;
}

int perflua_wake(lua_State *L)
{
	static const char ping[] = "ping\n";

	(void)L;
	/* one that has ended, or has not read the last words yet, needs none */
	if (control >= 0)
		send(control, ping, sizeof(ping) - 1, MSG_DONTWAIT | MSG_NOSIGNAL);
	return 0;
}

int perflua_stop(lua_State *L)
{
	pid_t pid = (pid_t)luaL_checkinteger(L, 1);
	lua_Integer ms = luaL_optinteger(L, 2, 0);
	siginfo_t ended = { 0 };

	while (waitid(P_PID, (id_t)pid, &ended, WEXITED | WNOWAIT | WNOHANG) == 0 &&
	       !ended.si_pid && ms > 0) {
		usleep(10000);
		ms -= 10;
	}
	if (!ended.si_pid)
		kill(pid, SIGTERM);
	return 0;
}

int perflua_wait(lua_State *L)
{
	int status;
	pid_t pid;

	do
		pid = waitpid(-1, &status, 0);
	while (pid < 0 && errno == EINTR);
	if (pid < 0)
		return 0;
	lua_pushinteger(L, pid);
	lua_pushinteger(L, WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status));
	return 2;
}
