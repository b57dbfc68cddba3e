#include <stdlib.h>

#include "internal.h"
#include "sideband.h"
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
