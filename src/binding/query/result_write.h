/* Writing of rows, of views or of Lua values, to a file or function of Lua's. */
#ifndef PERFLUA_BINDING_QUERY_RESULT_WRITE_H
#define PERFLUA_BINDING_QUERY_RESULT_WRITE_H

#include "result.h"
#include "result/writer.h"

/* Places on the stack of functions that write rows. */
enum {
	PL_WRITE_FORMAT = 1,
	PL_WRITE_OUT, /* the file or function that text goes to */
	PL_WRITE_OPTIONS,
	PL_WRITE_SOURCE,     /* a view, or columns and rows: up to three places */
	PL_WRITE_STACKS = 7, /* nil: no cell is a stack */
	PL_WRITE_CELLS,	     /* the cells of a row: a userdata */
	PL_WRITE_MORE	     /* what the source needs besides */
};

struct pl_write_options {
	enum pl_write_format {
		PL_FORMAT_TEXT,
		PL_FORMAT_CSV,
		PL_FORMAT_JSON
	} format;
	struct pr_csv_form csv;
	struct pr_display text;
	bool stops, has_heads, is_one_line;
	bool *is_busy;	      /* true while the rows are written; NULL: nobody asks */
	const bool *is_wrong; /* true once a cell could not be made: rows end; NULL: never */
};

/* Reads format and options from their places. Raises what is wrong with them. [-0, +0] */
void pl_read_write_options(lua_State *L, struct pl_write_options *options);

/*
 * Writes the rows of a source, and pushes what the function of Lua returns: their number, or
 * nil, message and errno. Returns how many values these are. Raises without memory, and the
 * error of the function that text goes to. [-0, +(1|3)]
 */
int pl_write_source(lua_State *L, const struct pr_source *source,
		    const struct pl_write_options *options);

#endif
