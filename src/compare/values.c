/* The values of rows, by side and run, and by how much they vary by chance. */
#include "base/vector.h"
#include "compare_internal.h"

#include <math.h>
#include <stdlib.h>

#define SEED	 20231 /* of the bootstrap: equal recordings have equal intervals */
#define MIN_RUNS 3     /* of a side, from which their variation is taken */

/* Returns the value of a state, PQ_NIL if it has none. */
static struct pq_value finish_state(const struct pc_comparison *c, const struct pq_state *state)
{
	struct pq_shown how = { .kind = c->rows->grouping.measures[0].value->kind,
				.share = c->options.quantile };
	struct pq_value value;

	pq_show_state(pq_measure_row(c->options.measure.measure), &how, state, &value);
	return pc_wide_to_float(c, value);
}

/* Returns a run's value of a row, PQ_NIL if it has none. */
static struct pq_value value_of(const struct pc_comparison *c, enum pc_which side, size_t row,
				size_t r)
{
	size_t number = run_number(c, side, r);
	const struct event_total *total = &c->events[c->judged[row].event].totals[side];
	struct pq_value value = { .type = PQ_INT };
	struct pq_state state;
	double under, over;

	pq_groups_state(c->rows->groups, row, number, &state);
	if (!c->is_amount) {
		value.type = PQ_NIL;
		return c->has[row * c->n_runs + number] ? finish_state(c, &state) : value;
	}
	if (c->has[row * c->n_runs + number])
		value = pc_wide_to_float(c, state.value);
	if (c->options.per == PC_PER_RUN)
		return value;
	over = to_double(&value);
	under = c->options.per == PC_PER_SECOND ? c->runs[number].seconds : total->over[r];
	if (under == 0 && c->options.per != PC_PER_SECOND)
		return (struct pq_value){ .type = PQ_NIL };
	value = (struct pq_value){ .type = PQ_FLOAT, .f = over / under };
	if (c->options.per == PC_PER_SHARE)
		value.f *= 100;
	return value;
}

static struct pq_value subtract(const struct pq_value *a, const struct pq_value *b)
{
	struct pq_value rest = { .type = PQ_INT };

	if (a->type == PQ_NIL || b->type == PQ_NIL)
		return (struct pq_value){ .type = PQ_NIL };
	if (a->type == PQ_INT && b->type == PQ_INT &&
	    !__builtin_sub_overflow(a->i, b->i, &rest.i))
		return rest;
	return (struct pq_value){ .type = PQ_FLOAT, .f = to_double(a) - to_double(b) };
}

static struct pq_value add_values(const struct pq_value *a, const struct pq_value *b)
{
	struct pq_value sum = { .type = PQ_INT };

	if (a->type == PQ_INT && b->type == PQ_INT &&
	    !__builtin_add_overflow(a->i, b->i, &sum.i))
		return sum;
	return (struct pq_value){ .type = PQ_FLOAT, .f = to_double(a) + to_double(b) };
}

/* Sets the value of a part to the mean of its runs, and its error to that of the mean. */
static void set_mean(const struct pc_comparison *c, enum pc_which side, size_t row,
		     struct pc_part *part)
{
	struct pq_value sum = { .type = PQ_INT };
	double mean, squares = 0;

	for (size_t r = 0; r < c->options.n_runs[side]; r++) {
		struct pq_value value = value_of(c, side, row, r);

		if (value.type == PQ_NIL)
			continue;
		sum = add_values(&sum, &value);
		part->n++;
	}
	if (!part->n)
		return;
	part->value = sum;
	if (part->n == 1)
		return;
	mean = to_double(&sum) / part->n;
	for (size_t r = 0; r < c->options.n_runs[side]; r++) {
		struct pq_value value = value_of(c, side, row, r);
		double deviation = to_double(&value) - mean;

		if (value.type != PQ_NIL)
			squares += deviation * deviation;
	}
	part->value = (struct pq_value){ .type = PQ_FLOAT, .f = mean };
	part->error = part->run_error = sqrt(squares / (part->n - 1) / part->n);
}

/* Returns true if all runs of a side that have a row know its samples. */
static bool has_samples(const struct pc_comparison *c, enum pc_which side, size_t row)
{
	for (size_t r = 0; r < c->options.n_runs[side]; r++) {
		size_t number = run_number(c, side, r);

		if (c->has[row * c->n_runs + number] && !c->runs[number].has_count)
			return false;
	}
	return true;
}

static void set_part(const struct pc_comparison *c, enum pc_which side, size_t row,
		     struct pc_part *part)
{
	struct pq_state samples;

	*part = (struct pc_part){ .freedom = 1 };
	part->has_row = pc_has_row(c, side, row);
	part->has_samples = has_samples(c, side, row);
	pq_groups_state(c->rows->groups, row, samples_measure(c, side), &samples);
	part->samples = samples.value.u;
	set_mean(c, side, row, part);
}

void pc_set_values(struct pc_comparison *c)
{
	for (size_t i = 0; i < pc_size(c); i++) {
		struct pc_row *row = &c->judged[i];
		struct pc_part *before = &row->parts[PC_BEFORE], *after = &row->parts[PC_AFTER];

		*row = (struct pc_row){ .low = NAN, .high = NAN, .p = NAN, .q = NAN };
		row->event = pr_section(c->rows, i);
		if (!pc_is_compared(c, row))
			continue;
		for (size_t side = 0; side < PC_SIDES; side++)
			set_part(c, (enum pc_which)side, i, &row->parts[side]);
		row->has_samples = before->has_samples && after->has_samples;
		row->samples = before->samples + after->samples;
		row->delta = subtract(&after->value, &before->value);
	}
}

/* Takes errors from the values of runs: a side with few runs varies as the other does. */
static void set_run_errors(const struct pc_comparison *c, struct pc_row *row)
{
	struct pc_part *known = &row->parts[PC_BEFORE], *lone = &row->parts[PC_AFTER];

	known->freedom = (double)known->n - 1;
	lone->freedom = (double)lone->n - 1;
	if (!c->options.n_runs[PC_AFTER] || (known->n >= MIN_RUNS && lone->n >= MIN_RUNS))
		return;
	if (known->n < MIN_RUNS) {
		struct pc_part *few = known;

		known = lone;
		lone = few;
	}
	if (known->n < MIN_RUNS) {
		row->is_unknown = true;
		return;
	}
	known->error *= sqrt(1 + known->n / fmax(lone->n, 1));
	lone->error = 0;
	lone->freedom = 1;
}

/* Returns the factor from the error of a sum, or of a ratio of sums, to that of the value. */
static double scale_of(const struct pc_comparison *c, enum pc_which side)
{
	double seconds = 0;

	if (!c->is_amount)
		return 1;
	switch (c->options.per) {
	case PC_PER_RUN:
		return 1 / (double)c->options.n_runs[side];
	case PC_PER_SHARE:
		return 100;
	case PC_PER_SECOND:
		for (size_t r = 0; r < c->options.n_runs[side]; r++)
			seconds += c->runs[run_number(c, side, r)].seconds;
		return 1 / seconds;
	default:
		return 1;
	}
}

/* Rows in the order of events. */
struct by_event {
	uint32_t *rows; /* [n_rows] */
	size_t *starts; /* [n_events + 1] */
};

static bool order_by_event(const struct pc_comparison *c, struct by_event *order)
{
	size_t n = pc_size(c);

	order->rows = calloc(n + 1, sizeof(*order->rows));
	order->starts = calloc(c->n_events + 2, sizeof(*order->starts));
	if (!order->rows || !order->starts)
		return false;
	for (size_t i = 0; i < n; i++)
		order->starts[c->judged[i].event + 2]++;
	for (size_t e = 0; e < c->n_events; e++)
		order->starts[e + 1] += order->starts[e];
	for (size_t i = 0; i < n; i++)
		order->rows[order->starts[c->judged[i].event + 1]++] = (uint32_t)i;
	return true;
}

size_t *pc_index_cells(const struct slice_cells *cells, size_t n_rows)
{
	size_t *starts = pb_zeros(n_rows + 2, sizeof(*starts));

	for (size_t i = 0; starts && i < cells->n; i++)
		starts[cells->list[i].row + 1]++;
	for (size_t i = 0; starts && i < n_rows; i++)
		starts[i + 1] += starts[i];
	return starts;
}

/* A bootstrap of the rows of one event on one side. */
struct resampling {
	const struct pc_comparison *c;
	enum pc_which side;
	const size_t *cells;  /* pc_index_cells() */
	const uint32_t *rows; /* [n] */
	size_t n;
	double factor; /* from the error of a sum, or of a ratio, to that of the value */
	struct pn_slices slices;
	unsigned workers;
	struct pn_bootstrap *bootstraps[PB_HELPERS_MAX + 1]; /* by worker; NULL: none yet */
};

/* Sets the error of a row. Returns false without memory. */
static bool resample_row(const struct resampling *r, struct pn_bootstrap *bootstrap, size_t row)
{
	const struct slice_cell *list = &r->c->cells[r->side].list[r->cells[row]];
	struct pc_part *part = &r->c->judged[row].parts[r->side];
	size_t n = (r->cells[row + 1] - r->cells[row]) / (r->c->is_amount ? 1 : 2);
	struct pn_cell cells[PN_MAX_SLICES];
	struct pn_noise noise;
	bool ok;

	for (size_t k = 0; k < n; k++)
		cells[k] = (struct pn_cell){ list[k].slice, list[k].amount,
					     r->c->is_amount ? 0 : list[n + k].amount };
	ok = pn_bootstrap_row(bootstrap, cells, n, &noise);
	part->error = noise.error * r->factor;
	part->freedom = noise.freedom;
	return ok;
}

static bool resample_part(const struct pc_share *share, unsigned worker)
{
	struct resampling *r = share->arg;
	struct pn_bootstrap **bootstrap = &r->bootstraps[worker];
	bool ok;

	if (!*bootstrap)
		*bootstrap = pn_bootstrap_create(&r->slices, SEED);
	ok = *bootstrap != NULL;
	for (size_t i = share->first; ok && i < share->first + share->n; i++)
		ok = resample_row(r, *bootstrap, r->rows[i]);
	return ok;
}

/* Sets the errors of the rows, which do not depend on who resamples them. */
static bool resample_rows(struct resampling *r)
{
	bool ok = pc_share_rows(r->n, r->workers, resample_part, r);

	for (size_t i = 0; i <= PB_HELPERS_MAX; i++) {
		pn_bootstrap_destroy(r->bootstraps[i]);
		r->bootstraps[i] = NULL;
	}
	return ok;
}

/* Sets how the rows of an event are divided. */
static void set_divisor(struct resampling *r, uint32_t event, const double *zeros)
{
	const struct pc_comparison *c = r->c;
	const struct event_total *total = &c->events[event].totals[r->side];
	double sum = 0;

	r->factor = scale_of(c, r->side);
	r->slices = (struct pn_slices){ .n_slices = c->n_slices[r->side] };
	if (!c->is_amount) {
		r->slices.divided = PN_UNDER_OWN;
	} else if (c->options.per == PC_PER_SHARE || c->options.per == PC_PER_EVENT) {
		for (size_t i = 0; i < c->options.n_runs[r->side]; i++)
			sum += total->over[i];
		if (total->has_no_slices) {
			r->factor *= 1 / sum;
		} else {
			r->slices.divided = PN_UNDER_SHARED;
			r->slices.shared = total->slices ? total->slices : zeros;
		}
	}
}

/* Sets the errors of one side's rows by a bootstrap over slices of time. */
static bool set_slice_errors(const struct pc_comparison *c, enum pc_which side,
			     const struct by_event *order, unsigned workers)
{
	static const double zeros[PN_MAX_SLICES];
	struct resampling r = { .c = c, .side = side, .workers = workers };
	size_t *cells = pc_index_cells(&c->cells[side], pc_size(c));
	bool ok = cells != NULL;

	r.cells = cells;
	for (uint32_t e = 0; ok && e < c->n_events; e++) {
		r.rows = &order->rows[order->starts[e]];
		r.n = order->starts[e + 1] - order->starts[e];
		if (!r.n || !pc_is_compared(c, &c->judged[r.rows[0]]))
			continue;
		set_divisor(&r, e, zeros);
		ok = resample_rows(&r);
	}
	free(cells);
	return ok;
}

bool pc_set_errors(struct pc_comparison *c, enum pc_method method, unsigned workers)
{
	struct by_event order = { 0 };
	bool ok = true;

	if (method == PC_BY_SLICES) {
		ok = order_by_event(c, &order);
		for (size_t side = 0; ok && side < PC_SIDES; side++)
			ok = !c->n_slices[side] ||
			     (pc_join_cells(&c->cells[side]) &&
			      set_slice_errors(c, (enum pc_which)side, &order, workers));
		free(order.rows);
		free(order.starts);
	}
	for (size_t i = 0; i < pc_size(c); i++) {
		struct pc_row *row = &c->judged[i];

		if (!pc_is_compared(c, row))
			continue;
		if (method == PC_BY_RUNS)
			set_run_errors(c, row);
	}
	return ok;
}

/* Returns a side's part of all if nothing differs: runs, seconds, or what amounts are per. */
static double exposure_of(const struct pc_comparison *c, enum pc_which side, uint32_t event)
{
	const struct event_total *total = &c->events[event].totals[side];
	double sum = 0;

	if (c->options.per == PC_PER_RUN)
		return (double)c->options.n_runs[side];
	if (c->options.per == PC_PER_SHARE)
		return total->lacks_samples ? 0 : (double)total->samples;
	for (size_t r = 0; r < c->options.n_runs[side]; r++)
		sum += c->options.per == PC_PER_SECOND ?
			       c->runs[run_number(c, side, r)].seconds :
			       total->over[r];
	return sum;
}

double pc_test_few(const struct pc_comparison *c, const struct pc_row *row)
{
	double a = exposure_of(c, PC_BEFORE, row->event);
	double b = exposure_of(c, PC_AFTER, row->event);

	if (!(a > 0 && b > 0))
		return 1;
	return pn_binomial_test(row->parts[PC_BEFORE].samples, row->samples, a / (a + b));
}
