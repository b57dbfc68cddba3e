/* core.write_rows(), which writes the values of each record as a row of CSV or JSON, from C. */
#include <errno.h>
#include <string.h>

#include "printing.h"
#include "binding/functions.h"
#include "perfdata/format/print_scalar.h"
#include "result.h"
#include "result/writer.h"

/* Stack of pl_write_rows(). */
enum {
	AT_CURSOR = 1,
	AT_OUT,
	AT_COLUMNS,
	AT_CSV,
	AT_FORM,
	AT_PRINTING,
	AT_ARRAY, /* struct pr_column[] */
};

/* Pushes the columns. Their names belong to the table at AT_COLUMNS. [-0, +1] */
static const struct pr_column *push_row_columns(lua_State *L, size_t n)
{
	struct pr_column *columns = lua_newuserdatauv(L, n * sizeof(*columns), 0);

	for (size_t i = 0; i < n; i++) {
		struct pr_column *column = &columns[i];
		const char *kind;

		*column = (struct pr_column){ .text_form = PR_AS_RECORDED };
		lua_rawgeti(L, AT_COLUMNS, (lua_Integer)i + 1);
		luaL_checktype(L, -1, LUA_TTABLE);
		lua_getfield(L, -1, "name");
		column->name.p = luaL_checklstring(L, -1, &column->name.n);
		lua_getfield(L, -2, "kind");
		kind = luaL_checkstring(L, -1);
		column->kind = pl_to_shown_kind(kind);
		if (strcmp(kind, "bytes") == 0)
			column->text_form = PR_AS_DIGITS;
		lua_pop(L, 3);
	}
	return columns;
}

/* The form of rows: CSV or JSON lines. */
struct row_form {
	const struct pr_column *columns; /* [n] */
	size_t n;
	const struct pd_text *names; /* of JSON; NULL: CSV */
	struct pr_csv_form csv;
	struct pq_record_rows *makers[PQ_PRINTERS_MAX]; /* by worker, if there are several */
};

static int row_form_gc(lua_State *L)
{
	struct row_form *form = lua_touserdata(L, 1);

	for (unsigned i = 0; i < PQ_PRINTERS_MAX; i++) {
		pq_record_rows_destroy(form->makers[i]);
		form->makers[i] = NULL;
	}
	return 0;
}

static void write_row(struct pd_print *out, const struct row_form *form,
		      const struct pq_value *cells)
{
	if (!form->names) {
		pr_write_csv_row(out, form->columns, form->n, cells, NULL, form->csv);
		return;
	}
	pr_write_json_row(out, form->columns, form->names, form->n, cells, NULL, NULL);
	pd_print_char(out, '\n');
}

/* The destination of the rows of a record. */
struct rows_out {
	const struct row_form *form;
	struct pd_print *out;
};

static void write_made_row(void *arg, const struct pq_value *cells)
{
	const struct rows_out *to = arg;

	write_row(to->out, to->form, cells);
}

static bool print_rows(void *arg, unsigned worker, const struct pd_record *rec,
		       struct pd_print *out)
{
	const struct row_form *form = arg;
	struct rows_out to = { form, out };

	return pq_record_rows_each(form->makers[worker], rec, write_made_row, &to);
}

/* Writes the rows by several workers. Returns how many there were. */
static lua_Integer share_rows(lua_State *L, struct pl_cursor *c, struct row_form *form,
			      struct pl_printing *printing, unsigned workers)
{
	const char *path = c->file->file->path;
	lua_Integer n = 0;

	for (unsigned i = 0; i < workers; i++) {
		form->makers[i] = pq_rows_share(c->rows);
		if (!form->makers[i])
			luaL_error(L, "%s: no memory for rows", path);
	}
	pl_print_records(L, printing, AT_CURSOR, workers, print_rows, form);
	if (printing->enough)
		luaL_error(L, "%s: no memory for rows", path);
	for (unsigned i = 0; i < workers; i++)
		n += (lua_Integer)pq_record_rows_count(form->makers[i]);
	return n;
}

/* Writes the rows as they come. Returns how many there were. */
static lua_Integer write_batches(lua_State *L, struct pl_cursor *c, const struct row_form *form,
				 struct pl_writer *w)
{
	lua_Integer n_rows = 0;

	while (!w->error && pl_cursor_rows(L, c, AT_CURSOR)) {
		size_t n = c->left;

		c->left = 0;
		n_rows += (lua_Integer)n;
		for (size_t i = 0; i < n; i++)
			write_row(&w->print, form, c->next + i * form->n);
	}
	pd_print_flush(&w->print);
	return n_rows;
}

int pl_write_rows(lua_State *L)
{
	struct pl_cursor *c = luaL_checkudata(L, AT_CURSOR, PL_CURSOR);
	luaL_Stream *stream = pl_check_stream(L, AT_OUT);
	struct pl_printing *printing;
	struct row_form *form;
	struct pl_writer *w;
	lua_Integer n_rows;
	unsigned workers;

	luaL_checktype(L, AT_COLUMNS, LUA_TTABLE);
	luaL_argcheck(L, c->n_values, AT_CURSOR, "values expected");
	lua_settop(L, AT_CSV);
	form = pl_push_finalized(L, sizeof(*form), row_form_gc);
	printing = pl_push_printing(L, stream);
	w = &printing->writer;
	form->n = c->n_values;
	form->columns = push_row_columns(L, form->n);
	if (lua_istable(L, AT_CSV)) {
		form->csv = pl_get_csv_form(L, AT_CSV);
		pr_write_csv_heads(&w->print, form->columns, form->n, form->csv);
	} else {
		form->names = pl_push_json_names(L, form->columns, form->n);
	}
	workers = !c->rows || c->has_pairs || c->chains ? 1 : pq_printer_workers(&c->scope);
	n_rows = workers > 1 ? share_rows(L, c, form, printing, workers) :
			       write_batches(L, c, form, w);
	if (w->error) {
		errno = w->error;
		return luaL_fileresult(L, 0, NULL);
	}
	lua_pushinteger(L, n_rows);
	return 1;
}
