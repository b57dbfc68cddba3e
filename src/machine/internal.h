/* Internal to the module: the recorded system itself. */
#ifndef PERFLUA_MACHINE_INTERNAL_H
#define PERFLUA_MACHINE_INTERNAL_H

#include "binaries.h"
#include "deferred.h"
#include "guests.h"
#include "machine.h"

struct pm_system {
	const struct pd_session *session;
	struct pm_sources sources;
	struct pm_field_ids ids;
	struct pm_string_pool strings;
	struct pm_threads threads;
	struct pm_spaces *spaces;
	struct pm_binaries binaries;
	struct pm_guests guests;
	struct pm_deferred deferred;
	/*
	 * [2 * n_files]: id → number in `strings`, by recording, then by machine for those
	 * without an own record (perf record --switch-output writes them to the first file)
	 */
	struct pb_id_map *cgroups;
	uint64_t revision; /* records added: answers may change with each */
};

static inline uint32_t pm_machine_of(const struct pm_system *sys, const struct pd_record *rec)
{
	return pm_source_of(&sys->sources, rec)->machine;
}

/* Adds the path that a CGROUP record tells. Returns false without memory. */
bool pm_cgroup_add(struct pm_system *sys, const struct pd_record *rec);

/*
 * Sets *out to the name of thread `tid`, whose number is `name`. A thread without a name is
 * called ":tid", as in perf, and tid 0 is the idle thread.
 */
void pm_set_name(const struct pm_system *sys, int32_t tid, uint32_t name, struct pd_value *out);

#endif
