#include "base/vector.h"
#include "view.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/string_builder.h"
#include "cell_internal.h"
#include "order.h"
#include "turned.h"

/* The origin of a cell in a source's row. */
struct origin {
	size_t column; /* of the view; PR_NONE: the event */
	size_t value;  /* in a turned view: which value's cell; PR_NONE: the row's own */
};

struct pr_view {
	const struct pr_result *result;
	struct pr_show show;
	struct pr_lines lines;	 /* of the result's groups, or of the turned ones */
	struct pr_total *totals; /* NULL: those of `show` */
	uint32_t *rows;		 /* [n_rows] */
	size_t n_rows;
	size_t *running; /* [n_columns]: position among the sums of a row */
	size_t n_running;
	struct pq_value *sums; /* [n_rows * n_running] */
	bool is_turned;
	struct pr_turned turned;
	bool failed;	       /* no memory for a text */
	struct pb_arena texts; /* that expressions made of cells of the turned row read last */
	/* of the source that was asked for last */
	struct pr_column *columns; /* [n_source] */
	struct origin *origins;
	size_t n_source;
	struct pb_string names;
	const struct pd_text *events; /* [n_events] */
	size_t n_events, from;
};

/*
 * Adds a number to a sum of that kind, which is PQ_NIL before the first one. Returns false if
 * it exceeds 2^63 - 1.
 */
static bool add_running(enum pr_kind kind, struct pq_value *sum, const struct pq_value *value)
{
	if (value->type == PQ_INT && pr_is_unsigned(kind) && value->i < 0)
		return false;
	if (sum->type == PQ_NIL) {
		*sum = *value;
		return true;
	}
	if (sum->type == PQ_INT && value->type == PQ_INT)
		return !__builtin_add_overflow(sum->i, value->i, &sum->i);
	*sum = (struct pq_value){
		.type = PQ_FLOAT,
		.f = (sum->type == PQ_INT ? (double)sum->i : sum->f) +
		     (value->type == PQ_INT ? (double)value->i : value->f),
	};
	return true;
}

static bool is_number(const struct pq_value *value)
{
	return (value->type == PQ_INT || value->type == PQ_FLOAT) && !pq_is_unordered(value);
}

/* Sets the sums of one running column, anew for each section and each value of `per`. */
static bool add_up_column(struct pr_view *view, size_t column)
{
	const struct pr_view_column *running = &view->show.columns[column];
	size_t per = view->show.per;
	struct pq_value sum = { .type = PQ_NIL }, value, of_per, last = { .type = PQ_NIL };

	for (size_t i = 0; i < view->n_rows; i++) {
		bool is_next = i && pr_view_section(view, i) == pr_view_section(view, i - 1);

		if (per != PR_NONE) {
			pr_lines_value(&view->lines, view->rows[i], per, &of_per);
			is_next = is_next &&
				  pr_compare(&of_per, &last, false, view->result->stacks) == 0;
			last = of_per;
		}
		pr_lines_value(&view->lines, view->rows[i], running->at, &value);
		if (!is_next)
			sum.type = PQ_NIL;
		if (is_number(&value) && !add_running(running->shown.kind, &sum, &value))
			return false;
		view->sums[i * view->n_running + view->running[column]] = sum;
	}
	return true;
}

static enum pr_problem add_up_running(struct pr_view *view)
{
	const struct pr_show *show = &view->show;

	view->running = calloc(show->n_columns + 1, sizeof(*view->running));
	if (!view->running)
		return PR_NO_MEMORY;
	for (size_t i = 0; i < show->n_columns; i++)
		if (show->columns[i].role == PR_OF_RUNNING)
			view->running[i] = view->n_running++;
	view->sums = calloc(view->n_rows * view->n_running + 1, sizeof(*view->sums));
	if (!view->sums)
		return PR_NO_MEMORY;
	for (size_t i = 0; i < show->n_columns; i++)
		if (show->columns[i].role == PR_OF_RUNNING && !add_up_column(view, i))
			return PR_SUM;
	return PR_FINE;
}

/* Returns true if the key that is turned is the event. */
static bool is_event_turned(const struct pr_view *view)
{
	const struct pr_show *show = &view->show;

	return view->result->shape.keys[show->columns[show->pivot].at].is_event;
}

/*
 * Events are never added together: sets the measures of the row in view->lines.cells to those
 * of the section's first event.
 */
static void keep_first_event(void *arg, size_t g)
{
	struct pr_view *view = arg;
	struct pr_turned *turned = &view->turned;
	const uint8_t *has = turned->has_value +
			     pr_section(turned->rows, g) * (turned->n_values + 1);
	const struct pq_value *cells = NULL;
	size_t value = 0;

	while (value < turned->n_values && !has[value])
		value++;
	if (value < turned->n_values)
		cells = pr_turned_cells(turned, g, value);
	for (size_t i = 0; i < view->show.n_columns; i++) {
		if (!view->show.columns[i].shown.is_measured)
			continue;
		if (cells)
			view->lines.cells[i] = cells[i];
		else
			view->lines.cells[i].type = PQ_NIL;
	}
}

/* Lists the rows that meet the conditions. Returns false without memory. */
static bool choose_rows(struct pr_view *view)
{
	size_t n = pr_size(view->lines.result);

	view->rows = pb_array(n + 1, sizeof(*view->rows));
	if (!view->rows)
		return false;
	for (size_t g = 0; g < n; g++) {
		if (view->show.n_conditions) {
			pr_lines_make(&view->lines, g);
			if (!pr_lines_meet(&view->lines))
				continue;
		}
		view->rows[view->n_rows++] = (uint32_t)g;
	}
	return true;
}

static enum pr_problem turn_view(struct pr_view *view, size_t *n)
{
	enum pr_problem problem;

	view->is_turned = true;
	view->turned.cells = view->lines;
	view->lines = (struct pr_lines){ 0 };
	problem = pr_turn(&view->turned, n);
	if (problem != PR_FINE)
		return problem;
	if (!pr_lines_init(&view->lines, view->turned.rows, &view->show))
		return PR_NO_MEMORY;
	view->lines.n_merged = view->turned.n_merged;
	if (is_event_turned(view)) {
		view->lines.adjust = keep_first_event;
		view->lines.arg = view;
	}
	view->lines.totals = view->turned.cells.totals;
	view->lines.n_totals = view->turned.cells.n_totals;
	return PR_FINE;
}

enum pr_problem pr_view_create(const struct pr_result *result, const struct pr_show *show,
			       struct pr_view **made, size_t *n)
{
	struct pr_view *view = *made = calloc(1, sizeof(*view));
	enum pr_problem problem = PR_FINE;

	if (!view)
		return PR_NO_MEMORY;
	view->result = result;
	view->show = *show;
	if (!pr_lines_init(&view->lines, result, &view->show))
		return PR_NO_MEMORY;
	view->lines.totals = show->totals;
	view->lines.n_totals = show->n_totals;
	if (!show->totals) {
		if (!pr_sum_totals(result, &view->totals, &view->lines.n_totals))
			return PR_NO_MEMORY;
		view->lines.totals = view->totals;
	}
	if (show->pivot != PR_NONE)
		problem = turn_view(view, n);
	if (problem != PR_FINE)
		return problem;
	if (!choose_rows(view) || !pr_order_rows(&view->lines, view->rows, &view->n_rows))
		return PR_NO_MEMORY;
	problem = add_up_running(view);
	return problem == PR_FINE && pr_view_failed(view) ? PR_NO_MEMORY : problem;
}

bool pr_view_failed(struct pr_view *view)
{
	struct pr_lines *all[] = { &view->lines, &view->turned.cells,
				   &view->turned.other_cells };
	bool failed = view->failed;

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		failed = failed || all[i]->fields.failed;
		all[i]->fields.failed = false;
	}
	view->failed = false;
	return failed;
}

void pr_view_destroy(struct pr_view *view)
{
	if (!view)
		return;
	pr_lines_deinit(&view->lines);
	pr_turned_deinit(&view->turned);
	pb_arena_deinit(&view->texts);
	pb_string_deinit(&view->names);
	free(view->totals);
	free(view->rows);
	free(view->running);
	free(view->sums);
	free(view->columns);
	free(view->origins);
	free(view);
}

size_t pr_view_size(const struct pr_view *view)
{
	return view->n_rows;
}

size_t pr_view_group(const struct pr_view *view, size_t i)
{
	return view->rows[i];
}

uint32_t pr_view_section(const struct pr_view *view, size_t i)
{
	return pr_section(view->lines.result, view->rows[i]);
}

void pr_view_row(struct pr_view *view, size_t i, struct pq_value *cells)
{
	pr_lines_make(&view->lines, view->rows[i]);
	for (size_t c = 0; c < view->show.n_columns; c++) {
		cells[c] = view->lines.cells[c];
		if (view->show.columns[c].role == PR_OF_RUNNING)
			cells[c] = view->sums[i * view->n_running + view->running[c]];
	}
}

void pr_view_cells(struct pr_view *view, size_t i,
		   void (*cell)(void *arg, const struct pq_value *key,
				const struct pq_value *cells),
		   void *arg)
{
	struct pr_turned *turned = &view->turned;
	const struct pq_value *cells;

	for (size_t v = 0; v <= turned->n_values; v++) {
		cells = pr_turned_cells(turned, view->rows[i], v);
		if (cells)
			cell(arg, v < turned->n_values ? &turned->values[v] : NULL, cells);
	}
}

/*
 * Copies a text that the expression would write over for the next value. Returns false without
 * memory.
 */
static bool keep_computed_text(struct pr_view *view, const struct origin *origin,
			       struct pq_value *cell)
{
	if (cell->type != PQ_TEXT || origin->value == PR_NONE ||
	    view->show.columns[origin->column].role != PR_OF_EXPRESSION)
		return true;
	cell->p = pb_arena_text(&view->texts, cell->p, cell->size);
	if (!cell->p)
		cell->type = PQ_NIL;
	return cell->p != NULL;
}

/* Sets cells to row i of a source. */
static void read_source_row(void *arg, size_t i, struct pq_value *cells)
{
	struct pr_view *view = arg;
	size_t row = view->from + i, value = PR_NONE;
	const struct pq_value *own = view->lines.cells, *from = own;

	if (row + PR_ROWS_AHEAD < view->n_rows)
		pq_groups_expect(view->lines.result->groups, view->rows[row + PR_ROWS_AHEAD]);
	pr_lines_make(&view->lines, view->rows[row]);
	pb_arena_clear(&view->texts);
	for (size_t c = 0; c < view->n_source; c++) {
		const struct origin *origin = &view->origins[c];

		if (origin->value != value) {
			value = origin->value;
			from = value == PR_NONE ?
				       own :
				       pr_turned_cells(&view->turned, view->rows[row], value);
		}
		cells[c].type = PQ_NIL;
		if (origin->column == PR_NONE) {
			uint32_t section = pr_view_section(view, row);

			if (section < view->n_events && view->events[section].p)
				cells[c] = (struct pq_value){
					.type = PQ_TEXT,
					.size = (uint32_t)view->events[section].n,
					.p = view->events[section].p
				};
		} else if (view->show.columns[origin->column].role == PR_OF_RUNNING) {
			cells[c] = view->sums[row * view->n_running +
					      view->running[origin->column]];
		} else if (from) {
			cells[c] = from[origin->column];
			if (!keep_computed_text(view, origin, &cells[c]))
				view->failed = true;
		}
	}
}

/* Adds the value of a key to the name of its column; `is_text`: with its unit. */
static void add_key_value(struct pr_view *view, struct pb_string *name,
			  const struct pr_column *key, const struct pq_value *value,
			  bool is_text)
{
	struct pd_print print;
	char *stack;
	size_t n;

	switch (value->type) {
	case PQ_NIL:
		pb_string_put(name, "nil");
		break;
	case PQ_TEXT:
		pb_string_add(name, value->p, value->size);
		break;
	case PQ_CHAIN:
		stack = pr_stack_text(view->result->stacks, (uint32_t)value->u, &n);
		if (stack)
			pb_string_add(name, stack, n);
		name->failed = name->failed || !stack;
		free(stack);
		break;
	default:
		pd_print_init(&print, pd_print_to_string, name);
		if (is_text && key->unit != PR_NO_UNIT)
			pr_print_shown(&print, value, key);
		else
			pr_print_exact(&print, value, key->kind);
		pd_print_flush(&print);
	}
}

/* A column's name is in view->names until all are there. */
static bool add_source_column(struct pr_view *view, size_t column, size_t value,
			      const char *name, size_t n)
{
	static const struct pr_column event = { .kind = PR_STRING };
	struct pr_column *added = &view->columns[view->n_source];

	*added = column == PR_NONE ? event : view->show.columns[column].shown;
	added->name.n = n;
	pb_string_add(&view->names, name, n);
	if (value != PR_NONE)
		added->is_measured = true;
	view->origins[view->n_source++] = (struct origin){ column, value };
	return !view->names.failed;
}

/* Adds a column for each measure of a value's cell, or of that of all others. */
static bool add_cell_columns(struct pr_view *view, size_t value, bool is_text)
{
	const struct pr_show *show = &view->show;
	const struct pr_column *key = &show->columns[show->pivot].shown;
	struct pb_string name = { 0 };
	size_t n_measured = 0, n;
	bool ok = true;

	for (size_t i = 0; i < show->n_columns; i++)
		n_measured += show->columns[i].shown.is_measured;
	if (value == view->turned.n_values) {
		pb_string_put(&name, "other");
	} else {
		pb_string_add(&name, key->name.p, key->name.n);
		pb_string_add(&name, "=", 1);
		add_key_value(view, &name, key, &view->turned.values[value], is_text);
	}
	n = name.n;
	for (size_t i = 0; ok && i < show->n_columns; i++) {
		const struct pr_column *column = &show->columns[i].shown;

		if (!column->is_measured)
			continue;
		name.n = n;
		if (n_measured > 1) {
			pb_string_add(&name, ":", 1);
			pb_string_add(&name, column->name.p, column->name.n);
		}
		ok = !name.failed && add_source_column(view, i, value, name.p, name.n);
	}
	pb_string_deinit(&name);
	return ok;
}

/* Adds columns for the values that one of the sections of the rows has. */
static bool add_turned_columns(struct pr_view *view, size_t to, bool is_text)
{
	struct pr_turned *turned = &view->turned;
	size_t width = turned->n_values + 1;
	bool ok = true;

	for (size_t v = 0; ok && v < width; v++) {
		bool has = false;
		uint32_t last = UINT32_MAX;

		for (size_t i = view->from; !has && i < to; i++) {
			uint32_t section = pr_view_section(view, i);

			if (section != last)
				has = turned->has_value[section * width + v];
			last = section;
		}
		if (has)
			ok = add_cell_columns(view, v, is_text);
	}
	return ok;
}

bool pr_view_source(struct pr_view *view, size_t from, size_t to, const struct pd_text *events,
		    size_t n_events, bool is_text, struct pr_source *source)
{
	const struct pr_show *show = &view->show;
	size_t room = (view->turned.n_values + 2) * (show->n_columns + 1), at = 0;
	bool ok = true;

	free(view->columns);
	free(view->origins);
	view->columns = calloc(room, sizeof(*view->columns));
	view->origins = calloc(room, sizeof(*view->origins));
	view->n_source = view->names.n = 0;
	view->names.failed = false;
	view->from = from;
	view->events = events;
	view->n_events = n_events;
	if (!view->columns || !view->origins)
		return false;
	if (events)
		ok = add_source_column(view, PR_NONE, PR_NONE, "event", 5);
	for (size_t i = 0; ok && i < show->n_columns; i++) {
		const struct pr_column *column = &show->columns[i].shown;

		if (!view->is_turned || (!column->is_measured && i != show->pivot))
			ok = add_source_column(view, i, PR_NONE, column->name.p,
					       column->name.n);
	}
	if (ok && view->is_turned)
		ok = add_turned_columns(view, to, is_text);
	for (size_t i = 0; i < view->n_source; at += view->columns[i++].name.n)
		view->columns[i].name.p = view->names.p + at;
	*source = (struct pr_source){
		.columns = view->columns,
		.n_columns = view->n_source,
		.n_rows = to - from,
		.stacks = view->result->stacks,
		.row = read_source_row,
		.arg = view,
	};
	return ok;
}
