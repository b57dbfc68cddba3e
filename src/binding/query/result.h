/*
 * Results as Lua values: the userdata that Tables wrap (lua/perflua/table). Their views, cells
 * and states from Lua values and to them; their rows as text in files of Lua's.
 */
#ifndef PERFLUA_BINDING_RESULT_H
#define PERFLUA_BINDING_RESULT_H

#include "binding/stack.h"
#include "result/view.h"
#include "result/writer.h"

#define PL_RESULT "perflua.result"

/* A result. User value 1 is the userdata of its stacks. */
struct pl_result {
	struct pr_result *result; /* NULL: not created yet */
	struct pl_stacks *stacks;
};

/* A view of a result, which its userdata keeps. */
struct pl_view_of {
	struct pr_view *view; /* NULL: not created yet */
	const struct pl_result *result;
	struct pr_show show;
	bool is_written; /* its rows are being written: its source is in use */
};

/* Returns the view at `index`. Raises for other values. */
struct pl_view_of *pl_check_view(lua_State *L, int index);

/* Pushes the stacks of the result of the view at `view`. [-0, +1] */
void pl_push_view_stacks(lua_State *L, int view);

/* Returns the result at `index`. Raises for other values. */
const struct pl_result *pl_check_result(lua_State *L, int index);

/*
 * Pops the stacks on top, and pushes a result with these stacks and with the groups, which it
 * takes over as pr_take() does. The table at `shape` describes it: { keys = { { kind = name,
 * is_event = boolean }, … }, measures = { { measure = name, kind = name }, … } }. [-1, +1]
 */
void pl_push_result_of(lua_State *L, int shape, struct pq_groups **groups, bool has_events,
		       const uint32_t *stack_of);

/* Pushes an empty result of the shape in the table at `shape`, and returns it. [-0, +1] */
struct pr_result *pl_push_empty_result(lua_State *L, int shape);

/*
 * Pops the stacks on top, and pushes a userdata with these stacks, whose ->result the caller
 * sets. [-1, +1] pl_check_made() raises if it is still NULL.
 */
struct pl_result *pl_push_unmade_result(lua_State *L);
void pl_check_made(lua_State *L, const struct pl_result *result);

/* Frees the result at `index`, which must not be used afterwards. */
void pl_free_result(lua_State *L, int index);

/* Reads the shape in the table at `index`, and pushes a userdata with its arrays. [-0, +1] */
void pl_read_shape(lua_State *L, int index, struct pr_shape *shape);

/*
 * Pushes nil and the name of the fault if sums of a result are wrong. Otherwise returns false,
 * and pushes nothing. [-0, +(0|2)]
 */
bool pl_push_wrong(lua_State *L, const struct pr_result *result);

/* Make the collector work as if Lua had allocated the bytes beyond `before`, or a result's. */
void pl_account_memory(lua_State *L, size_t memory, size_t before);
void pl_account_result(lua_State *L, const struct pr_result *result, size_t before);

/* Returns the texts for pr_print_json_names(), and pushes the userdata with them. [-0, +1] */
const struct pd_text *pl_push_json_names(lua_State *L, const struct pr_column *columns,
					 size_t n);

/* Returns the form of CSV in a table of options: safe, crlf. [-0, +0] */
struct pr_csv_form pl_get_csv_form(lua_State *L, int idx);

/* Returns the kind of a column by its name; PR_ANY for other names. */
enum pr_kind pl_to_shown_kind(const char *name);

/* Returns the unit in field `unit` of the column on top. */
enum pr_unit pl_get_unit(lua_State *L);

/* Returns the measure whose name is on top. Raises if there is none. [-1, +0] */
enum pq_measure_kind pl_to_measure(lua_State *L);

/*
 * Pushes a state: its only part, or a table of its parts and of the counts of its buckets, but
 * not its sets. [-0, +1]
 */
void pl_push_state(lua_State *L, enum pq_measure_kind measure, const struct pq_state *state);

/*
 * Reads the state on top: as pl_push_state() pushes it, or a table with one part, or one whose
 * keys are the values of a set. Adds buckets to `sketch`. Values may be Stacks of `stacks`.
 * The state may point into the one userdata that is pushed. [-0, +1]
 */
void pl_get_state(lua_State *L, enum pq_measure_kind measure, struct pl_stacks *stacks,
		  struct pq_sketch *sketch, struct pq_state *state);

/* Pushes a userdata of n empty sketches, which are freed with it. [-0, +1] */
struct pq_sketch *pl_push_sketches(lua_State *L, size_t n);

/* Sets *value to the value on top. Raises if a cell cannot hold it. */
void pl_to_cell(lua_State *L, struct pq_value *value);

/* Sets *value to the value on top, which may also be one of the stacks. */
void pl_to_key(lua_State *L, struct pl_stacks *stacks, struct pq_value *value);

/*
 * Pushes a cell: a stack as a Stack of those at `stacks`, a histogram as an array of { from,
 * to, count }. [-0, +1]
 */
void pl_push_cell(lua_State *L, int stacks, const struct pq_value *cell);

/* Pushes a histogram as an array of { from, to, count }. [-0, +1] */
void pl_push_histogram(lua_State *L, const struct pq_sketch *sketch);

/* Adds the histogram at `index`, an array of { from, to, count }, to a sketch. [-0, +0] */
void pl_to_histogram(lua_State *L, int index, struct pq_sketch *sketch);

void pl_result_view_register(lua_State *L);
void pl_comparison_register(lua_State *L);

/* Places on the stack of functions that write rows, of views or of Lua values. */
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
