/*
 * Makes indexes with several workers: each lists the chunks of the partitions it takes, and at
 * the end the lists are joined.
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

struct parallel_index {
	const struct pd_merge_stream *streams;
	size_t n;
	/* protected by `lock`: */
	pthread_mutex_t lock;
	struct part *parts; /* unordered */
	size_t n_parts;
	bool failed;
};

static const struct pd_timestamp_locator *find_locator(const struct parallel_index *s,
						       const struct pd_stream *stream)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->streams[i].stream == stream)
			return &s->streams[i].locator;
	return NULL;
}

static void fail_index(struct parallel_index *s)
{
	pthread_mutex_lock(&s->lock);
	s->failed = true;
	pthread_mutex_unlock(&s->lock);
}

/*
 * Callback of pd_partition_work. Returns false if one thread must make the index and report
 * errors.
 */
static bool cut_partition(void *arg, const struct pd_partition *partition)
{
	struct parallel_index *s = arg;
	struct pd_reader *reader = partition->reader;
	const struct pd_timestamp_locator *locator = find_locator(s, reader->stream);
	struct part *part = calloc(1, sizeof(*part));
	enum pb_outcome made;
	struct pd_error err;

	if (!part || !locator) {
		free(part);
		fail_index(s);
		return false;
	}
	part->stream = reader->stream;
	part->number = partition->number;
	part->list.leading = reader->blocks.start != reader->stream->data.offset;
	pthread_mutex_lock(&s->lock);
	part->next = s->parts;
	s->parts = part;
	s->n_parts++;
	pthread_mutex_unlock(&s->lock);
	made = pd_chunk_list_read(&part->list, reader, locator, &partition->progress, &err);
	if (made == PB_OK || made == PB_STOPPED)
		return true;
	fail_index(s);
	return false;
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
static void drop_indexes(const struct parallel_index *s)
{
	for (size_t i = 0; i < s->n; i++) {
		pd_index_destroy(s->streams[i].stream->index);
		s->streams[i].stream->index = NULL;
	}
}

/*
 * Gives an empty index to each stream without a partition, as it has no records. Returns false
 * without memory.
 */
static bool add_empty_indexes(const struct parallel_index *s)
{
	for (size_t i = 0; i < s->n; i++) {
		struct pd_stream *stream = s->streams[i].stream;

		if (!stream->index)
			pd_stream_set_index(stream, calloc(1, sizeof(*stream->index)));
		if (!stream->index)
			return false;
	}
	return true;
}

static bool join_parts(const struct parallel_index *s)
{
	struct part **parts = malloc((s->n_parts + 1) * sizeof(*parts));
	bool done = parts;
	size_t n = 0;

	for (struct part *part = s->parts; done && part; part = part->next)
		parts[n++] = part;
	if (done)
		qsort(parts, n, sizeof(*parts), compare_parts);
	for (size_t i = 0, end; done && i < n; i = end) {
		for (end = i + 1; end < n && parts[end]->stream == parts[i]->stream; end++)
			;
		done = join_stream(parts + i, end - i);
	}
	free(parts);
	done = done && add_empty_indexes(s);
	if (!done)
		drop_indexes(s);
	return done;
}

static void drop_parts(struct parallel_index *s)
{
	while (s->parts) {
		struct part *part = s->parts;

		s->parts = part->next;
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

enum pb_outcome pd_index_make_parallel(struct pd_session *session,
				       const struct pd_merge_stream *streams, size_t n,
				       unsigned workers, const struct pb_progress *progress)
{
	struct parallel_index s = {
		.streams = streams,
		.n = n,
		.lock = PTHREAD_MUTEX_INITIALIZER,
	};
	struct pd_partition_work work = { .workers = workers,
					  .progress = progress,
					  .read = cut_partition,
					  .arg = &s,
					  .stage = PB_STAGE_ORDER };
	enum pb_outcome made;

	if (!can_index_in_parallel(session, streams, n) ||
	    (!session->watch && pd_partitions_workers(session, workers) < 2))
		return PB_RETRY_SERIAL;
	made = pd_partitions_read(session, &work);
	if (made == PB_OK ? !join_parts(&s) : s.failed)
		made = PB_RETRY_SERIAL;
	drop_parts(&s);
	pthread_mutex_destroy(&s.lock);
	return made;
}
