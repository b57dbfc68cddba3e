#include "functions.h"

#include <stdlib.h>

struct pa_functions {
	struct pa_hits *hits;	  /* [n_hits] */
	struct pa_function *list; /* [n] */
	struct pa_total *totals;  /* [n_events] */
	size_t n_hits, n, n_events;
};

/* Returns the function that a group's samples are in, with their address; NULL: none. */
static const struct ps_symbol *find_function(const struct pq_groups *groups, size_t group,
					     struct pa_hits *hits)
{
	const struct pq_chains *chains = pq_groups_chains(groups);
	struct pq_frame frame;
	struct pq_value chain;
	size_t n;

	pq_groups_key(groups, group, 1, &chain);
	if (chain.type != PQ_CHAIN)
		return NULL;
	frame = pq_chains_frame(chains, *pq_chains_frames(chains, (uint32_t)chain.u, &n));
	hits->dso = frame.dso;
	hits->address = frame.address;
	if (!frame.dso || frame.symbol)
		return frame.symbol;
	return ps_dso_symbol(frame.dso, frame.address);
}

/* Sets *hits to the samples of a group. Returns false if they are in no function. */
static bool fill_hits(struct pa_functions *f, const struct pq_groups *groups, size_t group,
		      bool has_sums, struct pa_hits *hits)
{
	struct pq_value event;
	struct pq_state state;

	pq_groups_key(groups, group, 0, &event);
	hits->event = event.type == PQ_EVENT && event.event ? event.event->number : UINT32_MAX;
	pq_groups_state(groups, group, 0, &state);
	hits->samples = hits->period = state.value.u;
	if (has_sums) {
		pq_groups_state(groups, group, 1, &state);
		hits->period = state.value.type == PQ_INT ? state.value.u : 0;
	}
	if (hits->event >= f->n_events)
		return false;
	f->totals[hits->event].samples += hits->samples;
	f->totals[hits->event].period += hits->period;
	hits->symbol = find_function(groups, group, hits);
	return hits->symbol;
}

static int compare_functions(const struct pa_hits *a, const struct pa_hits *b)
{
	if (a->dso != b->dso)
		return a->dso < b->dso ? -1 : 1;
	if (a->symbol->start != b->symbol->start)
		return a->symbol->start < b->symbol->start ? -1 : 1;
	return (a->symbol > b->symbol) - (a->symbol < b->symbol);
}

static int compare_hits(const void *left, const void *right)
{
	const struct pa_hits *a = left, *b = right;
	int order = compare_functions(a, b);

	if (order)
		return order;
	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	return (a->event > b->event) - (a->event < b->event);
}

static void list_functions(struct pa_functions *f)
{
	for (size_t i = 0; i < f->n_hits; i++) {
		if (!i || compare_functions(&f->hits[i - 1], &f->hits[i]) != 0)
			f->list[f->n++].hits = &f->hits[i];
		f->list[f->n - 1].n++;
	}
}

struct pa_functions *pa_functions_create(const struct pq_groups *groups, bool has_sums,
					 size_t n_events)
{
	struct pa_functions *f = calloc(1, sizeof(*f));
	size_t n = pq_groups_size(groups);

	if (!f)
		return NULL;
	f->hits = calloc(n + 1, sizeof(*f->hits));
	f->list = calloc(n + 1, sizeof(*f->list));
	f->totals = calloc(n_events + 1, sizeof(*f->totals));
	f->n_events = n_events;
	if (!f->hits || !f->list || !f->totals) {
		pa_functions_destroy(f);
		return NULL;
	}
	for (size_t g = 0; g < n; g++)
		f->n_hits += fill_hits(f, groups, g, has_sums, &f->hits[f->n_hits]);
	if (f->n_hits)
		qsort(f->hits, f->n_hits, sizeof(*f->hits), compare_hits);
	list_functions(f);
	return f;
}

void pa_functions_destroy(struct pa_functions *f)
{
	if (!f)
		return;
	free(f->hits);
	free(f->list);
	free(f->totals);
	free(f);
}

size_t pa_functions_size(const struct pa_functions *f)
{
	return f->n;
}

const struct pa_function *pa_functions_at(const struct pa_functions *f, size_t i)
{
	return &f->list[i];
}

const struct pa_total *pa_functions_totals(const struct pa_functions *f, size_t *n)
{
	*n = f->n_events;
	return f->totals;
}
