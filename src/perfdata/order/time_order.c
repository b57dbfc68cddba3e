#include "time_order.h"

#include <stdlib.h>

#include "index.h"

#define LEAST_BYTES ((size_t)8 << 20) /* bytes that may always be loaded at once */
#define MOST_PART   16 /* 1 / this part of all bytes may be loaded at once, if that is more */

/* Lists the streams of `n` files from number `first` on. Returns false without memory. */
static bool list_streams(struct pd_time_order *o, const struct pd_session *session,
			 size_t first, size_t n, const struct pd_types *types)
{
	size_t all = 0;

	for (size_t i = first; i < first + n; i++)
		all += session->files[i]->n_streams;
	o->streams = calloc(all, sizeof(*o->streams));
	for (size_t i = first; o->streams && i < first + n; i++) {
		struct pd_file *file = session->files[i];

		for (size_t k = 0; k < file->n_streams; k++) {
			o->streams[o->n].stream = &file->streams[k];
			o->streams[o->n].want = *types;
			o->streams[o->n].shift = file->shift;
			pd_timestamp_locator_init(&o->streams[o->n++].locator, file);
		}
	}
	return o->streams != NULL;
}

static bool has_recorded_times(const struct pd_time_order *o)
{
	for (size_t i = 0; i < o->n; i++)
		if (o->streams[i].locator.any)
			return true;
	return false;
}

/* Makes the indexes of all streams, which can be read again. Returns as pd_index_make(). */
static enum pb_outcome index_streams(struct pd_time_order *o, struct pd_session *files,
				     const struct pd_walk_options *options,
				     struct pd_error *err)
{
	enum pb_outcome shared = pd_index_make_parallel(files, o->streams, o->n,
							options->workers, &options->progress);

	if (shared != PB_RETRY_SERIAL)
		return shared;
	for (size_t i = 0; i < o->n; i++) {
		enum pb_outcome made = pd_index_make(o->streams[i].stream,
						     &o->streams[i].locator, &options->progress,
						     err);

		if (made != PB_OK)
			return made;
	}
	return PB_OK;
}

/*
 * Does what index_streams() does, as a pass of its own where records are not compressed.
 * PB_RETRY_SERIAL for one-shot streams, too.
 */
static enum pb_outcome make_indexes(struct pd_time_order *o, struct pd_session *files,
				    const struct pd_walk_options *options, struct pd_error *err)
{
	struct pb_pass *pass = NULL;
	enum pb_outcome made;
	struct pb_lap lap;

	for (size_t i = 0; i < o->n; i++)
		if (o->streams[i].stream->input->stream)
			return PB_RETRY_SERIAL;
	if (pd_time_order_needs_index(files))
		pass = pb_pass_begin(files->timing, "index of times", files->number);
	lap = pb_stage_enter(files->timing, pass ? pass : options->pass, PB_STAGE_ORDER);
	pb_set_phase(&options->progress, "indexing times");
	made = index_streams(o, files, options, err);
	pb_set_phase(&options->progress, NULL);
	pb_stage_leave(&lap);
	pb_pass_end(pass);
	return made;
}

/* Returns true if records that tell of lost ones are among those that are delivered. */
static bool has_losses(const struct pd_time_order *o, const struct pd_walk_options *options)
{
	uint64_t losses = 0;

	for (uint32_t type = 0; type < PD_RECORD_USER; type++) {
		const struct pd_record_desc *desc = pd_record_desc(type);

		if (desc && desc->loss != PD_LOSS_NONE && pd_types_has(&options->types, type))
			losses |= pd_chunk_type(type);
	}
	for (size_t i = 0; i < o->n; i++) {
		const struct pd_index *index = o->streams[i].stream->index;

		for (size_t k = 0; losses && k < index->n; k++)
			if (index->chunks[k].types & losses)
				return true;
	}
	return false;
}

/* Merges the chunks that hold records of the types and times of `options`. */
static enum pb_outcome merge_chunks(struct pd_time_order *o,
				    const struct pd_walk_options *options, size_t window,
				    struct pd_error *err)
{
	uint64_t types = pd_chunk_types(&options->types), all = 0;
	bool leaves_out = options->choice.events && !has_losses(o, options);

	o->merge = (struct pd_merge){
		.streams = o->streams,
		.limit = UINT64_MAX,
		.pass = options->pass,
	};
	for (size_t i = 0; i < o->n; i++) {
		struct pd_merge_stream *stream = &o->streams[i];
		const struct pd_index *index = stream->stream->index;

		if (leaves_out)
			stream->choice = options->choice;
		all += o->streams[i].stream->data.size;
		for (size_t k = 0; k < index->n; k++) {
			const struct pd_chunk *chunk = &index->chunks[k];
			uint64_t min = pd_merge_time_of(stream, chunk->min);
			uint64_t max = pd_merge_time_of(stream, chunk->max);

			if (!(chunk->types & types) || chunk->max < options->from ||
			    chunk->min >= options->to)
				continue;
			/* records without a time have 0 */
			if (min && (!o->first || min < o->first))
				o->first = min;
			if (max > o->last)
				o->last = max;
			if (!pd_merge_add(&o->merge, chunk, i)) {
				pd_error_set(err, "ENOMEM", o->streams[i].stream->input->path,
					     PD_NO_OFFSET, "no memory for its time order");
				return PB_FAILED;
			}
		}
	}
	o->merge.most = all / MOST_PART > LEAST_BYTES ? (size_t)(all / MOST_PART) : LEAST_BYTES;
	if (o->merge.most > window)
		o->merge.most = window;
	pd_merge_start(&o->merge);
	return PB_OK;
}

static enum pb_outcome queue_records(struct pd_time_order *o,
				     const struct pd_walk_options *options, size_t window,
				     struct pd_error *err)
{
	o->queued = true;
	o->queue = (struct pd_queue){
		.merge = { .streams = o->streams, .pass = options->pass },
		.n = o->n,
		.on_sideband = options->on_sideband,
		.window = window,
	};
	return pd_queue_init(&o->queue, err) ? PB_OK : PB_FAILED;
}

enum pb_outcome pd_time_order_init(struct pd_time_order *o, const struct pd_session *session,
				   size_t first, size_t n,
				   const struct pd_walk_options *options, struct pd_error *err)
{
	enum pb_outcome ordered = PB_RETRY_SERIAL;
	struct pd_session files = *session;

	files.files += first;
	files.n_files = n;
	files.ends = NULL; /* those are of all files */
	*o = (struct pd_time_order){ 0 };
	if (!list_streams(o, session, first, n, &options->types)) {
		pd_error_set(err, "ENOMEM", session->files[first]->path, PD_NO_OFFSET,
			     "no memory");
		ordered = PB_FAILED;
	} else if (has_recorded_times(o)) {
		ordered = make_indexes(o, &files, options, err);
		free(files.ends);
		if (ordered == PB_OK)
			ordered = merge_chunks(o, options, session->window, err);
		else if (ordered == PB_RETRY_SERIAL)
			ordered = queue_records(o, options, session->window, err);
	}
	if (ordered != PB_OK)
		pd_time_order_deinit(o);
	return ordered;
}

void pd_time_order_deinit(struct pd_time_order *o)
{
	if (o->queued)
		pd_queue_deinit(&o->queue);
	else
		pd_merge_deinit(&o->merge);
	free(o->streams);
	o->streams = NULL;
}

bool pd_time_order_needs_index(const struct pd_session *session)
{
	bool needs = false;

	for (size_t i = 0; i < session->n_files; i++) {
		const struct pd_file *file = session->files[i];
		struct pd_timestamp_locator locator;

		if (file->input.stream || pd_file_feature(file, PD_FEATURE_COMPRESSED))
			return false;
		pd_timestamp_locator_init(&locator, file);
		for (size_t k = 0; k < file->n_streams; k++)
			needs = needs || (locator.any && !file->streams[k].index);
	}
	return needs;
}

/* Returns true if the first walk in the order of time makes all indexes in one pass. */
static bool makes_all_indexes(const struct pd_session *session)
{
	/* files that follow one another have an index each when their turn comes */
	return (session->n_files <= 1 || session->merged) && pd_time_order_needs_index(session);
}

void pd_time_order_index(struct pd_session *session, unsigned workers,
			 const struct pb_progress *progress)
{
	const struct pd_walk_options options = {
		.types = PD_ALL_TYPES,
		.workers = workers,
		.progress = progress ? *progress : (struct pb_progress){ 0 },
	};
	struct pd_time_order o = { 0 };
	struct pd_error err;

	if (!makes_all_indexes(session))
		return;
	if (list_streams(&o, session, 0, session->n_files, &options.types))
		make_indexes(&o, session, &options, &err);
	free(o.streams);
}

void pd_time_watch_begin(struct pd_time_watch *watch, struct pd_session *session)
{
	const struct pd_types types = PD_ALL_TYPES;
	struct pd_time_order o = { 0 };

	*watch = (struct pd_time_watch){ 0 };
	if (!makes_all_indexes(session) ||
	    !list_streams(&o, session, 0, session->n_files, &types))
		return;
	watch->streams = o.streams;
	watch->index = pd_index_watch(session, o.streams, o.n);
}

void pd_time_watch_end(struct pd_time_watch *watch)
{
	pd_index_watch_end(watch->index);
	free(watch->streams);
	*watch = (struct pd_time_watch){ 0 };
}

#define FEW 4 /* 1 / this part of the bytes */

bool pd_time_order_has_few(const struct pd_session *session, const struct pd_types *types)
{
	uint64_t bits = pd_chunk_types(types), found = 0;

	for (size_t i = 0; i < session->n_files; i++) {
		for (size_t k = 0; k < session->files[i]->n_streams; k++) {
			const struct pd_index *index = session->files[i]->streams[k].index;

			if (!index)
				return false;
			for (size_t c = 0; c < index->n; c++)
				if (index->chunks[c].types & bits)
					found += index->chunks[c].size;
		}
	}
	return found < pd_session_size(session) / FEW;
}

uint64_t pd_time_order_late(const struct pd_time_order *o)
{
	return o->queued ? o->queue.late : 0;
}
