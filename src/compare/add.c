/* The results of runs, added to the rows of a comparison by the names that these match by. */
#include "compare_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "binaries.h"

/* A run on its way into a comparison. */
struct adding {
	struct pc_comparison *c;
	const struct pc_run *run;
	void *arg;
	size_t number;		 /* of the run among those of both sides */
	struct pb_id_map *known; /* [n_keys]: a text, by its address, or a stack → `matched` */
	struct pd_text *matched; /* [n_matched]: what they are matched by */
	size_t n_matched, room;
	struct pb_arena texts;	 /* of `matched` */
	struct pq_value *keys;	 /* [n_keys + 2]: event, keys, address */
	struct shown_key *shown; /* [n_special] of the group */
	struct pc_met met;	 /* rows of groups */
	char address[PC_ADDRESS_SIZE], name[PC_IP_SIZE];
	enum pc_problem problem;
};

static bool fail(struct adding *a, enum pc_problem problem)
{
	a->problem = problem;
	return false;
}

/* Keeps the name by which a text or a stack is matched. Returns false without memory. */
static bool add_matched(struct adding *a, size_t k, uint64_t id, struct pd_text text)
{
	struct pd_text *matched;

	if (!pb_reserve(a->matched, a->n_matched, a->room))
		return fail(a, PC_NO_MEMORY);
	matched = &a->matched[a->n_matched];
	matched->p = pb_arena_text(&a->texts, text.p, text.n);
	matched->n = text.n;
	if (!matched->p || !pb_id_map_add(&a->known[k], id, (uint32_t)a->n_matched))
		return fail(a, PC_NO_MEMORY);
	a->n_matched++;
	return true;
}

/* Keeps the text that a key is matched by, made of its own. Returns false if that failed. */
static bool match_text(struct adding *a, size_t k, bool is_stack, uint64_t id,
		       struct pd_text from)
{
	const struct pc_options *options = &a->c->options;
	struct pd_text to = from;

	if ((is_stack ? options->are_stacks_matched : options->is_matched[k]) &&
	    !options->match(a->arg, k, is_stack, from, &to))
		return fail(a, PC_NOT_MATCHED);
	return add_matched(a, k, id, to);
}

/* Matches a stack by its text. */
static bool match_stack(struct adding *a, size_t k, const struct pq_value *value)
{
	const struct pq_stacks *stacks = a->run->result->stacks;
	size_t n = pq_stacks_text(stacks, (uint32_t)value->u, NULL);
	char *text = malloc(n + 1);
	bool ok;

	if (!text)
		return fail(a, PC_NO_MEMORY);
	n = pq_stacks_text(stacks, (uint32_t)value->u, text);
	ok = match_text(a, k, true, value->u, (struct pd_text){ text, n });
	free(text);
	return ok;
}

/* Replaces a key, of which others are matched by the same name. */
static bool match_key(struct adding *a, size_t k, struct pq_value *value)
{
	bool is_stack = value->type == PQ_CHAIN;
	struct pd_text from = { value->p, value->size };
	uint64_t id = is_stack ? value->u : (uintptr_t)value->p;
	uint32_t known;

	if (!is_stack && (value->type != PQ_TEXT || !a->c->options.is_matched[k]))
		return true;
	known = pb_id_map_find(&a->known[k], id);
	if (known == UINT32_MAX) {
		if (!(is_stack ? match_stack(a, k, value) : match_text(a, k, false, id, from)))
			return false;
		known = (uint32_t)a->n_matched - 1;
	}
	if (is_stack) /* shown as it is: for now by its number among those of the run */
		a->shown[a->c->special[k]] = (struct shown_key){ *value, true, false };
	*value = (struct pq_value){
		.type = PQ_TEXT,
		.p = a->matched[known].p,
		.size = (uint32_t)a->matched[known].n,
	};
	return true;
}

/*
 * Replaces the address that stands where no function is known: by the function that the other
 * side knows there, else by the address in its binary, if both sides have that.
 */
static void name_address(struct adding *a, size_t g, struct pq_value *symbol,
			 struct pq_value *address)
{
	const struct pc_naming *naming = &a->run->naming;
	struct shown_key *shown = &a->shown[a->c->special[a->c->options.symbol]];
	struct pq_value build_id;
	struct pc_address place;
	struct pd_text name;
	uint64_t ip = symbol->u;
	int n;

	if (symbol->type != PQ_INT)
		return;
	*symbol = (struct pq_value){ .type = PQ_NIL };
	if (!naming->own)
		return;
	pr_key_value(a->run->result, g, naming->build_id, &build_id);
	if (build_id.type != PQ_TEXT || build_id.size > 2 * UINT8_MAX)
		return;
	name = (struct pd_text){ build_id.p, build_id.size };
	if (!pc_has_binary(naming->theirs, name) ||
	    !pc_find_address(naming->own, a->run->number, name, ip, &place))
		return;
	if (pc_find_function(naming->theirs, &place, &name)) {
		*symbol = (struct pq_value){ .type = PQ_TEXT,
					     .p = name.p,
					     .size = (uint32_t)name.n };
		return;
	}
	n = snprintf(a->address, sizeof(a->address), "%.*s:%llx", (int)place.build_id.n,
		     place.build_id.p, (unsigned long long)place.offset);
	*address = (struct pq_value){ .type = PQ_TEXT, .p = a->address, .size = (uint32_t)n };
	n = snprintf(a->name, sizeof(a->name), "0x%llx", (unsigned long long)ip);
	shown->value = (struct pq_value){ .type = PQ_TEXT, .p = a->name, .size = (uint32_t)n };
	shown->is_set = true;
}

/* Sets a->keys, and a->shown, to those of a group. */
static bool read_keys(struct adding *a, size_t g, uint32_t event)
{
	const struct pc_options *options = &a->c->options;
	struct pq_value *address = &a->keys[options->n_keys + 1];

	a->keys[0] = (struct pq_value){ .type = PQ_INT, .u = event };
	*address = (struct pq_value){ .type = PQ_NIL };
	memset(a->shown, 0, a->c->n_special * sizeof(*a->shown));
	for (size_t k = 0; k < options->n_keys; k++)
		pr_key_value(a->run->result, g, k, &a->keys[k + 1]);
	if (a->run->naming.build_id != PR_NONE && options->symbol != PR_NONE)
		name_address(a, g, &a->keys[options->symbol + 1], address);
	for (size_t k = 0; k < options->n_keys; k++)
		if (!match_key(a, k, &a->keys[k + 1]))
			return false;
	return true;
}

/* Keeps what is shown of a row: of several groups that of the first one of the side after. */
static bool keep_shown(struct adding *a, size_t row)
{
	struct pc_comparison *c = a->c;
	bool is_after = a->run->side == PC_AFTER;

	for (size_t s = 0; s < c->n_special; s++) {
		struct shown_key *kept = &c->shown[row * c->n_special + s];
		struct pq_value *value = &kept->value;

		if (!a->shown[s].is_set || (kept->is_set && kept->is_after >= is_after))
			continue;
		*kept = a->shown[s];
		kept->is_after = is_after;
		if (value->type == PQ_CHAIN)
			value->u = pq_stacks_add_from(c->stacks, a->run->result->stacks,
						      (uint32_t)value->u);
		else
			value->p = pb_arena_text(&c->texts, value->p, value->size);
		kept->is_set = value->type == PQ_CHAIN ? value->u != UINT32_MAX :
							 value->p != NULL;
		if (!kept->is_set)
			return fail(a, PC_NO_MEMORY);
	}
	return true;
}

/* Returns the number of a group's slice, from 0 on; SIZE_MAX: it has none. */
static size_t slice_of(const struct pc_run *run, size_t g)
{
	const struct pc_slices *slices = &run->slices;
	struct pq_value slice;
	uint64_t number;

	if (slices->key == PR_NONE)
		return SIZE_MAX;
	pr_key_value(run->result, g, slices->key, &slice);
	if (slice.type != PQ_INT)
		return SIZE_MAX;
	/* records outside of the times that the header tells are in the slice at that end */
	number = slice.i < slices->least ? 0 :
					   (slice.u - (uint64_t)slices->least) / slices->joined;
	return (number < slices->n ? number : slices->n - 1) + slices->offset;
}

/* Adds to an event's amount in a slice. Returns false without memory. */
static bool add_to_slice(struct event_total *total, size_t slice, double over)
{
	if (!total->slices)
		total->slices = calloc(PN_MAX_SLICES, sizeof(*total->slices));
	if (!total->slices)
		return false;
	total->slices[slice] += over;
	return true;
}

/* Adds the amounts of a group to its row's slices and to the totals of its event. */
static bool add_amounts(struct adding *a, size_t g, size_t row, const struct pq_state *own,
			struct event_total *total)
{
	struct pc_comparison *c = a->c;
	struct amount amount = pc_amount_of(c->options.measure.measure, own);
	struct slice_cell cell, under;
	double over;
	size_t slice;

	amount.over = pc_wide_to_float(c, amount.over);
	over = to_double(&amount.over);
	if (c->options.measure.measure == PQ_M_QUANTILE)
		return true;
	if (c->is_amount)
		total->over[a->run->number] += over;
	slice = slice_of(a->run, g);
	if (slice == SIZE_MAX)
		return true;
	if (slice >= PN_MAX_SLICES)
		return fail(a, PC_BAD_SLICE);
	cell = (struct slice_cell){ (uint32_t)row, (uint32_t)slice, over };
	under = (struct slice_cell){ cell.row, PC_UNDER + cell.slice, amount.under };
	if (!pc_add_cell(&c->cells[a->run->side], &cell) ||
	    (!c->is_amount && !pc_add_cell(&c->cells[a->run->side], &under)) ||
	    !add_to_slice(total, slice, over))
		return fail(a, PC_NO_MEMORY);
	return true;
}

/* Returns true if a row has no function, though rows are by function. */
static bool is_unnamed(const struct pc_comparison *c, size_t row)
{
	uint8_t type;

	if (c->options.symbol == PR_NONE)
		return false;
	pr_key_bits(c->rows, row, c->options.symbol, &type);
	return type == PQ_NIL;
}

/* Returns the integer that a sum of a group is. */
static uint64_t value_in(const struct pr_result *result, size_t g, size_t measure)
{
	struct pq_state state;

	pq_groups_state(result->groups, g, measure, &state);
	return state.value.type == PQ_INT ? state.value.u : 0;
}

/* Sets *row to that of a group whose keys were not met before. Returns false if that failed. */
static bool add_row(struct adding *a, size_t g, uint32_t event, size_t *row)
{
	struct pc_comparison *c = a->c;

	if (!read_keys(a, g, event))
		return false;
	if (!pr_put(c->rows, a->keys, NULL, row) || !pc_extend_rows(c, *row + 1))
		return fail(a, PC_NO_MEMORY);
	c->has[*row * c->n_runs + a->number] = 1;
	return keep_shown(a, *row);
}

/* Sets *row to the row of a group. Returns false if that failed. */
static bool find_row(struct adding *a, size_t g, uint32_t event, size_t *row)
{
	uint64_t *known;
	bool is_new;

	if (!pc_met_find(&a->met, g, &known, &is_new))
		return fail(a, PC_NO_MEMORY);
	if (is_new) {
		if (!add_row(a, g, event, row))
			return false;
		*known = *row;
	}
	*row = *known;
	return true;
}

/* Adds states of the run, and its counts, to a row. Returns false without memory. */
static bool add_states(struct adding *a, size_t row, const struct pq_state *own, uint64_t count,
		       uint64_t kernel)
{
	struct pr_result *rows = a->c->rows;
	size_t samples = samples_measure(a->c, a->run->side);
	struct pq_state n = { .value = { .type = PQ_INT, .u = count } };
	struct pq_state in_kernel = { .value = { .type = PQ_INT, .u = kernel } };

	return pr_put_state(rows, row, a->number, own) &&
	       pr_put_state(rows, row, samples, &n) &&
	       pr_put_state(rows, row, kernel_measure(a->c), &in_kernel);
}

static bool add_group(struct adding *a, size_t g)
{
	const struct pc_run *run = a->run;
	struct pc_comparison *c = a->c;
	uint32_t section = pr_section(run->result, g);
	uint32_t event = section < run->n_events ? run->events[section] : 0;
	uint64_t count = run->count == PR_NONE ? 0 : value_in(run->result, g, run->count);
	uint64_t kernel = run->kernel == PR_NONE ? 0 : value_in(run->result, g, run->kernel);
	struct compared_event *known = pc_get_event(c, event);
	struct event_total *total;
	struct pq_state own;
	size_t row;

	if (!known || !find_row(a, g, event, &row))
		return known ? false : fail(a, PC_NO_MEMORY);
	total = &known->totals[run->side];
	pq_groups_state(run->result->groups, g, 0, &own);
	if (!add_states(a, row, &own, count, kernel))
		return fail(a, PC_NO_MEMORY);
	total->has = true;
	total->lacks_samples = total->lacks_samples || run->count == PR_NONE;
	total->samples += count;
	if (is_unnamed(c, row))
		total->unnamed += count;
	return add_amounts(a, g, row, &own, total);
}

/* Adds all groups, or those before one that fails. */
static void add_groups(struct adding *a)
{
	size_t first = 0, n;

	while ((n = pc_met_look_ahead(&a->met, first, a->c->rows))) {
		for (size_t g = first; g < first + n; g++)
			if (!add_group(a, g))
				return;
		first += n;
	}
}

static bool start_adding(struct adding *a)
{
	const struct pc_options *options = &a->c->options;

	a->known = calloc(options->n_keys + 1, sizeof(*a->known));
	a->keys = calloc(options->n_keys + 2, sizeof(*a->keys));
	a->shown = calloc(a->c->n_special + 1, sizeof(*a->shown));
	if (!a->known || !a->keys || !a->shown)
		return fail(a, PC_NO_MEMORY);
	for (size_t k = 0; k < options->n_keys; k++)
		pb_secret_make(&a->known[k].secret);
	if (!pc_met_init(&a->met, a->run->result, options->n_keys, a->run->naming.build_id))
		return fail(a, PC_NO_MEMORY);
	return true;
}

static void stop_adding(struct adding *a)
{
	for (size_t k = 0; a->known && k < a->c->options.n_keys; k++)
		pb_id_map_deinit(&a->known[k]);
	free(a->known);
	free(a->matched);
	free(a->keys);
	free(a->shown);
	pc_met_deinit(&a->met);
	pb_arena_deinit(&a->texts);
}

/* Notes that a run is there. */
static void add_run(struct pc_comparison *c, const struct pc_run *run)
{
	struct added_run *added = &c->runs[run_number(c, run->side, run->number)];

	*added = (struct added_run){ run->seconds, run->count != PR_NONE };
	if (run->slices.key != PR_NONE)
		c->n_slices[run->side] = run->slices.offset + run->slices.n;
}

bool pc_fits(const struct pc_comparison *c, const struct pc_run *run)
{
	const struct pr_shape *added = &run->result->shape;
	bool fits = !c->tree && added->n_measures && added->n_keys >= c->options.n_keys &&
		    added->measures[0].measure == c->options.measure.measure &&
		    added->measures[0].kind == c->options.measure.kind &&
		    (run->count == PR_NONE ||
		     added->measures[run->count].measure == PQ_M_COUNT) &&
		    (run->kernel == PR_NONE ||
		     added->measures[run->kernel].measure == PQ_M_SUM);

	for (size_t k = 0; fits && k < c->options.n_keys; k++)
		fits = added->keys[k].kind == c->options.keys[k].kind;
	return fits;
}

enum pc_problem pc_add(struct pc_comparison *c, const struct pc_run *run, void *arg)
{
	struct adding a = { .c = c, .run = run, .arg = arg };

	if (run->slices.key != PR_NONE && (run->slices.offset > PN_MAX_SLICES ||
					   run->slices.n > PN_MAX_SLICES - run->slices.offset))
		return PC_BAD_SLICE;
	a.number = run_number(c, run->side, run->number);
	c->n_judged = 0;
	add_run(c, run);
	if (start_adding(&a))
		add_groups(&a);
	stop_adding(&a);
	return a.problem;
}

/* Adds the amounts of a run to the total of an event, instead of those that it has. */
static enum pc_problem replace_total(const struct pc_comparison *c, const struct pc_run *run,
				     struct event_total *total)
{
	size_t first = run->slices.key == PR_NONE ? PN_MAX_SLICES : run->slices.offset;

	total->over[run->number] = 0;
	/* runs after it are replaced after it */
	for (size_t i = first; total->slices && i < PN_MAX_SLICES; i++)
		total->slices[i] = 0;
	for (size_t g = 0; g < pr_size(run->result); g++) {
		size_t slice = slice_of(run, g);
		struct pq_state sum;

		pq_groups_state(run->result->groups, g, 0, &sum);
		sum.value = pc_wide_to_float(c, sum.value);
		total->over[run->number] += to_double(&sum.value);
		if (slice == SIZE_MAX)
			continue;
		if (slice >= PN_MAX_SLICES)
			return PC_BAD_SLICE;
		if (!add_to_slice(total, slice, to_double(&sum.value)))
			return PC_NO_MEMORY;
	}
	return PC_FINE;
}

enum pc_problem pc_divide_by(struct pc_comparison *c, const struct pc_run *run)
{
	enum pc_problem problem = PC_FINE;

	for (uint32_t e = 0; problem == PC_FINE && e < c->n_events; e++) {
		struct compared_event *event = pc_get_event(c, e);

		problem = event ? replace_total(c, run, &event->totals[run->side]) :
				  PC_NO_MEMORY;
	}
	return problem;
}

enum pc_problem pc_divide_by_sum(struct pc_comparison *c, enum pc_which side, size_t run,
				 uint32_t event, double sum, bool is_first)
{
	struct compared_event *known = pc_get_event(c, event);
	struct event_total *total;

	if (!known)
		return PC_NO_MEMORY;
	total = &known->totals[side];
	total->over[run] = (is_first ? 0 : total->over[run]) + sum;
	total->has_no_slices = true;
	return PC_FINE;
}
