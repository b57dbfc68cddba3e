/* Adds sideband records to the recorded system: mappings, forks, names and ends of threads. */
#include "perfdata/format/views.h"
#include "internal.h"

/* The paths of control groups, by the ids that samples have. */

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

/* Adds the path that a CGROUP record tells. Returns false without memory. */
static bool add_cgroup(struct pm_system *sys, const struct pd_record *rec)
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

/*
 * Returns the time from which on the statement of a record holds. For a record that perf
 * synthesized, *synthesized, it is only known that it held then. One that was written at the
 * end (perf record --tail-synthesize) gets PM_NO_TIME.
 */
static uint64_t find_valid_time(struct pm_system *sys, const struct pd_record *rec,
				bool *synthesized)
{
	struct pm_source *source = pm_source_of(&sys->sources, rec);
	uint64_t time = pm_time_of(&sys->sources, rec);

	*synthesized = time == PM_NO_TIME;
	if (!*synthesized)
		source->begun = true;
	else if (!source->begun)
		time = source->first_timestamp;
	return time;
}

/*
 * Returns the machine whose address spaces a record is about; PM_NO_MACHINE: no memory. Sets
 * *pid to that of the guest if it is about a guest's kernel.
 */
static uint32_t find_space_machine(struct pm_system *sys, const struct pd_record *rec,
				   int32_t *pid)
{
	const struct pm_guest_cpu *cpu = pm_guests_of(&sys->guests, rec);
	enum pd_cpumode mode = rec->misc & PD_MISC_CPUMODE;
	uint32_t machine = pm_machine_of(sys, rec), guest = PM_NO_MACHINE;

	if (!pm_is_guest(mode))
		return machine;
	if (!cpu && mode == PD_CPUMODE_GUEST_USER)
		guest = pm_guests_machine(&sys->guests, machine, *pid);
	if (guest == PM_NO_MACHINE)
		guest = pm_guests_make(&sys->guests, machine,
				       cpu ? cpu->machine_pid :
				       mode == PD_CPUMODE_GUEST_KERNEL && *pid > 0 ? *pid :
										     0);
	if (cpu && mode == PD_CPUMODE_GUEST_KERNEL)
		*pid = cpu->machine_pid;
	return guest;
}

/*
 * Finds where a record maps something: the machine whose space it is, PM_NO_MACHINE without
 * memory. Returns false if it maps nothing that has a name.
 */
static bool find_place(struct pm_system *sys, const struct pd_record *rec,
		       struct pm_mapped *mapped, uint32_t *machine)
{
	int64_t pid = 0;

	*mapped = (struct pm_mapped){
		.machine = pm_machine_of(sys, rec),
		.mode = rec->misc & PD_MISC_CPUMODE,
	};
	if (pd_record_sideband(rec) == PD_SB_KERNEL_CODE)
		mapped->mode = PD_CPUMODE_KERNEL;
	else if (!pm_integer(rec, sys->ids.pid, &pid))
		return false;
	mapped->pid = (int32_t)pid;
	/* what processes without a pid of their own have mapped is a heap that names nothing */
	if (!pm_is_kernel(mapped->mode) && pid <= 0)
		return false;
	*machine = find_space_machine(sys, rec, &mapped->pid);
	return true;
}

static bool add_mapping(struct pm_system *sys, const struct pd_record *rec)
{
	struct pm_mapped mapped;
	uint32_t machine;
	struct pm_map map;
	bool synthesized, removed;

	if (!find_place(sys, rec, &mapped, &machine))
		return true;
	if (machine == PM_NO_MACHINE ||
	    !pm_binaries_map(&sys->binaries, rec, &mapped, &map, &removed))
		return false;
	map.time = find_valid_time(sys, rec, &synthesized);
	return (!map.dso && !removed) ||
	       pm_spaces_add(sys->spaces, machine,
			     pm_is_kernel(mapped.mode) ? PM_KERNEL : mapped.pid, &map);
}

bool pm_system_mapped(struct pm_system *sys, const struct pd_record *rec, struct pm_map *map)
{
	struct pm_mapped mapped;
	uint32_t machine;
	bool removed;

	return find_place(sys, rec, &mapped, &machine) && machine != PM_NO_MACHINE &&
	       pm_binaries_map(&sys->binaries, rec, &mapped, map, &removed) && map->dso;
}

/*
 * Adds the address space of a forked process. One that perf synthesized inherits nothing, as
 * its maps follow; before Linux 4.20 only its time of 0 gives it away.
 */
static bool fork_address_space(struct pm_system *sys, const struct pd_record *rec, int32_t pid,
			       const struct pm_thread_event *fork)
{
	int64_t ppid, time;
	bool copy = !fork->synthesized && !(rec->misc & PD_MISC_FORK_EXEC);

	if (pm_integer(rec, sys->sources.time_id, &time) && !time)
		copy = false;
	if (!pm_integer(rec, sys->ids.ppid, &ppid) || pid <= 0 || ppid < 0)
		return true;
	return pm_spaces_fork(sys->spaces, find_space_machine(sys, rec, &pid), pid,
			      (int32_t)ppid, fork->time, copy);
}

/*
 * Returns how long after a thread's end, in ns, its record was written; negative: before. perf
 * goes by the time of writing.
 */
static int32_t get_exit_lag(const struct pm_system *sys, const struct pd_record *rec,
			    uint64_t end)
{
	struct pd_value id = { .type = PD_NIL }, time;
	const struct pd_view_desc *desc;
	int64_t lag;

	pm_get(rec, sys->ids.sample_id, &id);
	if (id.type != PD_VIEW || end == PM_NO_TIME)
		return 0;
	desc = id.view.desc;
	desc->member(&id.view, pd_member_find(desc->members, "time"), &time);
	lag = time.type == PD_UINT ? (int64_t)(time.u - end) : 0;
	return lag == (int32_t)lag ? (int32_t)lag : 0;
}

static bool add_thread_event(struct pm_system *sys, const struct pd_record *rec)
{
	struct pm_thread_event event = { .name = PM_NO_STRING };
	struct pd_value comm = { .type = PD_NIL };
	int64_t pid, tid, ptid = -1;

	switch (pd_record_sideband(rec)) {
	case PD_SB_THREAD_NAME:
		event.kind = PM_COMM;
		pm_get(rec, sys->ids.comm, &comm);
		if (comm.type != PD_STR)
			return true;
		break;
	case PD_SB_THREAD_START:
		event.kind = PM_FORK;
		if (!pm_integer(rec, sys->ids.ptid, &ptid))
			return true;
		break;
	default:
		event.kind = PM_EXIT;
		break;
	}
	if (!pm_integer(rec, sys->ids.tid, &tid) || !pm_integer(rec, sys->ids.pid, &pid))
		return true;
	event.time = find_valid_time(sys, rec, &event.synthesized);
	event.pid = (int32_t)pid;
	if (event.kind == PM_EXIT)
		event.lag = get_exit_lag(sys, rec, event.time);
	else
		event.parent = (int32_t)ptid;
	if (event.kind == PM_FORK && !fork_address_space(sys, rec, event.pid, &event))
		return false;
	return pm_threads_add(&sys->threads, pm_machine_of(sys, rec), (int32_t)tid, event,
			      (struct pd_text){ comm.s.p, comm.s.n });
}

bool pm_system_add(struct pm_system *sys, const struct pd_record *rec)
{
	sys->revision++;
	switch (pd_record_sideband(rec)) {
	case PD_SB_THREAD_NAME:
	case PD_SB_THREAD_START:
	case PD_SB_THREAD_END:
		return add_thread_event(sys, rec);
	case PD_SB_MAPPING:
	case PD_SB_KERNEL_CODE:
		return add_mapping(sys, rec);
	case PD_SB_CGROUP:
		return add_cgroup(sys, rec);
	case PD_SB_BUILD_ID:
		return pm_buildids_add(&sys->binaries.build_ids, rec, pm_machine_of(sys, rec));
	case PD_SB_EVENT_IDS:
		return pm_guests_add(&sys->guests, rec);
	case PD_SB_CALLCHAIN:
		return pm_deferred_add(&sys->deferred, pm_machine_of(sys, rec), sys->ids.tid,
				       rec);
	case PD_SB_NONE:
		break;
	}
	return true;
}
