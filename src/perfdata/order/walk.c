#include "walk.h"

static void find_waiting_clocks(struct pd_walk *w)
{
	w->clock_waits = false;
	for (size_t i = 0; i < w->session->n_files; i++)
		if (w->session->files[i]->input.stream &&
		    !w->session->files[i]->clock.has_start)
			w->clock_waits = true;
	w->special = w->splitting || w->clock_waits;
}

bool pd_walk_init(struct pd_walk *w, struct pd_session *session, enum pd_order_kind kind,
		  struct pd_error *err)
{
	*w = (struct pd_walk){
		.session = session,
		.options = { .types = PD_ALL_TYPES,
			     .to = UINT64_MAX,
			     .pass = pb_pass_current(session->timing) },
		.kind = kind,
	};
	for (size_t i = 0; i < session->n_files; i++) {
		struct pd_input *input = &session->files[i]->input;

		if (input->consumed)
			return pd_error_set(
				err, "ESPIPE", input->path, PD_NO_OFFSET,
				"a stream can be read only once, and it was read: save it to "
				"a file first");
		input->consumed = input->stream;
	}
	find_waiting_clocks(w);
	return true;
}

/* Frees what belongs to the stream or files being walked. */
static void leave_stream(struct pd_walk *w)
{
	if (w->state == PD_WALK_READING)
		pd_reader_deinit(&w->reader);
	if (w->state == PD_WALK_ORDERED) {
		w->late += pd_time_order_late(&w->order);
		pd_time_order_deinit(&w->order);
	}
	w->state = PD_WALK_NEXT;
}

void pd_walk_deinit(struct pd_walk *w)
{
	leave_stream(w);
	w->file = w->session->n_files;
	pd_counters_destroy(w->counters);
	w->counters = NULL;
	w->splitting = w->special = false;
}

/* Starts with the next stream in file order. Returns 1, or -1 with *err. */
static int start_next_stream(struct pd_walk *w, struct pd_error *err)
{
	struct pd_file *file = w->session->files[w->file];

	if (!pd_reader_init(&w->reader, &file->streams[w->stream], err))
		return -1;
	w->state = PD_WALK_READING;
	w->reader.blocks.pass = w->options.pass;
	if (w->options.read_ahead)
		pd_blocks_read_ahead(&w->reader.blocks);
	w->reader.want = w->options.types;
	for (size_t i = 0; w->options.on_sideband.call && i < 2; i++)
		w->reader.want.bits[i] |= w->options.on_sideband.types.bits[i];
	if (++w->stream == file->n_streams) {
		w->file++;
		w->stream = 0;
	}
	return 1;
}

/*
 * Calls pd_time_order_init() for the next `n` files. If samples are split, records of all times
 * and events are needed. The first pass over a recording in pipe mode may find events with such
 * samples only while it makes the index: then the order is initialised again.
 */
static enum pb_outcome init_time_order(struct pd_walk *w, size_t n, struct pd_error *err)
{
	struct pd_walk_options options = w->options;

	for (;;) {
		bool split = options.split && pd_session_has_counters(w->session);
		enum pb_outcome ordered;

		if (split) {
			options.from = 0;
			options.to = UINT64_MAX;
			options.choice.events = NULL;
		}
		ordered = pd_time_order_init(&w->order, w->session, w->file, n, &options, err);
		if (ordered != PB_OK || split || !options.split ||
		    !pd_session_has_counters(w->session))
			return ordered;
		pd_time_order_deinit(&w->order);
	}
}

/*
 * Starts with the files that are merged next. Files without times are walked in file order
 * instead. Returns 1; 0 if progress said no; -1 with *err.
 */
static int start_next_files(struct pd_walk *w, struct pd_error *err)
{
	size_t n = w->session->merged ? w->session->n_files : 1;

	switch (init_time_order(w, n, err)) {
	case PB_OK:
		w->state = PD_WALK_ORDERED;
		w->file += n;
		return 1;
	case PB_RETRY_SERIAL:
		w->file_order = w->file + n;
		return start_next_stream(w, err);
	case PB_STOPPED:
		w->file = w->session->n_files;
		return 0;
	case PB_FAILED:
		break;
	}
	return -1;
}

int pd_walk_call_back(struct pd_walk *w, struct pd_record *rec, struct pd_error *err)
{
	const struct pd_sideband_callback *callback = &w->options.on_sideband;
	int got;

	while ((got = pd_reader_next(&w->reader, rec, err)) > 0) {
		if (pd_types_has(&callback->types, rec->type) &&
		    !callback->call(callback->arg, rec)) {
			pd_error_set(err, "ENOMEM", w->reader.stream->input->path, rec->offset,
				     "no memory for the facts that a record states");
			return -1;
		}
		if (pd_types_has(&w->options.types, rec->type))
			return got;
	}
	return got;
}

int pd_walk_step(struct pd_walk *w, struct pd_record *rec, struct pd_error *err)
{
	for (;;) {
		int got;

		leave_stream(w);
		if (w->file == w->session->n_files)
			return 0;
		got = w->kind == PD_ORDER_TIME && w->file >= w->file_order ?
			      start_next_files(w, err) :
			      start_next_stream(w, err);
		if (got <= 0)
			return got;
		got = w->state == PD_WALK_ORDERED ? pd_time_order_next(&w->order, rec, err) :
		      w->options.on_sideband.call ? pd_walk_call_back(w, rec, err) :
						    pd_reader_next(&w->reader, rec, err);
		if (got)
			return got;
	}
}

static void begin_clock(struct pd_walk *w, const struct pd_record *rec)
{
	struct pd_file *file = pd_session_stream(w->session, rec)->file;
	uint32_t at, size;

	if (!file->input.stream || rec->type != PD_RECORD_SAMPLE ||
	    !pd_part_find(rec, PD_PART_TIME, &at, &size) || size < 8)
		return;
	pd_clock_begin(&file->clock, pd_rec64(rec, at));
	find_waiting_clocks(w);
}

static int set_walk_no_memory(const struct pd_walk *w, const struct pd_record *rec,
			      struct pd_error *err)
{
	pd_error_set(err, "ENOMEM", pd_session_stream(w->session, rec)->input->path,
		     rec->offset, "no memory for counter values");
	return -1;
}

int pd_walk_split(struct pd_walk *w, struct pd_record *rec, struct pd_error *err)
{
	for (;;) {
		int got;

		if (!w->splitting) {
			if (!w->counters && !(w->counters = pd_counters_create(w->session)))
				return set_walk_no_memory(w, rec, err);
			pd_counters_split(w->counters, rec);
			w->splitting = w->special = true;
		}
		got = pd_counters_next(w->counters, rec);
		if (got > 0)
			return got;
		w->splitting = false;
		w->special = w->clock_waits;
		if (got < 0)
			return set_walk_no_memory(w, rec, err);
		got = pd_walk_record(w, rec, err);
		if (got > 0 && w->clock_waits)
			begin_clock(w, rec);
		if (got <= 0 || !pd_has_counters(rec))
			return got;
	}
}

int pd_walk_special(struct pd_walk *w, struct pd_record *rec, struct pd_error *err)
{
	int got;

	if (w->splitting)
		return pd_walk_split(w, rec, err);
	got = pd_walk_record(w, rec, err);
	if (got > 0)
		begin_clock(w, rec);
	return got > 0 && w->options.split && pd_has_counters(rec) ?
		       pd_walk_split(w, rec, err) :
		       got;
}

double pd_walk_part(const struct pd_walk *w, const struct pd_record *rec)
{
	const struct pd_time_order *o = &w->order;
	size_t n = w->session->n_files;
	double part;

	if (w->state != PD_WALK_ORDERED || o->queued || o->last <= o->first ||
	    o->merge.time < o->first)
		return pd_session_part(w->session, rec);
	part = (double)(o->merge.time - o->first) / (double)(o->last - o->first);
	return w->session->merged ? part : ((double)w->file - 1 + part) / (double)n;
}
