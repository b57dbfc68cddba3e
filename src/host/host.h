/*
 * The parts of the program: the screen on its terminal, the prompt, the pager, signals, other
 * processes. Functions whose comment begins with "host." are those of the table `host`, as Lua
 * calls them.
 */
#ifndef PERFLUA_HOST_HOST_H
#define PERFLUA_HOST_HOST_H

#include <lua.h>
#include <stdbool.h>

/* The whole terminal as a screen of cells, by ncurses. */

/*
 * Adds the table `screen` to the one at the top of the stack, if there is ncurses:
 *
 *   version                        of ncurses
 *   open() -> true | nil, message  takes the terminal of standard output
 *   close()                        leaves it as it was; does nothing if it is not open
 *   size() -> lines, columns
 *   clear()                        clears all cells
 *   put(line, column, text, look)  writes text, which is cut at the right edge; look: nil,
 *                                  "bold", "reverse", "red", "green" or "blue"
 *   show()                         makes the terminal show what was written
 *   key(ms) -> name | nil          waits for a key: a character, or "up", "down", "left",
 *                                  "right", "page_up", "page_down", "home", "end", "enter",
 *                                  "escape", "backspace", "resize", "other"
 *
 * Lines and columns are numbered from 0.
 */
void perflua_add_screen(lua_State *L);

/* Leaves the terminal as it was, if there is a screen. A signal handler may call it. */
void perflua_restore_terminal(void);

/* The lines typed at the prompt: read, and with libedit edited, completed and remembered. */

/*
 * Shows the prompt and reads a line from standard input. Returns it without its newline, valid
 * until the next call; NULL at the end of input or after ^C.
 */
const char *perflua_read_line(lua_State *L, const char *prompt);

/* Frees the line that perflua_read_line() returned last. */
void perflua_free_line(void);

/*
 * Adds to the table at the top of the stack, if there is libedit:
 *
 *   libedit                        its version
 *   history(path | nil, complete)  starts line editing, with the lines of that file;
 *                                  complete(line, word) returns an array of what may stand for
 *                                  the word, or nil for files; then a quote that follows if
 *                                  there is one, or nil
 *   remember(line, path | nil)     adds a line to the history, and writes it to that file
 */
void perflua_add_editing(lua_State *L);

/*
 * The pager: a program that shows text screen by screen. It is started by the first byte that
 * is written to standard output, which is a pipe to it, as is standard error from then on if
 * that is a terminal.
 */

/*
 * host.page(command, is_named) -> boolean
 *
 * Sends standard output through the pager. If it cannot be started, the text is shown as it is,
 * and standard error says so if the user has named it. Returns false if there is no pipe to it.
 */
int perflua_page(lua_State *L);

/* Ends the pager's input, and waits until its user has left it. */
void perflua_end_pager(void);

/* Returns true while somebody looks at the pager. A signal handler may call this. */
bool perflua_is_paged(void);

/*
 * Ends the pager's input in a handler of a signal that ends the process, and waits. Returns
 * true if the pager had been left before, so that nobody misses what was not written.
 */
bool perflua_leave_pager(void);

/* Signals of the program: those that end it, and SIGINT, which first ends passes. */

/*
 * Installs handlers that remove unfinished files, for signals that end the process and that the
 * parent does not ignore, and for its regular end.
 */
void perflua_arm_ending_signals(void);

/* Sets what the core needs to know of signals in the registry. */
void perflua_share_signals(lua_State *L);

/* Installs the handler of SIGINT, and forgets those that came. */
void perflua_arm_sigint(lua_State *L);

/* Returns true if SIGINT came since the handler was installed last. */
bool perflua_was_interrupted(void);

/* Makes SIGINT end the process from now on. */
void perflua_disarm_sigint(void);

/* Other processes: of this program, for tools that read many recordings, and perf record. */

/*
 * host.fork() -> pid, file | nil, message; in the new process false | false, message
 *
 * Starts a process that goes on from here, its input empty and its output to `file`, which the
 * caller reads when the process has ended. It has a copy of this process: its Lua state, with
 * the library loaded, and its options. The message says why there is none, or why the new one
 * cannot write its output.
 */
int perflua_fork(lua_State *L);

/*
 * host.wait() -> pid, status | nil
 *
 * Waits for a process to end. `status` is its exit status, or the negative number of the signal
 * that ended it; nil: there is none to wait for.
 */
int perflua_wait(lua_State *L);

/*
 * ({word…}) -> status | nil, message
 *
 * Runs a program, which is looked up in $PATH, with these words, and waits for its end.
 * `status` is as that of host.wait().
 */
int perflua_run(lua_State *L);

/*
 * host.record({word…}, is_screen) -> pid, file | pid | nil, message
 *
 * Starts perf record with these words, its recording in a pipe that becomes the standard input
 * of this process, and with --control, by which host.wake() wakes it. is_screen: what perf and
 * its command print goes to `file`, and they read an empty input if this one is a terminal.
 */
int perflua_record(lua_State *L);

/* host.wake(): makes perf record write what it has. */
int perflua_wake(lua_State *L);

/*
 * host.stop(pid [, ms]): ends perf record, and its command, unless it ends by itself in that
 * time.
 */
int perflua_stop(lua_State *L);

#endif
