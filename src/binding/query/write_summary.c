/* The summary of a recording that was written, as a table. */
#include "perfdata/format/feature.h"
#include "write.h"

void pl_push_feature_names(lua_State *L, const bool set[PD_FEATURES])
{
	lua_Integer n = 0;

	lua_newtable(L);
	for (unsigned bit = 0; bit < PD_FEATURES; bit++) {
		const struct pd_feature *feature = pd_feature_by_bit(bit);

		if (!set[bit])
			continue;
		if (feature)
			lua_pushstring(L, feature->name);
		else if (bit == PD_FEATURE_BUNDLE)
			lua_pushliteral(L, "names that were packed");
		else
			lua_pushfstring(L, "feature %d", (int)bit);
		lua_rawseti(L, -2, ++n);
	}
}

static void set_features(lua_State *L, const char *name, const bool set[PD_FEATURES])
{
	pl_push_feature_names(L, set);
	lua_setfield(L, -2, name);
}

/* Sets the field `merged` of the table on the top: what was done to join recordings. */
static void push_merged(lua_State *L, const struct pw_merge *m)
{
	lua_newtable(L);
	pl_set_integer(L, "events", m->description.n_events);
	pl_set_integer(L, "doubles", m->doubles);
	pl_set_integer(L, "rebuilt", m->rebuilt);
	lua_pushboolean(L, m->has_other_names);
	lua_setfield(L, -2, "unpacked");
	lua_newtable(L);
	for (size_t i = 0; i < m->session->n_files; i++) {
		lua_pushinteger(L, (lua_Integer)m->parts[i].edits.shift);
		lua_rawseti(L, -2, (lua_Integer)i + 1);
	}
	lua_setfield(L, -2, "shifts");
	lua_setfield(L, -2, "merged");
}

void pl_push_summary(lua_State *L, const struct pl_writing *writing)
{
	const struct pw_summary *summary = &writing->writer.summary;
	const struct pw_chain_counts *counts = &writing->counts;

	lua_newtable(L);
	pl_set_integer(L, "records", summary->records);
	pl_set_integer(L, "samples", summary->samples);
	pl_set_integer(L, "bytes", summary->bytes);
	pl_set_integer(L, "plain_bytes", summary->plain_bytes);
	pl_set_integer(L, "sample_bytes", summary->sample_bytes);
	pl_set_integer(L, "aux_records", summary->aux_records);
	pl_set_integer(L, "aux_bytes", summary->aux_bytes);
	pl_set_integer(L, "unwound", counts->unwound);
	pl_set_integer(L, "kept_stacks", counts->kept);
	pl_set_integer(L, "merged_callchains", counts->joined);
	pl_set_integer(L, "unmatched_callchains", counts->unmatched);
	pl_set_integer(L, "damaged_samples", counts->damaged);
	pl_set_integer(L, "unturned_records", summary->unturned_records);
	pl_set_integer(L, "unturned_data", summary->unturned_data);
	set_features(L, "unturned", summary->unturned);
	set_features(L, "unreadable", summary->unreadable);
	set_features(L, "unfit", summary->unfit);
	if (writing->merge)
		push_merged(L, writing->merge);
}
