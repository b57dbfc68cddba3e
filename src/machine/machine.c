#include <stdlib.h>

#include "internal.h"
#include "sideband.h"
#include "perfdata/format/views.h"
#include "perfdata/order/walk.h"

#define ASK_EVERY 1024 /* records between two looks at the interrupt */

static void set_field_ids(struct pm_field_ids *ids, const struct pd_field_names *names)
{
	*ids = (struct pm_field_ids){
		.pid = pd_field_name_id(names, "pid", 3),
		.tid = pd_field_name_id(names, "tid", 3),
		.ppid = pd_field_name_id(names, "ppid", 4),
		.ptid = pd_field_name_id(names, "ptid", 4),
		.comm = pd_field_name_id(names, "comm", 4),
		.cgroup = pd_field_name_id(names, "cgroup", 6),
		.cgroup_id = pd_field_name_id(names, "cgroup_id", 9),
		.path = pd_field_name_id(names, "path", 4),
		.ip = pd_field_name_id(names, "ip", 2),
		.addr = pd_field_name_id(names, "addr", 4),
		.sample_id = pd_field_name_id(names, "sample_id", 9),
	};
}

/* Returns false without memory: deinit_system() is to be called then, too. */
static bool init_system(struct pm_system *sys, const struct pd_session *session,
			const struct ps_options *options)
{
	*sys = (struct pm_system){ .session = session };
	sys->threads.strings = &sys->strings;
	pm_threads_init(&sys->threads);
	sys->threads.idle = pm_string_pool_add(&sys->strings, (struct pd_text){ "swapper", 7 });
	sys->cgroups = calloc(session->n_files, 2 * sizeof(*sys->cgroups));
	sys->spaces = pm_spaces_create();
	if (!pm_sources_init(&sys->sources, session) || !sys->cgroups || !sys->spaces ||
	    !pm_binaries_init(&sys->binaries, session, options, &sys->strings) ||
	    !pm_guests_init(&sys->guests, session) || sys->threads.idle == PM_NO_STRING)
		return false;
	set_field_ids(&sys->ids, &session->files[0]->field_names);
	for (size_t i = 0; i < session->n_files; i++)
		if (!pm_buildids_read(&sys->binaries.build_ids, session->files[i],
				      sys->sources.list[i].machine))
			return false;
	return true;
}

static void deinit_system(struct pm_system *sys)
{
	pm_threads_deinit(&sys->threads);
	pm_spaces_destroy(sys->spaces);
	pm_binaries_deinit(&sys->binaries);
	pm_guests_deinit(&sys->guests);
	pm_string_pool_deinit(&sys->strings);
	for (size_t i = 0; sys->cgroups && i < 2 * sys->session->n_files; i++)
		pb_id_map_deinit(&sys->cgroups[i]);
	free(sys->cgroups);
	pm_deferred_deinit(&sys->deferred);
	pm_sources_deinit(&sys->sources);
}

struct pm_system *pm_system_create(const struct pd_session *session,
				   const struct ps_options *options)
{
	struct pm_system *sys = malloc(sizeof(*sys));

	if (!sys || init_system(sys, session, options))
		return sys;
	pm_system_destroy(sys);
	return NULL;
}

void pm_system_destroy(struct pm_system *sys)
{
	if (!sys)
		return;
	deinit_system(sys);
	free(sys);
}

bool pm_system_clear(struct pm_system *sys)
{
	const struct pd_session *session = sys->session;
	struct ps_options options = sys->binaries.options;

	deinit_system(sys);
	return init_system(sys, session, &options);
}

const struct pm_threads *pm_system_threads(const struct pm_system *sys)
{
	return &sys->threads;
}

void pm_system_types(struct pd_types *set)
{
	for (uint32_t type = 0; type < PD_RECORD_TYPES; type++) {
		const struct pd_record_desc *desc = pd_record_desc(type);

		if (desc && desc->sideband)
			pd_types_add(set, type);
	}
}

static bool set_memory_error(const struct pm_system *sys, struct pd_error *err)
{
	return pd_error_set(err, "ENOMEM", sys->session->files[0]->path, PD_NO_OFFSET,
			    "no memory for the recorded system");
}

/* Adds the records that workers found. */
static bool add_found_records(struct pm_system *sys, const struct pm_sideband *found,
			      const struct pb_progress *progress, struct pd_error *err)
{
	struct pd_session *session = (struct pd_session *)sys->session;
	bool several = pm_sources_need_first_timestamps(&sys->sources, session);

	if (several && !pm_sources_begin_first_timestamps(&sys->sources, session, err))
		return false;
	for (size_t i = 0; several && i < found->n; i++)
		pm_sources_note_timestamp(&sys->sources, &found->records[i].rec);
	if (several)
		pm_sources_end_first_timestamps(&sys->sources);
	for (size_t i = 0; i < found->n; i++) {
		if (i % ASK_EVERY == 0 && !pb_goes_on(progress, 0, 0))
			return false;
		if (!pm_system_add(sys, &found->records[i].rec))
			return set_memory_error(sys, err);
	}
	return true;
}

/*
 * Adds the records that a walk over the session finds. The walk also reports what is wrong with
 * the session.
 */
static bool add_walked_records(struct pm_system *sys, const struct pb_progress *progress,
			       struct pd_error *err)
{
	struct pd_session *session = (struct pd_session *)sys->session;
	struct pd_walk_options options = { .to = UINT64_MAX };
	struct pd_walk walk;
	struct pd_record rec;
	int got;

	if (progress)
		options.progress = *progress;
	pm_system_types(&options.types);
	if (!pm_sources_find_first_timestamps(&sys->sources, session, &options, err) ||
	    !pd_walk_init(&walk, session, PD_ORDER_TIME, err))
		return false;
	walk.options = options;
	while ((got = pd_walk_next(&walk, &rec, err)) > 0 && pb_goes_on(progress, 0, 0)) {
		if (!pm_system_add(sys, &rec)) {
			set_memory_error(sys, err);
			got = -1;
			break;
		}
	}
	pd_walk_deinit(&walk);
	return got == 0 && pb_goes_on(progress, 0, 0);
}

/*
 * Finds the side-band records of the session: if `is_ordered`, in the pass that makes the index
 * of times, if there is one. Returns NULL if a walk is to find them.
 */
static struct pm_sideband *find_records(struct pd_session *session, unsigned threads,
					bool is_ordered, const struct pb_progress *progress)
{
	struct pm_sideband *found = pm_sideband_create(session, threads);
	struct pd_types types = { .unknown = false };
	bool has_all;

	if (found && is_ordered) {
		pm_sideband_watch(found, session);
		pd_time_order_index(session, threads, progress);
		if (pm_sideband_gather(found, session))
			return found;
		pm_sideband_destroy(found);
		found = pm_sideband_create(session, threads);
	}
	pb_set_phase(progress, "reading names");
	pm_system_types(&types);
	has_all = found && !pd_time_order_has_few(session, &types) &&
		  pm_sideband_find(found, session, threads, progress);
	if (has_all)
		return found;
	pm_sideband_destroy(found);
	return NULL;
}

bool pm_system_read(struct pm_system *sys, const struct pm_sideband *found, unsigned threads,
		    bool is_ordered, const struct pb_progress *progress, struct pd_error *err)
{
	struct pd_session *session = (struct pd_session *)sys->session;
	struct pb_pass *pass = found ? NULL :
				       pb_pass_begin(session->timing, "recorded system",
						     session->number);
	struct pb_lap lap = pb_stage_enter(session->timing, pass, PB_STAGE_NAMES);
	uint64_t before = sys->revision;
	struct pm_sideband *own = NULL;
	bool ok;

	if (!found)
		found = own = find_records(session, threads, is_ordered, progress);
	pb_set_phase(progress, "reading names");
	sys->threads.in_order = pm_sources_are_timed(&sys->sources);
	if (found)
		ok = add_found_records(sys, found, progress, err);
	else
		ok = pb_goes_on(progress, 0, 0) && add_walked_records(sys, progress, err);
	pm_sideband_destroy(own);
	pb_set_phase(progress, NULL);
	pb_stage_leave(&lap);
	pb_stage_count(session->timing, pass, PB_STAGE_NAMES, sys->revision - before, 0);
	pb_pass_end(pass);
	if (!ok && !pb_goes_on(progress, 0, 0))
		pd_error_set(err, "INTERRUPTED", session->files[0]->path, PD_NO_OFFSET,
			     PM_INTERRUPTED);
	return ok;
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
		return pm_cgroup_add(sys, rec);
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

bool pm_guest_of(const struct pm_system *sys, const struct pd_record *rec, int32_t *pid,
		 int32_t *vcpu)
{
	const struct pm_guest_cpu *cpu = pm_guests_of(&sys->guests, rec);

	if (!cpu)
		return false;
	*pid = cpu->machine_pid;
	*vcpu = cpu->vcpu;
	return true;
}

uint64_t pm_system_revision(const struct pm_system *sys)
{
	return sys->revision;
}

const uint64_t *pm_system_revision_counter(const struct pm_system *sys)
{
	return &sys->revision;
}

const struct pm_field_ids *pm_system_field_ids(const struct pm_system *sys)
{
	return &sys->ids;
}

struct ps_store *pm_system_store(const struct pm_system *sys, uint32_t machine)
{
	return sys->binaries.stores[machine];
}

struct pm_spaces *pm_system_spaces(const struct pm_system *sys)
{
	return sys->spaces;
}

void pm_system_incarnation_of(const struct pm_system *sys, const struct pm_thread *thread,
			      ptrdiff_t at, struct pm_incarnation *incarnation)
{
	const struct pm_source *source = &sys->sources.list[thread->machine];
	const struct pm_thread_event *first = &thread->events[at], *last = first;
	const struct pm_thread_event *end = thread->events + thread->n;

	while (!pm_incarnation_begins(thread, first))
		first--;
	while (last + 1 < end && !pm_incarnation_begins(thread, last + 1))
		last++;
	*incarnation = (struct pm_incarnation){
		.tid = thread->tid,
		.pid = thread->events[at].pid,
		.source = source->alone ? thread->machine + 1 : 0,
		.start = PM_NO_TIME,
		.exit = PM_NO_TIME,
	};
	/*
	 * Otherwise the thread was there before its first record. An event after an exit is an
	 * exec() of another thread that took over the tid.
	 */
	if (source->timed && !first->synthesized &&
	    (first->kind == PM_FORK || first > thread->events))
		incarnation->start = first->time;
	if (source->timed && last->kind == PM_EXIT)
		incarnation->exit = last->time;
	pm_set_name(sys, thread->tid, pm_thread_name(&sys->threads, thread, at),
		    &incarnation->comm);
}

bool pm_system_incarnation(const struct pm_system *sys, uint32_t machine, int32_t tid,
			   uint64_t time, struct pm_incarnation *incarnation)
{
	const struct pm_thread *thread = pm_thread_find(&sys->threads, machine, tid);
	ptrdiff_t at;

	if (!thread)
		return false;
	at = pm_thread_at(thread, sys->sources.list[machine].timed ? time : PM_NO_TIME);
	if (at >= 0)
		pm_system_incarnation_of(sys, thread, at, incarnation);
	return at >= 0;
}

bool pm_system_prepare(struct pm_system *sys)
{
	pm_threads_settle(&sys->threads);
	return pm_spaces_settle(sys->spaces);
}
