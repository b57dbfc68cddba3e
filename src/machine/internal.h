/*
 * What the files of this room share: the inside of the recorded system.
 */
#ifndef PERFLUA_MACHINE_INTERNAL_H
#define PERFLUA_MACHINE_INTERNAL_H

#include "binaries.h"
#include "deferred.h"
#include "guests.h"
#include "machine.h"

struct pm_machine {
	const struct pd_session *session;
	struct pm_sources sources;
	struct pm_ids ids;
	struct pm_names names;
	struct pm_threads threads;
	struct pm_spaces *spaces;
	struct pm_binaries binaries;
	struct pm_guests guests;
	struct pm_deferred deferred;
	struct pb_id_map *cgroups; /* by system: id → name */
	uint64_t taken; /* records: what was known of an address may change with one */
};

static inline uint32_t pm_system_of(const struct pm_machine *m, const struct pd_record *rec)
{
	return pm_source_of(&m->sources, rec)->system;
}

/*
 * Sets the name of a thread: what has none is called as perf does; the idle threads need none.
 */
void pm_set_name(const struct pm_machine *m, int32_t tid, uint32_t name, struct pd_value *out);

#endif
