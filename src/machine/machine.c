#include "machine.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Numbers of the names of fields that are asked for. */
struct ids {
	unsigned time, pid, tid, ppid, ptid, comm, cgroup, cgroup_id, path;
};

struct pm_machine {
	const struct pd_session *session;
	struct ids ids;
	bool *timed; /* by file: its records have times */
	struct pm_names names;
	struct pm_threads threads;
	struct pd_id_table cgroups; /* system and id → name */
};

struct pm_machine *pm_machine_create(const struct pd_session *session)
{
	struct pm_machine *m = calloc(1, sizeof(*m));
	const struct pd_names *names = &session->files[0]->names;

	if (!m)
		return NULL;
	m->session = session;
	m->threads.names = &m->names;
	m->timed = calloc(session->n_files, sizeof(*m->timed));
	if (!m->timed) {
		free(m);
		return NULL;
	}
	for (size_t i = 0; i < session->n_files; i++)
		for (size_t k = 0; k < session->files[i]->n_events; k++)
			if (session->files[i]->events[k].shape.sample_type & PD_SAMPLE_TIME)
				m->timed[i] = true;
	m->ids = (struct ids){
		.time = pd_name_id(names, "time", 4),
		.pid = pd_name_id(names, "pid", 3),
		.tid = pd_name_id(names, "tid", 3),
		.ppid = pd_name_id(names, "ppid", 4),
		.ptid = pd_name_id(names, "ptid", 4),
		.comm = pd_name_id(names, "comm", 4),
		.cgroup = pd_name_id(names, "cgroup", 6),
		.cgroup_id = pd_name_id(names, "cgroup_id", 9),
		.path = pd_name_id(names, "path", 4),
	};
	return m;
}

void pm_machine_destroy(struct pm_machine *m)
{
	if (!m)
		return;
	pm_threads_deinit(&m->threads);
	pm_names_deinit(&m->names);
	pd_id_table_deinit(&m->cgroups);
	free(m->timed);
	free(m);
}

const struct pm_threads *pm_machine_threads(const struct pm_machine *m)
{
	return &m->threads;
}

static void get(const struct pd_record *rec, unsigned id, struct pd_value *out)
{
	unsigned index = rec->layout->slot[id];

	out->type = PD_NIL;
	if (index)
		pd_record_get(rec, index, out);
}

/* An integer of a record; false: it has none of that name. */
static bool get_integer(const struct pd_record *rec, unsigned id, int64_t *out)
{
	unsigned index = rec->layout->slot[id];
	struct pd_value v;

	if (pd_record_integer(rec, index, out))
		return true;
	get(rec, id, &v);
	*out = v.i;
	return v.type != PD_NIL;
}

static size_t file_of(const struct pd_record *rec)
{
	return rec->source ? rec->source - 1u : 0;
}

static uint32_t system_of(const struct pm_machine *m, const struct pd_record *rec)
{
	return m->session->one_clock ? 0 : (uint32_t)file_of(rec);
}

/* What stands for the time of a record; PM_NO_TIME: it has none, though others do. */
static uint64_t time_of(const struct pm_machine *m, const struct pd_record *rec)
{
	int64_t time;

	if (!m->timed[file_of(rec)])
		return rec->offset;
	return get_integer(rec, m->ids.time, &time) ? (uint64_t)time : PM_NO_TIME;
}

static const uint32_t types[] = {
	PD_RECORD_COMM,
	PD_RECORD_FORK,
	PD_RECORD_EXIT,
	PD_RECORD_CGROUP,
};

void pm_machine_types(struct pd_types *set)
{
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		pd_types_add(set, types[i]);
}

bool pm_machine_read(struct pm_machine *m, bool (*go_on)(void *arg), void *arg,
		     struct pd_error *err)
{
	struct pd_walk walk;
	struct pd_record rec;
	int got;

	if (!pd_walk_init(&walk, (struct pd_session *)m->session, PD_ORDER_TIME, err))
		return false;
	walk.wanted.types = (struct pd_types){ 0 };
	walk.wanted.go_on = go_on;
	walk.wanted.arg = arg;
	pm_machine_types(&walk.wanted.types);
	m->threads.in_order = true;
	while ((got = pd_walk_next(&walk, &rec, err)) > 0) {
		if (!pm_machine_add(m, &rec)) {
			pd_error_set(err, "ENOMEM", m->session->files[0]->path, PD_NO_OFFSET,
				     "no memory for the threads of the recording");
			got = -1;
			break;
		}
	}
	pd_walk_deinit(&walk);
	return got == 0;
}

static uint64_t cgroup_key(uint32_t system, uint64_t id)
{
	return id ^ (uint64_t)system << 40;
}

static bool add_cgroup(struct pm_machine *m, const struct pd_record *rec)
{
	struct pd_value path;
	int64_t id;
	uint32_t name;

	get(rec, m->ids.path, &path);
	if (!get_integer(rec, m->ids.cgroup_id, &id) || path.type != PD_STR)
		return true;
	name = pm_names_add(&m->names, (struct pd_text){ path.s.p, path.s.n });
	return name != PM_NO_NAME &&
	       pd_id_table_add(&m->cgroups, cgroup_key(system_of(m, rec), (uint64_t)id), name);
}

bool pm_machine_add(struct pm_machine *m, const struct pd_record *rec)
{
	struct pm_moment moment = { .time = time_of(m, rec) };
	struct pd_value comm = { .type = PD_NIL };
	int64_t pid, tid, ptid = -1;

	switch (rec->type) {
	case PD_RECORD_CGROUP:
		return add_cgroup(m, rec);
	case PD_RECORD_COMM:
		moment.kind = PM_COMM;
		get(rec, m->ids.comm, &comm);
		if (comm.type != PD_STR)
			return true;
		break;
	case PD_RECORD_FORK:
		moment.kind = PM_FORK;
		if (!get_integer(rec, m->ids.ptid, &ptid))
			return true;
		break;
	case PD_RECORD_EXIT:
		moment.kind = PM_EXIT;
		break;
	default:
		return true;
	}
	if (!get_integer(rec, m->ids.tid, &tid) || !get_integer(rec, m->ids.pid, &pid))
		return true;
	moment.pid = (int32_t)pid;
	moment.parent = (int32_t)ptid;
	return pm_threads_add(&m->threads, system_of(m, rec), (int32_t)tid, moment,
			      (struct pd_text){ comm.s.p, comm.s.n });
}

static void set_text(struct pd_value *out, const char *p, size_t n)
{
	out->type = PD_STR;
	out->s.p = p;
	out->s.n = n;
}

/* As perf calls what it has no name for; the idle threads need none. */
static void set_nameless(struct pd_value *out, int32_t tid)
{
	int n;

	if (tid == 0) {
		set_text(out, "swapper", 7);
		return;
	}
	n = snprintf(out->text, sizeof(out->text), ":%" PRId32, tid);
	set_text(out, out->text, (size_t)n);
}

static void set_name(const struct pm_machine *m, int32_t tid, uint32_t name,
		     struct pd_value *out)
{
	if (name == PM_NO_NAME)
		set_nameless(out, tid);
	else
		set_text(out, m->names.texts[name].p, m->names.texts[name].n);
}

/* Of what has no time it is not known when it was: what perf wrote itself was so at the beginning. */
static uint64_t asked_time(const struct pm_machine *m, const struct pd_record *rec)
{
	uint64_t time = time_of(m, rec);

	return time == PM_NO_TIME ? 0 : time;
}

static void comm_of(const struct pm_machine *m, const struct pd_record *rec,
		    struct pd_value *out)
{
	const struct pm_thread *thread;
	uint32_t name = PM_NO_NAME;
	int64_t tid;

	if (!get_integer(rec, m->ids.tid, &tid))
		return;
	thread = pm_thread_find(&m->threads, system_of(m, rec), (int32_t)tid);
	if (thread)
		name = pm_thread_name(&m->threads, thread,
				      pm_thread_at(thread, asked_time(m, rec)));
	set_name(m, (int32_t)tid, name, out);
}

static void cgroup_path_of(const struct pm_machine *m, const struct pd_record *rec,
			   struct pd_value *out)
{
	uint32_t name;
	int64_t id;

	if (!get_integer(rec, m->ids.cgroup, &id))
		return;
	name = pd_id_table_find(&m->cgroups, cgroup_key(system_of(m, rec), (uint64_t)id));
	if (name != UINT32_MAX)
		set_text(out, m->names.texts[name].p, m->names.texts[name].n);
}

void pm_machine_field(const struct pm_machine *m, const struct pd_record *rec, uint64_t field,
		      struct pd_value *out)
{
	static void (*const fields[])(const struct pm_machine *m, const struct pd_record *rec,
				      struct pd_value *out) = {
		[PD_M_COMM] = comm_of,
		[PD_M_CGROUP_PATH] = cgroup_path_of,
	};

	out->type = PD_NIL;
	fields[field](m, rec, out);
}

void pm_machine_life_of(const struct pm_machine *m, const struct pm_thread *thread,
			ptrdiff_t at, struct pm_life *life)
{
	const struct pm_moment *moments = thread->moments;
	size_t first = (size_t)at, last = (size_t)at;

	while (first > 0 && moments[first].kind != PM_FORK)
		first--;
	while (last + 1 < thread->n && moments[last].kind != PM_EXIT &&
	       moments[last + 1].kind != PM_FORK)
		last++;
	*life = (struct pm_life){
		.tid = thread->tid,
		.pid = moments[at].pid,
		.system = thread->system,
		.start = moments[first].kind == PM_FORK ? moments[first].time : PM_NO_TIME,
		.exit = moments[last].kind == PM_EXIT ? moments[last].time : PM_NO_TIME,
	};
	set_name(m, thread->tid, pm_thread_name(&m->threads, thread, at), &life->comm);
}

bool pm_machine_life(const struct pm_machine *m, uint32_t system, int32_t tid, uint64_t time,
		     struct pm_life *life)
{
	const struct pm_thread *thread = pm_thread_find(&m->threads, system, tid);
	ptrdiff_t at = thread ? pm_thread_at(thread, time) : -1;

	if (at >= 0)
		pm_machine_life_of(m, thread, at, life);
	return at >= 0;
}
