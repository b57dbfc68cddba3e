#include <stdlib.h>

#include "internal.h"
#include "sideband.h"
#include "perfdata/format/views.h"
#include "perfdata/order/walk.h"

#define ASK_EVERY 1024 /* records between two looks at the interrupt */

static void set_ids(struct pm_ids *ids, const struct pd_field_names *names)
{
	*ids = (struct pm_ids){
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

/* False: no memory; then, too, deinit() is to be called. */
static bool init(struct pm_machine *m, const struct pd_session *session,
		 const struct ps_options *options)
{
	*m = (struct pm_machine){ .session = session };
	m->threads.names = &m->names;
	pm_threads_init(&m->threads);
	m->threads.idle = pm_names_add(&m->names, (struct pd_text){ "swapper", 7 });
	m->cgroups = calloc(session->n_files, sizeof(*m->cgroups));
	m->spaces = pm_spaces_create();
	if (!pm_sources_init(&m->sources, session) || !m->cgroups || !m->spaces ||
	    !pm_binaries_init(&m->binaries, session, options, &m->names) ||
	    !pm_guests_init(&m->guests, session) || m->threads.idle == PM_NO_NAME)
		return false;
	set_ids(&m->ids, &session->files[0]->field_names);
	for (size_t i = 0; i < session->n_files; i++)
		if (!pm_buildids_read(&m->binaries.build_ids, session->files[i],
				      m->sources.list[i].system))
			return false;
	return true;
}

static void deinit(struct pm_machine *m)
{
	pm_threads_deinit(&m->threads);
	pm_spaces_destroy(m->spaces);
	pm_binaries_deinit(&m->binaries);
	pm_guests_deinit(&m->guests);
	pm_names_deinit(&m->names);
	for (size_t i = 0; m->cgroups && i < m->session->n_files; i++)
		pb_id_map_deinit(&m->cgroups[i]);
	free(m->cgroups);
	pm_deferred_deinit(&m->deferred);
	pm_sources_deinit(&m->sources);
}

struct pm_machine *pm_machine_create(const struct pd_session *session,
				     const struct ps_options *options)
{
	struct pm_machine *m = malloc(sizeof(*m));

	if (!m || init(m, session, options))
		return m;
	pm_machine_destroy(m);
	return NULL;
}

void pm_machine_destroy(struct pm_machine *m)
{
	if (!m)
		return;
	deinit(m);
	free(m);
}

bool pm_machine_clear(struct pm_machine *m)
{
	const struct pd_session *session = m->session;
	struct ps_options options = m->binaries.options;

	deinit(m);
	return init(m, session, &options);
}

const struct pm_threads *pm_machine_threads(const struct pm_machine *m)
{
	return &m->threads;
}

void pm_machine_types(struct pd_types *set)
{
	for (uint32_t type = 0; type < PD_RECORD_TYPES; type++) {
		const struct pd_record_desc *desc = pd_record_desc(type);

		if (desc && desc->sideband)
			pd_types_add(set, type);
	}
}

static bool no_memory(const struct pm_machine *m, struct pd_error *err)
{
	return pd_error_set(err, "ENOMEM", m->session->files[0]->path, PD_NO_OFFSET,
			    "no memory for the recorded system");
}

/* Takes in what was found by threads. */
static bool take_found(struct pm_machine *m, const struct pm_sideband *found,
		       const struct pb_progress *progress, struct pd_error *err)
{
	struct pd_session *session = (struct pd_session *)m->session;
	bool floors = pm_sources_need_floors(&m->sources, session);

	if (floors && !pm_sources_begin_floors(&m->sources, session, err))
		return false;
	for (size_t i = 0; floors && i < found->n; i++)
		pm_sources_lower_floor(&m->sources, &found->records[i].rec);
	if (floors)
		pm_sources_end_floors(&m->sources);
	for (size_t i = 0; i < found->n; i++) {
		if (i % ASK_EVERY == 0 && !pb_goes_on(progress, 0, 0))
			return false;
		if (!pm_machine_add(m, &found->records[i].rec))
			return no_memory(m, err);
	}
	return true;
}

/* Takes in what a walk finds, which says what is wrong with the session. */
static bool take_walked(struct pm_machine *m, const struct pb_progress *progress,
			struct pd_error *err)
{
	struct pd_session *session = (struct pd_session *)m->session;
	struct pd_walk_options options = { .to = UINT64_MAX, .progress = *progress };
	struct pd_walk walk;
	struct pd_record rec;
	int got;

	pm_machine_types(&options.types);
	if (!pm_sources_find_floors(&m->sources, session, &options, err) ||
	    !pd_walk_init(&walk, session, PD_ORDER_TIME, err))
		return false;
	walk.options = options;
	while ((got = pd_walk_next(&walk, &rec, err)) > 0 && pb_goes_on(progress, 0, 0)) {
		if (!pm_machine_add(m, &rec)) {
			no_memory(m, err);
			got = -1;
			break;
		}
	}
	pd_walk_deinit(&walk);
	return got == 0 && pb_goes_on(progress, 0, 0);
}

/*
 * Is the order of time of the whole session known? Then it is but a few records that are to be
 * read.
 */
static bool has_order(const struct pd_session *session)
{
	for (size_t i = 0; i < session->n_files; i++)
		for (size_t k = 0; k < session->files[i]->n_streams; k++)
			if (!session->files[i]->streams[k].index)
				return false;
	return true;
}

bool pm_machine_read(struct pm_machine *m, unsigned threads, struct pd_error *err)
{
	struct pd_session *session = (struct pd_session *)m->session;
	const struct pb_progress progress = pb_until_set(session->files[0]->input.interrupt);
	struct pm_sideband found;
	bool ok;

	m->threads.in_order = pm_sources_are_timed(&m->sources);
	if (!has_order(session) && pm_sideband_find(&found, session, threads, &progress)) {
		ok = take_found(m, &found, &progress, err);
		pm_sideband_deinit(&found);
	} else {
		ok = pb_goes_on(&progress, 0, 0) && take_walked(m, &progress, err);
	}
	if (!ok && !pb_goes_on(&progress, 0, 0))
		pd_error_set(err, "INTERRUPTED", session->files[0]->path, PD_NO_OFFSET,
			     PM_INTERRUPTED);
	return ok;
}

static bool add_cgroup(struct pm_machine *m, const struct pd_record *rec)
{
	struct pd_value path;
	int64_t id;
	uint32_t name;

	pm_get(rec, m->ids.path, &path);
	if (!pm_integer(rec, m->ids.cgroup_id, &id) || path.type != PD_STR)
		return true;
	name = pm_names_add(&m->names, (struct pd_text){ path.s.p, path.s.n });
	return name != PM_NO_NAME &&
	       pb_id_map_add(&m->cgroups[pm_system_of(m, rec)], (uint64_t)id, name);
}

/*
 * When it was what a record says. Of what perf wrote itself it is known only that it was so
 * then: *found. What it wrote at the end (--tail-synthesize) has no time at all.
 */
static uint64_t time_said(struct pm_machine *m, const struct pd_record *rec, bool *found)
{
	struct pm_source *source = pm_source_of(&m->sources, rec);
	uint64_t time = pm_time_of(&m->sources, rec);

	*found = time == PM_NO_TIME;
	if (!*found)
		source->begun = true;
	else if (!source->begun)
		time = source->floor;
	return time;
}

/*
 * The system whose spaces a record speaks of; *pid becomes that of the guest for what is of a
 * guest's kernel.
 */
static uint32_t space_system(struct pm_machine *m, const struct pd_record *rec, int32_t *pid)
{
	const struct pm_guest_cpu *cpu = pm_guests_of(&m->guests, rec);
	enum pd_cpumode mode = rec->misc & PD_MISC_CPUMODE;
	uint32_t system = pm_system_of(m, rec), guest = PM_NO_SYSTEM;

	if (!pm_is_guest(mode))
		return system;
	if (!cpu && mode == PD_CPUMODE_GUEST_USER)
		guest = pm_guests_system(&m->guests, system, *pid);
	if (guest == PM_NO_SYSTEM)
		guest = pm_guests_make(&m->guests, system,
				       cpu ? cpu->machine_pid :
				       mode == PD_CPUMODE_GUEST_KERNEL && *pid > 0 ? *pid :
										     0);
	if (cpu && mode == PD_CPUMODE_GUEST_KERNEL)
		*pid = cpu->machine_pid;
	return guest;
}

static bool add_map(struct pm_machine *m, const struct pd_record *rec)
{
	struct pm_mapped mapped = {
		.system = pm_system_of(m, rec),
		.mode = rec->misc & PD_MISC_CPUMODE,
	};
	uint32_t system;
	struct pm_map map;
	int64_t pid = 0;
	bool found, kernel, removed;

	if (pd_record_sideband(rec) == PD_SB_KERNEL_CODE)
		mapped.mode = PD_CPUMODE_KERNEL;
	else if (!pm_integer(rec, m->ids.pid, &pid))
		return true;
	mapped.pid = (int32_t)pid;
	kernel = pm_is_kernel(mapped.mode);
	if (!kernel && pid < 0)
		return true;
	system = space_system(m, rec, &mapped.pid);
	if (system == PM_NO_SYSTEM ||
	    !pm_binaries_map(&m->binaries, rec, &mapped, &map, &removed))
		return false;
	map.time = time_said(m, rec, &found);
	return (!map.dso && !removed) ||
	       pm_spaces_add(m->spaces, system, kernel ? PM_KERNEL : mapped.pid, &map);
}

/*
 * What perf wrote for a process that it found inherits nothing: its maps follow. Before Linux
 * 4.20 only its time, 0, tells that.
 */
static bool fork_space(struct pm_machine *m, const struct pd_record *rec, int32_t pid,
		       const struct pm_moment *fork)
{
	int64_t ppid, time;
	bool copy = !fork->found && !(rec->misc & PD_MISC_FORK_EXEC);

	if (pm_integer(rec, m->sources.time_id, &time) && !time)
		copy = false;
	if (!pm_integer(rec, m->ids.ppid, &ppid) || pid < 0 || ppid < 0)
		return true;
	return pm_spaces_fork(m->spaces, space_system(m, rec, &pid), pid, (int32_t)ppid,
			      fork->time, copy);
}

/*
 * Returns how long after a thread's end, in ns, the record of it was written; negative: before.
 * perf goes by the time of writing.
 */
static int32_t lag_of(const struct pm_machine *m, const struct pd_record *rec, uint64_t end)
{
	struct pd_value id = { .type = PD_NIL }, time;
	const struct pd_view_desc *desc;
	int64_t lag;

	pm_get(rec, m->ids.sample_id, &id);
	if (id.type != PD_VIEW || end == PM_NO_TIME)
		return 0;
	desc = id.view.desc;
	desc->member(&id.view, pd_member_find(desc->members, "time"), &time);
	lag = time.type == PD_UINT ? (int64_t)(time.u - end) : 0;
	return lag == (int32_t)lag ? (int32_t)lag : 0;
}

static bool add_moment(struct pm_machine *m, const struct pd_record *rec)
{
	struct pm_moment moment = { .name = PM_NO_NAME };
	struct pd_value comm = { .type = PD_NIL };
	int64_t pid, tid, ptid = -1;

	switch (pd_record_sideband(rec)) {
	case PD_SB_THREAD_NAME:
		moment.kind = PM_COMM;
		pm_get(rec, m->ids.comm, &comm);
		if (comm.type != PD_STR)
			return true;
		break;
	case PD_SB_THREAD_START:
		moment.kind = PM_FORK;
		if (!pm_integer(rec, m->ids.ptid, &ptid))
			return true;
		break;
	default:
		moment.kind = PM_EXIT;
		break;
	}
	if (!pm_integer(rec, m->ids.tid, &tid) || !pm_integer(rec, m->ids.pid, &pid))
		return true;
	moment.time = time_said(m, rec, &moment.found);
	moment.pid = (int32_t)pid;
	if (moment.kind == PM_EXIT)
		moment.lag = lag_of(m, rec, moment.time);
	else
		moment.parent = (int32_t)ptid;
	if (moment.kind == PM_FORK && !fork_space(m, rec, moment.pid, &moment))
		return false;
	return pm_threads_add(&m->threads, pm_system_of(m, rec), (int32_t)tid, moment,
			      (struct pd_text){ comm.s.p, comm.s.n });
}

bool pm_machine_add(struct pm_machine *m, const struct pd_record *rec)
{
	m->taken++;
	switch (pd_record_sideband(rec)) {
	case PD_SB_THREAD_NAME:
	case PD_SB_THREAD_START:
	case PD_SB_THREAD_END:
		return add_moment(m, rec);
	case PD_SB_MAPPING:
	case PD_SB_KERNEL_CODE:
		return add_map(m, rec);
	case PD_SB_CGROUP:
		return add_cgroup(m, rec);
	case PD_SB_BUILD_ID:
		return pm_buildids_add(&m->binaries.build_ids, rec, pm_system_of(m, rec));
	case PD_SB_EVENT_IDS:
		return pm_guests_add(&m->guests, rec);
	case PD_SB_CALLCHAIN:
		return pm_deferred_add(&m->deferred, pm_system_of(m, rec), m->ids.tid, rec);
	case PD_SB_NONE:
		break;
	}
	return true;
}

static void set_text(struct pd_value *out, const char *p, size_t n)
{
	out->type = PD_STR;
	out->s.p = p;
	out->s.n = n;
}

void pm_cgroup_path_of(const struct pm_machine *m, const struct pd_record *rec,
		       struct pd_value *out)
{
	uint32_t name;
	int64_t id;

	if (!pm_integer(rec, m->ids.cgroup, &id))
		return;
	name = pb_id_map_find(&m->cgroups[pm_system_of(m, rec)], (uint64_t)id);
	if (name != UINT32_MAX)
		set_text(out, m->names.texts[name].p, m->names.texts[name].n);
}

bool pm_guest_of(const struct pm_machine *m, const struct pd_record *rec, int32_t *pid,
		 int32_t *vcpu)
{
	const struct pm_guest_cpu *cpu = pm_guests_of(&m->guests, rec);

	if (!cpu)
		return false;
	*pid = cpu->machine_pid;
	*vcpu = cpu->vcpu;
	return true;
}

uint64_t pm_machine_taken(const struct pm_machine *m)
{
	return m->taken;
}

const uint64_t *pm_machine_takes(const struct pm_machine *m)
{
	return &m->taken;
}

const struct pm_ids *pm_machine_ids(const struct pm_machine *m)
{
	return &m->ids;
}

struct ps_store *pm_machine_store(const struct pm_machine *m, uint32_t system)
{
	return m->binaries.stores[system];
}

struct pm_spaces *pm_machine_spaces(const struct pm_machine *m)
{
	return m->spaces;
}

void pm_machine_life_of(const struct pm_machine *m, const struct pm_thread *thread,
			ptrdiff_t at, struct pm_life *life)
{
	const struct pm_source *source = &m->sources.list[thread->system];
	const struct pm_moment *first = &thread->moments[at], *last = first;
	const struct pm_moment *end = thread->moments + thread->n;

	while (!pm_life_begins(thread, first))
		first--;
	while (last + 1 < end && !pm_life_begins(thread, last + 1))
		last++;
	*life = (struct pm_life){
		.tid = thread->tid,
		.pid = thread->moments[at].pid,
		.source = source->alone ? thread->system + 1 : 0,
		.start = PM_NO_TIME,
		.exit = PM_NO_TIME,
	};
	/*
	 * a first moment that is no FORK is but the first that is known; after an end it is an
	 * exec
	 */
	if (source->timed && !first->found &&
	    (first->kind == PM_FORK || first > thread->moments))
		life->start = first->time;
	if (source->timed && last->kind == PM_EXIT)
		life->exit = last->time;
	pm_set_name(m, thread->tid, pm_thread_name(&m->threads, thread, at), &life->comm);
}

bool pm_machine_life(const struct pm_machine *m, uint32_t system, int32_t tid, uint64_t time,
		     struct pm_life *life)
{
	const struct pm_thread *thread = pm_thread_find(&m->threads, system, tid);
	ptrdiff_t at;

	if (!thread)
		return false;
	at = pm_thread_at(thread, m->sources.list[system].timed ? time : PM_NO_TIME);
	if (at >= 0)
		pm_machine_life_of(m, thread, at, life);
	return at >= 0;
}

bool pm_machine_prepare(struct pm_machine *m)
{
	pm_threads_settle(&m->threads);
	return pm_spaces_settle(m->spaces);
}
