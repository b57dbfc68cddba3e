/*
 * Results as Lua values: the userdata that Tables are made of (lua/perflua/table).
 */
#ifndef PERFLUA_BINDING_RESULT_H
#define PERFLUA_BINDING_RESULT_H

#include "result/view.h"
#include "binding/stack.h"

#define PL_RESULT "perflua.result"

/* User value 1 are its stacks. */
struct pl_result {
	struct pr_result *result; /* NULL: it was not made */
	struct pl_stacks *stacks;
};

/* A view of a result, which its userdata keeps. */
struct pl_view_of {
	struct pr_view *view; /* NULL: it was not made */
	const struct pl_result *result;
	struct pr_show show;
	bool is_written; /* its rows are being written: its source is in use */
};

/* Returns the view at `index`. Raises if it is none. */
struct pl_view_of *pl_check_view(lua_State *L, int index);

/* Pushes the stacks of the result of the view at `view`. [-0, +1] */
void pl_push_view_stacks(lua_State *L, int view);

/* Returns the result at `index`. Raises if it is none. */
const struct pl_result *pl_check_result(lua_State *L, int index);

/*
 * Pushes a result of the shape in the table at `shape`: { keys = { { kind = name, is_event =
 * boolean }, … }, measures = { { measure = name, kind = name }, … } }. It takes the groups, as
 * pr_take() says, and has the stacks on top. [-1, +1]
 */
void pl_push_result_of(lua_State *L, int shape, struct pq_groups **groups, bool has_events,
		       const uint32_t *stack_of);

/* Pushes an empty result of the shape in the table at `shape`, and returns it. [-0, +1] */
struct pr_result *pl_push_empty_result(lua_State *L, int shape);

/*
 * Pushes a holder without a result, with the stacks on top [-1, +1]; the caller sets ->result.
 * pl_check_made() raises if that is NULL.
 */
struct pl_result *pl_push_unmade_result(lua_State *L);
void pl_check_made(lua_State *L, const struct pl_result *result);

/* Frees the result at `index`, of which nothing may be asked any more. */
void pl_free_result(lua_State *L, int index);

/*
 * Reads the shape in the table at `index`, whose arrays are in a userdata that it pushes.
 * [-0, +1]
 */
void pl_read_shape(lua_State *L, int index, struct pr_shape *shape);

/*
 * Pushes nil and the name of what is wrong with sums of a result. Returns false, and pushes
 * nothing, if none is wrong. [-0, +2]
 */
bool pl_push_wrong(lua_State *L, const struct pr_result *result);

/* Has the collector work as if what a result has more than `before` bytes were Lua's. */
void pl_account_result(lua_State *L, const struct pr_result *result, size_t before);

/* Pushes what keeps the texts that pr_print_json_names() prints, and returns them. [-0, +1] */
const struct pd_text *pl_push_json_names(lua_State *L, const struct pr_column *columns,
					 size_t n);

/* Returns the form of CSV in a table of options: safe, crlf. [-0, +0] */
struct pr_csv_form pl_get_csv_form(lua_State *L, int idx);

/* Returns the kind of that name, of a column; PR_ANY for other names. */
enum pr_kind pl_to_shown_kind(const char *name);

/* Returns the unit in field `unit` of the column on top. */
enum pr_unit pl_get_unit(lua_State *L);

/* Returns the measure whose name is on top. Raises if there is none. [-1, +0] */
enum pq_measure_kind pl_to_measure(lua_State *L);

/*
 * Pushes a state: its first part, or a table of several and of the counts of its buckets. Sets
 * are left out. [-0, +1]
 */
void pl_push_state(lua_State *L, enum pq_measure_kind measure, const struct pq_state *state);

/*
 * Reads the state on top: as pl_push_state() pushes it, or a table also of one part or of a
 * set, whose keys are the values. Buckets are added to `sketch`, `stacks` are those that values
 * may be. What it points to is kept by values below it on the stack, at most one. [-0, +1]
 */
void pl_get_state(lua_State *L, enum pq_measure_kind measure, struct pl_stacks *stacks,
		  struct pq_sketch *sketch, struct pq_state *state);

/* Pushes a userdata of n empty sketches, which are freed with it. [-0, +1] */
struct pq_sketch *pl_push_sketches(lua_State *L, size_t n);

/* Sets *value to the value on top. Raises if it is none that a cell has. */
void pl_to_cell(lua_State *L, struct pq_value *value);

/* Sets *value to the value on top, which may be one of the stacks, too. */
void pl_to_key(lua_State *L, struct pl_stacks *stacks, struct pq_value *value);

/*
 * Pushes a cell, a Stack as one of those at `stacks`, a histogram as an array of { from, to,
 * count }. [-0, +1]
 */
void pl_push_cell(lua_State *L, int stacks, const struct pq_value *cell);

/* Pushes a histogram as an array of { from, to, count }. [-0, +1] */
void pl_push_histogram(lua_State *L, const struct pq_sketch *sketch);

/*
 * Reads the histogram at `index`, an array of { from, to, count }, to a sketch, whose buckets
 * are added to it. [-0, +0]
 */
void pl_to_histogram(lua_State *L, int index, struct pq_sketch *sketch);

void pl_result_view_register(lua_State *L);
void pl_comparison_register(lua_State *L);

#endif
