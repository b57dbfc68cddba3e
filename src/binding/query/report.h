/* Lines of a report, and trees of calls below them, as Lua describes them. */
#ifndef PERFLUA_BINDING_QUERY_REPORT_H
#define PERFLUA_BINDING_QUERY_REPORT_H

#include <lua.h>

#include "result/report_trees.h"
#include "result/view.h"
#include "script/report.h"

#define PL_REPORT_TREES "perflua.report_trees"

/* Returns the trees at `index`. Raises for other values, or if their recording is closed. */
struct pr_report_trees *pl_check_report_trees(lua_State *L, int index);

/* Reads the column that the table on top describes; rows have n_cells cells. */
void pl_read_report_column(lua_State *L, size_t n_cells, struct px_report_column *column);

/* Returns the integer in a field of the table on top; `absent` if there is none. */
size_t pl_get_size(lua_State *L, const char *name, size_t absent);

/* Returns the number in a field of the table on top. Raises if there is none. */
double pl_get_number(lua_State *L, const char *name);

/* The trees of calls that are written below lines. */
struct pl_graph {
	struct pr_report_trees *trees;
	struct pr_tree_text how;
	bool from_caller; /* as trees->stacks has it, unless callees are asked for */
	const struct pr_view *view;
	size_t from;	       /* row of the view that the first line shows */
	struct pb_string text; /* of a tree; whoever has them printed frees it */
	bool failed;
};

/* Reads the table at `index`, the option graph of core.report_lines(). */
void pl_read_graph(lua_State *L, int index, struct pl_graph *graph);

/* Prints the tree of the row that line i shows, and after branches a blank line. */
void pl_print_tree(void *graph, size_t i, struct pd_print *out);

#endif
