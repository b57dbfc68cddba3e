#include "host.h"

#include <lauxlib.h>

#ifndef PERFLUA_NCURSES

void perflua_add_screen(lua_State *L)
{
	(void)L;
}

void perflua_restore_terminal(void)
{
}

#else

#define NCURSES_WIDECHAR 1
#define NCURSES_NOMACROS
#include <curses.h>
#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <term.h>
#include <termios.h>
#include <unistd.h>

#define STOP 26 /* ^Z */

static SCREEN *screen;
static FILE *keys; /* the terminal, which is not standard input */

/* How to leave the screen where ncurses may not be called. */
static struct {
	volatile sig_atomic_t is_open;
	struct termios modes;
	char text[256];
	size_t n;
} before;

void perflua_restore_terminal(void)
{
	if (!before.is_open)
		return;
	before.is_open = 0;
	if (write(STDOUT_FILENO, before.text, before.n) < 0)
		return;
	tcsetattr(STDOUT_FILENO, TCSANOW, &before.modes);
}

static int add_to_leaving(int c)
{
	if (before.n < sizeof(before.text))
		before.text[before.n++] = (char)c;
	return c;
}

/* Notes what takes the terminal out of the screen. */
static void note_leaving(void)
{
	static const char *const names[] = { "sgr0", "rmkx", "cnorm", "rmcup" };

	before.n = 0;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		char *text = tigetstr((NCURSES_CONST char *)names[i]);

		if (text && text != (char *)-1)
			tputs(text, 1, add_to_leaving);
	}
	before.is_open = 1;
}

/* Ends the process as a fault would, with the terminal as it was. */
static void on_fault(int sig)
{
	perflua_restore_terminal();
	signal(sig, SIG_DFL);
	raise(sig);
}

static void handle_faults(void (*handler)(int), void (*earlier)(int))
{
	static const int faults[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT };
	struct sigaction now, action = { .sa_handler = handler };

	for (size_t i = 0; i < sizeof(faults) / sizeof(*faults); i++)
		if (sigaction(faults[i], NULL, &now) == 0 && !(now.sa_flags & SA_SIGINFO) &&
		    now.sa_handler == earlier)
			sigaction(faults[i], &action, NULL);
}

static int close_screen(lua_State *L)
{
	(void)L;
	if (!screen)
		return 0;
	endwin();
	delscreen(screen);
	fclose(keys);
	screen = NULL;
	before.is_open = 0;
	handle_faults(SIG_DFL, on_fault);
	return 0;
}

static int fail(lua_State *L, const char *why)
{
	close_screen(L);
	lua_pushnil(L);
	lua_pushstring(L, why);
	return 2;
}

/* Text is UTF-8, whatever the locale says, where the C library has such a locale. */
static void use_utf8(void)
{
	setlocale(LC_CTYPE, "");
	if (strcmp(nl_langinfo(CODESET), "UTF-8") != 0)
		setlocale(LC_CTYPE, "C.UTF-8");
}

/* Names sequences of keys that terminals send beside those of their descriptions. */
static void define_keys(void)
{
	static const struct {
		const char *text;
		int key;
	} also[] = {
		{ "\033[A", KEY_UP },	 { "\033[B", KEY_DOWN }, { "\033[C", KEY_RIGHT },
		{ "\033[D", KEY_LEFT },	 { "\033[H", KEY_HOME }, { "\033[F", KEY_END },
		{ "\033[1~", KEY_HOME }, { "\033[4~", KEY_END },
	};

	for (size_t i = 0; i < sizeof(also) / sizeof(*also); i++)
		define_key(also[i].text, also[i].key);
}

/* Makes ^Z a key: the handler of ncurses may not interrupt what draws. */
static void take_stop_key(void)
{
	struct termios modes;

	if (tcgetattr(STDOUT_FILENO, &modes) < 0)
		return;
	modes.c_cc[VSUSP] = _POSIX_VDISABLE;
	if (tcsetattr(STDOUT_FILENO, TCSANOW, &modes) == 0)
		def_prog_mode();
}

static int open_screen(lua_State *L)
{
	static const short colours[] = { COLOR_RED, COLOR_GREEN, COLOR_BLUE };
	const char *place;

	if (screen)
		return luaL_error(L, "the screen is open");
	keys = fopen("/dev/tty", "r+e");
	if (!keys || !isatty(STDOUT_FILENO) || tcgetattr(STDOUT_FILENO, &before.modes) < 0) {
		if (keys)
			fclose(keys);
		return fail(L, "there is no terminal");
	}
	use_utf8();
	fflush(stdout);
	screen = newterm(NULL, stdout, keys);
	if (!screen) {
		fclose(keys);
		return fail(L, "the terminal is not known");
	}
	place = tigetstr((NCURSES_CONST char *)"cup");
	if (!place || place == (const char *)-1)
		return fail(L, "the terminal cannot place the cursor");
	note_leaving();
	handle_faults(on_fault, SIG_DFL);
	cbreak();
	noecho();
	nonl();
	take_stop_key();
	keypad(stdscr, TRUE);
	define_keys();
	set_escdelay(50);
	curs_set(0);
	if (has_colors() && start_color() == OK && use_default_colors() == OK)
		for (short i = 0; i < 3; i++)
			init_pair((short)(i + 1), colours[i], -1);
	lua_pushboolean(L, 1);
	return 1;
}

static void check_screen(lua_State *L)
{
	if (!screen)
		luaL_error(L, "the screen is not open");
}

static int get_size(lua_State *L)
{
	check_screen(L);
	lua_pushinteger(L, LINES);
	lua_pushinteger(L, COLS);
	return 2;
}

static int clear_cells(lua_State *L)
{
	check_screen(L);
	erase();
	return 0;
}

static int put_text(lua_State *L)
{
	static const char *const looks[] = { "plain", "bold", "reverse", "red",
					     "green", "blue", NULL };
	const attr_t attributes[] = { A_NORMAL,
				      A_BOLD,
				      A_REVERSE,
				      (attr_t)COLOR_PAIR(1),
				      (attr_t)COLOR_PAIR(2),
				      (attr_t)COLOR_PAIR(3) };
	lua_Integer line = luaL_checkinteger(L, 1), column = luaL_checkinteger(L, 2);
	WINDOW *room;
	size_t n;
	const char *text = luaL_checklstring(L, 3, &n);
	attr_t look = attributes[luaL_checkoption(L, 4, "plain", looks)];

	check_screen(L);
	if (line < 0 || line >= LINES || column < 0 || column >= COLS)
		return 0;
	/* in a window of its own, at whose end it is cut: else it goes on in the next line */
	room = derwin(stdscr, 1, COLS - (int)column, (int)line, (int)column);
	if (!room)
		return 0;
	wattrset(room, (int)look);
	waddnstr(room, text, n < 4096 ? (int)n : 4096);
	touchline(stdscr, (int)line, 1);
	delwin(room);
	return 0;
}

static int show_screen(lua_State *L)
{
	check_screen(L);
	refresh();
	return 0;
}

static int read_key(lua_State *L)
{
	static const struct {
		int key;
		const char *name;
	} named[] = {
		{ KEY_UP, "up" },
		{ KEY_DOWN, "down" },
		{ KEY_LEFT, "left" },
		{ KEY_RIGHT, "right" },
		{ KEY_PPAGE, "page_up" },
		{ KEY_NPAGE, "page_down" },
		{ KEY_HOME, "home" },
		{ KEY_END, "end" },
		{ KEY_ENTER, "enter" },
		{ '\r', "enter" },
		{ '\n', "enter" },
		{ 27, "escape" },
		{ KEY_BACKSPACE, "backspace" },
		{ 127, "backspace" },
		{ 8, "backspace" },
		{ KEY_RESIZE, "resize" },
	};
	int key;

	check_screen(L);
	timeout((int)luaL_checkinteger(L, 1));
	key = getch();
	if (key == ERR)
		return 0;
	if (key == STOP) {
		kill(0, SIGTSTP); /* ncurses leaves the screen, and comes back */
		key = KEY_RESIZE;
	}
	for (size_t i = 0; i < sizeof(named) / sizeof(*named); i++) {
		if (named[i].key != key)
			continue;
		lua_pushstring(L, named[i].name);
		return 1;
	}
	if (key > 255)
		lua_pushliteral(L, "other");
	else
		lua_pushlstring(L, &(char){ (char)key }, 1);
	return 1;
}

void perflua_add_screen(lua_State *L)
{
	static const luaL_Reg functions[] = {
		{ "open", open_screen }, { "close", close_screen },
		{ "size", get_size },	 { "clear", clear_cells },
		{ "put", put_text },	 { "show", show_screen },
		{ "key", read_key },	 { NULL, NULL },
	};

	luaL_newlib(L, functions);
	lua_pushliteral(L, PERFLUA_NCURSES);
	lua_setfield(L, -2, "version");
	lua_setfield(L, -2, "screen");
}

#endif
