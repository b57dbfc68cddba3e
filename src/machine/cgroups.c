/* The paths of control groups, by the ids that samples have. */
#include "internal.h"

static struct pb_id_map *cgroups_of_recording(const struct pm_system *sys,
					      const struct pd_record *rec)
{
	return &sys->cgroups[rec->source ? rec->source - 1u : 0];
}

static struct pb_id_map *cgroups_of_machine(const struct pm_system *sys,
					    const struct pd_record *rec)
{
	return &sys->cgroups[sys->session->n_files + pm_machine_of(sys, rec)];
}

bool pm_cgroup_add(struct pm_system *sys, const struct pd_record *rec)
{
	struct pd_value path;
	int64_t id;
	uint32_t name;

	pm_get(rec, sys->ids.path, &path);
	if (!pm_integer(rec, sys->ids.cgroup_id, &id) || path.type != PD_STR)
		return true;
	name = pm_string_pool_add(&sys->strings, (struct pd_text){ path.s.p, path.s.n });
	return name != PM_NO_STRING &&
	       pb_id_map_add(cgroups_of_recording(sys, rec), (uint64_t)id, name) &&
	       pb_id_map_add(cgroups_of_machine(sys, rec), (uint64_t)id, name);
}

void pm_cgroup_path_of(const struct pm_system *sys, const struct pd_record *rec,
		       struct pd_value *out)
{
	const struct pd_text *path;
	uint32_t name;
	int64_t id;

	if (!pm_integer(rec, sys->ids.cgroup, &id))
		return;
	name = pb_id_map_find(cgroups_of_recording(sys, rec), (uint64_t)id);
	if (name == UINT32_MAX)
		name = pb_id_map_find(cgroups_of_machine(sys, rec), (uint64_t)id);
	if (name == UINT32_MAX)
		return;
	path = &sys->strings.texts[name];
	out->type = PD_STR;
	out->s.p = path->p;
	out->s.n = path->n;
}
