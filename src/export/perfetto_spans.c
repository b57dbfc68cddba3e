/*
 * Spans as slices of a Perfetto trace, written as they come. A slice begins and ends by a
 * TrackEvent, on the track of the thread that opened it. An end closes the slice that began
 * last on its track, so spans that overlap in part go to further tracks below.
 */
#include <stdlib.h>

#include "base/vector.h"
#include "perfdata/format/print_scalar.h"
#include "perfetto.h"
#include "profile.h"

/* ThreadDescriptor, trace/track_event/thread_descriptor.proto */
enum {
	THREAD_PID = 1,
	THREAD_TID = 2,
	THREAD_NAME = 5
};

/* TrackEvent and TrackEvent.Type, trace/track_event/track_event.proto */
enum {
	EVENT_TYPE = 9,
	EVENT_TRACK = 11,
	EVENT_NAME = 23
};
enum {
	SLICE_BEGIN = 1,
	SLICE_END
};

#define MAX_LANES 64  /* of a thread: a span that fits none of them has a track of its own */
#define MAX_DEPTH 500 /* spans one in another: Perfetto's trace processor takes 512 */
#define MAX_KEPT  512 /* spans that a lane remembers; an even number */

/* The outermost spans of a track, which lie beside each other, from the first to the last. */
struct span_lane {
	struct kept_span {
		uint64_t start, stop;
		uint32_t depth;
	} * kept; /* [n] */
	size_t n, room;
	uint32_t track;
};

/* A thread, or a process. */
struct span_owner {
	uint32_t track; /* 0: not described yet */
	uint32_t comm;	/* number of its name; PE_NONE: not known */
	struct span_lane *lanes;
	size_t n_lanes, room;
};

struct perfetto_spans {
	const struct pe_span_options *options;
	struct pb_string out; /* packets; fails without memory */
	uint32_t n_tracks;
	struct pm_string_pool comms;
	struct pb_set ids;	   /* pid and tid, of processes PE_NO_ID, as int32_t */
	struct span_owner *owners; /* [n_owners], by number in `ids` */
	size_t n_owners;
};

static void destroy_perfetto_spans(void *state)
{
	struct perfetto_spans *w = state;

	for (size_t i = 0; i < w->n_owners; i++) {
		for (size_t lane = 0; lane < w->owners[i].n_lanes; lane++)
			free(w->owners[i].lanes[lane].kept);
		free(w->owners[i].lanes);
	}
	free(w->owners);
	pb_set_deinit(&w->ids);
	pm_string_pool_deinit(&w->comms);
	pb_string_deinit(&w->out);
	free(w);
}

static void *create_perfetto_spans(const struct pe_span_options *options)
{
	struct perfetto_spans *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->options = options;
	pb_secret_make(&w->comms.secret);
	pb_set_init(&w->ids, 2 * sizeof(int32_t));
	return w;
}

/* Returns a thread, or a process, until the next one is looked up; NULL: no memory. */
static struct span_owner *find_owner(struct perfetto_spans *w, int32_t pid, int32_t tid)
{
	uint32_t number = pb_set_add(&w->ids, (const int32_t[]){ pid, tid });

	if (number == PE_NONE ||
	    (number >= w->n_owners && !pb_extend(w->owners, w->n_owners, 2 * number + 8)))
		return NULL;
	return &w->owners[number];
}

/* Sets the name of an owner. Returns true if it has a track, and had that name before. */
static bool rename_owner(struct perfetto_spans *w, struct span_owner *owner,
			 struct pd_text comm)
{
	uint32_t number = comm.p ? pm_string_pool_add(&w->comms, comm) : PE_NONE;
	bool was_named_so = owner->track && owner->comm == number;

	w->out.failed |= comm.p && number == PM_NO_STRING;
	owner->comm = number;
	return was_named_so;
}

static size_t begin_packet(struct perfetto_spans *w)
{
	size_t packet = pe_begin_message(&w->out, TRACE_PACKET);

	pe_add_number(&w->out, SEQUENCE_ID, 1);
	return packet;
}

/* Describes a further track, which lies below its parent unless that is 0. */
static uint32_t describe_track(struct perfetto_spans *w, uint32_t parent, const char *name)
{
	size_t packet = begin_packet(w), track = pe_begin_message(&w->out, TRACK_DESCRIPTOR);

	pe_add_number(&w->out, TRACK_UUID, ++w->n_tracks);
	pe_add_integer(&w->out, TRACK_PARENT, parent);
	pe_add_bytes(&w->out, TRACK_NAME, name, strlen(name));
	pe_end_message(&w->out, track);
	pe_end_message(&w->out, packet);
	return w->n_tracks;
}

/*
 * Describes the process of the thread that opened a span, by the name of its main thread; anew
 * if that is called otherwise. Returns false without memory.
 */
static bool describe_process(struct perfetto_spans *w, const struct pe_span *span, int32_t pid)
{
	struct span_owner *process = find_owner(w, pid, PE_NO_ID);
	struct pm_incarnation main_thread;
	struct pd_text name = span->comm;
	size_t packet;

	if (!process || (process->track && pid != span->tid))
		return process;
	if (pid != span->tid)
		name = pe_span_process(w->options, pid, span->start, &main_thread);
	if (rename_owner(w, process, name))
		return true;
	if (!process->track)
		process->track = ++w->n_tracks;
	packet = begin_packet(w);
	pe_add_process_track(&w->out, process->track, pid, name);
	pe_end_message(&w->out, packet);
	return true;
}

static void describe_thread(struct perfetto_spans *w, const struct pe_span *span, int32_t pid,
			    struct span_owner *thread)
{
	size_t packet = begin_packet(w), track = pe_begin_message(&w->out, TRACK_DESCRIPTOR),
	       descriptor;

	if (!thread->track)
		thread->track = ++w->n_tracks;
	pe_add_number(&w->out, TRACK_UUID, thread->track);
	descriptor = pe_begin_message(&w->out, TRACK_THREAD);
	pe_add_number(&w->out, THREAD_PID, (uint64_t)(int64_t)pid);
	pe_add_number(&w->out, THREAD_TID, (uint64_t)(int64_t)span->tid);
	if (span->comm.p)
		pe_add_bytes(&w->out, THREAD_NAME, span->comm.p, span->comm.n);
	pe_end_message(&w->out, descriptor);
	pe_end_message(&w->out, track);
	pe_end_message(&w->out, packet);
}

/*
 * Returns the thread that opened a span, and describes it if it is new or called otherwise;
 * NULL: no memory.
 */
static struct span_owner *find_span_owner(struct perfetto_spans *w, const struct pe_span *span)
{
	int32_t tid = span->tid < 0 ? -1 : span->tid, pid = span->pid < 0 ? tid : span->pid;
	struct span_owner *thread = find_owner(w, pid, tid);

	if (!thread || rename_owner(w, thread, span->comm) || (thread->track && tid < 0))
		return thread;
	if (tid < 0) {
		thread->track = describe_track(w, 0, "spans");
		return thread;
	}
	if (!describe_process(w, span, pid))
		return NULL;
	thread = find_owner(w, pid, tid);
	if (thread)
		describe_thread(w, span, pid, thread);
	return thread;
}

/*
 * Merges the older half of the spans into one, with the gaps between them. A later span may
 * enclose that one, but not start in it.
 */
static void merge_older_spans(struct span_lane *lane)
{
	size_t half = lane->n / 2;

	for (size_t i = 1; i < half; i++)
		if (lane->kept[i].depth > lane->kept[0].depth)
			lane->kept[0].depth = lane->kept[i].depth;
	lane->kept[0].stop = lane->kept[half - 1].stop;
	memmove(lane->kept + 1, lane->kept + half, (lane->n - half) * sizeof(*lane->kept));
	lane->n -= half - 1;
}

/*
 * Adds a span to a lane. Returns false if it does not fit. Readers keep the order in which
 * events of one time are written, so a span does not nest in one that starts when it does,
 * unless that one has no length.
 */
static bool add_to_lane(struct perfetto_spans *w, struct span_lane *lane,
			const struct pe_span *span)
{
	size_t i = lane->n;
	uint32_t depth = 0;

	if (i && span->stop < lane->kept[i - 1].stop)
		return false;
	for (; i && lane->kept[i - 1].start > span->start; i--)
		if (lane->kept[i - 1].depth > depth)
			depth = lane->kept[i - 1].depth;
	if ((i && lane->kept[i - 1].stop > span->start) || depth == MAX_DEPTH)
		return false;
	if (!pb_reserve(lane->kept, i, lane->room)) {
		w->out.failed = true;
		return true;
	}
	lane->kept[i] = (struct kept_span){ span->start, span->stop, depth + 1 };
	lane->n = i + 1;
	if (lane->n == MAX_KEPT)
		merge_older_spans(lane);
	return true;
}

/* Returns the track that a span of a thread fits on. */
static uint32_t choose_track(struct perfetto_spans *w, struct span_owner *thread,
			     const struct pe_span *span)
{
	struct span_lane lane = { .track = thread->track };

	for (size_t i = 0; i < thread->n_lanes; i++)
		if (add_to_lane(w, &thread->lanes[i], span))
			return thread->lanes[i].track;
	if (thread->n_lanes)
		lane.track = describe_track(w, thread->track, "overlapping");
	if (thread->n_lanes == MAX_LANES)
		return lane.track;
	if (!pb_reserve(thread->lanes, thread->n_lanes, thread->room)) {
		w->out.failed = true;
		return lane.track;
	}
	add_to_lane(w, &lane, span);
	thread->lanes[thread->n_lanes++] = lane;
	return lane.track;
}

/* Adds the begin of a slice, which has its name, or its end. */
static void add_slice_event(struct perfetto_spans *w, uint64_t time, uint32_t track,
			    const struct pd_text *name)
{
	size_t packet = pe_begin_message(&w->out, TRACE_PACKET), event;

	pe_add_number(&w->out, TIMESTAMP, time);
	pe_add_number(&w->out, SEQUENCE_ID, 1);
	event = pe_begin_message(&w->out, TRACK_EVENT);
	pe_add_number(&w->out, EVENT_TYPE, name ? SLICE_BEGIN : SLICE_END);
	pe_add_number(&w->out, EVENT_TRACK, track);
	if (name)
		pe_add_bytes(&w->out, EVENT_NAME, name->p, name->n);
	pe_end_message(&w->out, event);
	pe_end_message(&w->out, packet);
}

static bool add_perfetto_span(void *state, const struct pe_span *span)
{
	struct perfetto_spans *w = state;
	struct span_owner *thread = find_span_owner(w, span);
	uint32_t track;

	if (!thread)
		return false;
	track = choose_track(w, thread, span);
	add_slice_event(w, span->start, track, &span->name);
	add_slice_event(w, span->stop, track, NULL);
	if (w->out.failed)
		return false;
	pd_print_bytes(w->options->out, w->out.p, w->out.n);
	pb_string_clear(&w->out);
	return true;
}

static bool finish_perfetto_spans(void *state, uint64_t *size)
{
	const struct perfetto_spans *w = state;

	(void)size;
	pd_print_flush(w->options->out);
	return true;
}

const struct pe_span_writer pe_perfetto_spans = {
	.format = "perfetto",
	.span_bytes = 64,
	.names = 1,
	.create = create_perfetto_spans,
	.add = add_perfetto_span,
	.finish = finish_perfetto_spans,
	.destroy = destroy_perfetto_spans,
};
