/* The lines typed at the prompt: read, and with libedit edited, completed and remembered. */
#ifndef PERFLUA_LINE_EDITOR_H
#define PERFLUA_LINE_EDITOR_H

#include <lua.h>

/*
 * Shows the prompt and reads a line from standard input. Returns it without its newline, valid
 * until the next call; NULL at the end of input or after ^C.
 */
const char *perflua_read_line(lua_State *L, const char *prompt);

/* Frees that line. */
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
#endif
