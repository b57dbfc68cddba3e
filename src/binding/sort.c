/*
 * core.sort(), which puts the lines of a Table in order.
 *
 * The lines are sorted by one column after another: each range of lines that are equal so far
 * is sorted by its values in the next column. Values are loaded from Lua once for each column.
 */
#include <math.h>
#include <string.h>

#include "functions.h"

/* Stack of pl_sort(). */
enum {
	AT_LINES = 1,
	AT_COLUMNS,
	AT_ITEMS,  /* struct sort_item[2 * n] */
	AT_PLACES, /* of columns in a line: values behind one another */
};

/* Kinds of values in their order, as the names of their types are. */
enum sort_type {
	SORT_BOOLEAN,
	SORT_INTEGER,
	SORT_FLOAT,
	SORT_TEXT,
	SORT_ABSENT
};

struct sort_item {
	union {
		lua_Integer integer; /* a boolean, too */
		lua_Number number;
		const char *text; /* of the line */
	};
	uint32_t size; /* of the text */
	uint32_t line;
	enum sort_type type;
};

struct sort_column {
	bool is_unsigned, descending, by_magnitude;
};

struct sorter {
	lua_State *L;
	void *interrupt;
	struct sort_item *items, *spare; /* [n] */
	struct sort_column *columns;
	int n_columns;
	const struct sort_column *column; /* that items are sorted by */
};

enum sort_outcome {
	SORT_DONE,
	SORT_INTERRUPTED,
	SORT_OTHERS, /* there are values of other types */
};

/* Compares texts as Lua does: by the locale, part by part between NULs. */
static int compare_texts(const struct sort_item *a, const struct sort_item *b)
{
	const char *p = a->text, *q = b->text;
	size_t n = a->size, m = b->size, size;
	int order;

	while ((order = strcoll(p, q)) == 0) {
		size = strlen(p);
		if (size == m)
			return n > m;
		if (size == n)
			return -1;
		p += size + 1;
		q += size + 1;
		n -= size + 1;
		m -= size + 1;
	}
	return order;
}

/* Compares an integer with a float that is a number, exactly. */
static int compare_integer(lua_Integer i, lua_Number f)
{
	lua_Integer whole;

	if (f >= 0x1p63)
		return -1;
	if (f < -0x1p63)
		return 1;
	whole = (lua_Integer)f;
	if (i != whole)
		return i < whole ? -1 : 1;
	f -= (lua_Number)whole;
	return (f < 0) - (f > 0);
}

static int compare_sort_items(const struct sort_column *column, const struct sort_item *a,
			      const struct sort_item *b)
{
	if (a->type == SORT_INTEGER && b->type == SORT_FLOAT)
		return compare_integer(a->integer, b->number);
	if (a->type == SORT_FLOAT && b->type == SORT_INTEGER)
		return -compare_integer(b->integer, a->number);
	if (a->type != b->type)
		return a->type < b->type ? -1 : 1;
	switch (a->type) {
	case SORT_TEXT:
		return compare_texts(a, b);
	case SORT_FLOAT:
		return (a->number > b->number) - (a->number < b->number);
	case SORT_ABSENT:
		return 0;
	default:
		if (column->is_unsigned)
			return ((lua_Unsigned)a->integer > (lua_Unsigned)b->integer) -
			       ((lua_Unsigned)a->integer < (lua_Unsigned)b->integer);
		return (a->integer > b->integer) - (a->integer < b->integer);
	}
}

/* Returns true if `b` comes before `a`, which lies before it. What is absent comes last. */
static bool is_inverted(const struct sort_column *column, const struct sort_item *a,
			const struct sort_item *b)
{
	int order = compare_sort_items(column, a, b);
	bool absent = a->type == SORT_ABSENT || b->type == SORT_ABSENT;

	return column->descending && !absent ? order < 0 : order > 0;
}

/* Sets *item to the value on top. Returns false if only Lua compares values of its type. */
static bool set_sort_item(lua_State *L, const struct sort_column *column,
			  struct sort_item *item)
{
	size_t size;

	switch (lua_type(L, -1)) {
	case LUA_TNIL:
		item->type = SORT_ABSENT;
		return true;
	case LUA_TBOOLEAN:
		item->type = SORT_BOOLEAN;
		item->integer = lua_toboolean(L, -1);
		return true;
	case LUA_TSTRING:
		item->type = SORT_TEXT;
		item->text = lua_tolstring(L, -1, &size);
		item->size = (uint32_t)size;
		return size == item->size && !column->by_magnitude;
	case LUA_TNUMBER:
		break;
	default:
		return false;
	}
	if (lua_isinteger(L, -1)) {
		item->type = SORT_INTEGER;
		item->integer = lua_tointeger(L, -1);
		if (column->by_magnitude && item->integer < 0)
			item->integer = (lua_Integer)(0 - (lua_Unsigned)item->integer);
		return true;
	}
	item->number = lua_tonumber(L, -1);
	if (column->by_magnitude)
		item->number = fabs(item->number);
	item->type = isnan(item->number) ? SORT_ABSENT : SORT_FLOAT;
	return true;
}

/* Loads the values that the lines of items from … to - 1 have in a column. */
static bool load_items(struct sorter *s, int column, size_t from, size_t to)
{
	lua_State *L = s->L;

	for (size_t i = from; i < to; i++) {
		bool known;

		if (lua_rawgeti(L, AT_LINES, (lua_Integer)s->items[i].line + 1) != LUA_TTABLE)
			luaL_error(L, "a line is no table");
		lua_pushvalue(L, AT_PLACES + column);
		lua_rawget(L, -2);
		known = set_sort_item(L, &s->columns[column], &s->items[i]);
		lua_pop(L, 2);
		if (!known)
			return false;
	}
	return true;
}

#define SHORT_RUN 8

static void sort_short_run(const struct sort_column *column, struct sort_item *items, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		struct sort_item item = items[i];
		size_t at = i;

		for (; at && is_inverted(column, &items[at - 1], &item); at--)
			items[at] = items[at - 1];
		items[at] = item;
	}
}

/* Merges the sorted items[0 … middle - 1] and items[middle … n - 1] into out[0 … n - 1]. */
static void merge_sorted_runs(const struct sort_column *column, const struct sort_item *items,
			      size_t middle, size_t n, struct sort_item *out)
{
	size_t a = 0, b = middle;

	while (a < middle && b < n)
		*out++ = is_inverted(column, &items[a], &items[b]) ? items[b++] : items[a++];
	memcpy(out, &items[a], (middle - a) * sizeof(*out));
	memcpy(out + (middle - a), &items[b], (n - b) * sizeof(*out));
}

/* Sorts items[from … to - 1]. Equal ones stay in their order. Returns false if interrupted. */
static bool sort_items(struct sorter *s, size_t from, size_t to)
{
	struct sort_item *in = s->items + from, *out = s->spare + from, *swapped;
	size_t n = to - from;

	for (size_t i = 0; i < n; i += SHORT_RUN)
		sort_short_run(s->column, &in[i], n - i < SHORT_RUN ? n - i : SHORT_RUN);
	for (size_t size = SHORT_RUN; size < n; size *= 2) {
		for (size_t i = 0; i < n; i += 2 * size) {
			size_t left = n - i;

			if (!pl_goes_on(s->interrupt))
				return false;
			merge_sorted_runs(s->column, &in[i], left < size ? left : size,
					  left < 2 * size ? left : 2 * size, &out[i]);
		}
		swapped = in;
		in = out;
		out = swapped;
	}
	if (in != s->items + from)
		memcpy(s->items + from, in, n * sizeof(*in));
	return true;
}

/* Sorts items[from … to - 1] by a column, and ranges of equal ones by those behind it. */
static enum sort_outcome sort_by_columns(struct sorter *s, int column, size_t from, size_t to)
{
	const struct sort_column *by = &s->columns[column];

	if (to - from < 2 || column == s->n_columns)
		return SORT_DONE;
	if (!load_items(s, column, from, to))
		return SORT_OTHERS;
	s->column = by;
	if (!sort_items(s, from, to))
		return SORT_INTERRUPTED;
	for (size_t end; from < to; from = end) {
		enum sort_outcome outcome;

		for (end = from + 1;
		     end < to && !compare_sort_items(by, &s->items[end - 1], &s->items[end]);
		     end++)
			;
		/* this loads other values into items that are compared no more */
		outcome = sort_by_columns(s, column + 1, from, end);
		if (outcome != SORT_DONE)
			return outcome;
	}
	return SORT_DONE;
}

/* Reads the columns and pushes their places. Pushes the memory of the columns last. */
static void read_sort_columns(lua_State *L, struct sorter *s)
{
	luaL_checkstack(L, s->n_columns + 10, "columns");
	for (int i = 0; i < s->n_columns; i++) {
		lua_rawgeti(L, AT_COLUMNS, i + 1);
		luaL_checktype(L, -1, LUA_TTABLE);
		lua_getfield(L, -1, "place");
		lua_remove(L, -2);
	}
	s->columns = lua_newuserdatauv(L, (size_t)s->n_columns * sizeof(*s->columns) + 1, 0);
	for (int i = 0; i < s->n_columns; i++) {
		lua_rawgeti(L, AT_COLUMNS, i + 1);
		s->columns[i] = (struct sort_column){
			.is_unsigned = pl_get_flag(L, -1, "is_unsigned"),
			.descending = pl_get_flag(L, -1, "descending"),
			.by_magnitude = pl_get_flag(L, -1, "by_magnitude"),
		};
		lua_pop(L, 1);
	}
}

int pl_sort(lua_State *L)
{
	struct sorter s = { .L = L, .interrupt = pl_interrupt(L) };
	enum sort_outcome outcome;
	size_t n;

	luaL_checktype(L, AT_LINES, LUA_TTABLE);
	luaL_checktype(L, AT_COLUMNS, LUA_TTABLE);
	lua_settop(L, AT_COLUMNS);
	n = (size_t)lua_rawlen(L, AT_LINES);
	luaL_argcheck(L, n < UINT32_MAX, AT_LINES, "too many lines");
	s.n_columns = (int)lua_rawlen(L, AT_COLUMNS);
	s.items = lua_newuserdatauv(L, 2 * n * sizeof(*s.items), 0);
	s.spare = s.items + n;
	for (size_t i = 0; i < n; i++)
		s.items[i].line = (uint32_t)i;
	read_sort_columns(L, &s);
	outcome = sort_by_columns(&s, 0, 0, n);
	if (outcome != SORT_DONE) {
		lua_pushnil(L);
		lua_pushboolean(L, outcome == SORT_OTHERS);
		return 2;
	}
	lua_createtable(L, (int)(n < INT32_MAX ? n : 0), 0);
	for (size_t i = 0; i < n; i++) {
		lua_rawgeti(L, AT_LINES, (lua_Integer)s.items[i].line + 1);
		lua_rawseti(L, -2, (lua_Integer)i + 1);
	}
	return 1;
}
