/*
 * Grouped queries over pairs of records.
 */
#include "pairs.h"
#include "group.h"

void pl_pairs_read(lua_State *L, const struct pl_file *f, struct pl_job *job)
{
	struct pl_calls *calls;

	if (!pl_to_paired(L, PL_KEEP_AT, f, PL_OPTIONS_AT, &job->pairs))
		return;
	/* the functions that are known at this point see records */
	calls = pl_calls_of(L, PL_KEEP_AT);
	job->scope.calls = calls ? &calls->calls : NULL;
	pl_to_made(L, PL_KEEP_AT, f, PL_OPTIONS_AT, &job->pairs);
	/* in the thread that makes the rows; the caller shows how far it is */
	job->scope.progress = pb_until_set(job->progress.interrupt);
}

enum pb_outcome pl_pairs_run(lua_State *L, struct pl_job *job, struct pd_error *err)
{
	struct pq_pair_counts counts = { 0 };
	const struct pb_progress shown = pl_progress_shown(&job->progress);
	enum pb_outcome ran = pq_run_pairs(&job->scope, job->calls ? &job->calls->calls : NULL,
					   &job->pairs, &job->grouping, &job->groups, &counts,
					   &shown, err);

	if (lua_getfield(L, PL_OPTIONS_AT, "counts") == LUA_TTABLE)
		pl_set_pair_counts(L, &counts);
	lua_pop(L, 1);
	return ran;
}
