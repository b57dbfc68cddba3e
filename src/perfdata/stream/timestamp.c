#include "timestamp.h"

#include <string.h>

#include "reader.h"

/* Returns the offset of the time in records of `layout`, as in pd_timestamp_locator.at. */
static int16_t find_time_offset(const struct pd_layout *layout, unsigned time_id)
{
	const struct pd_bound *b;

	if (!layout || !layout->slot[time_id])
		return 0;
	b = &layout->bound[layout->slot[time_id]];
	return b->direct || (b->trailer && b->kind == PD_K_U64) ? b->at : 0;
}

void pd_timestamp_locator_init(struct pd_timestamp_locator *s, const struct pd_file *file)
{
	*s = (struct pd_timestamp_locator){
		.swap = file->swap,
		.simpleperf = file->simpleperf,
		.time_id = pd_field_name_id(&file->field_names, "time", strlen("time")),
	};
	pd_binder_init(&s->binder, file);
	for (size_t i = 0; i < file->n_events; i++) {
		const struct pd_event *event = &file->events[i];
		uint32_t end = pd_trailer_size(&event->shape) + 8;
		bool same_end = i == 0 || s->trailer_end == end;

		s->any = s->any || event->shape.sample_type & PD_SAMPLE_TIME;
		for (uint32_t type = 1; type < PD_RECORD_USER; type++) {
			const struct pd_layout *layout = type == PD_RECORD_SAMPLE ?
								 event->sample :
								 event->others[type];
			int16_t at = find_time_offset(layout, s->time_id);

			if (i && (at != s->at[type] || (at < 0 && !same_end)))
				at = 0;
			s->at[type] = at;
		}
		if (i == 0)
			s->trailer_end = end;
	}
}

bool pd_timestamp_decode(const struct pd_timestamp_locator *s, struct pd_record *rec,
			 uint64_t *time)
{
	unsigned index;
	struct pd_value v;

	pd_bind(&s->binder, rec);
	index = rec->layout->slot[s->time_id];
	v.type = PD_NIL;
	if (index)
		pd_record_get(rec, index, &v);
	if (v.type == PD_NIL)
		return false;
	*time = v.u;
	return true;
}

static bool read_stream_times(struct pd_stream *stream, struct pd_time_range *times,
			      struct pd_error *err)
{
	unsigned index, time_id = pd_field_name_id(&stream->file->field_names, "time", 4);
	struct pd_value v = { .type = PD_NIL };
	struct pd_reader reader;
	struct pd_record rec;
	int got;

	if (!pd_reader_init(&reader, stream, err))
		return false;
	reader.want = (struct pd_types){ 0 };
	pd_types_add(&reader.want, PD_RECORD_SAMPLE);
	while ((got = pd_reader_next(&reader, &rec, err)) > 0) {
		v.type = PD_NIL;
		index = rec.layout->slot[time_id];
		if (index)
			pd_record_get(&rec, index, &v);
		if (v.type != PD_NIL)
			pd_time_range_widen(times, v.u, v.u);
	}
	pd_reader_deinit(&reader);
	return got == 0;
}

static bool find_file_times(struct pd_file *file, struct pd_error *err)
{
	struct pd_session *session = file->session;
	struct pd_time_range times = { 0 };
	struct pb_pass *pass;
	struct pb_lap lap;
	bool ok = true;

	if (file->times.known || file->input.stream)
		return true;
	pass = pb_pass_begin(session->timing, "first and last time", session->number);
	lap = pb_stage_enter(session->timing, pass, PB_STAGE_COUNTS);
	for (size_t i = 0; ok && i < file->n_streams; i++)
		ok = read_stream_times(&file->streams[i], &times, err);
	pb_stage_leave(&lap);
	pb_pass_end(pass);
	if (!ok)
		return false;
	file->times = times;
	if (times.known)
		pd_clock_begin(&file->clock, times.first);
	return true;
}

static void find_start(struct pd_clock *clock)
{
	struct pd_file *file = (struct pd_file *)((uint8_t *)clock -
						  offsetof(struct pd_file, clock));
	struct pd_error err;

	clock->find_start = NULL;
	find_file_times(file, &err);
}

void pd_session_find_starts(struct pd_session *session)
{
	for (size_t i = 0; i < session->n_files; i++)
		if (!session->files[i]->input.stream)
			session->files[i]->clock.find_start = find_start;
}

bool pd_session_times(struct pd_session *session, struct pd_time_range *times,
		      struct pd_error *err)
{
	*times = (struct pd_time_range){ 0 };
	for (size_t i = 0; i < session->n_files; i++) {
		const struct pd_time_range *range = &session->files[i]->times;

		if (!find_file_times(session->files[i], err))
			return false;
		if (range->known)
			pd_time_range_widen(times, range->first, range->last);
	}
	return true;
}
