/*
 * The pager: a program that shows text screen by screen. It is started by the first byte that
 * is written to standard output, which is a pipe to it, as is standard error from then on if
 * that is a terminal.
 */
#ifndef PERFLUA_PAGER_H
#define PERFLUA_PAGER_H

#include <lua.h>
#include <stdbool.h>

/*
 * host.page(command, is_named) -> boolean
 *
 * Has standard output go through the pager. One that cannot be started shows the text as it
 * is; standard error says so if the user has named it. Returns false if there is no pipe for
 * it.
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

#endif
