/* Puts call frame information into a bundle, as symbols/cfi.c reads it. */
#include <stdlib.h>

#include "binary.h"
#include "symbols/symbols.h"

static int compare_first(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	if (x[0] != y[0])
		return x[0] < y[0] ? -1 : 1;
	return (x[1] > y[1]) - (x[1] < y[1]);
}

/* Returns the items of a set in order; they begin with two numbers. NULL: no memory. */
static void *sort_items(const struct pb_set *set)
{
	char *items = malloc(set->n * set->size + 1);

	if (items && set->n) {
		memcpy(items, set->items, set->n * set->size);
		qsort(items, set->n, set->size, compare_first);
	}
	return items;
}

static void put_rule(struct pb_string *out, const struct ps_rule *rule)
{
	const char bytes[] = { (char)rule->reg, (char)rule->kind, (char)rule->from,
			       (char)rule->n_ops };

	pb_string_add(out, bytes, sizeof(bytes));
	pk_put(out, (uint32_t)rule->value);
}

static void put_row(struct pb_string *out, const struct ps_row *row)
{
	const struct ps_op *ops = ps_row_ops(row);
	size_t n = (row->size - sizeof(*row) - row->n_rules * sizeof(row->rules[0])) /
		   sizeof(*ops);
	const char bytes[] = { (char)row->n_rules, (char)n, (char)row->ra, (char)row->signal };

	pb_string_add(out, bytes, sizeof(bytes));
	pk_put(out, row->lost);
	put_rule(out, &row->cfa);
	for (size_t i = 0; i < row->n_rules; i++)
		put_rule(out, &row->rules[i]);
	for (size_t i = 0; i < n; i++) {
		pk_put(out, ops[i].atom);
		pk_put(out, ops[i].number);
		pk_put(out, ops[i].number2);
		pk_put(out, ops[i].offset);
	}
}

/* Puts the rows, numbered as their first addresses come, then the addresses. */
static bool put_rows(const struct ps_asked *asked, struct pb_string *part)
{
	struct ps_asked_row *at = sort_items(&asked->rows_at);
	uint64_t *numbers = calloc(asked->n_rows + 1, sizeof(*numbers)), n = 0, before = 0;
	struct pb_string rows = { 0 };
	bool ok = at && numbers;

	for (size_t i = 0; ok && i < asked->rows_at.n; i++) {
		if (numbers[at[i].row])
			continue;
		numbers[at[i].row] = ++n;
		put_row(&rows, asked->rows[at[i].row]);
	}
	pk_put(part, n);
	pk_append(part, &rows);
	pk_put(part, asked->rows_at.n);
	for (size_t i = 0; ok && i < asked->rows_at.n; i++) {
		pk_put(part, at[i].address - before);
		pk_put(part, numbers[at[i].row] - 1);
		before = at[i].address;
	}
	pb_string_deinit(&rows);
	free(numbers);
	free(at);
	return ok;
}

static bool put_pieces(const struct ps_asked *asked, struct pb_string *part)
{
	struct ps_asked_bytes *pieces = sort_items(&asked->bytes);
	uint64_t before = 0;

	if (!pieces)
		return false;
	pk_put(part, asked->bytes.n);
	for (size_t i = 0; i < asked->bytes.n; i++) {
		pk_put(part, pieces[i].address - before);
		pk_put(part, pieces[i].n);
		pb_string_add(part, (const char *)pieces[i].bytes, pieces[i].n);
		before = pieces[i].address;
	}
	free(pieces);
	return true;
}

bool pk_put_cfi(const struct ps_asked *asked, struct pb_string *part)
{
	if (!asked->machine)
		return true;
	pk_put(part, asked->machine);
	return put_rows(asked, part) && put_pieces(asked, part);
}
