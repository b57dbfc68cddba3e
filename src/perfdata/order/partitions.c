#include "partitions.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/vector.h"
#include "boundary.h"

/* Fuzzing inputs are small, and must be cut, too. */
#ifdef PD_PARTITION_SMALLEST
#define SHARED_LEAST PD_PARTITION_SMALLEST
#define SMALLEST     PD_PARTITION_SMALLEST
#else
/* bytes of a session; more workers do not make a smaller one faster */
#define SHARED_LEAST (1024 * 1024)
#define SMALLEST     (128 * 1024) /* bytes of a partition */
#endif
#define LARGEST	   (4 * 1024 * 1024)
#define PER_WORKER 8  /* partitions for each worker, so that all end at nearly the same time */
#define MOST	   64 /* workers */

struct partition_queue {
	struct pd_session *session;
	const struct pd_partition_work *work;
	struct pd_partition_watch *watches; /* NULL: nobody */
	struct pb_pass *pass;		    /* that the workers belong to */
	uint64_t size, all;    /* bytes of a partition, about; bytes of the session */
	const uint64_t *known; /* ends of an earlier pass; NULL: there was none of this size */
	atomic_bool bailed_out, stop;
	atomic_uint_least64_t done; /* bytes of the partitions that were read */
	/* protected by `lock`: */
	pthread_mutex_t lock;
	pthread_cond_t left; /* signalled when a worker ends */
	unsigned running;    /* workers beside the calling thread */
	size_t file, stream; /* where the next partition begins: its stream */
	uint64_t at;	     /* its offset; 0: at the start of the stream */
	size_t number;
	uint64_t *ends; /* [number], unless they are known */
	size_t room;
};

/* The bytes of a partition. */
struct partition_bounds {
	struct pd_stream *stream;
	uint64_t from, to;
	bool part; /* not a whole stream */
};

/* A worker's thread and its reader. */
struct worker {
	_Alignas(PB_APART) struct partition_queue *queue;
	unsigned number;
	struct pd_partition partition;
	struct pd_reader reader; /* reader of the stream that was read last, if `open` */
	bool open;
	pthread_t thread;
};

/*
 * Returns whether the stream's records, as the file's features say, are not compressed and have
 * no payload after them.
 */
static bool can_be_cut(const struct pd_stream *stream)
{
	return !pd_file_feature(stream->file, PD_FEATURE_COMPRESSED) &&
	       !pd_file_feature(stream->file, PD_FEATURE_AUXTRACE);
}

/* Returns whether some stream of the session can be read only once. */
static bool session_is_one_shot(const struct pd_session *session)
{
	for (size_t i = 0; i < session->n_files; i++)
		if (session->files[i]->input.stream)
			return true;
	return false;
}

unsigned pd_partitions_workers(const struct pd_session *session, unsigned most)
{
	uint64_t units = 0, size = 0;

	if (session_is_one_shot(session))
		return 1;
	for (size_t i = 0; i < session->n_files; i++) {
		const struct pd_file *file = session->files[i];

		for (size_t k = 0; k < file->n_streams; k++) {
			const struct pd_stream *stream = &file->streams[k];

			units += can_be_cut(stream) ? stream->data.size / SMALLEST + 1 : 1;
			size += stream->data.size;
		}
	}
	if (most > MOST)
		most = MOST;
	if (size < SHARED_LEAST || most < 1)
		return 1;
	return units < most ? (unsigned)units : most;
}

/* Returns where the next partition ends, which begins at `from`. */
static uint64_t next_end(const struct partition_queue *s, struct pd_stream *stream,
			 uint64_t from)
{
	if (s->known)
		return s->known[s->number];
	return can_be_cut(stream) ? pd_find_boundary(stream, from, s->size, SMALLEST) :
				    stream->data.offset + stream->data.size;
}

/* Sets *t and *number to the next partition. Returns false if there is none. */
static bool take_next_partition(struct partition_queue *s, struct partition_bounds *t,
				size_t *number)
{
	bool got = false;

	pthread_mutex_lock(&s->lock);
	while (!got && s->file < s->session->n_files) {
		struct pd_file *file = s->session->files[s->file];
		struct pd_stream *stream = &file->streams[s->stream];
		uint64_t start = stream->data.offset, end = start + stream->data.size;

		t->stream = stream;
		t->from = s->at ? s->at : start;
		got = t->from < end;
		t->to = got ? next_end(s, stream, t->from) : end;
		t->part = t->from != start || t->to != end;
		*number = s->number;
		if (got && !s->known) {
			if (pb_reserve(s->ends, s->number, s->room))
				s->ends[s->number] = t->to;
			else
				atomic_store(&s->bailed_out, true);
		}
		s->number += got;
		s->at = t->to;
		if (t->to < end)
			continue;
		s->at = 0;
		if (++s->stream == file->n_streams) {
			s->stream = 0;
			s->file++;
		}
	}
	pthread_mutex_unlock(&s->lock);
	return got;
}

/* Sets the worker's reader to the bytes of a partition. Returns false without memory. */
static bool set_reader_bounds(struct worker *w, const struct partition_bounds *t)
{
	struct pd_reader *r = &w->reader;
	struct pd_error err;

	if (w->open && (r->stream != t->stream || !t->part)) {
		pd_reader_deinit(r);
		w->open = false;
	}
	if (!w->open && !pd_reader_init(r, t->stream, &err))
		return false;
	w->open = true;
	r->speculative = true;
	r->uncompressed_only = t->part;
	r->blocks.pos = r->blocks.end = r->blocks.block;
	r->blocks.offset = r->blocks.start = t->from;
	r->blocks.limit = t->to;
	r->lead_at = r->no_lead = 0;
	return true;
}

/* Reads a partition. Returns false if the worker is to end. */
static bool read_partition(struct worker *w, const struct partition_bounds *t)
{
	struct partition_queue *s = w->queue;
	const struct pd_blocks *b = &w->reader.blocks;

	if (!set_reader_bounds(w, t)) {
		atomic_store(&s->bailed_out, true);
		return false;
	}
	for (const struct pd_partition_watch *watch = s->watches; watch; watch = watch->next)
		watch->begin(watch->arg, &w->partition);
	if (!s->work->read(s->work->arg, &w->partition))
		atomic_store(&s->stop, true);
	w->reader.watches = NULL;
	if (atomic_load(&s->stop))
		return false;
	if (w->reader.bailed_out || b->limit != t->to || b->offset != t->to) {
		atomic_store(&s->bailed_out, true);
		return false;
	}
	for (const struct pd_partition_watch *watch = s->watches; watch; watch = watch->next)
		watch->end(watch->arg, &w->partition);
	atomic_fetch_add(&s->done, t->to - t->from);
	return true;
}

/*
 * Reports progress in the calling thread, with `more` bytes of the current partition. Returns
 * whether to continue.
 */
static bool report_progress(struct partition_queue *s, uint64_t more)
{
	if (!atomic_load(&s->stop) &&
	    !pb_goes_on(s->work->progress, atomic_load(&s->done) + more, s->all))
		atomic_store(&s->stop, true);
	return !atomic_load(&s->stop) && !atomic_load(&s->bailed_out);
}

/* The progress that a partition's `read` asks. How far it is the worker's reader tells. */
static bool continue_partition(void *arg, uint64_t done, uint64_t size)
{
	struct worker *w = arg;
	struct partition_queue *s = w->queue;
	const struct pd_blocks *b = &w->reader.blocks;

	(void)done;
	(void)size;
	if (w->number == 0)
		return report_progress(s, b->offset - b->start);
	return !atomic_load(&s->stop) && !atomic_load(&s->bailed_out);
}

static void read_partitions(struct worker *w)
{
	struct partition_queue *s = w->queue;
	struct pb_lap lap = pb_stage_enter(s->session->timing, s->pass, s->work->stage);
	struct partition_bounds t;

	w->partition = (struct pd_partition){ .reader = &w->reader,
					      .worker = w->number,
					      .progress = { .goes_on = continue_partition,
							    .arg = w } };
	while (continue_partition(w, 0, 0) &&
	       take_next_partition(s, &t, &w->partition.number) && read_partition(w, &t))
		;
	if (w->open)
		pd_reader_deinit(&w->reader);
	pb_stage_leave(&lap);
}

static void *run_partition_worker(void *arg)
{
	struct worker *w = arg;
	struct partition_queue *s = w->queue;

	read_partitions(w);
	pthread_mutex_lock(&s->lock);
	s->running--;
	pthread_cond_signal(&s->left);
	pthread_mutex_unlock(&s->lock);
	return NULL;
}

/*
 * Starts threads for workers 1 … n - 1. Returns how many workers there are; fewer if threads
 * cannot be created.
 */
static unsigned start_partition_workers(struct worker *workers, unsigned n)
{
	struct partition_queue *s = workers->queue;
	sigset_t all, before;
	unsigned i;

	/* signals are for the program's own threads */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pthread_mutex_lock(&s->lock);
	for (i = 1; i < n; i++) {
		if (pthread_create(&workers[i].thread, NULL, run_partition_worker, &workers[i]))
			break;
		s->running++;
	}
	pthread_mutex_unlock(&s->lock);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return i;
}

#define NS_BETWEEN 50000000 /* between two reports of progress while the others still work */

/* Waits until the other workers end, reporting progress. */
static void wait_for_workers(struct partition_queue *s)
{
	pthread_mutex_lock(&s->lock);
	while (s->running) {
		struct timespec until;

		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += NS_BETWEEN;
		until.tv_sec += until.tv_nsec / 1000000000;
		until.tv_nsec %= 1000000000;
		pthread_cond_timedwait(&s->left, &s->lock, &until);
		if (!s->running)
			break;
		pthread_mutex_unlock(&s->lock);
		report_progress(s, 0);
		pthread_mutex_lock(&s->lock);
	}
	pthread_mutex_unlock(&s->lock);
}

#define HEAD (64 * 1024) /* bytes */

/*
 * Reads the first few records of each file, which describe most recordings, before there are
 * workers: a speculative reader bails out at metadata that is new to the file.
 */
static void learn_stream_heads(const struct pd_session *session)
{
	for (size_t i = 0; i < session->n_files; i++) {
		struct pd_stream *stream = session->files[i]->streams;
		struct pd_reader reader;
		struct pd_record rec = { .type = 0 };
		struct pd_error err;

		if (!pd_reader_init(&reader, stream, &err))
			continue;
		reader.speculative = reader.accepts_metadata = reader.uncompressed_only = true;
		if (reader.blocks.limit - reader.blocks.offset > HEAD)
			reader.blocks.limit = reader.blocks.offset + HEAD;
		while (rec.type != PD_RECORD_SAMPLE &&
		       pd_reader_advance(&reader, &rec, &err) > 0)
			;
		pd_reader_deinit(&reader);
	}
}

static uint64_t choose_partition_size(uint64_t size, unsigned n_workers)
{
	size /= (uint64_t)n_workers * PER_WORKER;
	return size < SMALLEST ? SMALLEST : size > LARGEST ? LARGEST : size;
}

/* Keeps the ends of the first whole pass of several workers: they held. */
static void keep_ends(struct partition_queue *s)
{
	bool whole = !atomic_load(&s->bailed_out) && !atomic_load(&s->stop);

	if (!whole || s->size > s->all || s->session->ends) {
		free(s->ends);
		return;
	}
	s->session->ends = s->ends;
	s->session->end_size = s->size;
}

enum pb_outcome pd_partitions_read(struct pd_session *session,
				   const struct pd_partition_work *work)
{
	unsigned n_workers = pd_partitions_workers(session, work->workers), n;
	uint64_t all = pd_session_size(session);
	struct partition_queue s = {
		.session = session,
		.work = work,
		.watches = session->watches,
		.pass = pb_pass_current(session->timing),
		.all = all,
		/* a single worker reads whole streams */
		.size = n_workers == 1 ? UINT64_MAX / 2 : choose_partition_size(all, n_workers),
		.lock = PTHREAD_MUTEX_INITIALIZER,
		.left = PTHREAD_COND_INITIALIZER,
	};
	struct worker *workers;

	if (session->ends && session->end_size == s.size)
		s.known = session->ends;
	session->watches = NULL;
	if (session_is_one_shot(session))
		return PB_RETRY_SERIAL;
	learn_stream_heads(session);
	workers = pb_apart(n_workers, sizeof(*workers));
	if (!workers)
		return PB_RETRY_SERIAL;
	for (unsigned i = 0; i < n_workers; i++) {
		workers[i].queue = &s;
		workers[i].number = i;
	}
	n = start_partition_workers(workers, n_workers);
	read_partitions(&workers[0]);
	wait_for_workers(&s);
	for (unsigned i = 1; i < n; i++)
		pthread_join(workers[i].thread, NULL);
	free(workers);
	pthread_mutex_destroy(&s.lock);
	pthread_cond_destroy(&s.left);
	keep_ends(&s);
	if (atomic_load(&s.bailed_out))
		return PB_RETRY_SERIAL;
	if (atomic_load(&s.stop))
		return PB_STOPPED;
	for (struct pd_partition_watch *watch = s.watches; watch; watch = watch->next)
		watch->complete = true;
	return PB_OK;
}
