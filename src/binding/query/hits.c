/*
 * Groups by binary, for lists of all binaries.
 *
 * The option is binaries = true: the key is a call chain of PQ_CHAIN_BINARY or
 * PQ_CHAIN_BINARIES, and the measure is a count. The result is empty. A second result is a
 * function: each(load, fn) calls fn(row, first) for each binary of the recording
 * (pl_list_binaries) with its samples, which are also those of all others with its name and
 * build-id; `first` is true for the first of these. The groups stay in the core, as there may
 * be as many as processes.
 */
#include <stdlib.h>
#include <string.h>

#include "group.h"
#include "binding/system.h"

void pl_hits_read(lua_State *L, struct pl_job *job)
{
	const struct pq_grouping *g = &job->grouping;

	lua_getfield(L, PL_OPTIONS_AT, "binaries");
	job->hits.is_asked = lua_toboolean(L, -1);
	lua_pop(L, 1);
	if (job->hits.is_asked &&
	    (g->n_keys != 1 || g->n_measures != 1 || g->measures[0].kind != PQ_M_COUNT))
		luaL_error(L, "invalid query: binaries need one key and a count");
}

void pl_hits_free(struct pl_job *job)
{
	pb_map_deinit(&job->hits.map);
	free(job->hits.counted);
	free(job->hits.samples);
	job->hits.counted = NULL;
	job->hits.samples = NULL;
}

/* Returns the binary of a group; NULL: nothing was mapped at ip, or there is none. */
static const struct ps_dso *get_binary(const struct pl_job *job, size_t group)
{
	const struct pq_chains *chains = pq_groups_chains(job->groups);
	struct pq_value value;
	size_t n;

	pq_groups_key(job->groups, group, 0, &value);
	if (value.type != PQ_CHAIN)
		return NULL;
	return pq_chains_frame(chains, *pq_chains_frames(chains, (uint32_t)value.u, &n)).dso;
}

struct wanted {
	const struct pl_job *job;
	const struct ps_dso *dso;
};

/* Returns true if the binary of a group has the name and the build-id of the wanted one. */
static bool has_identity(const void *arg, uint32_t group)
{
	const struct wanted *wanted = arg;
	const struct ps_dso *a = get_binary(wanted->job, group), *b = wanted->dso;
	const struct ps_build_id *id = &a->id.build_id;

	return id->size == b->id.build_id.size &&
	       memcmp(id->bytes, b->id.build_id.bytes, id->size) == 0 &&
	       strcmp(a->name, b->name) == 0;
}

static uint32_t hash_identity(const struct pl_job *job, const struct ps_dso *dso)
{
	const struct pb_secret *secret = &job->hits.secret;

	return pb_hash_pair(secret, pb_hash_bytes(secret, dso->name, strlen(dso->name)),
			    pb_hash_bytes(secret, dso->id.build_id.bytes,
					  dso->id.build_id.size));
}

/*
 * Adds the samples of binaries up by name and build-id, in the first group of each, and makes
 * these findable. Returns false without memory.
 */
static bool index_groups(struct pl_job *job)
{
	size_t n = pq_groups_size(job->groups);

	pq_groups_seal(job->groups);
	pb_secret_make(&job->hits.secret);
	job->hits.counted = calloc(n + 1, sizeof(*job->hits.counted));
	job->hits.samples = calloc(n + 1, sizeof(*job->hits.samples));
	if (!job->hits.counted || !job->hits.samples || n >= UINT32_MAX)
		return false;
	for (size_t g = 0; g < n; g++) {
		const struct wanted wanted = { job, get_binary(job, g) };
		struct pq_state state;
		uint32_t first;

		if (!wanted.dso)
			continue;
		first = pb_map_intern(&job->hits.map, hash_identity(job, wanted.dso),
				      has_identity, &wanted, (uint32_t)g);
		if (first == UINT32_MAX)
			return false;
		pq_groups_state(job->groups, g, 0, &state);
		job->hits.samples[first] += state.value.u;
	}
	return true;
}

/* See struct pl_listing. */
static bool count_hits(void *arg, const struct ps_dso *dso, uint64_t *samples)
{
	struct pl_job *job = arg;
	const struct wanted wanted = { job, dso };
	const struct pb_slot *slot = pb_map_find(&job->hits.map, hash_identity(job, dso),
						 has_identity, &wanted);
	bool first;

	if (!slot || !slot->item)
		return true;
	*samples = job->hits.samples[slot->item - 1];
	first = !job->hits.counted[slot->item - 1];
	job->hits.counted[slot->item - 1] = true;
	return first;
}

/* Upvalues: the file, what the job needs, the job. each(load, fn) */
static int list_binaries(lua_State *L)
{
	struct pl_job *job = lua_touserdata(L, lua_upvalueindex(3));
	struct pl_listing listing = {
		.file = lua_upvalueindex(1),
		.fn = 2,
		.load = lua_toboolean(L, 1),
		.count = count_hits,
		.arg = job,
	};

	lua_settop(L, 2);
	memset(job->hits.counted, 0, pq_groups_size(job->groups));
	pl_list_binaries(L, &listing);
	return 0;
}

void pl_push_hits(lua_State *L, struct pl_job *job)
{
	if (!index_groups(job))
		luaL_error(L, "no memory for the samples of binaries");
	pl_push_result(L);
	lua_settop(L, PL_RESULT_AT);
	lua_pushvalue(L, PL_FILE_AT);
	lua_pushvalue(L, PL_KEEP_AT);
	lua_pushvalue(L, PL_JOB_AT);
	lua_pushcclosure(L, list_binaries, 3);
}
