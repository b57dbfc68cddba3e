#include "writer.h"

#include <stdlib.h>

#include "base/vector.h"
#include "perfdata/stream/bind.h"
#include "directory.h"
#include "sections.h"
#include "turn.h"

#define HEADER_SIZE 8
#define BLOCK	    ((size_t)64 << 10) /* bytes that are read together */
#define ROUND	    PW_BLOCK	       /* bytes of a round, if the writer makes them */

/* Returns false with *err if a write failed. */
static bool check_output(const struct pw_writer *w, struct pd_error *err)
{
	return !w->out.error || pd_error_set(err, "WRITE", "", PD_NO_OFFSET, "cannot write");
}

static bool fail_memory(const struct pw_writer *w, struct pd_error *err)
{
	return pd_error_set(err, "ENOMEM", w->like->path, PD_NO_OFFSET, "no memory to write");
}

bool pw_writer_init(struct pw_writer *w, struct pd_file *like, int fd, const struct pw_how *how,
		    struct pd_error *err)
{
	*w = (struct pw_writer){ .like = like, .how = *how, .n_events = like->n_events };
	pd_timestamp_locator_init(&w->locator, like);
	w->big = how->order == PW_SAME_ORDER ? like->big : how->order == PW_BIG;
	w->turns = w->big != like->big;
	if (!pw_output_init(&w->out, fd, like->swap != w->turns))
		return fail_memory(w, err);
	if (how->level) {
		w->compressor = pw_compressor_create(&w->out, how->level, how->padded);
		if (!w->compressor)
			return fail_memory(w, err);
	}
	if (how->pipe ? !pw_begin_pipe(w, err) : !pw_begin_file(w, err))
		return false;
	w->data.offset = w->round_at = w->out.at;
	return check_output(w, err);
}

void pw_writer_deinit(struct pw_writer *w)
{
	pw_compressor_destroy(w->compressor);
	w->compressor = NULL;
	pw_output_deinit(&w->out);
	pb_string_deinit(&w->changed);
	pb_string_deinit(&w->turned);
	free(w->moved);
	w->moved = NULL;
}

/*
 * Writes the records that are compressed together. Returns false without memory, after which
 * zstd cannot continue.
 */
static bool end_block(struct pw_writer *w, struct pd_error *err)
{
	return !w->compressor || pw_compress_flush(w->compressor) || fail_memory(w, err);
}

/* Ends a round, unless it would be empty. */
static bool end_round(struct pw_writer *w, struct pd_error *err)
{
	if (!w->in_round)
		return true;
	if (!end_block(w, err))
		return false;
	w->in_round = 0;
	pw_put_header(&w->out, PD_RECORD_FINISHED_ROUND, 0, HEADER_SIZE);
	w->round_at = w->out.at;
	return true;
}

bool pw_put_range(struct pw_writer *w, struct pd_stream *stream, struct pd_section at,
		  struct pd_error *err)
{
	struct pd_input *input = stream->input;
	uint8_t block[BLOCK];

	if (at.size > sizeof(block) && !input->stream) {
		uint64_t done = pw_put_of_file(&w->out, input->fd, at.offset, at.size);

		at.offset += done;
		at.size -= done;
	}
	while (at.size && !w->out.error) {
		struct pd_section part = { at.offset,
					   at.size < sizeof(block) ? at.size : sizeof(block) };

		if (!pd_stream_read(stream, part, block, err))
			return false;
		pw_put(&w->out, block, (size_t)part.size);
		at.offset += part.size;
		at.size -= part.size;
	}
	return check_output(w, err);
}

/* Adds a record and the data after it, such as a piece of an AUX area. */
static bool write_with_data(struct pw_writer *w, const struct pd_record *rec,
			    struct pd_error *err)
{
	struct pd_stream *stream = &w->like->streams[rec->stream];
	struct pd_section payload = pd_record_payload(rec);

	if (payload.size && stream->input->stream && !stream->input->keeps_payloads)
		return pd_error_set(err, "ESPIPE", stream->input->path, rec->offset,
				    "found data of an AUX area in a stream, which can be read "
				    "only once; save the stream to a file");
	if (!pb_reserve(w->moved, w->n_moved, w->moved_room))
		return fail_memory(w, err);
	w->moved[w->n_moved++] = (struct pw_moved){ rec->offset, w->out.at };
	pw_put(&w->out, rec->bytes, rec->size);
	return pw_put_range(w, stream, payload, err);
}

/* How a record is written. */
enum fate {
	MADE_ANEW, /* the writer makes its own */
	ROUND_END,
	LEFT_OUT,  /* of an AUX area that the copy does not have whole */
	WITH_DATA, /* with the data after it */
	ALONE,	   /* perf's own: never compressed */
	COPIED,
};

bool pw_is_aux(uint32_t type)
{
	return type == PD_RECORD_AUX || type == PD_RECORD_ITRACE_START ||
	       type == PD_RECORD_AUXTRACE_INFO || type == PD_RECORD_AUXTRACE;
}

/*
 * Returns how a record is written that describes the recording in pipe mode. Of those in a file
 * only features and build-ids count, and simpleperf's formats of tracepoints.
 */
static enum fate fate_of_metadata(const struct pw_writer *w, const struct pd_record *rec)
{
	const struct pd_file *from = rec->source ? w->like->session->files[rec->source - 1] :
						   w->like;

	if (from->pipe && w->how.pipe && rec->type == PD_RECORD_EVENT_TYPE)
		return ALONE; /* its names have no other place there */
	if (from->pipe || (w->how.pipe && rec->type == PD_RECORD_HEADER_FEATURE))
		return w->how.pipe && pw_is_late(w, rec) ? ALONE : MADE_ANEW;
	if (w->how.pipe && rec->type != PD_RECORD_BUILD_ID)
		return MADE_ANEW;
	return pd_payload_size(rec) ? WITH_DATA : ALONE;
}

/* Returns whether all data after a record is there, of a stream that keeps it. */
static bool has_data(const struct pd_stream *stream, const struct pd_record *rec)
{
	struct pd_section at = pd_record_payload(rec);

	if (stream->input->keeps_payloads)
		return !at.size || pd_input_read_kept(stream->input, at.offset, at.size, NULL);
	return pd_stream_holds(stream, at);
}

static enum fate find_fate(const struct pw_writer *w, const struct pd_record *rec)
{
	enum fate fate = rec->type < PD_RECORD_USER ? COPIED : ALONE;

	switch (rec->type) {
	case PD_RECORD_COMPRESSED:
	case PD_RECORD_COMPRESSED2:
		return MADE_ANEW;
	case PD_RECORD_HEADER_ATTR:
	case PD_RECORD_EVENT_TYPE:
	case PD_RECORD_TRACING_DATA:
	case PD_RECORD_BUILD_ID:
	case PD_RECORD_HEADER_FEATURE:
		fate = fate_of_metadata(w, rec);
		break;
	case PD_RECORD_FINISHED_ROUND:
		return ROUND_END;
	case PD_RECORD_AUXTRACE:
		fate = WITH_DATA;
		break;
	default:
		break;
	}
	if ((w->how.selects || w->turns) && pw_is_aux(rec->type))
		return LEFT_OUT;
	if (fate == WITH_DATA && !has_data(&w->like->streams[rec->stream], rec))
		return LEFT_OUT;
	return fate;
}

static void count_record(struct pw_writer *w, const struct pd_record *rec, uint32_t size,
			 uint64_t time)
{
	w->summary.records++;
	w->summary.plain_bytes += size;
	w->in_round++;
	if (rec->type != PD_RECORD_SAMPLE)
		return;
	w->summary.samples++;
	w->summary.sample_bytes += rec->size;
	if (time)
		pd_time_range_widen(&w->summary.times, time, time);
}

/*
 * Changes a record that describes events in pipe mode, to tell of the records as they are
 * written. Its bytes are the writer's then. Returns false with *err.
 */
static bool change_record(struct pw_writer *w, struct pd_record *rec, struct pd_error *err)
{
	uint8_t *bytes;

	if (rec->type != PD_RECORD_HEADER_ATTR && rec->type != PD_RECORD_HEADER_FEATURE)
		return true;
	pb_string_clear(&w->changed);
	pb_string_add(&w->changed, (const char *)rec->bytes, rec->size);
	if (w->changed.failed)
		return fail_memory(w, err);
	rec->bytes = bytes = (uint8_t *)w->changed.p;
	if (rec->type == PD_RECORD_HEADER_ATTR)
		pw_change_attr(w, bytes + HEADER_SIZE, rec->size - HEADER_SIZE);
	else if (rec->size > 2 * HEADER_SIZE &&
		 pd_rec64(rec, HEADER_SIZE) == PD_FEATURE_EVENT_DESC)
		pw_change_event_desc(w, bytes + 2 * HEADER_SIZE, rec->size - 2 * HEADER_SIZE);
	return true;
}

/*
 * Turns a record to the other byte order. Its bytes are the writer's then. Returns 1; 0 if it
 * cannot be turned, and is left out; -1 with *err.
 */
static int turn_record(struct pw_writer *w, struct pd_record *rec, struct pd_error *err)
{
	bool drops_data = false;

	pb_string_clear(&w->turned);
	if (!pw_turn_record(w->like, rec, &w->turned, &drops_data)) {
		w->summary.unturned_records++;
		return w->turned.failed ? fail_memory(w, err) - 1 : 0;
	}
	w->summary.unturned_data += drops_data;
	rec->bytes = (const uint8_t *)w->turned.p;
	rec->size = (uint32_t)w->turned.n;
	return 1;
}

/* Adds the bytes of a record. Returns false with *err. */
static bool put_record(struct pw_writer *w, const struct pd_record *rec, enum fate fate,
		       struct pd_error *err)
{
	if (fate != COPIED && !end_block(w, err))
		return false;
	if (fate == WITH_DATA)
		return write_with_data(w, rec, err);
	if (fate == COPIED && w->compressor)
		return pw_compress(w->compressor, rec->bytes, rec->size) || fail_memory(w, err);
	pw_put(&w->out, rec->bytes, rec->size);
	return true;
}

/* Returns whether a record has a time of its own. */
static bool has_time(const struct pw_writer *w, struct pd_record rec)
{
	uint64_t time;

	return pd_timestamp_of(&w->locator, &rec, &time);
}

bool pw_write(struct pw_writer *w, struct pd_record *rec, struct pd_error *err)
{
	uint64_t time = 0;

	if (rec->type == PD_RECORD_SAMPLE)
		pd_timestamp_of(&w->locator, rec, &time);
	return pw_write_timed(w, rec, time, err);
}

bool pw_write_timed(struct pw_writer *w, const struct pd_record *rec, uint64_t time,
		    struct pd_error *err)
{
	struct pd_record written = *rec;
	enum fate fate = find_fate(w, rec);
	int turned = 1;
	bool ok;

	if (fate == MADE_ANEW)
		return true;
	if (fate == ROUND_END)
		return w->how.sorts || w->how.directory ||
		       (end_round(w, err) && check_output(w, err));
	if (fate == LEFT_OUT) {
		w->summary.aux_records++;
		w->summary.aux_bytes += pd_payload_size(rec);
		return true;
	}
	if (!change_record(w, &written, err))
		return false;
	if (w->turns)
		turned = turn_record(w, &written, err);
	if (turned <= 0)
		return turned == 0;
	if (fate == COPIED && w->how.directory && has_time(w, *rec))
		ok = pw_directory_put(w->how.directory, w, rec, &written, err);
	else
		ok = put_record(w, &written, fate, err);
	if (!ok)
		return false;
	count_record(w, rec, written.size, time);
	if (w->how.sorts && !w->keeps_round && !w->how.directory &&
	    w->out.at - w->round_at > ROUND && !end_round(w, err))
		return false;
	return check_output(w, err);
}

bool pw_copies_runs(const struct pw_writer *w)
{
	return !w->how.sorts && !w->how.directory && !w->turns;
}

/* Adds bytes of records to the block in the making, which has room for them. */
static bool put_bytes(struct pw_writer *w, const uint8_t *bytes, size_t n, struct pd_error *err)
{
	if (n && w->compressor)
		return pw_compress(w->compressor, bytes, n) || fail_memory(w, err);
	if (n)
		pw_put(&w->out, bytes, n);
	return true;
}

static void count_in_run(const struct pw_writer *w, struct pw_counts *counts,
			 struct pd_record *rec)
{
	uint64_t time;

	counts->records++;
	counts->bytes += rec->size;
	if (rec->type != PD_RECORD_SAMPLE)
		return;
	counts->samples++;
	counts->sample_bytes += rec->size;
	if (pd_timestamp_of(&w->locator, rec, &time)) {
		counts->first = time < counts->first ? time : counts->first;
		counts->last = time > counts->last ? time : counts->last;
	}
}

void pw_add_counts(struct pw_writer *w, const struct pw_counts *counts)
{
	w->summary.records += counts->records;
	w->summary.samples += counts->samples;
	w->summary.sample_bytes += counts->sample_bytes;
	w->summary.plain_bytes += counts->bytes;
	if (counts->first <= counts->last)
		pd_time_range_widen(&w->summary.times, counts->first, counts->last);
}

static void add_run(struct pw_writer *w, const struct pw_counts *counts)
{
	w->in_round += counts->records;
	pw_add_counts(w, counts);
}

bool pw_write_run(struct pw_writer *w, struct pd_reader *reader, struct pd_error *err)
{
	struct pd_record rec = pd_reader_record(reader);
	struct pw_counts counts = { .first = UINT64_MAX };
	const uint8_t *start;
	struct pd_run run;
	/* blocks that are compressed do not depend on those that are read */
	size_t most = w->compressor ? pw_compress_room(w->compressor) : SIZE_MAX;

	pd_run_begin(&run, reader);
	start = run.at;
	while (pd_run_has(&run, reader->swap)) {
		pd_record_header(&rec, run.at, reader->swap, false);
		if (rec.type >= PD_RECORD_USER || counts.bytes + rec.size > most)
			break;
		rec.bytes = run.at;
		count_in_run(w, &counts, &rec);
		pd_run_skip(&run, rec.size);
	}
	pd_run_end(&run, reader);
	add_run(w, &counts);
	return put_bytes(w, start, (size_t)counts.bytes, err) && check_output(w, err);
}

bool pw_change_run(struct pw_writer *w, struct pd_reader *reader, pw_change_fn *change,
		   void *arg, struct pd_error *err)
{
	struct pd_record rec = pd_reader_record(reader);
	struct pw_counts counts = { .first = UINT64_MAX };
	const uint8_t *start;
	struct pd_run run;

	pd_run_begin(&run, reader);
	start = run.at;
	while (pd_run_has(&run, reader->swap)) {
		uint32_t size;
		bool stays;

		pd_record_header(&rec, run.at, reader->swap, false);
		if (rec.type != PD_RECORD_SAMPLE)
			break;
		rec.bytes = run.at;
		size = rec.size;
		pd_bind(&reader->binder, &rec);
		stays = change(arg, &rec);
		if (stays)
			count_in_run(w, &counts, &rec);
		if (!stays || rec.bytes != run.at) {
			pw_put(&w->out, start, (size_t)(run.at - start));
			start = run.at + size;
			if (stays)
				pw_put(&w->out, rec.bytes, rec.size);
		}
		pd_run_skip(&run, size);
	}
	pd_run_end(&run, reader);
	pw_put(&w->out, start, (size_t)(run.at - start));
	add_run(w, &counts);
	return check_output(w, err);
}

bool pw_writer_finish(struct pw_writer *w, struct pd_error *err)
{
	if (!end_block(w, err) || (w->how.sorts && !w->how.directory && !end_round(w, err)))
		return false;
	/* a file without data would be an unfinished one */
	if (w->out.at == w->data.offset && !w->how.pipe)
		pw_put_header(&w->out, PD_RECORD_FINISHED_ROUND, 0, HEADER_SIZE);
	w->data.size = w->out.at - w->data.offset;
	if (!w->how.pipe && !pw_end_file(w, err))
		return false;
	pw_output_flush(&w->out);
	w->summary.bytes = w->out.at;
	if (w->how.directory && !pw_directory_finish(w->how.directory, &w->summary.bytes, err))
		return false;
	return check_output(w, err);
}

static bool has_equal_layout(const struct pd_record *a, const struct pd_record *b)
{
	const struct pd_shape *x = a->layout->shape, *y = b->layout->shape;

	return a->layout->trailer_size == b->layout->trailer_size &&
	       x->sample_type == y->sample_type && x->read_format == y->read_format &&
	       x->branch_sample_type == y->branch_sample_type && x->regs_user == y->regs_user &&
	       x->regs_intr == y->regs_intr && x->counters == y->counters &&
	       x->defer == y->defer;
}

bool pw_adopt(const struct pd_file *like, struct pd_record *rec, struct pd_error *err)
{
	struct pd_record own = *rec;
	struct pd_binder binder;
	bool fits = rec->layout->swap == like->swap && !pd_payload_size(rec);

	if (fits) {
		pd_binder_init(&binder, like);
		pd_bind(&binder, &own);
	}
	if (!fits || !own.event || !has_equal_layout(rec, &own))
		return pd_error_set(err, "EINVAL", like->path, PD_NO_OFFSET,
				    "found a record of another recording, whose event this one "
				    "does not have");
	own.stream = 0;
	*rec = own;
	return true;
}
