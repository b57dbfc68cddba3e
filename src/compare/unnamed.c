/* Rows that differ because only one side knows the names of functions. */
#include "compare_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MIN_SAMPLES 20	/* without a function: with fewer no verdict is possible anyway */
#define MUCH	    0.1 /* of a family's amount, by which one side has more without a name */

/* Rows whose functions take the place of each other: those with the same other keys. */
struct family {
	double all[PC_SIDES], unnamed[PC_SIDES]; /* amounts of each side */
	double hidden;	  /* the amount without a name on the poorer side */
	uint64_t samples; /* without a name */
	bool lacks_samples;
	uint32_t n_unnamed;   /* rows */
	enum pc_which poorer; /* PC_SIDES: the sides are alike */
};

struct families {
	const struct pc_comparison *c;
	size_t key; /* the key whose values may lack names */
	struct family *list;
	uint32_t *of_row; /* family of a row, from 1 on; 0: it has none */
	bool *is_unnamed; /* by row */
	size_t n;
};

static struct pd_text text_of(const struct pc_comparison *c, size_t row, size_t k)
{
	struct pq_value value;

	pc_row_key(c, row, k, &value);
	return value.type == PQ_TEXT ? (struct pd_text){ value.p, value.size } :
				       (struct pd_text){ 0 };
}

/* Returns true if a frame of a stack is a binary in brackets, which has no function. */
static bool lacks_name(struct pd_text stack)
{
	for (const char *at = stack.p, *end = at + stack.n; at <= end;) {
		const char *stop = memchr(at, ';', (size_t)(end - at));

		stop = stop ? stop : end;
		if (stop - at >= 2 && *at == '[' && stop[-1] == ']')
			return true;
		at = stop + 1;
	}
	return false;
}

/* The family of beginnings of stacks are those with the same callers. */
static void place_stack(struct families *f, size_t row)
{
	const struct pr_tree *tree = f->c->tree;
	const struct pr_node *node = &tree->nodes[row + 1];

	if (node->depth < 3) /* of an event, or without callers */
		return;
	f->of_row[row] = node->caller;
	f->is_unnamed[row] = lacks_name(pr_tree_name(tree, (uint32_t)row + 1));
}

/* Numbers families by the other keys of rows. */
static bool place_rows(struct families *f)
{
	const struct pc_comparison *c = f->c;
	size_t n_keys = c->options.n_keys;
	struct pr_shape shape = { n_keys, 0, c->rows->shape.keys, NULL };
	struct pr_result *known = pr_create(&shape, NULL);
	struct pq_value *keys = calloc(n_keys + 1, sizeof(*keys));
	bool ok = known && keys;

	for (size_t i = 0; ok && i < pc_size(c); i++) {
		struct pd_text name = text_of(c, i, f->key);
		size_t g = 0;

		keys[0] = (struct pq_value){ .type = PQ_INT, .u = pr_section(c->rows, i) };
		for (size_t k = 0; k < n_keys; k++)
			pr_key_value(c->rows, i, k, &keys[k + 1]);
		keys[f->key + 1] = (struct pq_value){ .type = PQ_NIL };
		ok = pr_put(known, keys, NULL, &g);
		f->of_row[i] = (uint32_t)g + 1;
		f->is_unnamed[i] = !name.p || (f->key != c->options.symbol && lacks_name(name));
	}
	free(keys);
	pr_destroy(known);
	return ok;
}

/* Returns the amount of a part: samples if they are known. */
static double weight_of(const struct pc_comparison *c, const struct pc_part *part)
{
	if (!part->has_row)
		return 0;
	if (part->has_samples)
		return (double)part->samples;
	return c->is_amount && part->value.type != PQ_NIL ? to_double(&part->value) : 0;
}

static void add_to_family(struct families *f, size_t row)
{
	const struct pc_row *judged = &f->c->judged[row];
	struct family *family = &f->list[f->of_row[row] - 1];

	for (size_t side = 0; side < PC_SIDES; side++) {
		double weight = weight_of(f->c, &judged->parts[side]);

		family->all[side] += weight;
		if (f->is_unnamed[row])
			family->unnamed[side] += weight;
	}
	if (!f->is_unnamed[row])
		return;
	family->n_unnamed++;
	family->samples += judged->samples;
	family->lacks_samples = family->lacks_samples || !judged->has_samples;
}

/* Sets which side has more without a function than the other. */
static void find_poorer(struct family *family)
{
	double more = family->unnamed[PC_AFTER] / family->all[PC_AFTER] -
		      family->unnamed[PC_BEFORE] / family->all[PC_BEFORE];

	family->poorer = PC_SIDES;
	if (family->all[PC_BEFORE] == 0 || family->all[PC_AFTER] == 0 || fabs(more) <= MUCH)
		return;
	if (!family->lacks_samples && family->samples < MIN_SAMPLES)
		return;
	family->poorer = more > 0 ? PC_AFTER : PC_BEFORE;
}

static double value_of(const struct pc_part *part)
{
	return part->value.type == PQ_NIL ? 0 : to_double(&part->value);
}

/* Returns true if a row may lack on a side because of its name. */
static bool is_in_doubt(const struct families *f, size_t row)
{
	const struct family *family = &f->list[f->of_row[row] - 1];
	const struct pc_row *judged = &f->c->judged[row];
	enum pc_which richer = family->poorer == PC_BEFORE ? PC_AFTER : PC_BEFORE;

	if (family->poorer == PC_SIDES)
		return false;
	/* one of several stacks that lack names may lack the same ones on both sides */
	if (f->is_unnamed[row])
		return family->n_unnamed == 1 || !pc_is_in_each_run(f->c, richer, row);
	/* a row that is far more than all that has no name was not hidden there */
	return (!f->c->is_amount || value_of(&judged->parts[richer]) <= 2 * family->hidden) &&
	       !pc_is_in_each_run(f->c, family->poorer, row);
}

static void refuse_verdict(struct pc_row *row)
{
	row->verdict = PC_NO_SYMBOLS;
	row->is_unknown = true;
}

static bool is_of_family(const struct families *f, size_t row)
{
	return f->of_row[row] && pc_is_compared(f->c, &f->c->judged[row]);
}

static void mark_rows(struct families *f)
{
	const struct pc_comparison *c = f->c;

	for (size_t i = 0; i < f->n; i++)
		if (is_of_family(f, i))
			add_to_family(f, i);
	for (size_t i = 0; i < f->n; i++)
		find_poorer(&f->list[i]);
	for (size_t i = 0; i < f->n; i++) {
		struct family *family = is_of_family(f, i) ? &f->list[f->of_row[i] - 1] : NULL;

		if (family && family->poorer != PC_SIDES && f->is_unnamed[i])
			family->hidden += value_of(&c->judged[i].parts[family->poorer]);
	}
	for (size_t i = 0; i < f->n; i++)
		if (is_of_family(f, i) && is_in_doubt(f, i))
			refuse_verdict(&c->judged[i]);
	/* callers come before what they call */
	for (size_t i = 0; c->tree && i < f->n; i++)
		if (is_of_family(f, i) &&
		    c->judged[c->tree->nodes[i + 1].caller - 1].verdict == PC_NO_SYMBOLS)
			refuse_verdict(&c->judged[i]);
}

bool pc_mark_unnamed(struct pc_comparison *c, size_t key)
{
	struct families f = { .c = c, .key = key, .n = pc_size(c) };
	bool ok;

	f.list = calloc(f.n + 1, sizeof(*f.list));
	f.of_row = calloc(f.n + 1, sizeof(*f.of_row));
	f.is_unnamed = calloc(f.n + 1, sizeof(*f.is_unnamed));
	ok = f.list && f.of_row && f.is_unnamed;
	for (size_t i = 0; ok && c->tree && i < f.n; i++)
		place_stack(&f, i);
	if (ok && !c->tree)
		ok = place_rows(&f);
	if (ok)
		mark_rows(&f);
	free(f.list);
	free(f.of_row);
	free(f.is_unnamed);
	return ok;
}
