#include "rows_cover.h"

#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "rows_made.h"
#include "spans.h"

struct interval {
	uint64_t start, stop;
};

/* The time that spans of one key cover. The list is in order, unless records came too late. */
struct covered {
	struct interval *list;
	size_t n, capacity;
};

/* Spans of one kind. */
struct side {
	const struct pq_cover_side *how;
	struct pq_pairs *pairs;
	struct pq_made made;
	struct pq_value *row;	 /* [how->paired.n_row] */
	struct pq_value *values; /* [2 + n_keys]: start, stop, key */
	struct pq_row_texts texts;
	struct covered *by_key; /* [n] */
	size_t n;
};

struct cover_row {
	struct interval time;
	uint32_t key;
};

struct pq_cover {
	const struct pq_covering *how;
	struct side sides[PQ_COVER_SIDES];
	struct pq_spans keys; /* numbered in the order in which they were met */
	struct cover_row *rows;
	size_t n_rows, capacity, at;
};

/* Returns false without memory. */
static bool open_side(struct pq_cover *cover, struct side *side,
		      const struct pq_cover_side *how, const struct pq_scope *scope,
		      const struct pq_columns *columns)
{
	size_t n = 2 + cover->how->n_keys;

	side->how = how;
	side->row = calloc(how->paired.n_row, sizeof(*side->row));
	side->values = calloc(n, sizeof(*side->values));
	side->pairs = pq_pairs_create(how->paired.how, columns, scope->calls);
	return side->row && side->values && side->pairs &&
	       pq_made_init(&side->made, scope, NULL, &how->paired, how->nodes, n);
}

struct pq_cover *pq_cover_create(const struct pq_covering *how, const struct pq_scope *scope,
				 const struct pq_columns *columns)
{
	struct pq_cover *cover = calloc(1, sizeof(*cover));
	bool ok;

	if (!cover)
		return NULL;
	cover->how = how;
	ok = pq_spans_init(&cover->keys, how->n_keys, 0, NULL);
	for (size_t i = 0; ok && i < how->n_sides; i++)
		ok = open_side(cover, &cover->sides[i], &how->sides[i], scope, columns);
	if (ok)
		return cover;
	pq_cover_destroy(cover);
	return NULL;
}

void pq_cover_destroy(struct pq_cover *cover)
{
	if (!cover)
		return;
	for (size_t i = 0; i < PQ_COVER_SIDES; i++) {
		struct side *side = &cover->sides[i];

		pq_pairs_destroy(side->pairs);
		if (side->how)
			pq_made_deinit(&side->made);
		pq_row_texts_deinit(&side->texts);
		for (size_t k = 0; k < side->n; k++)
			free(side->by_key[k].list);
		free(side->by_key);
		free(side->row);
		free(side->values);
	}
	pq_spans_deinit(&cover->keys);
	free(cover->rows);
	free(cover);
}

/* Copies a text that has no number. Returns false without memory. */
static bool own_text(struct pq_value *value)
{
	char *copy;

	if (value->type != PQ_TEXT || value->id)
		return true;
	copy = malloc(value->size ? value->size : 1);
	if (!copy)
		return false;
	memcpy(copy, value->p, value->size);
	value->p = copy;
	return true;
}

/*
 * Sets *number to that of a key, which is added if it is new; PQ_NO_SPAN if a part of it is
 * absent. Returns false without memory.
 */
static bool number_key(struct pq_cover *cover, struct pq_value *key, uint32_t *number)
{
	struct pb_slot *slot;
	uint32_t hash;

	*number = PQ_NO_SPAN;
	for (size_t i = 0; i < cover->how->n_keys; i++) {
		pq_normalise(&key[i]);
		if (key[i].type == PQ_NIL)
			return true;
	}
	hash = pq_spans_hash(&cover->keys, key);
	slot = pq_spans_find(&cover->keys, key, hash);
	if (slot->item) {
		*number = slot->item - 1;
		return true;
	}
	*number = pq_spans_open(&cover->keys, key, hash, slot);
	if (*number == PQ_NO_SPAN)
		return false;
	for (size_t i = 0; i < cover->how->n_keys; i++) {
		struct pq_value value = key[i];

		if (!own_text(&value))
			return false;
		if (!pq_span_set(&cover->keys, *number, i, &value)) {
			pq_span_forget(&cover->keys, &value, 1);
			return false;
		}
	}
	return true;
}

/* Adds an interval, and joins it with those before it that it meets. */
static bool add_interval(struct covered *covered, struct interval added)
{
	while (covered->n) {
		const struct interval *last = &covered->list[covered->n - 1];

		if (last->stop < added.start || last->start > added.stop)
			break;
		if (last->start < added.start)
			added.start = last->start;
		if (last->stop > added.stop)
			added.stop = last->stop;
		covered->n--;
	}
	if (!pb_reserve(covered->list, covered->n, covered->capacity))
		return false;
	covered->list[covered->n++] = added;
	return true;
}

/* Adds the span whose row was made, if it is kept. Returns false without memory. */
static bool add_span(struct pq_cover *cover, struct side *side)
{
	struct pq_value *values = side->values;
	uint32_t key;
	bool kept;

	if (!pq_made_enter(&side->made, side->row, &kept))
		return false;
	if (!kept)
		return true;
	if (!pq_made_values(&side->made, values) || !number_key(cover, values + 2, &key))
		return false;
	if (key == PQ_NO_SPAN || values[0].type != PQ_INT || values[1].type != PQ_INT)
		return true;
	if (key >= side->n && !pb_extend(side->by_key, side->n, cover->keys.capacity))
		return false;
	return add_interval(&side->by_key[key], (struct interval){ values[0].u, values[1].u });
}

/* Makes the rows of spans that are left, and adds them. */
static bool add_left(struct pq_cover *cover, struct side *side, struct pq_known_texts *known)
{
	while (pq_pairs_has_rows(side->pairs)) {
		struct pq_pair_row row = { side->row, &side->texts, known, false };

		if (!pq_pairs_next_row(side->pairs, &row) ||
		    (row.made && !add_span(cover, side)))
			return false;
	}
	if (side->texts.bytes)
		pq_row_texts_clear(&side->texts);
	return true;
}

bool pq_cover_meet(struct pq_cover *cover, struct pq_known_texts *known)
{
	for (size_t i = 0; i < cover->how->n_sides; i++) {
		struct side *side = &cover->sides[i];
		struct pq_pair_row row = { side->row, &side->texts, known, false };

		if (!pq_pairs_meet(side->pairs, &row) || (row.made && !add_span(cover, side)) ||
		    !add_left(cover, side, known))
			return false;
	}
	return true;
}

static int compare_intervals(const void *a, const void *b)
{
	const struct interval *left = a, *right = b;

	return (left->start > right->start) - (left->start < right->start);
}

/* Sorts the intervals of a key, and joins those that meet. */
static void join_intervals(struct covered *covered)
{
	size_t n = covered->n;

	if (n < 2)
		return;
	qsort(covered->list, n, sizeof(*covered->list), compare_intervals);
	covered->n = 1;
	for (size_t i = 1; i < n; i++) {
		struct interval *last = &covered->list[covered->n - 1];
		struct interval next = covered->list[i];

		if (next.start > last->stop)
			covered->list[covered->n++] = next;
		else if (next.stop > last->stop)
			last->stop = next.stop;
	}
}

/* Adds a row, unless the time is empty. Returns false without memory. */
static bool add_row(struct pq_cover *cover, uint32_t key, uint64_t start, uint64_t stop)
{
	if (start >= stop)
		return true;
	if (!pb_reserve(cover->rows, cover->n_rows, cover->capacity))
		return false;
	cover->rows[cover->n_rows++] = (struct cover_row){ { start, stop }, key };
	return true;
}

/* Adds the rows of a key: of what both lists cover. Returns false without memory. */
static bool add_common(struct pq_cover *cover, uint32_t key, const struct covered *a,
		       const struct covered *b)
{
	for (size_t i = 0, k = 0; i < a->n && k < b->n;) {
		const struct interval *x = &a->list[i], *y = &b->list[k];

		if (!add_row(cover, key, x->start > y->start ? x->start : y->start,
			     x->stop < y->stop ? x->stop : y->stop))
			return false;
		if (x->stop < y->stop)
			i++;
		else
			k++;
	}
	return true;
}

static int compare_rows(const void *a, const void *b)
{
	const struct cover_row *left = a, *right = b;
	int order = compare_intervals(&left->time, &right->time);

	return order ? order : (left->key > right->key) - (left->key < right->key);
}

bool pq_cover_finish(struct pq_cover *cover, struct pq_known_texts *known)
{
	struct side *first = &cover->sides[0];
	const struct side *last = &cover->sides[cover->how->n_sides - 1];

	for (size_t i = 0; i < cover->how->n_sides; i++) {
		struct side *side = &cover->sides[i];

		pq_pairs_finish(side->pairs);
		if (!add_left(cover, side, known))
			return false;
		for (size_t k = 0; k < side->n; k++)
			join_intervals(&side->by_key[k]);
	}
	for (uint32_t key = 0; key < first->n && key < last->n; key++)
		if (!add_common(cover, key, &first->by_key[key], &last->by_key[key]))
			return false;
	if (cover->n_rows)
		qsort(cover->rows, cover->n_rows, sizeof(*cover->rows), compare_rows);
	return true;
}

bool pq_cover_has_rows(const struct pq_cover *cover)
{
	return cover->at < cover->n_rows;
}

bool pq_cover_next_row(struct pq_cover *cover, struct pq_pair_row *row)
{
	const struct cover_row *next = &cover->rows[cover->at++];

	row->values[0] = (struct pq_value){ .type = PQ_INT, .u = next->time.start };
	row->values[1] = (struct pq_value){ .type = PQ_INT, .u = next->time.stop };
	for (size_t i = 0; i < cover->how->n_keys; i++) {
		struct pq_value *out = &row->values[2 + i];

		pq_span_get(&cover->keys, next->key, i, out);
		if (out->type == PQ_TEXT && !pq_row_texts_add(row->texts, row->known, out))
			return false;
	}
	row->made = true;
	return true;
}

bool pq_cover_limit(const struct pq_cover *cover, const char *path, struct pd_error *err)
{
	for (size_t i = 0; i < cover->how->n_sides; i++)
		if (pq_pairs_limit(cover->sides[i].pairs, path, err))
			return true;
	return false;
}

struct pq_pair_counts pq_cover_counts(const struct pq_cover *cover)
{
	return pq_pairs_counts(cover->sides[0].pairs);
}
