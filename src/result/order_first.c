/* The first rows of each section, or of each value of a column. */
#include "order.h"

#include <stdlib.h>
#include <string.h>

#include "base/vector.h"

/* A row and its value in the column that rows are sorted by. */
struct ranked {
	struct pq_value value;
	uint32_t row;
};

/* Returns true if the row of item a comes before that of b, whose sections are one. */
static bool comes_before(struct pr_sorter *s, const struct ranked *a, const struct ranked *b)
{
	size_t level = 1;
	int order = s->lines->show->by == PR_NONE ?
			    0 :
			    pr_compare_at(s, &s->levels[level++], &a->value, &b->value);

	for (; !order && level < s->n_levels; level++) {
		struct pq_value x, y;

		pr_load_value(s, &s->levels[level], a->row, &x);
		pr_load_value(s, &s->levels[level], b->row, &y);
		order = pr_compare_at(s, &s->levels[level], &x, &y);
	}
	return order < 0;
}

/* The first rows of a section, in order. */
struct first_rows {
	size_t n;
	struct ranked items[]; /* [top + 1] */
};

static void insert_item(struct pr_sorter *s, struct first_rows *first,
			const struct ranked *item, size_t top)
{
	size_t low = 0, high = first->n;

	if (first->n == top && !comes_before(s, item, &first->items[top - 1]))
		return;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (comes_before(s, item, &first->items[middle]))
			high = middle;
		else
			low = middle + 1;
	}
	memmove(&first->items[low + 1], &first->items[low],
		(first->n - low) * sizeof(*first->items));
	first->items[low] = *item;
	if (first->n < top)
		first->n++;
}

/* Returns those of a section, which is added if it is new; NULL: no memory. */
static struct first_rows *find_section(struct first_rows ***sections, size_t *n,
				       uint32_t number, size_t top)
{
	if (number >= *n && !pb_extend(*sections, *n, 2 * (size_t)number + 8))
		return NULL;
	if (!(*sections)[number])
		(*sections)[number] = calloc(1, sizeof(***sections) +
							(top + 1) * sizeof(struct ranked));
	return (*sections)[number];
}

bool pr_select_few(struct pr_sorter *s, uint32_t *rows, size_t *n, size_t top)
{
	struct first_rows **sections = NULL;
	size_t n_sections = 0, n_rows = *n;
	bool ok = true;

	*n = 0;
	for (size_t i = 0; ok && i < n_rows; i++) {
		struct ranked item = { .row = rows[i] };
		struct first_rows *first = find_section(&sections, &n_sections,
							pr_section(s->lines->result, rows[i]),
							top);

		ok = first != NULL;
		if (!ok)
			break;
		if (s->lines->show->by != PR_NONE)
			pr_load_value(s, &s->levels[1], item.row, &item.value);
		insert_item(s, first, &item, top);
	}
	for (size_t k = 0; k < n_sections; k++) {
		for (size_t i = 0; ok && sections[k] && i < sections[k]->n; i++)
			rows[(*n)++] = sections[k]->items[i].row;
		free(sections[k]);
	}
	free(sections);
	return ok && !s->failed;
}

/* A list of rows that have one section and one value of `per`. */
struct list {
	uint32_t section;
	struct pq_value value; /* absent ones are PQ_NIL */
	size_t n, at;
};

struct lists {
	struct list *list; /* [n] */
	size_t n, room;
	struct pb_map map;
	struct pb_secret secret;
};

struct wanted {
	const struct lists *lists;
	const struct list *list;
};

static bool is_list(const void *arg, uint32_t item)
{
	const struct wanted *wanted = arg;
	const struct list *a = &wanted->lists->list[item], *b = wanted->list;

	return a->section == b->section && pq_same(&a->value, &b->value);
}

/* Returns the number of the list of a row's section and value; UINT32_MAX: no memory. */
static uint32_t find_list(struct lists *lists, uint32_t section, struct pq_value value)
{
	struct list list = { .section = section, .value = value };
	struct wanted wanted = { lists, &list };
	uint32_t found;

	pq_normalise(&list.value);
	if (pq_is_unordered(&list.value))
		list.value = (struct pq_value){ .type = PQ_NIL };
	if (!pb_reserve(lists->list, lists->n, lists->room))
		return UINT32_MAX;
	found = pb_map_intern(&lists->map, pq_hash(&lists->secret, &list.value) ^ section,
			      is_list, &wanted, (uint32_t)lists->n);
	if (found == lists->n)
		lists->list[lists->n++] = list;
	return found;
}

bool pr_keep_first_per(struct pr_sorter *s, uint32_t *rows, size_t *n)
{
	const struct pr_show *show = s->lines->show;
	struct pr_level level = { .column = show->per };
	uint32_t *list_of = calloc(*n + 1, sizeof(*list_of));
	uint32_t *taken = calloc(*n + 1, sizeof(*taken));
	struct lists lists = { .secret = s->texts.secret };
	size_t at = 0;
	bool ok = list_of && taken;

	for (size_t i = 0; ok && i < *n; i++) {
		struct pq_value value;

		pr_load_value(s, &level, rows[i], &value);
		list_of[i] = find_list(&lists, pr_section(s->lines->result, rows[i]), value);
		ok = list_of[i] != UINT32_MAX;
		if (ok)
			lists.list[list_of[i]].n++;
	}
	for (size_t k = 0; ok && k < lists.n; k++) {
		struct list *list = &lists.list[k];

		list->n = list->n < show->top ? list->n : show->top;
		list->at = at;
		at += list->n;
	}
	for (size_t i = 0; ok && i < *n; i++) {
		struct list *list = &lists.list[list_of[i]];

		if (list->n) {
			taken[list->at++] = rows[i];
			list->n--;
		}
	}
	if (ok)
		memcpy(rows, taken, at * sizeof(*rows));
	*n = at;
	free(lists.list);
	pb_map_deinit(&lists.map);
	free(list_of);
	free(taken);
	return ok;
}

void pr_keep_first(struct pr_sorter *s, uint32_t *rows, size_t *n, size_t top)
{
	size_t n_rows = *n, in_section = 0;

	*n = 0;
	for (size_t i = 0; i < n_rows; i++) {
		if (i && pr_section(s->lines->result, rows[i]) !=
				 pr_section(s->lines->result, rows[i - 1]))
			in_section = 0;
		if (in_section++ < top)
			rows[(*n)++] = rows[i];
	}
}
