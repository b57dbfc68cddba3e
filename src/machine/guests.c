#include "internal.h"

#include <stdlib.h>

#include "perfdata/format/views.h"
#include "symbols/symbols.h"

bool pm_guests_init(struct pm_guests *g, const struct pd_session *session)
{
	const struct pd_field_names *names = &session->files[0]->field_names;

	*g = (struct pm_guests){
		.n_files = (uint32_t)session->n_files,
		.id = pd_field_name_id(names, "id", 2),
		.entries = pd_field_name_id(names, "entries", 7),
		.by_id = calloc(session->n_files, sizeof(*g->by_id)),
	};
	return g->by_id != NULL;
}

void pm_guests_deinit(struct pm_guests *g)
{
	for (size_t i = 0; g->by_id && i < g->n_files; i++)
		pb_id_map_deinit(&g->by_id[i]);
	free(g->by_id);
	pb_id_map_deinit(&g->by_pid);
	free(g->cpus);
	*g = (struct pm_guests){ 0 };
}

static size_t get_recording_index(const struct pd_record *rec)
{
	return rec->source ? rec->source - 1u : 0;
}

static bool add_guest_cpu(struct pm_guests *g, const struct pd_record *rec, uint64_t id,
			  struct pm_guest_cpu cpu)
{
	if (!pb_reserve(g->cpus, g->n_cpus, g->capacity))
		return false;
	g->cpus[g->n_cpus] = cpu;
	return pb_id_map_add(&g->by_id[get_recording_index(rec)], id, (uint32_t)g->n_cpus++);
}

/* Members of an entry that are read: see id_members in perfdata's view_entries.c. */
enum {
	ENTRY_ID = 0,
	ENTRY_MACHINE_PID = 4,
	ENTRY_VCPU = 5,
};

bool pm_guests_add(struct pm_guests *g, const struct pd_record *rec)
{
	struct pd_value entries, id, pid, vcpu;

	pm_get(rec, g->entries, &entries);
	if (entries.type != PD_VIEW || entries.view.desc != &pd_view_id_index)
		return true;
	for (uint32_t i = 0; i < entries.view.count; i++) {
		entries.view.desc->item(&entries.view, i, ENTRY_MACHINE_PID, &pid);
		if (pid.type == PD_NIL || !pid.u)
			continue;
		entries.view.desc->item(&entries.view, i, ENTRY_ID, &id);
		entries.view.desc->item(&entries.view, i, ENTRY_VCPU, &vcpu);
		if (!add_guest_cpu(g, rec, id.u,
				   (struct pm_guest_cpu){ (int32_t)pid.u, (int32_t)vcpu.u }))
			return false;
	}
	return true;
}

const struct pm_guest_cpu *pm_guests_of(const struct pm_guests *g, const struct pd_record *rec)
{
	int64_t id;
	uint32_t i;

	if (!g->n_cpus || !pm_integer(rec, g->id, &id))
		return NULL;
	i = pb_id_map_find(&g->by_id[get_recording_index(rec)], (uint64_t)id);
	return i == UINT32_MAX ? NULL : &g->cpus[i];
}

uint32_t pm_guests_machine(const struct pm_guests *g, uint32_t machine, int32_t pid)
{
	uint32_t i = pb_id_map_find(&g->by_pid, pm_key_of(machine, pid));

	if (i == UINT32_MAX)
		i = pb_id_map_find(&g->by_pid, pm_key_of(machine, 0));
	return i == UINT32_MAX ? PM_NO_MACHINE : g->n_files + i;
}

uint32_t pm_guests_make(struct pm_guests *g, uint32_t machine, int32_t pid)
{
	uint32_t i = pb_id_map_find(&g->by_pid, pm_key_of(machine, pid));

	if (i != UINT32_MAX)
		return g->n_files + i;
	if (!pb_id_map_add(&g->by_pid, pm_key_of(machine, pid), g->n))
		return PM_NO_MACHINE;
	return g->n_files + g->n++;
}
