#include "session.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/vector.h"
#include "perfdata/format/format.h"
#include "perfdata/tracepoint/tracepoint.h"
#include "open_internal.h"

/*
 * Decides whether the times of several recordings can be compared: they can if they come from
 * the same clock since the same boot. No recording names its boot, so differences in these are
 * looked for: clock, host name, kernel release, offset between clock and wall time. Where they
 * differ, the wall time orders the recordings if all know it.
 */

/* ns; setting the wall clock may have moved the offset that far */
#define SKEW UINT64_C(1000000000)

/* Returns the clock of a file; -1: perf's own, the scheduler's. */
static int64_t get_clock(const struct pd_file *file)
{
	if (!file->n_events || !(file->events[0].attr.flags & PD_ATTR_USE_CLOCKID))
		return -1;
	return file->events[0].attr.clockid;
}

/*
 * Finds how the clock relates to the wall clock: from CLOCK_DATA {u32 version, clockid; u64
 * wall, clock}, or because it is the wall clock.
 */
static void read_wall(struct pd_file *file)
{
	struct pd_clock *clock = &file->clock;
	struct pb_cursor c;
	uint8_t *bytes = pd_file_feature_bytes(file, PD_FEATURE_CLOCK_DATA, &c);
	uint64_t wall, time;

	clock->has_wall = get_clock(file) == CLOCK_REALTIME;
	if (!bytes)
		return;
	pb_take32(&c);
	pb_take32(&c);
	wall = pb_take64(&c);
	time = pb_take64(&c);
	if (!c.failed) {
		clock->wall = (int64_t)(wall - time);
		clock->has_wall = true;
	}
	free(bytes);
}

static bool feature_texts_agree(struct pd_session *s, struct pd_file *a, struct pd_file *b,
				unsigned bit, const char *what)
{
	char *x = pd_file_feature_text(a, bit), *y = pd_file_feature_text(b, bit);
	bool same = !x || !y || strcmp(x, y) == 0;

	if (!same)
		snprintf(s->clocks, sizeof(s->clocks),
			 "%s is \"%.60s\" in one, \"%.60s\" in another", what, x, y);
	free(x);
	free(y);
	return same;
}

static bool have_same_clock(struct pd_session *s, struct pd_file *a, struct pd_file *b)
{
	int64_t x = get_clock(a), y = get_clock(b);
	uint64_t apart;

	if (x != y) {
		snprintf(s->clocks, sizeof(s->clocks),
			 "clockid is %" PRId64 " in one, %" PRId64
			 " in another (-1: perf's own)",
			 x, y);
		return false;
	}
	if (!feature_texts_agree(s, a, b, PD_FEATURE_HOSTNAME, "hostname") ||
	    !feature_texts_agree(s, a, b, PD_FEATURE_OSRELEASE, "osrelease"))
		return false;
	if (!a->clock.has_wall || !b->clock.has_wall)
		return true;
	x = a->clock.wall;
	y = b->clock.wall;
	apart = x < y ? (uint64_t)y - (uint64_t)x : (uint64_t)x - (uint64_t)y;
	if (apart < SKEW)
		return true;
	snprintf(s->clocks, sizeof(s->clocks), "their clocks began %" PRIu64 " s apart",
		 apart / 1000000000);
	return false;
}

/*
 * Sets the files' shifts, to 0 unless `apart`. Only differences between clocks matter, so times
 * are counted on the clock that began first: none becomes negative.
 */
static void shift_to_wall(struct pd_session *s, bool apart)
{
	int64_t first = INT64_MAX;

	for (size_t i = 0; i < s->n_files; i++)
		if (s->files[i]->clock.wall < first)
			first = s->files[i]->clock.wall;
	for (size_t i = 0; i < s->n_files; i++)
		s->files[i]->shift = apart ? (uint64_t)s->files[i]->clock.wall -
						     (uint64_t)first :
					     0;
}

/* Sets one_clock, merged, clocks and the files' clocks and shifts. */
static void compare_clocks(struct pd_session *s)
{
	bool all_know = true;

	s->one_clock = true;
	for (size_t i = 0; i < s->n_files; i++) {
		read_wall(s->files[i]);
		all_know = all_know && s->files[i]->clock.has_wall;
		if (i && s->one_clock)
			s->one_clock = have_same_clock(s, s->files[0], s->files[i]);
	}
	shift_to_wall(s, !s->one_clock && all_know);
	s->merged = s->one_clock || all_know;
}

/* comparisons of events and of their fields; real recordings need far fewer */
#define MAX_COMPARED 10000000

static bool are_fields_equal(const struct pd_tracepoint_field *a,
			     const struct pd_tracepoint_field *b)
{
	return a->offset == b->offset && a->size == b->size && a->element == b->element &&
	       a->kind == b->kind && a->storage == b->storage && a->is_signed == b->is_signed &&
	       strcmp(a->name, b->name) == 0 && strcmp(a->type, b->type) == 0;
}

/*
 * Returns whether two formats of a tracepoint are equal: kernels may differ in the fields they
 * record.
 */
static bool are_formats_equal(const struct pd_tracepoint *a, const struct pd_tracepoint *b,
			      size_t *compared)
{
	if (!a || !b || a->n_fields != b->n_fields)
		return a == b;
	for (uint32_t i = 0; i < a->n_fields; i++)
		if ((*compared)++ >= MAX_COMPARED ||
		    !are_fields_equal(&a->fields[i], &b->fields[i]))
			return false;
	return true;
}

/* Returns whether two events are equal in all that can be seen of them, except their ids. */
static bool are_events_equal(const struct pd_event *a, const struct pd_event *b,
			     size_t *compared)
{
	struct pd_attr x = a->attr, y = b->attr;

	if (strcmp(a->name, b->name) != 0)
		return false;
	/* the number of a tracepoint differs between kernels */
	if (x.type == PD_TYPE_TRACEPOINT && y.type == PD_TYPE_TRACEPOINT)
		x.config = y.config;
	for (unsigned m = 0; pd_attr_members[m].name; m++) {
		struct pd_value v = { .type = PD_NIL }, w = { .type = PD_NIL };

		pd_attr_member(&x, m, &v);
		pd_attr_member(&y, m, &w);
		if (v.type != w.type || (v.type != PD_NIL && v.u != w.u))
			return false;
	}
	return are_formats_equal(a->tracepoint, b->tracepoint, compared);
}

/* Returns the number of an equal event of another recording; n_events if there is none. */
static size_t find_equal_event(const struct pd_session *s, const struct pd_event *event,
			       size_t *compared)
{
	/* mostly it has the same index in each file */
	if (event->index < s->n_events &&
	    s->events[event->index]->recorded_with != event->recorded_with &&
	    are_events_equal(s->events[event->index], event, compared))
		return event->index;
	for (size_t i = 0; i < s->n_events && (*compared)++ < MAX_COMPARED; i++)
		if (s->events[i]->recorded_with != event->recorded_with &&
		    are_events_equal(s->events[i], event, compared))
			return i;
	return s->n_events;
}

bool pd_session_add_event(struct pd_session *s, struct pd_event *event, size_t *compared)
{
	size_t at = find_equal_event(s, event, compared);

	if (at == s->n_events) {
		if (!pb_reserve(s->events, s->n_events, s->events_room))
			return false;
		s->events[s->n_events++] = event;
	}
	event->number = (uint32_t)at;
	return true;
}

static bool open_file(struct pd_session *s, const char *path, bool numbered, size_t *compared,
		      const volatile sig_atomic_t *interrupt, struct pd_error *err)
{
	struct pd_file **file = &s->files[s->n_files];

	s->paths[s->n_files] = strdup(path);
	if (!s->paths[s->n_files])
		return pd_error_set(err, "ENOMEM", path, PD_NO_OFFSET, "no memory");
	if (!pd_file_open(file, path, s->perf, interrupt, err))
		return false;
	s->n_files++;
	s->perf = (*file)->perf;
	(*file)->session = s;
	(*file)->source = (uint16_t)(numbered ? s->n_files : 0);
	for (size_t i = 0; i < (*file)->n_events; i++)
		if (!pd_session_add_event(s, &(*file)->events[i], compared))
			return pd_error_set(err, "ENOMEM", path, PD_NO_OFFSET, "no memory");
	return true;
}

bool pd_session_open(struct pd_session **out, const char *const *paths, size_t n, bool numbered,
		     unsigned perf, const volatile sig_atomic_t *interrupt,
		     struct pd_error *err)
{
	struct pd_session *s = calloc(1, sizeof(*s));
	size_t compared = 0;
	bool ok = s && (s->files = calloc(n, sizeof(*s->files))) &&
		  (s->paths = calloc(n + 1, sizeof(*s->paths)));

	if (!ok)
		pd_error_set(err, "ENOMEM", paths[0], PD_NO_OFFSET, "no memory");
	if (s)
		s->perf = perf;
	while (ok && s->n_files < n)
		ok = open_file(s, paths[s->n_files], numbered, &compared, interrupt, err);
	if (!ok) {
		pd_session_destroy(s);
		return false;
	}
	s->text = pd_perf_text_of(s->perf);
	s->window = PD_WINDOW;
	compare_clocks(s);
	*out = s;
	return true;
}

void pd_session_measure(struct pd_session *s, struct pb_timing *timing, unsigned number)
{
	s->timing = timing;
	s->number = number;
	for (size_t i = 0; i < s->n_files; i++) {
		struct pd_file *file = s->files[i];

		for (size_t k = 0; k < file->n_streams; k++)
			file->streams[k].input->timing = timing;
	}
}

void pd_session_close(struct pd_session *s)
{
	for (size_t i = 0; i < s->n_files; i++)
		pd_file_close(s->files[i]);
}

void pd_session_destroy(struct pd_session *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->n_files; i++)
		pd_file_destroy(s->files[i]);
	for (size_t i = 0; s->paths && s->paths[i]; i++)
		free(s->paths[i]);
	free(s->paths);
	free(s->files);
	free(s->events);
	free(s->ends);
	free(s);
}

uint64_t pd_session_size(const struct pd_session *s)
{
	uint64_t size = 0;

	for (size_t i = 0; i < s->n_files; i++)
		for (size_t k = 0; k < s->files[i]->n_streams; k++)
			size += s->files[i]->streams[k].data.size;
	return size;
}

double pd_session_part(const struct pd_session *s, const struct pd_record *rec)
{
	const struct pd_stream *stream = pd_session_stream(s, rec);
	bool reached = false;
	double before = (double)(rec->offset - stream->data.offset), all = 0;

	if (stream->input->stream)
		return -1;
	for (size_t i = 0; i < s->n_files; i++) {
		for (size_t k = 0; k < s->files[i]->n_streams; k++) {
			const struct pd_stream *current = &s->files[i]->streams[k];

			reached = reached || current == stream;
			all += (double)current->data.size;
			before += reached ? 0 : (double)current->data.size;
		}
	}
	return all > 0 ? before / all : 0;
}
