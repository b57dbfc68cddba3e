/*
 * Rows of views as lines of perf report, and the texts of functions in a column of theirs: see
 * script/report.h.
 */
#include "binding/functions.h"
#include "binding/writer.h"
#include "perfdata/format/print_scalar.h"
#include "script/report.h"
#include "report.h"
#include "result.h"

#define PL_LABELS "perflua.labels"

/* Places on the stack of pl_labels(), and how many strings a label has. */
enum {
	LIST_AT = 1,
	NONE_AT,
	LABELS_AT,
	PARTS = 3
};

/* Returns string `i` of the list, which keeps it. */
static struct pd_text get_text(lua_State *L, lua_Integer i)
{
	struct pd_text text;

	lua_rawgeti(L, LIST_AT, i);
	text.p = luaL_checklstring(L, -1, &text.n);
	lua_pop(L, 1);
	return text;
}

int pl_labels(lua_State *L)
{
	struct px_labels *labels;
	size_t n;

	luaL_checktype(L, LIST_AT, LUA_TTABLE);
	n = (size_t)lua_rawlen(L, LIST_AT) / PARTS;
	luaL_checkstring(L, NONE_AT);
	lua_settop(L, NONE_AT);
	labels = lua_newuserdatauv(L, sizeof(*labels) + n * sizeof(labels->list[0]), 2);
	labels->none.p = lua_tolstring(L, NONE_AT, &labels->none.n);
	labels->n = n;
	for (size_t i = 0; i < n; i++) {
		lua_Integer at = (lua_Integer)(PARTS * i) + 1;

		labels->list[i] = (struct px_label){ get_text(L, at), get_text(L, at + 1),
						     get_text(L, at + 2) };
	}
	px_labels_sort(labels);
	for (int i = LIST_AT; i <= NONE_AT; i++) {
		lua_pushvalue(L, i);
		lua_setiuservalue(L, LABELS_AT, i);
	}
	luaL_newmetatable(L, PL_LABELS);
	lua_setmetatable(L, LABELS_AT);
	return 1;
}

#define MAX_LINE_COLUMNS 4096

/* Places on the stack of pl_report_lines(). */
enum {
	VIEW_AT = 1,
	FROM_AT,
	TO_AT,
	COLUMNS_AT,
	OUT_AT,
	GRAPH_AT
};

size_t pl_get_size(lua_State *L, const char *name, size_t absent)
{
	size_t size = absent;

	if (lua_getfield(L, -1, name) != LUA_TNIL)
		size = (size_t)luaL_checkinteger(L, -1);
	lua_pop(L, 1);
	return size;
}

void pl_read_report_column(lua_State *L, size_t n_cells, struct px_report_column *column)
{
	static const char *const shown[] = {
		[PX_SHOWN_PLAIN] = "plain",	  [PX_SHOWN_TIME] = "time",
		[PX_SHOWN_TIME_NS] = "time_ns",	  [PX_SHOWN_SYMBOL] = "symbol",
		[PX_SHOWN_LOCATION] = "location", [PX_SHOWN_SRCLINE] = "srcline",
		[PX_SHOWN_DSO] = "dso",		  [PX_SHOWN_MISPREDICT] = "mispredict",
		[PX_SHOWN_IN_TX] = "in_tx",	  [PX_SHOWN_ABORT] = "abort",
		[PX_SHOWN_CYCLES] = "cycles",	  [PX_SHOWN_CPU] = "cpu",
		[PX_SHOWN_NONE] = "none",	  [PX_SHOWN_EXACT] = "exact",
		[PX_SHOWN_TIMES] = "times",	  [PX_SHOWN_AVERAGE] = "average",
		[PX_SHOWN_QUOTIENT] = "quotient", [PX_SHOWN_RATIO] = "ratio",
		[PX_SHOWN_IPC] = "ipc",		  [PX_SHOWN_LABEL] = "label",
		[PX_SHOWN_TENTHS] = "tenths",	  [PX_SHOWN_PAGE] = "page",
		[PX_SHOWN_LEVEL] = "level",	  [PX_SHOWN_LEVELS] = "levels",
		[PX_SHOWN_SNOOP] = "snoop",	  [PX_SHOWN_DTLB] = "dtlb",
		[PX_SHOWN_LOCK] = "lock",	  [PX_SHOWN_BLK] = "blk",
		[PX_SHOWN_DISTANCE] = "distance", [PX_SHOWN_BLK + 1] = NULL,
	};

	luaL_checktype(L, -1, LUA_TTABLE);
	lua_getfield(L, -1, "shown");
	*column = (struct px_report_column){
		.shown = (enum px_shown)luaL_checkoption(L, -1, "plain", shown),
	};
	lua_pop(L, 1);
	column->at = pl_get_size(L, "at", 0) - 1;
	column->beside = pl_get_size(L, "beside", column->at + 1) - 1;
	column->offset = pl_get_size(L, "offset", column->at + 1) - 1;
	column->binary = pl_get_size(L, "binary", column->at + 1) - 1;
	column->room = pl_get_size(L, "room", 0);
	column->is_right_aligned = pl_get_flag(L, -1, "right");
	column->is_last = pl_get_flag(L, -1, "last");
	column->is_fixed = pl_get_flag(L, -1, "fixed");
	column->is_cut = pl_get_flag(L, -1, "cut");
	column->is_joined = pl_get_flag(L, -1, "joined");
	if (column->shown == PX_SHOWN_LABEL) {
		lua_getfield(L, -1, "labels");
		column->labels = luaL_checkudata(L, -1, PL_LABELS); /* which the table keeps */
		lua_pop(L, 1);
	}
	if (column->at >= n_cells || column->beside >= n_cells || column->offset >= n_cells ||
	    column->binary >= n_cells)
		luaL_error(L, "no such cell");
}

double pl_get_number(lua_State *L, const char *name)
{
	double number;

	lua_getfield(L, -1, name);
	number = luaL_checknumber(L, -1);
	lua_pop(L, 1);
	return number;
}

static int get_word(lua_State *L, const char *name, const char *const *words)
{
	int number;

	lua_getfield(L, -1, name);
	number = luaL_checkoption(L, -1, NULL, words);
	lua_pop(L, 1);
	return number;
}

#define GRAPH_MARGIN 12 /* blanks before the lines of a tree: those of perf report */

void pl_read_graph(lua_State *L, int index, struct pl_graph *graph)
{
	static const char *const forms[] = {
		[PR_TREE_GRAPH] = "graph",   [PR_TREE_FRACTAL] = "fractal",
		[PR_TREE_FLAT] = "flat",     [PR_TREE_FOLDED] = "folded",
		[PR_TREE_FOLDED + 1] = NULL,
	};
	static const char *const values[] = {
		[PR_TREE_PERCENT] = "percent",
		[PR_TREE_WEIGHT] = "period",
		[PR_TREE_COUNT] = "count",
		[PR_TREE_COUNT + 1] = NULL,
	};

	luaL_checktype(L, index, LUA_TTABLE);
	lua_getfield(L, index, "trees");
	graph->trees = pl_check_report_trees(L, -1);
	lua_pop(L, 1);
	lua_pushvalue(L, index);
	graph->how = (struct pr_tree_text){
		.form = (enum pr_tree_form)get_word(L, "form", forms),
		.value = (enum pr_tree_value)get_word(L, "value", values),
		.total = pl_get_number(L, "total"),
		.least = pl_get_number(L, "least"),
		.most = pl_get_size(L, "most", 0),
		.margin = GRAPH_MARGIN,
		.skips_top = pl_get_flag(L, -1, "skips_top"),
		.is_colored = pl_get_flag(L, -1, "color"),
	};
	graph->from_caller = graph->trees->stacks.from_caller || pl_get_flag(L, -1, "callees");
	lua_pop(L, 1);
}

void pl_print_tree(void *arg, size_t i, struct pd_print *out)
{
	struct pl_graph *graph = arg;
	size_t row = pr_view_group(graph->view, graph->from + i);

	pb_string_clear(&graph->text);
	pr_report_trees_write(graph->trees, row, graph->from_caller, &graph->how, &graph->text);
	graph->failed |= graph->text.failed;
	if (!graph->failed && graph->text.n)
		pd_print_bytes(out, graph->text.p, graph->text.n);
	if (graph->text.n && graph->how.form < PR_TREE_FLAT)
		pd_print_char(out, '\n');
}

/* Writes the lines into a string, and pushes it. Returns false without memory. */
static bool push_lines(lua_State *L, const struct px_report *report)
{
	struct pb_string text = { 0 };
	struct pd_print print;
	bool ok;

	pd_print_init(&print, pd_print_to_string, &text);
	ok = px_report_write(report, &print);
	pd_print_flush(&print);
	ok = ok && !text.failed;
	if (ok)
		lua_pushlstring(L, text.n ? text.p : "", text.n);
	pb_string_deinit(&text);
	return ok;
}

int pl_report_lines(lua_State *L)
{
	struct pl_view_of *v = pl_check_view(L, VIEW_AT);
	lua_Integer from = luaL_checkinteger(L, FROM_AT), to = luaL_checkinteger(L, TO_AT);
	struct px_report report = { 0 };
	luaL_Stream *out = NULL;
	struct pl_writer writer;
	struct pl_graph graph = { .view = v->view, .from = (size_t)from - 1 };
	struct pr_source rows;
	bool ok, is_text;

	luaL_argcheck(L, from >= 1 && to >= from - 1 && (size_t)to <= pr_view_size(v->view),
		      FROM_AT, "no such rows");
	if (v->is_written)
		return luaL_error(L, "the rows of this view are being written");
	luaL_checktype(L, COLUMNS_AT, LUA_TTABLE);
	lua_settop(L, GRAPH_AT);
	is_text = lua_isboolean(L, OUT_AT);
	if (!lua_isnil(L, OUT_AT) && !is_text)
		out = pl_check_stream(L, OUT_AT);
	if (!lua_isnil(L, GRAPH_AT))
		pl_read_graph(L, GRAPH_AT, &graph);
	report.n_columns = (size_t)lua_rawlen(L, COLUMNS_AT);
	report.is_colored = pl_get_flag(L, COLUMNS_AT, "color");
	luaL_argcheck(L, report.n_columns <= MAX_LINE_COLUMNS, COLUMNS_AT, "too many columns");
	report.columns = lua_newuserdatauv(L, (report.n_columns + 1) * sizeof(*report.columns),
					   0);
	if (!pr_view_source(v->view, (size_t)from - 1, (size_t)to, NULL, 0, true, &rows))
		luaL_error(L, "no memory for columns");
	for (size_t i = 0; i < report.n_columns; i++, lua_pop(L, 1)) {
		lua_rawgeti(L, COLUMNS_AT, (lua_Integer)i + 1);
		pl_read_report_column(L, rows.n_columns, &report.columns[i]);
	}
	report.rows = &rows;
	lua_getfield(L, COLUMNS_AT, "separator");
	report.separator = lua_tostring(L, -1); /* which the table keeps */
	lua_pop(L, 1);
	if (is_text) {
		ok = push_lines(L, &report);
	} else if (out) {
		pl_writer_init(&writer, out);
		report.after_row = graph.trees ? pl_print_tree : NULL;
		report.arg = &graph;
		ok = px_report_write(&report, &writer.print) && !graph.failed;
		pb_string_deinit(&graph.text);
	} else {
		ok = px_report_measure(&report);
	}
	if (!ok || pr_view_failed(v->view))
		luaL_error(L, "no memory for a row of a report");
	if (is_text)
		return 1;
	if (out)
		pl_writer_finish(L, &writer);
	for (size_t i = 0; i < report.n_columns; i++, lua_pop(L, 1)) {
		lua_rawgeti(L, COLUMNS_AT, (lua_Integer)i + 1);
		pl_set_integer(L, "room", report.columns[i].room);
	}
	return 0;
}
