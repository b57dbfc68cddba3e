/*
 * Chooses which groups become tables when an interrupt leaves no time for all of them: the
 * first ones by a measure.
 */
#include "group.h"

#include <string.h>

/* Returns a measure as a number to compare, which may be approximate. */
static double weight_of(const struct pl_job *job, size_t g, size_t m)
{
	const struct pq_measure *measure = &job->grouping.measures[m];
	bool is_signed = !measure->value || measure->value->kind == PQ_K_SIGNED;
	struct pq_state state;

	pq_groups_state(job->groups, g, m, &state);
	if (measure->kind == PQ_M_AVG && state.n && state.value.type == PQ_INT)
		return ((double)state.high * 4294967296.0 + (double)state.value.u) /
		       (double)state.n;
	if (state.value.type == PQ_FLOAT)
		return measure->kind == PQ_M_AVG && state.n ? state.value.f / (double)state.n :
							      state.value.f;
	if (state.value.type != PQ_INT)
		return 0;
	return is_signed ? (double)state.value.i : (double)state.value.u;
}

/* Returns the k-th greatest of n numbers, and reorders them; 1 <= k <= n. */
static double find_greatest(double *x, size_t n, size_t k)
{
	size_t from = 0, to = n;

	for (;;) {
		double pivot = x[from + (to - from) / 2];
		size_t greater = from, less = to;

		/*
		 * from … greater: above the pivot; greater … i: equal to it; less … to: below
		 * it
		 */
		for (size_t i = from; i < less;) {
			double v = x[i];

			if (v > pivot) {
				x[i++] = x[greater];
				x[greater++] = v;
			} else if (v < pivot) {
				x[i] = x[--less];
				x[less] = v;
			} else {
				i++;
			}
		}
		if (k <= greater)
			to = greater;
		else if (k > less)
			from = less;
		else
			return pivot;
	}
}

/*
 * The groups that may be among the first k, in their order: up to 4 * k of those that were
 * read. They are cut to k whenever they become so many.
 */
struct candidates {
	size_t k, n;
	bool were_cut;
	double least;		   /* least weight among the remaining groups */
	double *weights, *scratch; /* [4 * k] */
	size_t *groups;		   /* [4 * k] */
};

/* Keeps the k candidates that come first; among equal weights, the earlier ones. */
static void cut_candidates(struct candidates *c)
{
	size_t equal = c->k, n = 0;
	double least;

	memcpy(c->scratch, c->weights, c->n * sizeof(*c->weights));
	least = find_greatest(c->scratch, c->n, c->k);
	for (size_t i = 0; i < c->n; i++)
		equal -= c->weights[i] > least;
	for (size_t i = 0; i < c->n; i++) {
		double v = c->weights[i];

		if (v < least || (v == least && !equal))
			continue;
		equal -= v == least;
		c->groups[n] = c->groups[i];
		c->weights[n++] = v;
	}
	c->n = n;
	c->least = least;
	c->were_cut = true;
}

size_t *pl_choose_groups(lua_State *L, const struct pl_job *job, size_t k)
{
	size_t n = pq_groups_size(job->groups), most = 4 * k;
	size_t m = (size_t)(job->first < 0 ? -job->first : job->first);
	struct candidates c = { .k = k };

	c.groups = lua_newuserdatauv(L, (most + 1) * sizeof(*c.groups), 0);
	c.weights = lua_newuserdatauv(L, 2 * most * sizeof(*c.weights), 0);
	c.scratch = c.weights + most;
	for (size_t g = 0; g < n; g++) {
		double v = m ? weight_of(job, g, m - 1) : 0;

		if (job->first < 0)
			v = -v;
		if (v != v)
			v = 0;
		if (c.were_cut && v <= c.least)
			continue;
		c.weights[c.n] = v;
		c.groups[c.n++] = g;
		if (c.n == most)
			cut_candidates(&c);
	}
	if (c.n > k)
		cut_candidates(&c);
	c.groups[c.n] = SIZE_MAX;
	lua_pop(L, 1);
	return c.groups;
}

/* Returns the value of a measure that can be added up over groups; 0 for other measures. */
static double sum_of(const struct pl_job *job, size_t g, size_t m)
{
	struct pq_state state;

	switch (job->grouping.measures[m].kind) {
	case PQ_M_AVG:
		pq_groups_state(job->groups, g, m, &state);
		return weight_of(job, g, m) * (double)state.n;
	case PQ_M_COUNT:
	case PQ_M_SUM:
	case PQ_M_SHARE:
		return weight_of(job, g, m);
	default:
		return 0;
	}
}

/* The sums of the groups of an event that were not chosen. */
struct left_out {
	bool any;
	size_t g; /* one of them */
	double sums[];
};

/* Returns the number of a group's event; n_events if it has none. */
static size_t event_of(const struct pl_job *job, size_t g)
{
	struct pq_value v;

	for (size_t k = 0; k < job->grouping.n_keys; k++) {
		pq_groups_key(job->groups, g, k, &v);
		if (v.type == PQ_EVENT && v.event->number < job->scope.n_events)
			return v.event->number;
	}
	return job->scope.n_events;
}

static void add_sums(const struct pl_job *job, size_t g, struct left_out *sums)
{
	sums->any = true;
	sums->g = g;
	for (size_t m = 0; m < job->grouping.n_measures; m++)
		sums->sums[m] += sum_of(job, g, m);
}

void pl_push_left_out(lua_State *L, const struct pl_job *job, const size_t *chosen, int n_shown)
{
	const struct pq_grouping *grouping = &job->grouping;
	size_t size = sizeof(struct left_out) + grouping->n_measures * sizeof(double);
	size_t n = job->scope.n_events + 1;
	char *all = lua_newuserdatauv(L, n * size, 0);
	lua_Integer at = 0;

	memset(all, 0, n * size);
	for (size_t g = 0; g < pq_groups_size(job->groups); g++) {
		if (g == *chosen)
			chosen++;
		else
			add_sums(job, g, (void *)(all + event_of(job, g) * size));
	}
	lua_newtable(L);
	for (size_t e = 0; e < n; e++) {
		const struct left_out *sums = (const void *)(all + e * size);

		if (!sums->any)
			continue;
		lua_newtable(L);
		pl_set_keys(L, job, sums->g, n_shown);
		for (size_t m = 0; m < grouping->n_measures; m++) {
			lua_pushnumber(L, sums->sums[m]);
			lua_rawseti(L, -2, (lua_Integer)m + 1);
		}
		lua_rawseti(L, -2, ++at);
	}
	lua_remove(L, -2);
}
