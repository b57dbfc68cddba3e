/*
 * The guests of the recorded systems, as far as events were opened for them. A guest is a
 * system of its own to the address spaces, numbered behind those of the recordings.
 */
#ifndef PERFLUA_MACHINE_GUESTS_H
#define PERFLUA_MACHINE_GUESTS_H

#include "sources.h"

#define PM_NO_SYSTEM UINT32_MAX

struct pm_guest_cpu {
	int32_t machine_pid, vcpu;
};

struct pm_guests {
	uint32_t n_files, n;
	struct pb_id_map by_pid;   /* system and pid of a guest → its number */
	struct pb_id_map *by_id;   /* [n_files]: id of an event → its place in cpus */
	struct pm_guest_cpu *cpus; /* [n_cpus] */
	size_t n_cpus, capacity;
	unsigned id, entries; /* numbers of names of fields */
};

bool pm_guests_init(struct pm_guests *guests, const struct pd_session *session);
void pm_guests_deinit(struct pm_guests *guests);

/* Takes in what an ID_INDEX says. False: no memory. */
bool pm_guests_add(struct pm_guests *guests, const struct pd_record *rec);

/* Which guest's a record is; NULL: of none, as far as its event says. */
const struct pm_guest_cpu *pm_guests_of(const struct pm_guests *guests,
					const struct pd_record *rec);

/*
 * The system that the spaces of a guest are of; one that is not known is the one without a pid.
 * PM_NO_SYSTEM: there is none. See machines__find_guest, tools/perf/util/machine.c.
 */
uint32_t pm_guests_system(const struct pm_guests *guests, uint32_t system, int32_t pid);
/* The same, made if it is new; PM_NO_SYSTEM: no memory. */
uint32_t pm_guests_make(struct pm_guests *guests, uint32_t system, int32_t pid);

#endif
