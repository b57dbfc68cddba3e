#include "pieces.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* What is fuzzed is small, and is to be cut. */
#ifdef PD_PIECES_SMALLEST
#define LEAST	 PD_PIECES_SMALLEST
#define SMALLEST PD_PIECES_SMALLEST
#else
#define LEAST	 (1024 * 1024) /* bytes: of less threads make no haste */
#define SMALLEST (128 * 1024)  /* pieces */
#endif
#define LARGEST	   (4 * 1024 * 1024)
#define PER_THREAD 8   /* pieces, so that no thread has much to do when the others are done */
#define APART	   128 /* bytes: what two threads write to shares no line of a cache */
#define MOST	   64  /* threads */

struct pd_sharing {
	struct pd_session *session;
	const struct pd_pieces_work *work;
	uint64_t size, all; /* of a piece; of all of them */
	atomic_bool unusual, stop;
	atomic_uint_least64_t done; /* bytes of the pieces that were read */
	/* with the lock held: */
	pthread_mutex_t lock;
	pthread_cond_t left; /* a thread has no more to do */
	unsigned running;    /* threads beside the caller's */
	size_t file, stream; /* the next piece: of this stream, */
	uint64_t at;	     /* from here on; 0: from its start */
	size_t number;
};

/* What a thread takes. */
struct taken {
	struct pd_stream *stream;
	uint64_t from, to;
	bool part; /* of a stream that is cut */
};

/* What a thread reads with. */
struct worker {
	_Alignas(APART) struct pd_sharing *sharing;
	unsigned number;
	struct pd_piece piece;
	struct pd_reader reader; /* of the stream that it read last */
	bool open;
	pthread_t thread;
};

/* Has it only records that are but their bytes, as far as it says? */
static bool can_be_cut(const struct pd_stream *stream)
{
	return !pd_file_feature(stream->file, PD_FEATURE_COMPRESSED) &&
	       !pd_file_feature(stream->file, PD_FEATURE_AUXTRACE);
}

/* Is there a stream that comes but once? */
static bool passes(const struct pd_session *session)
{
	for (size_t i = 0; i < session->n_files; i++)
		if (session->files[i]->input.stream)
			return true;
	return false;
}

unsigned pd_pieces_threads(const struct pd_session *session, unsigned most)
{
	uint64_t units = 0, size = 0;

	if (passes(session))
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
	if (size < LEAST || most < 1)
		return 1;
	return units < most ? (unsigned)units : most;
}

#define IN_A_ROW 32 /* records, within which a wrong guess is found out, or comes right, */
#define ROW_BYTES \
	(64 * 1024) /* or so many bytes: stacks are full of what looks like a few records */

/*
 * Bytes of so many records that begin at the blocks' place, as far as these go; 0: what follows
 * there cannot all be records. Where they end records begin even if they were none: sooner or
 * later what looks like one leads to one.
 */
static size_t size_of_row(struct pd_blocks *b, const struct pd_binder *binder)
{
	bool swap = binder->file->swap;
	size_t at = 0;
	struct pd_error err;

	for (int i = 0; i < IN_A_ROW && at < ROW_BYTES; i++) {
		size_t size;

		if (pd_blocks_fill(b, at + 8, &err) <= 0)
			break;
		size = pb_load16(b->pos + at + 6, swap);
		if (size >= 8 && pd_blocks_fill(b, at + size, &err) <= 0)
			break;
		if (size < 8 || pd_record_trust(binder, b->pos + at, (uint32_t)size) == PD_ODD)
			return 0;
		at += size;
	}
	return at;
}

/*
 * Where records could begin from `nominal` on, in a part of the stream of that size; 0:
 * nowhere.
 */
static uint64_t guess_in(const struct pd_stream *stream, uint64_t nominal, uint64_t size)
{
	uint64_t found;
	struct pd_blocks blocks;
	struct pd_binder binder;
	struct pd_error err;
	size_t row = 0;

	/* the search begins a step further */
	if (!pd_blocks_init(&blocks, stream->input, nominal - 8, nominal + size, &err))
		return 0;
	pd_binder_init(&binder, stream->file);
	while (!row && pd_resync(&blocks, &binder, PD_IN_RECORD, false, &err) > 0)
		row = size_of_row(&blocks, &binder);
	found = row ? blocks.offset + row : 0;
	pd_blocks_deinit(&blocks);
	return found;
}

/*
 * The same of the rest of the stream, whose end it is if it is nowhere. Mostly the next few
 * kilobytes tell.
 */
static uint64_t guess(const struct pd_stream *stream, uint64_t from, uint64_t size)
{
	uint64_t end = stream->data.offset + stream->data.size;
	uint64_t nominal = from + size / 8 * 8;

	for (uint64_t part = 96 * 1024; end - from >= size + SMALLEST; part *= 16) {
		uint64_t found;

		if (part > end - nominal)
			part = end - nominal;
		found = guess_in(stream, nominal, part);
		if (found)
			return found;
		if (part > LARGEST || part == end - nominal)
			break;
	}
	return end;
}

/* Takes the next piece; false: there is none. */
static bool take(struct pd_sharing *s, struct taken *t, size_t *number)
{
	bool got = false;

	pthread_mutex_lock(&s->lock);
	while (!got && s->file < s->session->n_files) {
		struct pd_file *file = s->session->files[s->file];
		struct pd_stream *stream = &file->streams[s->stream];
		uint64_t start = stream->data.offset, end = start + stream->data.size;

		t->stream = stream;
		t->from = s->at ? s->at : start;
		t->to = can_be_cut(stream) ? guess(stream, t->from, s->size) : end;
		t->part = t->from != start || t->to != end;
		got = t->from < t->to;
		*number = s->number;
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

/* Sets the worker's reader on what was taken; false: no memory. */
static bool set_reader(struct worker *w, const struct taken *t)
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
	r->careful = true;
	r->plain = t->part;
	r->blocks.pos = r->blocks.end = r->blocks.block;
	r->blocks.offset = r->blocks.start = t->from;
	r->blocks.limit = t->to;
	r->lead_at = r->no_lead = 0;
	return true;
}

/* Reads what was taken; false: no more is to be read. */
static bool read_piece(struct worker *w, const struct taken *t)
{
	struct pd_sharing *s = w->sharing;
	const struct pd_blocks *b = &w->reader.blocks;

	if (!set_reader(w, t)) {
		atomic_store(&s->unusual, true);
		return false;
	}
	if (!s->work->read(s->work->arg, &w->piece)) {
		atomic_store(&s->stop, true);
		return false;
	}
	if (atomic_load(&s->stop))
		return false;
	if (w->reader.unusual || b->limit != t->to || b->offset != t->to) {
		atomic_store(&s->unusual, true);
		return false;
	}
	atomic_fetch_add(&s->done, t->to - t->from);
	return true;
}

/* Asked in the caller's thread. */
static bool ask(struct pd_sharing *s, uint64_t more)
{
	if (!atomic_load(&s->stop) &&
	    !pb_goes_on(s->work->progress, atomic_load(&s->done) + more, s->all))
		atomic_store(&s->stop, true);
	return !atomic_load(&s->stop) && !atomic_load(&s->unusual);
}

/* A worker's progress: its reader tells how far it is. */
static bool continue_piece(void *arg, uint64_t done, uint64_t size)
{
	struct worker *w = arg;
	struct pd_sharing *s = w->sharing;
	const struct pd_blocks *b = &w->reader.blocks;

	(void)done;
	(void)size;
	if (w->number == 0)
		return ask(s, b->offset - b->start);
	return !atomic_load(&s->stop) && !atomic_load(&s->unusual);
}

static void work_on(struct worker *w)
{
	struct taken t;

	w->piece = (struct pd_piece){ .reader = &w->reader,
				      .worker = w->number,
				      .progress = { continue_piece, w } };
	while (continue_piece(w, 0, 0) && take(w->sharing, &t, &w->piece.number) &&
	       read_piece(w, &t))
		;
	if (w->open)
		pd_reader_deinit(&w->reader);
}

static void *run(void *arg)
{
	struct worker *w = arg;
	struct pd_sharing *s = w->sharing;

	work_on(w);
	pthread_mutex_lock(&s->lock);
	s->running--;
	pthread_cond_signal(&s->left);
	pthread_mutex_unlock(&s->lock);
	return NULL;
}

/* Starts threads for workers 1 … n - 1; returns how many workers there are. */
static unsigned start(struct worker *workers, unsigned n)
{
	struct pd_sharing *s = workers->sharing;
	sigset_t all, before;
	unsigned i;

	/* signals are for the threads of the program */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pthread_mutex_lock(&s->lock);
	for (i = 1; i < n; i++) {
		if (pthread_create(&workers[i].thread, NULL, run, &workers[i]))
			break;
		s->running++;
	}
	pthread_mutex_unlock(&s->lock);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return i;
}

#define NS_BETWEEN 50000000 /* two reports of progress while others work */

/* Waits for the other threads. */
static void wait_for_others(struct pd_sharing *s)
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
		ask(s, 0);
		pthread_mutex_lock(&s->lock);
	}
	pthread_mutex_unlock(&s->lock);
}

#define HEAD (64 * 1024) /* bytes */

/*
 * Most recordings begin with a few records that describe them. These are read before there are
 * threads, which could not go on where something is new.
 */
static void learn_heads(const struct pd_session *session)
{
	for (size_t i = 0; i < session->n_files; i++) {
		struct pd_stream *stream = session->files[i]->streams;
		struct pd_reader reader;
		struct pd_record rec = { .type = 0 };
		struct pd_error err;

		if (!pd_reader_init(&reader, stream, &err))
			continue;
		reader.careful = reader.learns = reader.plain = true;
		while (rec.type != PD_RECORD_SAMPLE &&
		       reader.blocks.offset - stream->data.offset < HEAD &&
		       pd_reader_advance(&reader, &rec, &err) > 0)
			;
		pd_reader_deinit(&reader);
	}
}

static uint64_t size_of_piece(uint64_t size, unsigned threads)
{
	size /= (uint64_t)threads * PER_THREAD;
	return size < SMALLEST ? SMALLEST : size > LARGEST ? LARGEST : size;
}

enum pb_outcome pd_pieces_read(struct pd_session *session, const struct pd_pieces_work *work)
{
	unsigned threads = pd_pieces_threads(session, work->threads), n;
	uint64_t all = pd_session_size(session);
	struct pd_sharing s = {
		.session = session,
		.work = work,
		.all = all,
		/* alone, nobody needs to guess */
		.size = threads == 1 ? UINT64_MAX / 2 : size_of_piece(all, threads),
		.lock = PTHREAD_MUTEX_INITIALIZER,
		.left = PTHREAD_COND_INITIALIZER,
	};
	struct worker *workers;

	if (passes(session))
		return PB_RETRY_SERIAL;
	learn_heads(session);
	workers = aligned_alloc(APART, threads * sizeof(*workers));
	if (!workers)
		return PB_RETRY_SERIAL;
	memset(workers, 0, threads * sizeof(*workers));
	for (unsigned i = 0; i < threads; i++) {
		workers[i].sharing = &s;
		workers[i].number = i;
	}
	n = start(workers, threads);
	work_on(&workers[0]);
	wait_for_others(&s);
	for (unsigned i = 1; i < n; i++)
		pthread_join(workers[i].thread, NULL);
	free(workers);
	pthread_mutex_destroy(&s.lock);
	pthread_cond_destroy(&s.left);
	if (atomic_load(&s.unusual))
		return PB_RETRY_SERIAL;
	return atomic_load(&s.stop) ? PB_STOPPED : PB_OK;
}
