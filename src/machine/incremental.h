/*
 * Reads the recorded system while it is asked. Records come as they lie in a recording and
 * wait. They are added in the order of time, up to a time after which later records are not
 * expected to go. An answer given on the way is what the system would say after reading
 * everything. When that cannot be guaranteed, functions return false: all answers so far are
 * void, and the system has to be cleared and read first.
 */
#ifndef PERFLUA_MACHINE_INCREMENTAL_H
#define PERFLUA_MACHINE_INCREMENTAL_H

#include "perfdata/container/session.h"

struct pm_system;

struct pm_incremental;

/*
 * Returns true if the recordings of `session` can be read so, provided that only samples ask.
 */
bool pm_can_read_incrementally(const struct pd_session *session);

/*
 * Starts reading for `system`, to which nothing was added, and whose session can be read so.
 * With `later_names`, resolvers use these (pm_resolver_use_later_names). Returns NULL without
 * memory.
 */
struct pm_incremental *pm_incremental_create(struct pm_system *system, bool later_names);
void pm_incremental_destroy(struct pm_incremental *incremental);

/*
 * Takes a copy of `rec`, which is bound to its event. `last` is the time of the last record
 * before it that has one, 0 if none has. Returns false if the answers are void.
 */
bool pm_incremental_add(struct pm_incremental *incremental, const struct pd_record *rec,
			uint64_t last);

/*
 * Adds the records up to `time`, as samples up to that time are going to ask. Call it with
 * UINT64_MAX at the end: then the system is complete. Returns false if the answers are void.
 */
bool pm_incremental_advance(struct pm_incremental *incremental, uint64_t time);

#endif
