/*
 * Grouped queries over pairs of records.
 */
#include "pairs.h"
#include "query_group.h"

void pl_pairs_read(lua_State *L, const struct pl_file *f, struct pl_job *job)
{
	int top = lua_gettop(L);

	if (lua_getfield(L, PL_OPTIONS_AT, "pairs") == LUA_TTABLE) {
		lua_getfield(L, PL_OPTIONS_AT, "values");
		job->pairs.nodes = pl_to_nodes(L, PL_KEEP_AT, f, -1, PQ_MAX_ROW, &job->pairs.n);
		job->pairs.how = pl_to_pairing(L, PL_KEEP_AT, PL_OPTIONS_AT, job->pairs.n);
		if (lua_getfield(L, PL_OPTIONS_AT, "kept") != LUA_TNIL)
			job->pairs.kept = pl_to_node(L, PL_KEEP_AT, f, -1);
		/* the thread that makes the rows asks, too: it shows nothing */
		job->scope.progress = pb_until_set(job->progress.interrupt);
	}
	lua_settop(L, top);
}

enum pb_outcome pl_pairs_run(lua_State *L, struct pl_job *job, struct pd_error *err)
{
	const struct pq_paired paired = {
		.nodes = job->pairs.nodes,
		.n = job->pairs.n,
		.how = job->pairs.how,
		.kept = job->pairs.kept,
	};
	struct pq_pair_counts counts = { 0 };
	enum pb_outcome ran = pq_run_pairs(&job->scope, &paired, &job->grouping, &job->groups,
					   &counts, &job->progress.part, err);

	pl_push_pair_counts(L, &counts);
	lua_setfield(L, PL_OPTIONS_AT, "counts");
	return ran;
}
