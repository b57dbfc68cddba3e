#define _GNU_SOURCE /* pipe2 */
#include "host.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <lauxlib.h>

/* Registry key: whether a pager shows standard output, for the core's progress. */
#define PAGED_KEY "perflua.paged"

#define MOST_WORDS 64
#define LESS	   "FRSX" /* its options if it has none: as those of the default */

extern char **environ;

/* There is one standard output, so there is one pager. */
static struct pager {
	bool is_open;
	bool is_named;
	char *command;
	pthread_t thread;   /* waits for the first byte */
	int input;	    /* what the pager reads; the thread's */
	int output, errors; /* the terminal, and standard error before */
	_Atomic pid_t pid;  /* 0: it has not been started */
} pager;

static bool is_for_shell(const char *command)
{
	return strpbrk(command, "|&;<>()$`\\\"'*?[#~=%{}") != NULL;
}

/* Starts the command. Returns an errno, or 0. */
static int spawn_pager(void)
{
	char *words[MOST_WORDS + 1] = { "sh", "-c", pager.command, NULL };
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t none;
	pid_t pid;
	int error;

	if (!is_for_shell(pager.command)) {
		char *rest = NULL;
		size_t n = 0;

		for (char *word = strtok_r(pager.command, " \t", &rest); word && n < MOST_WORDS;
		     word = strtok_r(NULL, " \t", &rest))
			words[n++] = word;
		words[n] = NULL;
	}
	if (!words[0])
		return ENOENT;
	sigemptyset(&none);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, pager.input, STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&actions, pager.output, STDOUT_FILENO);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
	posix_spawnattr_setsigmask(&attributes, &none);
	error = posix_spawnp(&pid, words[0], &actions, &attributes, words, environ);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	if (!error)
		pager.pid = pid;
	return error;
}

/* Writes what comes to the terminal. */
static void copy_to_terminal(void)
{
	char text[16384];
	ssize_t n;

	while ((n = read(pager.input, text, sizeof(text))) > 0) {
		for (ssize_t at = 0, done; at < n; at += done) {
			done = write(pager.output, text + at, (size_t)(n - at));
			if (done < 0)
				return;
		}
	}
}

static void *start_at_first_byte(void *arg)
{
	struct pollfd ready = { .fd = pager.input, .events = POLLIN };
	int error;

	while (poll(&ready, 1, -1) < 0 && errno == EINTR)
		;
	if (ready.revents & POLLIN) {
		error = spawn_pager();
		if (error && pager.is_named)
			dprintf(pager.errors, "perflua: cannot start the pager %s: %s\n",
				pager.command, strerror(error));
		if (error)
			copy_to_terminal();
		else if (isatty(pager.errors))
			dup2(STDOUT_FILENO, STDERR_FILENO);
	}
	close(pager.input);
	return arg;
}

/* Starts the thread, which no signal interrupts. Returns false if it cannot. */
static bool start_thread(void)
{
	sigset_t all, before;
	bool ok;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	ok = pthread_create(&pager.thread, NULL, start_at_first_byte, NULL) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return ok;
}

int perflua_page(lua_State *L)
{
	const char *command = luaL_checkstring(L, 1);
	int ends[2];

	if (pager.is_open || pipe2(ends, O_CLOEXEC) < 0)
		return 0;
	/* Lines are in order, and whole: standard error goes to the pager once it runs. */
	setvbuf(stdout, NULL, _IOLBF, 0);
	setvbuf(stderr, NULL, _IOLBF, 0);
	setenv("LESS", LESS, 0);
	pager.is_named = lua_toboolean(L, 2);
	pager.command = strdup(command);
	pager.input = ends[0];
	pager.output = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	pager.errors = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	pager.is_open = pager.command && pager.output >= 0 && start_thread();
	if (pager.is_open) {
		dup2(ends[1], STDOUT_FILENO);
		atexit(perflua_end_pager);
	} else {
		close(ends[0]);
	}
	close(ends[1]);
	lua_pushboolean(L, pager.is_open);
	lua_pushvalue(L, -1);
	lua_setfield(L, LUA_REGISTRYINDEX, PAGED_KEY);
	return 1;
}

/* Gives standard output and error back, which ends the pager's input. */
static void end_input(void)
{
	dup2(pager.output, STDOUT_FILENO);
	if (pager.errors >= 0)
		dup2(pager.errors, STDERR_FILENO);
}

static void wait_for_user(void)
{
	while (pager.pid && waitpid(pager.pid, NULL, 0) < 0 && errno == EINTR)
		;
}

void perflua_end_pager(void)
{
	if (!pager.is_open)
		return;
	fflush(stdout);
	/* until the thread has ended, it may send standard error to the pager */
	dup2(pager.output, STDOUT_FILENO);
	pthread_join(pager.thread, NULL);
	end_input();
	wait_for_user();
	pager.is_open = false;
	free(pager.command);
}

static bool was_left(void)
{
	struct pollfd output = { .fd = STDOUT_FILENO };

	return poll(&output, 1, 0) > 0 && output.revents & POLLERR;
}

bool perflua_is_paged(void)
{
	return pager.is_open && pager.pid && !was_left();
}

bool perflua_leave_pager(void)
{
	bool is_left = pager.is_open && pager.pid && was_left();

	if (pager.is_open && pager.pid) {
		end_input();
		wait_for_user();
	}
	return is_left;
}
