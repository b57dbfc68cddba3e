#include "sources.h"

#include <stdlib.h>

#include "perfdata/format/views.h"
#include "perfdata/order/walk.h"
#include "perfdata/stream/timestamp.h"
#include "internal.h"

/* Returns true if samples of some event have times. */
static bool samples_have_times(const struct pd_file *file)
{
	for (size_t i = 0; i < file->n_events; i++)
		if (file->events[i].shape.sample_type & PD_SAMPLE_TIME)
			return true;
	return false;
}

/* Sets source->before. Returns false without memory. */
static bool add_stream_sizes(struct pm_source *source, const struct pd_file *file)
{
	uint64_t before = 0;

	source->before = calloc(file->n_streams, sizeof(*source->before));
	for (size_t i = 0; source->before && i < file->n_streams; i++) {
		const struct pd_input *input = file->streams[i].input;

		source->before[i] = before;
		before += input->stream ? 0 : input->size;
	}
	return source->before != NULL;
}

/*
 * Returns the machine of recording `i`: that of the first one whose clock agrees. Names that
 * perflua pack added are of the addresses of their own recording alone, so recordings with
 * other names are of other machines.
 */
static uint32_t find_machine(struct pm_sources *s, const struct pd_session *session, size_t i)
{
	for (size_t k = 0; session->one_clock && s->list[i].timed && k < i; k++) {
		if (!s->list[k].timed || s->list[k].machine != k ||
		    !pd_file_feature_equal(session->files[k], session->files[i],
					   PD_FEATURE_BUNDLE))
			continue;
		s->list[k].alone = s->list[i].alone = false;
		return (uint32_t)k;
	}
	return (uint32_t)i;
}

bool pm_sources_init(struct pm_sources *s, const struct pd_session *session)
{
	*s = (struct pm_sources){ .n = session->n_files };
	s->time_id = pd_field_name_id(&session->files[0]->field_names, "time", 4);
	s->list = calloc(s->n, sizeof(*s->list));
	if (!s->list)
		return false;
	for (size_t i = 0; i < s->n; i++) {
		struct pm_source *source = &s->list[i];

		source->timed = samples_have_times(session->files[i]);
		source->alone = s->n > 1;
		source->machine = find_machine(s, session, i);
		if (!source->timed && !add_stream_sizes(source, session->files[i]))
			return false;
	}
	return true;
}

void pm_sources_deinit(struct pm_sources *s)
{
	for (size_t i = 0; s->list && i < s->n; i++)
		free(s->list[i].before);
	free(s->list);
	*s = (struct pm_sources){ 0 };
}

bool pm_sources_are_timed(const struct pm_sources *sources)
{
	for (size_t i = 0; i < sources->n; i++)
		if (!sources->list[i].timed)
			return false;
	return true;
}

bool pm_integer_decoded(const struct pd_record *rec, unsigned index, int64_t *out)
{
	struct pd_value v = { .type = PD_NIL };

	if (index)
		pd_record_get(rec, index, &v);
	*out = v.i;
	return v.type != PD_NIL;
}

/*
 * of a position, for the offset in a compressed record in units of 8 bytes: perf puts less
 * there
 */
#define CHUNK_BITS 24

uint64_t pm_position_of(const struct pm_source *source, const struct pd_record *rec)
{
	uint64_t most = ((uint64_t)1 << CHUNK_BITS) - 1, chunk = 0;

	if (rec->chunk_offset != PD_NO_CHUNK)
		chunk = rec->chunk_offset / 8 < most ? rec->chunk_offset / 8 : most;
	return (source->before[rec->stream] + rec->offset) << CHUNK_BITS | chunk;
}

bool pm_sources_need_first_timestamps(const struct pm_sources *s,
				      const struct pd_session *session)
{
	return s->n > 1 && session->one_clock;
}

bool pm_sources_begin_first_timestamps(struct pm_sources *s, struct pd_session *session,
				       struct pd_error *err)
{
	struct pd_time_range all;

	if (!pd_session_times(session, &all, err))
		return false;
	for (size_t i = 0; i < s->n; i++)
		s->list[i].first_timestamp = session->files[i]->times.known ?
						     session->files[i]->times.first :
						     PM_NO_TIME;
	return true;
}

void pm_sources_note_timestamp(struct pm_sources *s, const struct pd_record *rec)
{
	struct pm_source *source = pm_source_of(s, rec);
	uint64_t time = pm_time_of(s, rec);

	if (time < source->first_timestamp)
		source->first_timestamp = time;
}

void pm_sources_end_first_timestamps(struct pm_sources *s)
{
	uint64_t least = PM_NO_TIME;

	for (size_t i = 0; i < s->n; i++)
		if (s->list[i].timed && s->list[i].first_timestamp < least)
			least = s->list[i].first_timestamp;
	for (size_t i = 0; i < s->n; i++)
		if (!s->list[i].timed || s->list[i].first_timestamp == least ||
		    s->list[i].first_timestamp == PM_NO_TIME)
			s->list[i].first_timestamp = 0;
}

bool pm_sources_find_first_timestamps(struct pm_sources *s, struct pd_session *session,
				      const struct pd_walk_options *options,
				      struct pd_error *err)
{
	struct pd_walk walk;
	struct pd_record rec;
	int got;

	if (!pm_sources_need_first_timestamps(s, session))
		return true;
	if (!pm_sources_begin_first_timestamps(s, session, err) ||
	    !pd_walk_init(&walk, session, PD_ORDER_FILE, err))
		return false;
	walk.options = *options;
	while ((got = pd_walk_next(&walk, &rec, err)) > 0 &&
	       pb_goes_on(&options->progress, 0, 0))
		pm_sources_note_timestamp(s, &rec);
	pd_walk_deinit(&walk);
	pm_sources_end_first_timestamps(s);
	return got == 0;
}

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
