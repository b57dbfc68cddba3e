#include "parallel.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define APART 128 /* bytes: what two threads write to shares no line of a cache */

/* A thread's: made when it takes its first piece, so that its memory is its own. */
struct member {
	_Alignas(APART) struct pq_worker worker;
	bool made;
};

struct team {
	const struct pq_scope *scope;
	const struct pq_grouping *grouping;
	struct member *members; /* by number */
	uint64_t size;		/* of all that is read */
	atomic_bool no_memory;
};

/* Is what is added up not the same in any order? Sums of floats are not, and others may be of floats. */
static bool is_rounded(const struct pq_measure *m)
{
	switch (m->kind) {
	case PQ_M_SUM:
	case PQ_M_AVG:
	case PQ_M_SHARE:
	case PQ_M_RATIO:
		return m->value && (m->value->kind == PQ_K_FLOAT || m->value->kind == PQ_K_ANY);
	default:
		return false;
	}
}

/* Why one thread must do it; NULL: nothing is in the way. */
static const char *why_alone(const struct pq_scope *scope, const struct pq_grouping *grouping)
{
	if (pq_scope_passes(scope))
		return "it passes once";
	if (pq_scope_splits(scope))
		return "samples carry counter values, and each period is the difference to the one before";
	if (scope->order == PD_ORDER_TIME)
		return "the order of time";
	for (size_t i = 0; i < grouping->n_measures; i++) {
		const struct pq_measure *m = &grouping->measures[i];

		if (m->kind == PQ_M_FIRST || m->kind == PQ_M_LAST)
			return "first and last";
		if (is_rounded(m))
			return "sums of floats";
	}
	return NULL;
}

unsigned pq_parallel_threads(const struct pq_scope *scope, const struct pq_grouping *grouping,
			     const char **why)
{
	unsigned n;

	*why = NULL;
	if (scope->threads <= 1)
		return 1;
	*why = why_alone(scope, grouping);
	if (*why)
		return 1;
	n = pd_pieces_threads(scope->session, scope->threads);
	if (n < scope->threads)
		*why = n == 1 ? "it is small" : "it is in few pieces";
	return n;
}

static bool go_on(void *arg, uint64_t done)
{
	const struct team *team = arg;
	const struct pq_scope *scope = team->scope;

	return !scope->go_on || scope->go_on(scope->arg, done, team->size);
}

static bool piece_goes_on(void *piece)
{
	return pd_piece_goes_on(piece);
}

static bool make(struct team *team, struct member *member)
{
	if (!member->made && pq_worker_init(&member->worker, team->scope, team->grouping))
		member->made = true;
	return member->made;
}

static bool read_piece(void *arg, const struct pd_piece *piece)
{
	struct team *team = arg;
	struct member *member = &team->members[piece->worker];
	struct pd_error err;

	if (make(team, member) && pq_worker_read(&member->worker, piece->reader, piece_goes_on,
						 (void *)piece, &err) != PQ_READ_FAILED)
		return true;
	atomic_store(&team->no_memory, true);
	return false;
}

/* Everything to the first one's groups. */
static bool put_together(struct team *team, unsigned n)
{
	struct member *first = &team->members[0];

	if (!make(team, first))
		return false;
	for (unsigned i = 1; i < n; i++)
		if (team->members[i].made &&
		    (team->members[i].worker.fields.failed ||
		     !pq_groups_merge(first->worker.groups, team->members[i].worker.groups)))
			return false;
	return !first->worker.fields.failed;
}

static void deinit(struct team *team, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		pq_worker_deinit(&team->members[i].worker);
	free(team->members);
}

int pq_parallel_run(const struct pq_scope *scope, const struct pq_grouping *grouping,
		    unsigned threads, bool *shared, struct pq_groups **groups,
		    struct pd_error *err)
{
	struct team team = {
		.scope = scope,
		.grouping = grouping,
		.members = aligned_alloc(APART, threads * sizeof(*team.members)),
		.size = pq_scope_size(scope),
	};
	struct pd_pieces_work work = {
		.threads = threads,
		.read = read_piece,
		.go_on = go_on,
		.arg = &team,
	};
	enum pd_pieces done = PD_PIECES_NOT;
	bool ok = team.members && (!scope->machine || pm_machine_prepare(scope->machine));

	if (team.members)
		memset(team.members, 0, threads * sizeof(*team.members));
	if (ok)
		done = pd_pieces_read(scope->session, &work);
	*shared = !ok || done != PD_PIECES_NOT;
	ok = ok && *shared && !atomic_load(&team.no_memory) && put_together(&team, threads);
	if (ok) {
		*groups = team.members[0].worker.groups;
		team.members[0].worker.groups = NULL;
	} else if (*shared) {
		pd_error_set(err, "ENOMEM", scope->session->files[0]->path, PD_NO_OFFSET,
			     "no memory for the groups of records");
	}
	if (team.members)
		deinit(&team, threads);
	return ok ? done == PD_PIECES_DONE : -1;
}
