#include "order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"

#define FEW 1000 /* rows of a section that are found without sorting all */

/* Compares cells that are not both integers. */
static __attribute__((noinline)) int compare_others(const struct pq_value *a,
						    const struct pq_value *b, bool is_unsigned,
						    const struct pq_stacks *stacks)
{
	if (a->type == PQ_CHAIN && b->type == PQ_CHAIN && a->u != b->u)
		return pq_stacks_compare(stacks, (uint32_t)a->u, stacks, (uint32_t)b->u);
	return pq_compare_others(a, b, is_unsigned);
}

int pr_compare(const struct pq_value *a, const struct pq_value *b, bool is_unsigned,
	       const struct pq_stacks *stacks)
{
	if (a->type == PQ_INT && b->type == PQ_INT)
		return pq_compare(a, b, is_unsigned);
	return compare_others(a, b, is_unsigned, stacks);
}

/* Classes of values, in their order; those of one class are compared with one another. */
enum class {
	CLASS_BOOLEAN,
	CLASS_NUMBER,
	CLASS_TEXT,
	CLASS_STACK,
	CLASS_ADDRESS, /* in place of a function's name */
	CLASS_ABSENT
};

static uint8_t class_of(const struct pq_value *value)
{
	switch (value->type) {
	case PQ_BOOL:
		return CLASS_BOOLEAN;
	case PQ_INT:
		return CLASS_NUMBER;
	case PQ_FLOAT:
		return isnan(value->f) ? CLASS_ABSENT : CLASS_NUMBER;
	case PQ_TEXT:
		return CLASS_TEXT;
	case PQ_CHAIN:
		return CLASS_STACK;
	default:
		return CLASS_ABSENT;
	}
}

static uint8_t class_of_symbol(const struct pq_value *value)
{
	uint8_t class = class_of(value);

	return class == CLASS_NUMBER ? CLASS_ADDRESS : class;
}

void pr_load_value(struct pr_sorter *s, const struct pr_level *level, uint32_t row,
		   struct pq_value *out)
{
	if (level->column == PR_NONE) {
		*out = (struct pq_value){ .type = PQ_INT,
					  .u = pr_section(s->lines->result, row) };
		return;
	}
	pr_lines_value(s->lines, row, level->column, out);
	if (out->type == PQ_TEXT &&
	    s->lines->show->columns[level->column].role == PR_OF_EXPRESSION) {
		const struct pq_text *text = pq_texts_intern(&s->texts, out->p, out->size);

		if (text)
			out->p = text->bytes;
		else
			s->failed = true;
	}
	if (level->by_magnitude && out->type == PQ_INT && out->i < 0)
		out->u = 0 - out->u;
	if (level->by_magnitude && out->type == PQ_FLOAT)
		out->f = fabs(out->f);
}

int pr_compare_at(const struct pr_sorter *s, const struct pr_level *level,
		  const struct pq_value *a, const struct pq_value *b)
{
	int order = level->is_symbol && a->type != b->type ?
			    (int)class_of_symbol(a) - (int)class_of_symbol(b) :
			    pr_compare(a, b, level->is_unsigned, s->lines->result->stacks);

	return level->descending && !pq_is_unordered(a) && !pq_is_unordered(b) ? -order : order;
}

/* Returns the bits of a number that is not NaN, as an integer of the same order. */
static uint64_t order_of_float(double f)
{
	uint64_t bits;

	f += 0.0; /* of equal zeros the positive one */
	memcpy(&bits, &f, sizeof(bits));
	return bits >> 63 ? ~bits : bits | UINT64_C(1) << 63;
}

/* Lists a text, unless it is listed already. Returns false without memory. */
static bool list_text(struct pr_sorter *s, struct pq_text *text)
{
	if (text->moved == text)
		return true;
	if (!pb_reserve(s->list, s->n_list, s->list_room))
		return false;
	text->moved = text;
	s->list[s->n_list++] = text;
	return true;
}

static int compare_listed(const void *left, const void *right)
{
	const struct pq_text *a = *(struct pq_text *const *)left;
	const struct pq_text *b = *(struct pq_text *const *)right;
	int order = memcmp(a->bytes, b->bytes, a->size < b->size ? a->size : b->size);

	return order ? order : (a->size > b->size) - (a->size < b->size);
}

/*
 * Replaces the texts of a range by their places among the different ones. While it works, a
 * text's field `moved`, which nobody needs of a result, has its place.
 */
static void rank_texts(struct pr_sorter *s, size_t from, size_t to, bool is_descending)
{
	if (s->n_list)
		qsort(s->list, s->n_list, sizeof(struct pq_text *), compare_listed);
	for (size_t i = 0; i < s->n_list; i++)
		s->list[i]->moved = (struct pq_text *)(uintptr_t)(i + 1);
	for (size_t i = from; i < to; i++) {
		struct pr_item *item = &s->items[i];

		if (item->class != (is_descending ? CLASS_ADDRESS - CLASS_TEXT : CLASS_TEXT))
			continue;
		item->key = (uintptr_t)((struct pq_text *)(uintptr_t)item->key)->moved;
		if (is_descending)
			item->key = ~item->key;
	}
	for (size_t i = 0; i < s->n_list; i++)
		s->list[i]->moved = NULL;
	s->n_list = 0;
}

/*
 * Sets the class and the key of an item to those of its value. Returns false if values of that
 * column have to be compared, or without memory.
 */
static bool set_key(struct pr_sorter *s, const struct pr_level *level,
		    const struct pq_value *value, struct pr_item *item, bool *has_integers,
		    bool *has_floats)
{
	item->class = class_of(value);
	switch (item->class) {
	case CLASS_BOOLEAN:
		item->key = value->u;
		break;
	case CLASS_NUMBER:
		*(value->type == PQ_INT ? has_integers : has_floats) = true;
		item->key = value->type == PQ_FLOAT ? order_of_float(value->f) :
			    level->is_unsigned	    ? value->u :
						      value->u ^ UINT64_C(1) << 63;
		break;
	case CLASS_TEXT:
		if (s->lines->show->columns[level->column].role != PR_OF_KEY)
			return false;
		item->key = (uintptr_t)pq_text_of(value->p);
		if (!list_text(s, pq_text_of(value->p)))
			s->failed = true;
		break;
	case CLASS_STACK:
		return false;
	default:
		item->key = 0;
		return true;
	}
	if (level->is_symbol)
		item->class = class_of_symbol(value);
	if (level->descending) {
		item->class = (uint8_t)(CLASS_ADDRESS - item->class);
		if (item->class != CLASS_ADDRESS - CLASS_TEXT)
			item->key = ~item->key;
	}
	return !(*has_integers && *has_floats);
}

/* Loads keys for a level of a range. Returns false if its values have to be compared. */
static bool load_keys(struct pr_sorter *s, const struct pr_level *level, size_t from, size_t to)
{
	bool has_integers = false, has_floats = false, done = true;
	struct pq_value value;

	for (size_t i = from; done && i < to; i++) {
		if (i + PR_ROWS_AHEAD < to)
			pq_groups_expect(s->lines->result->groups,
					 s->items[i + PR_ROWS_AHEAD].row);
		pr_load_value(s, level, s->items[i].row, &value);
		done = set_key(s, level, &value, &s->items[i], &has_integers, &has_floats);
	}
	rank_texts(s, from, done ? to : from, level->descending);
	return done;
}

/* Loads the values of a level of a range, to be compared. */
static void load_values(struct pr_sorter *s, const struct pr_level *level, size_t from,
			size_t to)
{
	if (!s->values)
		s->values = malloc((s->n + 1) * sizeof(*s->values));
	if (!s->values) {
		s->failed = true;
		return;
	}
	for (size_t i = from; i < to; i++) {
		pr_load_value(s, level, s->items[i].row, &s->values[i]);
		s->items[i].key = i;
	}
}

/* Compares items, whose values are to be compared unless `has_keys`. */
static inline __attribute__((always_inline)) int compare_items(const struct pr_sorter *s,
							       const struct pr_level *level,
							       const struct pr_item *a,
							       const struct pr_item *b,
							       bool has_keys)
{
	if (!has_keys)
		return pr_compare_at(s, level, &s->values[a->key], &s->values[b->key]);
	if (a->class != b->class)
		return a->class < b->class ? -1 : 1;
	return (a->key > b->key) - (a->key < b->key);
}

#define SHORT_RUN 8

static inline __attribute__((always_inline)) void sort_short_run(const struct pr_sorter *s,
								 const struct pr_level *level,
								 struct pr_item *items,
								 size_t n, bool has_keys)
{
	for (size_t i = 1; i < n; i++) {
		struct pr_item item = items[i];
		size_t at = i;

		for (; at && compare_items(s, level, &items[at - 1], &item, has_keys) > 0; at--)
			items[at] = items[at - 1];
		items[at] = item;
	}
}

static inline __attribute__((always_inline)) void merge_sorted_runs(
	const struct pr_sorter *s, const struct pr_level *level, const struct pr_item *items,
	size_t middle, size_t n, struct pr_item *out, bool has_keys)
{
	size_t a = 0, b = middle;

	while (a < middle && b < n)
		*out++ = compare_items(s, level, &items[a], &items[b], has_keys) > 0 ?
				 items[b++] :
				 items[a++];
	memcpy(out, &items[a], (middle - a) * sizeof(*out));
	memcpy(out + (middle - a), &items[b], (n - b) * sizeof(*out));
}

/* Sorts items[from … to - 1]. Equal ones stay in their order. */
static inline __attribute__((always_inline)) void sort_items(struct pr_sorter *s,
							     const struct pr_level *level,
							     size_t from, size_t to,
							     bool has_keys)
{
	struct pr_item *in = s->items + from, *out = s->spare + from, *swapped;
	size_t n = to - from;

	for (size_t i = 0; i < n; i += SHORT_RUN)
		sort_short_run(s, level, &in[i], n - i < SHORT_RUN ? n - i : SHORT_RUN,
			       has_keys);
	for (size_t size = SHORT_RUN; size < n; size *= 2) {
		for (size_t i = 0; i < n; i += 2 * size) {
			size_t left = n - i;

			merge_sorted_runs(s, level, &in[i], left < size ? left : size,
					  left < 2 * size ? left : 2 * size, &out[i], has_keys);
		}
		swapped = in;
		in = out;
		out = swapped;
	}
	if (in != s->items + from)
		memcpy(s->items + from, in, n * sizeof(*in));
}

/* Gives the sorted items of a range keys in place of the values that were compared. */
static void number_items(struct pr_sorter *s, const struct pr_level *level, size_t from,
			 size_t to)
{
	struct pr_item last = s->items[from];
	uint64_t number = 0;

	for (size_t i = from; i < to; i++) {
		struct pr_item *item = &s->items[i];

		number += compare_items(s, level, &last, item, false) != 0;
		last = *item;
		item->key = number;
		item->class = CLASS_NUMBER;
	}
}

/* Sorts a range by one level, and ranges of equal values by those after it. */
static void sort_by_levels(struct pr_sorter *s, size_t at, size_t from, size_t to)
{
	const struct pr_level *level = &s->levels[at];
	bool has_keys;

	if (to - from < 2 || at == s->n_levels)
		return;
	has_keys = load_keys(s, level, from, to);
	if (!has_keys)
		load_values(s, level, from, to);
	if (s->failed)
		return;
	if (has_keys) {
		sort_items(s, level, from, to, true);
	} else {
		sort_items(s, level, from, to, false);
		number_items(s, level, from, to);
	}
	for (size_t end; from < to; from = end) {
		end = from + 1;
		while (end < to &&
		       compare_items(s, level, &s->items[end - 1], &s->items[end], true) == 0)
			end++;
		/* this loads other keys into items that are compared no more */
		sort_by_levels(s, at + 1, from, end);
	}
}

static bool sort_all(struct pr_sorter *s, uint32_t *rows, size_t n)
{
	s->items = pb_array(n + 1, sizeof(*s->items));
	s->spare = pb_array(n + 1, sizeof(*s->spare));
	s->n = n;
	if (s->items && s->spare) {
		for (size_t i = 0; i < n; i++)
			s->items[i].row = rows[i];
		sort_by_levels(s, 0, 0, n);
		for (size_t i = 0; i < n; i++)
			rows[i] = s->items[i].row;
	} else {
		s->failed = true;
	}
	free(s->items);
	free(s->spare);
	free(s->values);
	free(s->list);
	return !s->failed;
}

static void add_level(struct pr_sorter *s, size_t at, bool is_ascending)
{
	const struct pr_view_column *column = &s->lines->show->columns[at];

	s->levels[s->n_levels++] = (struct pr_level){
		.column = at,
		.is_unsigned = pr_is_unsigned(column->shown.kind),
		.descending = !is_ascending,
		.by_magnitude = column->by_magnitude,
		.is_symbol = column->shown.kind == PR_SYMBOL,
	};
}

/* Lists what rows are compared by. Returns false without memory. */
static bool list_levels(struct pr_sorter *s)
{
	const struct pr_show *show = s->lines->show;

	s->levels = calloc(show->n_columns + show->n_ties + 2, sizeof(*s->levels));
	if (!s->levels)
		return false;
	s->levels[s->n_levels++] = (struct pr_level){ .column = PR_NONE };
	if (show->by != PR_NONE)
		add_level(s, show->by, show->ascending);
	for (size_t i = 0; i < show->n_ties; i++)
		add_level(s, show->ties[i].column, show->ties[i].ascending);
	for (size_t i = 0; i < show->n_columns; i++) {
		if (!show->columns[i].shown.is_measured)
			add_level(s, i, true);
	}
	return true;
}

bool pr_order_rows(struct pr_lines *lines, uint32_t *rows, size_t *n)
{
	const struct pr_show *show = lines->show;
	struct pr_sorter s = { .lines = lines };
	bool ok;

	pq_texts_init(&s.texts);
	ok = list_levels(&s);
	if (show->top == 0) {
		*n = 0;
	} else if (show->top <= FEW && show->per == PR_NONE) {
		ok = ok && pr_select_few(&s, rows, n, show->top);
	} else {
		ok = ok && sort_all(&s, rows, *n);
		if (ok && show->top != PR_NONE && show->per == PR_NONE)
			pr_keep_first(&s, rows, n, show->top);
		else if (ok && show->top != PR_NONE)
			ok = pr_keep_first_per(&s, rows, n);
	}
	free(s.levels);
	pq_texts_deinit(&s.texts);
	return ok;
}
