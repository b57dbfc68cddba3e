#define _GNU_SOURCE /* reallocarray */
#include "base/vector.h"
#include "rows_pairs_internal.h"

/* Most changes of state that open spans may hold, where they are cut. */
#define MOST_PHASES ((size_t)1 << 24)
/* Most rows that spans may be cut into. */
#define MOST_PARTS ((uint64_t)1 << 28)

/* Returns the last phase of a span. */
static struct pq_phase *last_phase(struct pq_phases *phases)
{
	return phases->list ? &phases->list[phases->n - 1] : &phases->only;
}

bool pq_phases_begin(struct pq_pairs *pairs, uint32_t span, uint32_t state, uint64_t time)
{
	struct pq_phases *phases;

	if (span >= pairs->n_phases &&
	    !pb_extend(pairs->phases, pairs->n_phases, (size_t)span + span / 8 + 16))
		return false;
	phases = &pairs->phases[span];
	pairs->n_changes -= phases->n;
	phases->n = 1;
	phases->changed = 0;
	*last_phase(phases) = (struct pq_phase){ time, state };
	if (phases->times)
		memset(phases->times, 0, pairs->how->n_states * sizeof(*phases->times));
	pairs->n_changes++;
	return true;
}

/* Adds the time of a phase to those of its state. Returns false without memory. */
static bool add_time(const struct pq_pairs *pairs, struct pq_phases *phases,
		     const struct pq_phase *phase, uint64_t until)
{
	if (!phases->times)
		phases->times = calloc(pairs->how->n_states, sizeof(*phases->times));
	if (!phases->times)
		return false;
	phases->times[phase->state] += until - phase->since;
	return true;
}

/* Adds a phase to the list, which it makes of `only` at first. Returns false without memory. */
static bool append_phase(struct pq_phases *phases, uint64_t time, uint32_t state)
{
	bool is_first = !phases->list;
	size_t capacity = phases->capacity;

	if (is_first ? !pb_reserve_more(phases->list, 0, 2, capacity) :
		       !pb_reserve(phases->list, phases->n, capacity))
		return false;
	phases->capacity = (uint32_t)capacity;
	if (is_first)
		phases->list[0] = phases->only;
	phases->list[phases->n++] = (struct pq_phase){ time, state };
	return true;
}

bool pq_phases_change(struct pq_pairs *pairs, uint32_t span, uint32_t state, uint64_t time)
{
	struct pq_phases *phases = &pairs->phases[span];
	struct pq_phase *last = last_phase(phases);

	if ((int64_t)(time - last->since) < 0) {
		pairs->counts.stray++;
		return true;
	}
	phases->changed = pairs->n_met;
	if (state == last->state || state == PQ_NO_STATE)
		return true;
	if (time == last->since || !pq_is_cut(pairs->how)) {
		if (!add_time(pairs, phases, last, time))
			return false;
		*last = (struct pq_phase){ time, state };
		return true;
	}
	if (pairs->n_changes >= MOST_PHASES) {
		pairs->limit = PQ_LIMIT_CHANGES;
		return false;
	}
	if (!append_phase(phases, time, state))
		return false;
	pairs->n_changes++;
	return true;
}

void pq_phases_deinit(struct pq_phases *phases)
{
	free(phases->list);
	free(phases->times);
}

/* Returns the time that a part of a span spent in a state. */
static uint64_t time_in(const struct pq_phases *phases, size_t first,
			const struct pq_part *part, uint32_t state)
{
	const struct pq_phase *list = pq_phases_list(phases);
	uint64_t sum = phases->times ? phases->times[state] : 0;

	for (size_t i = first; i < phases->n && list[i].since < part->to; i++) {
		uint64_t from = list[i].since;
		uint64_t to = i + 1 < phases->n ? list[i + 1].since : part->to;

		if (from < part->from)
			from = part->from;
		if (to > part->to)
			to = part->to;
		if (list[i].state == state && to > from)
			sum += to - from;
	}
	return sum;
}

/* Returns the state in which a part of a span ends. */
static uint32_t last_state(const struct pq_phases *phases, size_t first,
			   const struct pq_part *part)
{
	const struct pq_phase *list = pq_phases_list(phases);
	size_t i = first;

	while (i + 1 < phases->n && (part->is_last || list[i + 1].since < part->to))
		i++;
	return list[i].state;
}

void pq_part_value(const struct pq_pairs *pairs, const struct pq_phases *phases, size_t first,
		   const struct pq_part *part, uint32_t place, struct pq_value *out)
{
	uint32_t state = place - PQ_SPAN_KEY - (uint32_t)pairs->how->n_keys;

	*out = (struct pq_value){ .type = PQ_INT, .u = part->from };
	switch (place) {
	case PQ_SPAN_START:
		return;
	case PQ_SPAN_STOP:
		out->u = part->to;
		if (!part->has_stop)
			out->type = PQ_NIL;
		return;
	case PQ_SPAN_END:
		out->u = part->to;
		return;
	case PQ_SPAN_SO_FAR:
		out->u = part->to - part->from;
		if (part->has_stop)
			out->type = PQ_NIL;
		return;
	case PQ_SPAN_DURATION:
		out->u = part->to - part->from;
		if (!part->has_stop)
			out->type = PQ_NIL;
		return;
	case PQ_SPAN_CUT:
		*out = (struct pq_value){ .type = PQ_BOOL, .u = part->is_cut };
		return;
	case PQ_SPAN_STATE:
		*out = pairs->states[last_state(phases, first, part)];
		return;
	default:
		out->u = time_in(phases, first, part, state);
	}
}

/* Returns the next border after a time, or the end of a span that comes before it. */
static uint64_t border_after(const struct pq_pairing *how, uint64_t time, uint64_t stop)
{
	uint64_t border = how->slice ? (time / how->slice + 1) * how->slice : stop;

	return border > time && border < stop ? border : stop;
}

bool pq_part_next(const struct pq_pairing *how, const struct pq_part *whole,
		  struct pq_part *part)
{
	uint64_t stop = whole->to < how->to ? whole->to : how->to;

	if (part->to >= stop)
		return false;
	part->from = part->to;
	part->to = border_after(how, part->from, stop);
	part->has_stop = whole->has_stop || part->to < whole->to || whole->to > how->to;
	part->is_cut = part->from != whole->from || part->to != whole->to;
	part->is_last = part->to == whole->to;
	return true;
}

bool pq_part_first(struct pq_pairs *pairs, const struct pq_part *whole, struct pq_part *part)
{
	const struct pq_pairing *how = pairs->how;
	uint64_t from = whole->from > how->from ? whole->from : how->from;
	uint64_t stop = whole->to < how->to ? whole->to : how->to;

	*part = *whole;
	if (!pq_is_cut(how))
		return true;
	part->to = from;
	if (pq_part_next(how, whole, part)) {
		if (how->slice)
			pairs->n_parts += (stop - 1) / how->slice - from / how->slice + 1;
		if (pairs->n_parts > MOST_PARTS)
			pairs->limit = PQ_LIMIT_PARTS;
		return true;
	}
	/* a span without duration */
	part->to = whole->to;
	return whole->from == whole->to && whole->from >= how->from && whole->from < how->to;
}

uint64_t pq_in_window(const struct pq_pairing *how, uint64_t time)
{
	return time < how->from ? how->from : time > how->to ? how->to : time;
}

bool pq_pairs_limit(const struct pq_pairs *pairs, const char *path, struct pd_error *err)
{
	switch (pairs->limit) {
	case PQ_LIMIT_WAITING:
		pd_error_set(err, "LIMIT", path, PD_NO_OFFSET,
			     "within: more than %zu records wait for the ends of their spans; "
			     "use fields known when a span begins, or read fewer records",
			     PQ_MOST_WAITING);
		return true;
	case PQ_LIMIT_CHANGES:
		pd_error_set(err, "LIMIT", path, PD_NO_OFFSET,
			     "pair: the open spans changed their states more than %zu times; "
			     "without slice and window there is no limit",
			     MOST_PHASES);
		return true;
	case PQ_LIMIT_PARTS:
		pd_error_set(
			err, "LIMIT", path, PD_NO_OFFSET,
			"pair: slices of %llu ns cut the spans into %llu rows or more; at most "
			"%llu are possible: choose longer slices, or a window",
			(unsigned long long)pairs->how->slice,
			(unsigned long long)pairs->n_parts, (unsigned long long)MOST_PARTS);
		return true;
	default:
		return false;
	}
}
