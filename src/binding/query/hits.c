/*
 * Groups by binary, for lists of all binaries.
 *
 * The option is binaries = true: the keys are `dso` and `map.build_id`, and the measure is a
 * count. The result is empty. A second result is a function: each(load, fn) calls fn(row,
 * first) for each binary of the recording (pl_list_binaries) with its samples, which are also
 * those of all others with its name and build-id; `first` is true for the first of these. The
 * groups stay in the core, as there may be as many as processes.
 */
#include <stdlib.h>
#include <string.h>

#include "group.h"
#include "binding/system.h"

/* The name and the build-id of a binary, in hex. */
struct identity {
	const struct pl_job *job;
	struct pd_text name, build_id;
};

void pl_hits_read(lua_State *L, struct pl_job *job)
{
	const struct pq_grouping *g = &job->grouping;

	lua_getfield(L, PL_OPTIONS_AT, "binaries");
	job->hits.is_asked = lua_toboolean(L, -1);
	lua_pop(L, 1);
	if (job->hits.is_asked &&
	    (g->n_keys != 2 || g->n_measures != 1 || g->measures[0].kind != PQ_M_COUNT))
		luaL_error(L, "invalid query: binaries need two keys and a count");
}

void pl_hits_free(struct pl_job *job)
{
	pb_map_deinit(&job->hits.map);
	free(job->hits.counted);
	job->hits.counted = NULL;
}

/* Returns a key of a group; a text of size 0 if it is absent. */
static struct pd_text get_key(const struct pl_job *job, size_t group, size_t key)
{
	struct pq_value value;

	pq_groups_key(job->groups, group, key, &value);
	return value.type == PQ_TEXT ? (struct pd_text){ value.p, value.size } :
				       (struct pd_text){ "", 0 };
}

static bool has_key(const struct pl_job *job, size_t group, size_t key, struct pd_text text)
{
	struct pd_text own = get_key(job, group, key);

	return own.n == text.n && memcmp(own.p, text.p, text.n) == 0;
}

static bool has_identity(const void *arg, uint32_t group)
{
	const struct identity *identity = arg;

	return has_key(identity->job, group, 0, identity->name) &&
	       has_key(identity->job, group, 1, identity->build_id);
}

static uint32_t hash_identity(const struct pl_job *job, struct pd_text name,
			      struct pd_text build_id)
{
	const struct pb_secret *secret = &job->hits.secret;

	return pb_hash_pair(secret, pb_hash_bytes(secret, name.p, name.n),
			    pb_hash_bytes(secret, build_id.p, build_id.n));
}

/* Makes the groups findable. Returns false without memory. */
static bool index_groups(struct pl_job *job)
{
	size_t n = pq_groups_size(job->groups);

	pq_groups_seal(job->groups);
	pb_secret_make(&job->hits.secret);
	job->hits.counted = calloc(n + 1, sizeof(*job->hits.counted));
	if (!job->hits.counted || n >= UINT32_MAX)
		return false;
	for (size_t g = 0; g < n; g++) {
		struct pd_text name = get_key(job, g, 0);
		uint32_t hash = hash_identity(job, name, get_key(job, g, 1));

		/* without a name there was no binary */
		if (name.n && !pb_map_add(&job->hits.map, hash, (uint32_t)g))
			return false;
	}
	return true;
}

/* See struct pl_listing. */
static bool count_hits(void *arg, const struct ps_dso *dso, uint64_t *samples)
{
	struct pl_job *job = arg;
	char id[PS_BUILD_ID_TEXT] = "";
	struct identity identity = { .job = job };
	const struct pb_slot *slot;
	struct pq_state state;
	bool first;

	if (dso->id.build_id.size)
		ps_build_id_text(&dso->id.build_id, id);
	identity.name = (struct pd_text){ dso->name, strlen(dso->name) };
	identity.build_id = (struct pd_text){ id, strlen(id) };
	slot = pb_map_find(&job->hits.map, hash_identity(job, identity.name, identity.build_id),
			   has_identity, &identity);
	if (!slot || !slot->item)
		return true;
	pq_groups_state(job->groups, slot->item - 1, 0, &state);
	*samples = state.value.u;
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
