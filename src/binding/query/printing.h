/* The records of a cursor as text, by several workers, into a file of Lua's. */
#ifndef PERFLUA_BINDING_QUERY_PRINTING_H
#define PERFLUA_BINDING_QUERY_PRINTING_H

#include "cursor.h"
#include "binding/writer.h"
#include "query/query.h"

struct pl_printing {
	struct pl_writer writer;
	struct pq_printer *printer; /* NULL: not begun, or ended */
	bool enough;		    /* a record could not be printed */
};

typedef bool pl_print_fn(void *arg, unsigned worker, const struct pd_record *rec,
			 struct pd_print *out);

/*
 * Pushes a printing, which is ended when it is collected: what its workers use must be older,
 * so that it is collected later. The file of Lua's must stay on the stack. [-0, +1]
 */
struct pl_printing *pl_push_printing(lua_State *L, const luaL_Stream *stream);

/*
 * Prints the records of the cursor at `index`, and ends it. print(arg, …) is as in
 * pq_printing, for that many workers. Returns how many there were; printing->enough says
 * whether print() has refused one. The writer knows whether the text could be written. Raises
 * if the records cannot be read.
 */
lua_Integer pl_print_records(lua_State *L, struct pl_printing *printing, int index,
			     unsigned workers, pl_print_fn *print, void *arg);

#endif
