/*
 * The guests in a recording, as far as events were opened for them. Each guest is a machine of
 * its own; their numbers follow those of the recordings.
 */
#ifndef PERFLUA_MACHINE_GUESTS_H
#define PERFLUA_MACHINE_GUESTS_H

#include "sources.h"

#define PM_NO_MACHINE UINT32_MAX

struct pm_guest_cpu {
	int32_t machine_pid, vcpu;
};

struct pm_guests {
	uint32_t n_files, n;
	struct pb_id_map by_pid;   /* host machine and pid of a guest → its number */
	struct pb_id_map *by_id;   /* [n_files]: id of an event → number in `cpus` */
	struct pm_guest_cpu *cpus; /* [n_cpus] */
	size_t n_cpus, capacity;
	unsigned id, entries; /* numbers of field names */
};

bool pm_guests_init(struct pm_guests *guests, const struct pd_session *session);
void pm_guests_deinit(struct pm_guests *guests);

/* Adds the guests that an ID_INDEX record names. Returns false without memory. */
bool pm_guests_add(struct pm_guests *guests, const struct pd_record *rec);

/* Returns the guest and virtual processor that a record's event is of; NULL: of none. */
const struct pm_guest_cpu *pm_guests_of(const struct pm_guests *guests,
					const struct pd_record *rec);

/*
 * Returns the machine of the guest with process `pid` on host `machine`. A guest that is not
 * known is the one without a pid. PM_NO_MACHINE: that is not known either. See
 * machines__find_guest, tools/perf/util/machine.c.
 */
uint32_t pm_guests_machine(const struct pm_guests *guests, uint32_t machine, int32_t pid);
/*
 * Does what pm_guests_machine() does, but adds a guest that is not known. PM_NO_MACHINE: no
 * memory.
 */
uint32_t pm_guests_make(struct pm_guests *guests, uint32_t machine, int32_t pid);

#endif
