/* The whole terminal as a screen of cells, by ncurses. */
#ifndef PERFLUA_SCREEN_H
#define PERFLUA_SCREEN_H

#include <lua.h>

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

#endif
