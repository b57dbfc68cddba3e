/*
 * The rows of a report as aligned lines of text, as perf report --stdio has them.
 *
 * lines(columns, escape [, out]) -> function(from, to, whole). Without `out` it makes the
 * columns as wide as their cells of these rows: it raises the `room` of each. With `out`, a
 * file, it writes a line for each row. `whole` is the event's period, of which shares are.
 *
 * columns: an array of {at = the number of the value in the result of rows(), room = columns of
 * text, right = true: at the right side, last = true: not padded, percent = true: a share, mark
 * = true: a function, which has the letter of its cpumode before it, plain = true: a text,
 * cell = function(value, beside) -> text: of other keys, beside_at = number of the value
 * `beside`}. escape(text) -> text: of texts that are not printable ASCII.
 */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "group.h"
#include "binding/writer.h"
#include "perfdata/format/print_scalar.h"

#define MAX_LINE_COLUMNS 110
#define NUMBER_TEXT	 32

enum {
	UP_COLUMNS = lua_upvalueindex(4),
	UP_ESCAPE = lua_upvalueindex(5),
	UP_WRITER = lua_upvalueindex(6), /* nil: the columns are measured */
};

struct line_column {
	size_t at, beside; /* from 0; SIZE_MAX: none */
	size_t room;
	bool right, last, percent, mark, plain;
	/* a share as it was made last */
	uint64_t number;
	char text[NUMBER_TEXT];
	size_t n;
};

/* The text of a row in a column. */
struct cell {
	const char *p;
	size_t n, width; /* bytes; columns */
};

/* A line in the making. */
struct line {
	lua_State *L;
	const struct pl_job *job;
	struct pq_report_row row;
	uint64_t whole;
};

static bool get_flag(lua_State *L, const char *name)
{
	bool flag;

	lua_getfield(L, -1, name);
	flag = lua_toboolean(L, -1);
	lua_pop(L, 1);
	return flag;
}

/* Returns the number in a field, less one; SIZE_MAX: there is none. */
static size_t get_place(lua_State *L, const char *name)
{
	lua_Integer place = 0;

	if (lua_getfield(L, -1, name) != LUA_TNIL)
		place = luaL_checkinteger(L, -1);
	lua_pop(L, 1);
	return (size_t)place - 1;
}

/* Reads the columns, whose table is at `columns`. Returns how many there are. */
static size_t read_line_columns(lua_State *L, int columns, const struct pl_job *job,
				struct line_column list[MAX_LINE_COLUMNS])
{
	size_t n = (size_t)lua_rawlen(L, columns), n_values = job->report.asked.n_columns + 3;

	if (n > MAX_LINE_COLUMNS)
		luaL_error(L, "too many columns");
	for (size_t i = 0; i < n; i++, lua_pop(L, 1)) {
		struct line_column *column = &list[i];

		lua_rawgeti(L, columns, (lua_Integer)i + 1);
		*column = (struct line_column){
			.at = get_place(L, "at"),
			.beside = get_place(L, "beside_at"),
			.room = get_place(L, "room") + 1,
			.right = get_flag(L, "right"),
			.last = get_flag(L, "last"),
			.percent = get_flag(L, "percent"),
			.mark = get_flag(L, "mark"),
			.plain = get_flag(L, "plain"),
		};
		if (column->at >= n_values ||
		    (column->beside != SIZE_MAX && column->beside >= n_values))
			luaL_error(L, "no such value");
	}
	return n;
}

/* Returns the columns that a text takes which is UTF-8 without control characters. */
static size_t count_columns(const char *p, size_t n)
{
	size_t width = 0;

	for (size_t i = 0; i < n; i++)
		width += ((unsigned char)p[i] & 0xc0) != 0x80;
	return width;
}

/* Makes the string on top the cell. It must stay on the stack. */
static struct cell cell_on_top(lua_State *L)
{
	struct cell cell;

	cell.p = luaL_checklstring(L, -1, &cell.n);
	cell.width = count_columns(cell.p, cell.n);
	return cell;
}

static struct cell make_text_cell(lua_State *L, const char *p, size_t n)
{
	size_t i;

	for (i = 0; i < n && p[i] >= ' ' && p[i] < 0x7f; i++)
		;
	if (i == n)
		return (struct cell){ p, n, n };
	lua_pushvalue(L, UP_ESCAPE);
	lua_pushlstring(L, p, n);
	lua_call(L, 1, 1);
	return cell_on_top(L);
}

/* Pushes the value of a row at that place. [-0, +1] */
static void push_value_at(const struct line *line, size_t at)
{
	pl_report_push(line->L, line->job, &line->job->report.asked.columns[at], &line->row);
}

/* Makes the cell of a column by its function. Leaves at most one value on the stack. */
static struct cell call_cell(const struct line *line, const struct line_column *column,
			     size_t number)
{
	lua_State *L = line->L;

	lua_pushvalue(L, UP_COLUMNS);
	lua_rawgeti(L, -1, (lua_Integer)number + 1);
	lua_getfield(L, -1, "cell");
	lua_replace(L, -3);
	lua_pop(L, 1);
	push_value_at(line, column->at);
	if (column->beside != SIZE_MAX)
		push_value_at(line, column->beside);
	lua_call(L, column->beside != SIZE_MAX ? 2 : 1, 1);
	return cell_on_top(L);
}

static struct cell make_number_cell(const struct line *line, struct line_column *column,
				    uint64_t number)
{
	double whole = (double)line->whole;

	if (!column->n || column->number != number) {
		if (!column->percent)
			snprintf(column->text, sizeof(column->text), "%" PRIu64, number);
		else if (number == line->whole && whole > 0) /* the only row of its event */
			strcpy(column->text, "100.00%");
		else
			snprintf(column->text, sizeof(column->text), "%.2f%%",
				 whole > 0 ? 100 * ((double)number / whole) : 0);
		column->number = number;
		column->n = strlen(column->text);
	}
	return (struct cell){ column->text, column->n, column->n };
}

/* Leaves at most one value on the stack. `address` has room for a cell's text. */
static struct cell make_cell(const struct line *line, struct line_column *column, size_t number,
			     char address[PL_ADDRESS_TEXT])
{
	const struct pq_report_asked *asked = &line->job->report.asked;
	const uint64_t measures[] = { line->row.samples, line->row.period, line->row.children };
	struct pq_value value;
	struct pd_text text;

	if (column->at >= asked->n_columns)
		return make_number_cell(line, column, measures[column->at - asked->n_columns]);
	if (column->mark) {
		text = pl_report_symbol(&line->row, address);
		return make_text_cell(line->L, text.p, text.n);
	}
	if (!column->plain)
		return call_cell(line, column, number);
	if (asked->columns[column->at].from == PQ_FROM_DSO)
		return make_text_cell(line->L, line->row.dso, strlen(line->row.dso));
	pq_groups_key(line->job->groups, line->row.group, asked->columns[column->at].key,
		      &value);
	if (value.type == PQ_TEXT)
		return make_text_cell(line->L, value.p, value.size);
	return call_cell(line, column, number);
}

/* Prints so many blanks. */
static void print_blanks(struct pd_print *out, size_t n)
{
	static const char blanks[] = "                                ";

	for (; n >= sizeof(blanks); n -= sizeof(blanks) - 1)
		pd_print_bytes(out, blanks, sizeof(blanks) - 1);
	pd_print_bytes(out, blanks, n);
}

/* Prints the letter of a cpumode: see thread__find_map, tools/perf/util/event.c. */
static void print_mark(struct pd_print *out, uint8_t mode)
{
	static const char letters[] = { [PD_CPUMODE_KERNEL] = 'k',
					[PD_CPUMODE_USER] = '.',
					[PD_CPUMODE_HYPERVISOR] = 'H',
					[PD_CPUMODE_GUEST_KERNEL] = 'g',
					[PD_CPUMODE_GUEST_USER] = 'u' };

	pd_print_char(out, '[');
	pd_print_char(out, mode < sizeof(letters) && letters[mode] ? letters[mode] : 'H');
	pd_print_const(out, "] ");
}

static void print_cell(struct pd_print *out, const struct line *line,
		       const struct line_column *column, const struct cell *cell)
{
	size_t blanks = column->room > cell->width ? column->room - cell->width : 0;

	pd_print_const(out, "  ");
	if (column->mark)
		print_mark(out, line->row.mode);
	if (column->right)
		print_blanks(out, blanks);
	pd_print_bytes(out, cell->p, cell->n);
	if (!column->right && !column->last)
		print_blanks(out, blanks);
}

/* Sets the fields `room`. */
static void set_rooms(lua_State *L, int columns, const struct line_column *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		lua_rawgeti(L, columns, (lua_Integer)i + 1);
		pl_set_integer(L, "room", list[i].room);
		lua_pop(L, 1);
	}
}

/* (from, to, whole), see the top. */
static int make_lines(lua_State *L)
{
	lua_Integer from = luaL_checkinteger(L, 1), to = luaL_checkinteger(L, 2);
	struct line line = { .L = L, .job = lua_touserdata(L, lua_upvalueindex(3)) };
	struct pl_writer *w = lua_touserdata(L, UP_WRITER);
	struct line_column columns[MAX_LINE_COLUMNS];
	const struct pq_report *report = line.job->report.made;
	size_t n;
	int top;

	luaL_argcheck(L, from >= 1, 1, "no row");
	luaL_argcheck(L, to < from || (lua_Unsigned)to <= pq_report_size(report), 2, "no row");
	line.whole = (uint64_t)luaL_checkinteger(L, 3);
	pl_report_enter(L);
	luaL_checkstack(L, 10, "cells");
	n = read_line_columns(L, UP_COLUMNS, line.job, columns);
	top = lua_gettop(L);
	for (lua_Integer i = from; i <= to; i++) {
		pq_report_row(report, (size_t)i - 1, &line.row);
		for (size_t c = 0; c < n; c++) {
			char address[PL_ADDRESS_TEXT];
			struct cell cell = make_cell(&line, &columns[c], c, address);

			if (w)
				print_cell(&w->print, &line, &columns[c], &cell);
			else if (cell.width > columns[c].room)
				columns[c].room = cell.width;
			lua_settop(L, top);
		}
		if (w)
			pd_print_char(&w->print, '\n');
	}
	if (w)
		pl_writer_finish(L, w);
	else
		set_rooms(L, UP_COLUMNS, columns, n);
	return 0;
}

int pl_report_lines(lua_State *L)
{
	luaL_checktype(L, 1, LUA_TTABLE);
	luaL_checktype(L, 2, LUA_TFUNCTION);
	lua_settop(L, 3);
	for (int i = 1; i <= 3; i++)
		lua_pushvalue(L, lua_upvalueindex(i));
	lua_pushvalue(L, 1);
	lua_pushvalue(L, 2);
	if (lua_isnil(L, 3)) {
		lua_pushnil(L);
	} else {
		luaL_Stream *stream = pl_check_stream(L, 3);

		pl_writer_init(lua_newuserdatauv(L, sizeof(struct pl_writer), 1), stream);
		lua_pushvalue(L, 3); /* it stays as long as the writer */
		lua_setiuservalue(L, -2, 1);
	}
	lua_pushcclosure(L, make_lines, 6);
	return 1;
}
