/*
 * Makes indexes on the way of a pass in partitions, whoever makes it: the workers list the
 * chunks of the partitions they take, and at the end the lists are joined.
 *
 * A chunk ends with its partition, so there are a few more chunks than in an index made by one
 * thread. The records are delivered in the same order.
 */
#include <pthread.h>
#include <stdlib.h>

#include "index.h"
#include "partitions.h"

/* The chunks of one partition. */
struct part {
	struct part *next;
	struct pd_stream *stream;
	size_t number; /* the partition's */
	struct pd_chunk_list list;
};

struct pd_index_watch {
	struct pd_partition_watch watch;
	struct pd_session *session;
	const struct pd_merge_stream *streams;
	size_t n;
	/* protected by `lock`: */
	pthread_mutex_t lock;
	struct part *parts; /* unordered; first the one that was begun last */
	size_t n_parts;
	bool failed;
};

static const struct pd_timestamp_locator *find_locator(const struct pd_index_watch *w,
						       const struct pd_stream *stream)
{
	for (size_t i = 0; i < w->n; i++)
		if (w->streams[i].stream == stream)
			return &w->streams[i].locator;
	return NULL;
}

static void fail_index(struct pd_index_watch *w)
{
	pthread_mutex_lock(&w->lock);
	w->failed = true;
	pthread_mutex_unlock(&w->lock);
}

static void begin_part(void *arg, const struct pd_partition *partition)
{
	struct pd_index_watch *w = arg;
	struct pd_reader *reader = partition->reader;
	const struct pd_timestamp_locator *locator = find_locator(w, reader->stream);
	struct part *part = calloc(1, sizeof(*part));

	if (!part || !locator) {
		free(part);
		fail_index(w);
		return;
	}
	part->stream = reader->stream;
	part->number = partition->number;
	pd_chunk_list_begin(&part->list, reader, locator);
	pthread_mutex_lock(&w->lock);
	part->next = w->parts;
	w->parts = part;
	w->n_parts++;
	pthread_mutex_unlock(&w->lock);
}

static void end_part(void *arg, const struct pd_partition *partition)
{
	struct pd_index_watch *w = arg;
	struct part *part;

	pthread_mutex_lock(&w->lock);
	part = w->parts;
	while (part && part->number != partition->number)
		part = part->next;
	pthread_mutex_unlock(&w->lock);
	if (!part || pd_chunk_list_end(&part->list) != PB_OK)
		fail_index(w);
}

static int compare_parts(const void *a, const void *b)
{
	const struct part *const *x = a, *const *y = b;

	return (*x)->number < (*y)->number ? -1 : (*x)->number > (*y)->number;
}

/*
 * Joins the chunks of `n` parts of one stream to its index. Chunks without a known time take
 * the last time of the part before. Returns false without memory.
 */
static bool join_stream(struct part *const *parts, size_t n)
{
	struct pd_index *index = calloc(1, sizeof(*index));
	uint64_t last = 0;
	size_t all = 0;

	for (size_t i = 0; i < n; i++)
		all += parts[i]->list.index.n;
	if (!index || (all && !(index->chunks = malloc(all * sizeof(*index->chunks))))) {
		free(index);
		return false;
	}
	for (size_t i = 0; i < n; i++) {
		const struct pd_chunk_list *list = &parts[i]->list;

		for (size_t k = 0; k < list->index.n; k++) {
			struct pd_chunk *chunk = &index->chunks[index->n];

			*chunk = list->index.chunks[k];
			chunk->number = index->n++;
			if (k < list->n_leading)
				chunk->first = chunk->min = chunk->max = last;
		}
		if (list->n_leading < list->index.n)
			last = list->chunker.last;
	}
	pd_stream_set_index(parts[0]->stream, index);
	return true;
}

/* Destroys the indexes that were made. */
static void drop_indexes(const struct pd_index_watch *w)
{
	for (size_t i = 0; i < w->n; i++) {
		pd_index_destroy(w->streams[i].stream->index);
		w->streams[i].stream->index = NULL;
	}
}

/*
 * Gives an empty index to each stream without a partition, as it has no records. Returns false
 * without memory.
 */
static bool add_empty_indexes(const struct pd_index_watch *w)
{
	for (size_t i = 0; i < w->n; i++) {
		struct pd_stream *stream = w->streams[i].stream;

		if (!stream->index)
			pd_stream_set_index(stream, calloc(1, sizeof(*stream->index)));
		if (!stream->index)
			return false;
	}
	return true;
}

static bool join_parts(const struct pd_index_watch *w)
{
	struct part **parts = malloc((w->n_parts + 1) * sizeof(*parts));
	bool done = parts;
	size_t n = 0;

	for (struct part *part = w->parts; done && part; part = part->next)
		parts[n++] = part;
	if (done)
		qsort(parts, n, sizeof(*parts), compare_parts);
	for (size_t i = 0, end; done && i < n; i = end) {
		for (end = i + 1; end < n && parts[end]->stream == parts[i]->stream; end++)
			;
		done = join_stream(parts + i, end - i);
	}
	free(parts);
	done = done && add_empty_indexes(w);
	if (!done)
		drop_indexes(w);
	return done;
}

static void drop_parts(struct pd_index_watch *w)
{
	while (w->parts) {
		struct part *part = w->parts;

		w->parts = part->next;
		free(part->list.index.chunks);
		free(part);
	}
}

/* Returns whether no stream has an index or compressed records. */
static bool can_index_in_parallel(const struct pd_session *session,
				  const struct pd_merge_stream *streams, size_t n)
{
	for (size_t i = 0; i < session->n_files; i++)
		if (pd_file_feature(session->files[i], PD_FEATURE_COMPRESSED))
			return false;
	for (size_t i = 0; i < n; i++)
		if (streams[i].stream->index)
			return false;
	return true;
}

struct pd_index_watch *pd_index_watch(struct pd_session *session,
				      const struct pd_merge_stream *streams, size_t n)
{
	struct pd_index_watch *w;

	if (!can_index_in_parallel(session, streams, n) || !(w = calloc(1, sizeof(*w))))
		return NULL;
	w->watch = (struct pd_partition_watch){
		.begin = begin_part,
		.end = end_part,
		.arg = w,
	};
	w->session = session;
	w->streams = streams;
	w->n = n;
	pthread_mutex_init(&w->lock, NULL);
	pd_session_add_watch(session, &w->watch);
	return w;
}

bool pd_index_watch_end(struct pd_index_watch *w)
{
	bool made;

	if (!w)
		return false;
	w->session->watches = NULL;
	made = w->watch.complete && !w->failed && join_parts(w);
	drop_parts(w);
	pthread_mutex_destroy(&w->lock);
	free(w);
	return made;
}

/* Reads a partition for its watches alone. */
static bool pass_partition(void *arg, const struct pd_partition *partition)
{
	struct pd_record rec;
	struct pd_error err;

	(void)arg;
	while (pb_goes_on(&partition->progress, 0, 0) &&
	       pd_reader_advance(partition->reader, &rec, &err) > 0)
		pd_run_pass(partition->reader);
	return true;
}

enum pb_outcome pd_index_make_parallel(struct pd_session *session,
				       const struct pd_merge_stream *streams, size_t n,
				       unsigned workers, const struct pb_progress *progress)
{
	struct pd_partition_work work = { .workers = workers,
					  .progress = progress,
					  .read = pass_partition,
					  .stage = PB_STAGE_ORDER };
	bool is_shared = session->watches || pd_partitions_workers(session, workers) > 1;
	struct pd_index_watch *w = is_shared ? pd_index_watch(session, streams, n) : NULL;
	enum pb_outcome made;

	if (!w)
		return PB_RETRY_SERIAL;
	made = pd_partitions_read(session, &work);
	if (!pd_index_watch_end(w) && made == PB_OK)
		made = PB_RETRY_SERIAL;
	return made;
}
