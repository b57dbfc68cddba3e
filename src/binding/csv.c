/* core.csv(), which makes lines of CSV (RFC 4180) of rows of Lua values. */
#include <string.h>

#include "functions.h"
#include "perfdata/format/print_scalar.h"

/* Stack of pl_csv(). The text lies behind it. */
enum {
	AT_COLUMNS = 1,
	AT_ROWS,
	AT_FROM,
	AT_TO,
	AT_SPELL,
	AT_OPTIONS,
	AT_ROW,
	AT_CELL,
	AT_STATES, /* struct csv_column[] */
};

enum cell_kind {
	CELL_PLAIN,
	CELL_UNSIGNED,
	CELL_ADDRESS,
	CELL_SPELLED, /* by the function at AT_SPELL */
};

struct csv_column {
	enum cell_kind kind;
	/* the last float and its text: rows in order often have the same one */
	size_t n; /* 0: there was none */
	uint64_t last;
	char text[32];
};

struct csv {
	lua_State *L;
	luaL_Buffer text;
	struct pd_print print;
	struct csv_column *columns;
	bool safe, by_column;
};

static enum cell_kind find_cell_kind(const char *name)
{
	return strcmp(name, "unsigned") == 0  ? CELL_UNSIGNED :
	       strcmp(name, "address") == 0   ? CELL_ADDRESS :
	       strcmp(name, "histogram") == 0 ? CELL_SPELLED :
						CELL_PLAIN;
}

/* Pushes what is known of the columns. [-0, +1] */
static struct csv_column *push_csv_columns(lua_State *L, lua_Integer n)
{
	struct csv_column *columns = lua_newuserdatauv(L, (size_t)n * sizeof(*columns), 0);

	for (lua_Integer i = 0; i < n; i++) {
		lua_geti(L, AT_COLUMNS, i + 1);
		lua_getfield(L, -1, "kind");
		columns[i].kind = find_cell_kind(luaL_optstring(L, -1, ""));
		columns[i].n = 0;
		lua_pop(L, 2);
	}
	return columns;
}

static void add_text(void *arg, const char *p, size_t n)
{
	luaL_addlstring(arg, p, n);
}

/* Prints a text, in safe mode with a ' if a spreadsheet would take it for a formula. */
static void print_text_cell(struct csv *csv, const char *p, size_t n)
{
	if (csv->safe && n && *p && strchr("=+-@\t\r", *p)) {
		size_t size = lua_stringtonumber(csv->L, p);

		if (size)
			lua_pop(csv->L, 1);
		if (size != n + 1) {
			lua_pushliteral(csv->L, "'");
			lua_pushvalue(csv->L, AT_CELL);
			lua_concat(csv->L, 2);
			lua_replace(csv->L, AT_CELL);
			p = lua_tolstring(csv->L, AT_CELL, &n);
		}
	}
	pd_print_cell(&csv->print, p, n);
}

/* Has the value at AT_CELL be replaced by its text. */
static void spell_cell(lua_State *L, lua_Integer column)
{
	lua_pushvalue(L, AT_SPELL);
	lua_pushvalue(L, AT_CELL);
	lua_geti(L, AT_COLUMNS, column);
	lua_getfield(L, -1, "kind");
	lua_remove(L, -2);
	lua_call(L, 2, 1);
	luaL_checktype(L, -1, LUA_TSTRING);
	lua_replace(L, AT_CELL);
}

static void print_float_cell(struct csv *csv, struct csv_column *column)
{
	double value = lua_tonumber(csv->L, AT_CELL);
	uint64_t bits;
	char *start;

	memcpy(&bits, &value, sizeof(bits));
	if (!column->n || bits != column->last) {
		start = pd_print_room(&csv->print, sizeof(column->text));
		pd_print_float(&csv->print, value, false);
		column->n = (size_t)(csv->print.buffer + csv->print.n - start);
		column->last = bits;
		memcpy(column->text, start, column->n);
		return;
	}
	pd_print_bytes(&csv->print, column->text, column->n);
}

static void print_integer_cell(struct csv *csv, enum cell_kind kind)
{
	lua_State *L = csv->L;

	if (kind == CELL_UNSIGNED)
		pd_print_uint(&csv->print, (uint64_t)lua_tointeger(L, AT_CELL));
	else if (kind == CELL_ADDRESS)
		pd_print_hex(&csv->print, (uint64_t)lua_tointeger(L, AT_CELL));
	else
		pd_print_int(&csv->print, lua_tointeger(L, AT_CELL));
}

/* Prints the value at AT_CELL, which is of column `number`, from 1 on. */
static void print_value_cell(struct csv *csv, lua_Integer number)
{
	struct csv_column *column = &csv->columns[number - 1];
	int type = lua_type(csv->L, AT_CELL);
	const char *p;
	size_t n;

	if (type == LUA_TNIL)
		return;
	if (column->kind != CELL_SPELLED && lua_isinteger(csv->L, AT_CELL)) {
		print_integer_cell(csv, column->kind);
		return;
	}
	/* -inf is no number for a spreadsheet */
	if (column->kind != CELL_SPELLED && type == LUA_TNUMBER && !csv->safe) {
		print_float_cell(csv, column);
		return;
	}
	if (type != LUA_TSTRING || column->kind == CELL_SPELLED)
		spell_cell(csv->L, number);
	p = lua_tolstring(csv->L, AT_CELL, &n);
	print_text_cell(csv, p, n);
}

/* Sets the value at AT_CELL to that of a row's column. */
static void load_cell(const struct csv *csv, lua_Integer row, lua_Integer column)
{
	lua_State *L = csv->L;

	if (!csv->by_column) {
		lua_rawgeti(L, AT_ROW, column);
		lua_replace(L, AT_CELL);
		return;
	}
	if (lua_rawgeti(L, AT_ROWS, column) != LUA_TTABLE) {
		lua_replace(L, AT_CELL);
		return;
	}
	lua_rawgeti(L, -1, row);
	lua_replace(L, AT_CELL);
	lua_pop(L, 1);
}

int pl_csv(lua_State *L)
{
	lua_Integer from = luaL_checkinteger(L, AT_FROM), to = luaL_checkinteger(L, AT_TO), n;
	struct csv csv = { .L = L };

	luaL_checktype(L, AT_COLUMNS, LUA_TTABLE);
	luaL_checktype(L, AT_ROWS, LUA_TTABLE);
	luaL_checktype(L, AT_SPELL, LUA_TFUNCTION);
	luaL_checktype(L, AT_OPTIONS, LUA_TTABLE);
	lua_settop(L, AT_STATES - 1);
	csv.safe = pl_get_flag(L, AT_OPTIONS, "safe");
	csv.by_column = pl_get_flag(L, AT_OPTIONS, "by_column");
	n = (lua_Integer)lua_rawlen(L, AT_COLUMNS);
	csv.columns = push_csv_columns(L, n);
	luaL_buffinit(L, &csv.text);
	pd_print_init(&csv.print, add_text, &csv.text);
	for (lua_Integer row = from; row <= to; row++) {
		if (!csv.by_column) {
			lua_geti(L, AT_ROWS, row);
			luaL_checktype(L, -1, LUA_TTABLE);
			lua_replace(L, AT_ROW);
		}
		for (lua_Integer column = 1; column <= n; column++) {
			if (column > 1)
				pd_print_char(&csv.print, ',');
			load_cell(&csv, row, column);
			print_value_cell(&csv, column);
		}
		pd_print_const(&csv.print, "\r\n");
	}
	pd_print_flush(&csv.print);
	luaL_pushresult(&csv.text);
	return 1;
}
