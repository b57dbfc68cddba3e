/* Comparisons as a whole: their parts, which come and go together; rows as they are shown. */
#include "compare_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"

struct amount pc_amount_of(enum pq_measure_kind measure, const struct pq_state *state)
{
	struct pq_value sum;

	switch (measure) {
	case PQ_M_AVG:
		sum = (struct pq_value){
			.type = PQ_FLOAT,
			.f = to_double(&state->parts[1]) * 4294967296.0 +
			     to_double(&state->parts[2]),
		};
		return (struct amount){ sum, to_double(&state->parts[0]) };
	case PQ_M_RATIO:
		return (struct amount){ state->value, to_double(&state->parts[1]) };
	default:
		return (struct amount){ state->value, 0 };
	}
}

/* Copies the options, and the arrays that they point to. Returns false without memory. */
static bool copy_options(struct pc_comparison *c, const struct pc_options *options)
{
	size_t n = options->n_keys;
	struct pr_key *keys = calloc(n + 1, sizeof(*keys));
	bool *is_matched = calloc(n + 1, sizeof(*is_matched));

	c->options = *options;
	c->options.keys = keys;
	c->options.is_matched = is_matched;
	if (!keys || !is_matched)
		return false;
	memcpy(keys, options->keys, n * sizeof(*keys));
	memcpy(is_matched, options->is_matched, n * sizeof(*is_matched));
	return true;
}

/* Returns true if keys of that kind, in that place, may be shown otherwise than matched. */
static bool is_special(const struct pc_options *options, size_t k)
{
	enum pr_kind kind = options->keys[k].kind;

	return k == options->symbol || kind == PR_STACK || kind == PR_ANY;
}

struct pr_result *pc_create_rows(const struct pc_comparison *c, const struct pr_key *keys,
				 size_t n_keys)
{
	struct pr_key *all = calloc(n_keys + 1, sizeof(*all));
	struct pr_measure *measures = calloc(c->n_runs + N_COUNTS, sizeof(*measures));
	struct pr_shape shape = { n_keys + 1, c->n_runs + N_COUNTS, all, measures };
	struct pr_result *rows = NULL;

	for (size_t k = 0; all && k < n_keys; k++)
		all[k].kind = keys[k].kind == PR_STACK ? PR_STRING : keys[k].kind;
	if (all)
		all[n_keys].kind = PR_STRING;
	for (size_t m = 0; measures && m < shape.n_measures; m++)
		measures[m] = m < c->n_runs ? c->options.measure :
					      (struct pr_measure){ PQ_M_COUNT, PR_UNSIGNED };
	if (all && measures)
		rows = pr_create(&shape, NULL);
	free(all);
	free(measures);
	return rows;
}

struct pc_comparison *pc_create(const struct pc_options *options, struct pq_stacks *stacks)
{
	struct pc_comparison *c = calloc(1, sizeof(*c));
	enum pq_measure_kind measure = options->measure.measure;

	if (!c)
		return NULL;
	c->is_amount = measure == PQ_M_COUNT || measure == PQ_M_SUM || measure == PQ_M_SHARE;
	c->n_runs = options->n_runs[PC_BEFORE] + options->n_runs[PC_AFTER];
	c->stacks = stacks;
	c->runs = calloc(c->n_runs + 1, sizeof(*c->runs));
	c->special = calloc(options->n_keys + 1, sizeof(*c->special));
	if (copy_options(c, options) && c->runs && c->special)
		c->rows = pc_create_rows(c, options->keys, options->n_keys);
	if (!c->rows) {
		pc_destroy(c);
		return NULL;
	}
	for (size_t k = 0; k < options->n_keys; k++)
		c->special[k] = is_special(options, k) ? c->n_special++ : PR_NONE;
	return c;
}

void pc_destroy(struct pc_comparison *c)
{
	if (!c)
		return;
	for (size_t e = 0; e < c->n_events; e++) {
		for (size_t side = 0; side < PC_SIDES; side++) {
			free(c->events[e].totals[side].over);
			free(c->events[e].totals[side].slices);
		}
	}
	for (size_t side = 0; side < PC_SIDES; side++)
		free(c->cells[side].list);
	free((void *)c->options.keys);
	free((void *)c->options.is_matched);
	free(c->runs);
	free(c->special);
	free(c->events);
	free(c->has);
	free(c->shown);
	pr_tree_destroy(c->tree);
	pm_string_pool_deinit(&c->frames);
	free(c->judged);
	pr_destroy(c->rows);
	pb_arena_deinit(&c->texts);
	free(c);
}

bool pc_extend_rows(struct pc_comparison *c, size_t n_rows)
{
	size_t n_has = c->n_rows * c->n_runs, n_shown = c->n_rows * c->n_special;
	size_t room = n_rows < 64 ? 64 : 2 * n_rows;

	if (n_rows <= c->n_rows)
		return true;
	if (c->n_runs && !pb_extend(c->has, n_has, room * c->n_runs))
		return false;
	if (c->n_special && !pb_extend(c->shown, n_shown, room * c->n_special))
		return false;
	c->n_rows = room;
	return true;
}

struct compared_event *pc_get_event(struct pc_comparison *c, uint32_t number)
{
	struct compared_event *event;

	if (number >= c->n_events && !pb_extend(c->events, c->n_events, (size_t)number + 1))
		return NULL;
	event = &c->events[number];
	for (size_t side = 0; side < PC_SIDES; side++) {
		struct event_total *total = &event->totals[side];

		if (!total->over)
			total->over = calloc(c->options.n_runs[side] + 1, sizeof(*total->over));
		if (!total->over)
			return NULL;
	}
	return event;
}

static size_t digit_of(const struct slice_cell *cell, bool by_row)
{
	return by_row ? cell->row : cell->slice;
}

/* Sorts cells by slice or row to `to`, as a round of a stable sort, with zeros in `at`. */
static void sort_cells(struct slice_cell *to, const struct slice_cell *from, size_t n,
		       bool by_row, size_t *at)
{
	for (size_t i = 0; i < n; i++)
		at[digit_of(&from[i], by_row) + 1]++;
	for (size_t i = 1; at[i - 1] < n; i++)
		at[i] += at[i - 1];
	for (size_t i = 0; i < n; i++)
		to[at[digit_of(&from[i], by_row)]++] = from[i];
}

bool pc_join_cells(struct slice_cells *cells)
{
	struct slice_cell *list = cells->list, *spare;
	size_t n = 0, *at, digits = PC_UNDER + PN_MAX_SLICES;

	if (cells->n_joined == cells->n)
		return true;
	for (size_t i = 0; i < cells->n; i++)
		digits = list[i].row >= digits ? list[i].row + (size_t)1 : digits;
	spare = pb_array(cells->n, sizeof(*spare));
	at = calloc(digits + 1, sizeof(*at));
	if (spare && at) {
		sort_cells(spare, list, cells->n, false, at);
		memset(at, 0, (digits + 1) * sizeof(*at));
		sort_cells(list, spare, cells->n, true, at);
	}
	free(spare);
	free(at);
	if (!spare || !at)
		return false;
	for (size_t i = 0; i < cells->n; i++) {
		if (n && list[n - 1].row == list[i].row && list[n - 1].slice == list[i].slice) {
			list[n - 1].amount += list[i].amount;
		} else {
			list[n++] = list[i];
		}
	}
	cells->n = cells->n_joined = n;
	return true;
}

#define MANY_CELLS ((size_t)1 << 20)

bool pc_add_cell(struct slice_cells *cells, const struct slice_cell *cell)
{
	if (cells->n >= 2 * cells->n_joined + MANY_CELLS && !pc_join_cells(cells))
		return false;
	if (!pb_reserve(cells->list, cells->n, cells->room))
		return false;
	cells->list[cells->n++] = *cell;
	return true;
}

bool pc_is_in_each_run(const struct pc_comparison *c, enum pc_which side, size_t row)
{
	const uint8_t *has = &c->has[row * c->n_runs + run_number(c, side, 0)];

	for (size_t r = 0; r < c->options.n_runs[side]; r++)
		if (!has[r])
			return false;
	return true;
}

bool pc_has_row(const struct pc_comparison *c, enum pc_which side, size_t row)
{
	const uint8_t *has = &c->has[row * c->n_runs + run_number(c, side, 0)];

	return c->options.n_runs[side] && memchr(has, 1, c->options.n_runs[side]) != NULL;
}

bool pc_has_run(const struct pc_comparison *c, enum pc_which side, size_t run)
{
	return run < c->options.n_runs[side];
}

size_t pc_memory(const struct pc_comparison *c)
{
	size_t of_row = c->n_runs * sizeof(*c->has) + c->n_special * sizeof(*c->shown);
	size_t n_cells = c->cells[PC_BEFORE].room + c->cells[PC_AFTER].room;

	return sizeof(*c) + pq_groups_memory(c->rows->groups) + c->n_rows * of_row +
	       n_cells * sizeof(struct slice_cell) + c->n_judged * sizeof(*c->judged);
}

const struct pr_result *pc_rows(const struct pc_comparison *c)
{
	return c->rows;
}

size_t pc_n_events(const struct pc_comparison *c)
{
	return c->n_events;
}

void pc_event_facts(const struct pc_comparison *c, uint32_t event,
		    struct pc_event_facts facts[PC_SIDES])
{
	for (size_t side = 0; side < PC_SIDES; side++) {
		const struct event_total *total = &c->events[event].totals[side];

		facts[side] = (struct pc_event_facts){
			.has = total->has,
			.has_samples = !total->lacks_samples,
			.samples = total->samples,
			.unnamed = total->unnamed,
		};
	}
}

enum pc_load pc_load_of(const struct pc_comparison *c)
{
	return c->load;
}

bool pc_is_judged(const struct pc_comparison *c)
{
	return c->judged && c->n_judged == pc_size(c);
}

size_t pc_size(const struct pc_comparison *c)
{
	return pr_size(c->rows);
}

const struct pc_row *pc_row(const struct pc_comparison *c, size_t i)
{
	return pc_is_compared(c, &c->judged[i]) ? &c->judged[i] : NULL;
}

double pc_row_weight(const struct pc_row *row)
{
	double weight = 0;

	for (size_t side = 0; side < PC_SIDES; side++)
		if (row->parts[side].value.type != PQ_NIL)
			weight += to_double(&row->parts[side].value);
	return weight;
}

void pc_row_key(const struct pc_comparison *c, size_t i, size_t k, struct pq_value *out)
{
	size_t special = c->tree ? PR_NONE : c->special[k];

	pr_key_value(c->rows, i, k, out);
	if (special != PR_NONE && c->shown[i * c->n_special + special].is_set)
		*out = c->shown[i * c->n_special + special].value;
}

const char *pc_verdict_word(const struct pc_comparison *c, const struct pc_row *row)
{
	enum pq_measure_kind measure = c->options.measure.measure;
	bool is_time = measure == PQ_M_AVG || measure == PQ_M_QUANTILE ||
		       (c->is_amount && c->options.per == PC_PER_RUN);

	switch (row->verdict) {
	case PC_NO_SYMBOLS:
		return "no symbols";
	case PC_NEW:
		return "new";
	case PC_GONE:
		return "gone";
	case PC_LESS:
		return is_time ? "faster" : "less";
	case PC_MORE:
		return is_time ? "slower" : "more";
	case PC_NOISE:
		return "noise";
	case PC_VARIES:
		return "varies too much";
	case PC_TOO_FEW:
		return "too few samples";
	default:
		return "";
	}
}

size_t pc_verdict_text(const struct pc_comparison *c, const struct pc_row *row,
		       char text[PC_VERDICT_SIZE])
{
	const char *word = pc_verdict_word(c, row);
	unsigned long long samples = row->samples;

	if (row->verdict == PC_NOISE && c->n_tested > 1)
		return (size_t)snprintf(text, PC_VERDICT_SIZE, "%s (%zu rows)", word,
					c->n_tested);
	if (row->verdict == PC_VARIES && row->has_samples)
		return (size_t)snprintf(text, PC_VERDICT_SIZE, "%s (%llu %s)", word, samples,
					samples == 1 ? "sample" : "samples");
	if (row->verdict == PC_TOO_FEW && row->has_samples)
		return (size_t)snprintf(text, PC_VERDICT_SIZE, "%s (%llu)", word, samples);
	return (size_t)snprintf(text, PC_VERDICT_SIZE, "%s", word);
}

void pc_kinds(const struct pc_comparison *c, struct pc_kinds *kinds)
{
	bool are_integers = c->is_amount && c->options.per == PC_PER_RUN &&
			    c->options.n_runs[PC_BEFORE] < 2 && c->options.n_runs[PC_AFTER] < 2;

	*kinds = (struct pc_kinds){ PR_FLOAT, PR_FLOAT, PR_FLOAT };
	if (c->is_amount && c->options.per == PC_PER_SHARE)
		*kinds = (struct pc_kinds){ PR_PERCENT, PR_PERCENT, PR_PERCENT };
	for (size_t i = 0; are_integers && i < pc_size(c); i++)
		are_integers = !pc_is_compared(c, &c->judged[i]) ||
			       (c->judged[i].delta.type != PQ_FLOAT &&
				c->judged[i].parts[PC_BEFORE].value.type != PQ_FLOAT &&
				c->judged[i].parts[PC_AFTER].value.type != PQ_FLOAT);
	if (!are_integers)
		return;
	kinds->value = c->options.measure.kind == PR_SIGNED ? PR_SIGNED : PR_UNSIGNED;
	kinds->delta = PR_SIGNED;
}

/* Sets a state to a value as a column of that kind has it. */
static void set_value(struct pq_state *state, const struct pq_value *value, enum pr_kind kind)
{
	state->value = *value;
	if (kind != PR_SIGNED && kind != PR_UNSIGNED && value->type == PQ_INT)
		state->value = (struct pq_value){ .type = PQ_FLOAT, .f = (double)value->i };
}

static void set_text(struct pq_state *state, const char *text, size_t size)
{
	state->value = (struct pq_value){ .type = PQ_TEXT, .p = text, .size = (uint32_t)size };
}

static void set_bound(struct pq_state *state, double bound)
{
	if (isfinite(bound))
		state->value = (struct pq_value){ .type = PQ_FLOAT, .f = bound };
}

enum {
	BEFORE,
	AFTER,
	DELTA,
	LOW,
	HIGH,
	VERDICT,
	WORDS,
	N_COLUMNS
};

/*
 * Makes the keys of a row differ from those of an earlier one, if they are of an unnamed
 * address that two binaries of one name share: the address in the binary stands after the
 * symbol, in `text`.
 */
static void name_binary(const struct pc_comparison *c, size_t i, struct pq_value *keys,
			char text[PC_ADDRESS_SIZE + PC_IP_SIZE])
{
	struct pq_value *symbol, address;
	int n;

	if (c->tree || c->options.symbol == PR_NONE)
		return;
	symbol = &keys[c->options.symbol + 1];
	pr_key_value(c->rows, i, c->options.n_keys, &address);
	if (address.type != PQ_TEXT || symbol->type != PQ_TEXT)
		return;
	n = snprintf(text, PC_ADDRESS_SIZE + PC_IP_SIZE, "%.*s (%.*s)", (int)symbol->size,
		     symbol->p, (int)address.size, address.p);
	*symbol = (struct pq_value){ .type = PQ_TEXT, .p = text, .size = (uint32_t)n };
}

static bool put_row(const struct pc_comparison *c, size_t i, uint32_t section,
		    const struct pc_kinds *kinds, struct pq_value *keys,
		    struct pr_result *result)
{
	const struct pc_row *row = &c->judged[i];
	struct pq_state states[N_COLUMNS];
	char text[PC_VERDICT_SIZE], name[PC_ADDRESS_SIZE + PC_IP_SIZE];
	const char *word = pc_verdict_word(c, row);
	size_t n = pc_verdict_text(c, row, text), known = pr_size(result), g;

	memset(states, 0, sizeof(states));
	keys[0] = (struct pq_value){ .type = PQ_INT, .u = section };
	for (size_t k = 0; k < c->options.n_keys; k++)
		pc_row_key(c, i, k, &keys[k + 1]);
	/* nothing is added yet: it may be the row of another binary */
	if (!pr_put(result, keys, NULL, &g))
		return false;
	if (pr_size(result) == known) {
		name_binary(c, i, keys, name);
		if (!pr_put(result, keys, NULL, &g))
			return false;
	}
	set_value(&states[BEFORE], &row->parts[PC_BEFORE].value, kinds->value);
	set_value(&states[AFTER], &row->parts[PC_AFTER].value, kinds->value);
	set_value(&states[DELTA], &row->delta, kinds->delta);
	set_bound(&states[LOW], row->low);
	set_bound(&states[HIGH], row->high);
	if (n) {
		set_text(&states[VERDICT], word, strlen(word));
		set_text(&states[WORDS], text, n);
	}
	for (size_t m = 0; m < N_COLUMNS; m++)
		if (!pr_put_state(result, g, m, &states[m]))
			return false;
	return true;
}

struct pr_result *pc_make_result(const struct pc_comparison *c, const uint32_t *sections)
{
	struct pr_measure measures[N_COLUMNS];
	struct pr_shape shape = { c->options.n_keys, N_COLUMNS, c->options.keys, measures };
	struct pq_value *keys = calloc(c->options.n_keys + 1, sizeof(*keys));
	struct pr_result *result;
	struct pc_kinds kinds;
	bool ok = true;

	pc_kinds(c, &kinds);
	for (size_t m = 0; m < N_COLUMNS; m++)
		measures[m] = (struct pr_measure){ PQ_M_COMPARED, kinds.value };
	measures[DELTA] = (struct pr_measure){ PQ_M_DELTA, kinds.delta };
	measures[LOW].kind = measures[HIGH].kind = kinds.bound;
	measures[VERDICT].kind = measures[WORDS].kind = PR_STRING;
	result = keys ? pr_create(&shape, c->stacks) : NULL;
	for (size_t i = 0; result && ok && i < pc_size(c); i++)
		if (pc_is_compared(c, &c->judged[i]))
			ok = put_row(c, i, sections[c->judged[i].event], &kinds, keys, result);
	free(keys);
	if (ok)
		return result;
	pr_destroy(result);
	return NULL;
}
