/*
 * The pass over a session for its health: in partitions that workers share, or by one walk over
 * what cannot be cut, is damaged or has counter values.
 */
#include "health_internal.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/progress.h"
#include "perfdata/order/partitions.h"
#include "perfdata/stream/counters.h"

#define ASK_EVERY   16384   /* records between two reports of progress */
#define ASK_BYTES   524288  /* the same of a partition */
#define MOMENTS_MAX 1048576 /* of a partition: those of workers wait for one another */

/* A worker. It is made when it takes its first partition. */
struct health_worker {
	struct pd_health health;
	struct pd_health_pass pass;
	bool made;
};

/* Moments of a partition that wait for those before. */
struct waiting_moments {
	struct pd_moment *list; /* NULL: none */
	size_t n, room;
	size_t number; /* of the partition */
};

struct health_team {
	struct pd_health_pass *pass; /* for all */
	struct pd_health_order *order;
	const struct pb_progress *progress;
	struct health_worker *workers; /* by number */
	pthread_mutex_t lock;	       /* protects what follows, and the first two */
	struct waiting_moments *waiting;
	size_t n_waiting, waiting_room;
	size_t next;		      /* the partition whose moments are next */
	struct waiting_moments spare; /* memory of some that were followed */
};

static bool set_health_no_memory(const struct pd_session *session, struct pd_error *err)
{
	return pd_error_set(err, "ENOMEM", session->files[0]->path, PD_NO_OFFSET, "no memory");
}

/* Reports how far the pass is. Returns false if it is to end there. */
static bool continue_health(struct pd_health_pass *p, double part,
			    const struct pb_progress *progress)
{
	uint64_t size = pd_session_size(p->session);
	uint64_t done = part > 0 ? (uint64_t)(part * (double)size) : 0;

	if (pb_goes_on(progress, done, size))
		return true;
	p->health->part = part;
	return false;
}

static void follow_all(struct pd_health_pass *p, struct pd_health_order *order)
{
	pd_health_follow(p, order, p->moments, p->n_moments);
	p->n_moments = 0;
}

static bool walk_session(struct pd_health_pass *p, struct pd_health_order *order,
			 struct pd_session *session, const struct pb_progress *progress,
			 struct pd_error *err)
{
	struct pd_walk walk;
	struct pd_record rec;
	unsigned asked = 0;
	int got;

	if (!pd_walk_init(&walk, session, PD_ORDER_FILE, err))
		return false;
	while ((got = pd_walk_next(&walk, &rec, err)) > 0) {
		if (asked++ % ASK_EVERY == 0) {
			follow_all(p, order);
			if (!continue_health(p, pd_session_part(session, &rec), progress))
				break;
		}
		pd_health_add(p, &rec);
	}
	pd_walk_deinit(&walk);
	follow_all(p, order);
	if (got < 0 && pd_error_interrupted(err)) {
		p->health->part = -1;
		got = 0;
	}
	if (got >= 0 && session->n_events > p->health->n_events)
		pd_health_reserve_events(p);
	if (got >= 0 && p->no_memory)
		return set_health_no_memory(session, err);
	return got >= 0;
}

/* Adds the records of the reader's block, up to one that is unusual. */
static void add_block(struct pd_health_pass *p, struct pd_reader *reader)
{
	struct pd_run run;
	struct pd_record rec = pd_reader_record(reader);

	pd_run_begin(&run, reader);
	while (pd_run_has(&run, reader->swap)) {
		pd_record_header(&rec, run.at, reader->swap, false);
		rec.bytes = run.at;
		pd_bind(&reader->binder, &rec);
		pd_health_add(p, &rec);
		pd_run_skip(&run, rec.size);
		rec.offset += rec.size;
	}
	pd_run_end(&run, reader);
}

/* Goes through the moments of a partition so far, if all partitions before it were read. */
static void follow_if_next(struct health_team *team, struct pd_health_pass *p, size_t partition)
{
	pthread_mutex_lock(&team->lock);
	if (team->next == partition) {
		pd_health_follow(team->pass, team->order, p->moments, p->n_moments);
		p->n_moments = 0;
	}
	pthread_mutex_unlock(&team->lock);
}

static void add_partition(struct health_team *team, struct pd_health_pass *p,
			  const struct pd_partition *partition)
{
	struct pd_reader *reader = partition->reader;
	const struct pd_blocks *b = &reader->blocks;
	uint64_t asked = b->offset;
	struct pd_record rec;
	struct pd_error err;

	while (pd_reader_next(reader, &rec, &err) > 0) {
		pd_health_add(p, &rec);
		add_block(p, reader);
		if (b->offset - asked < ASK_BYTES)
			continue;
		asked = b->offset;
		follow_if_next(team, p, partition->number);
		if (p->no_memory || p->n_moments > MOMENTS_MAX ||
		    !pb_goes_on(&partition->progress, 0, 0))
			break;
	}
	/* unknown types are listed in the order in which they are met */
	reader->bailed_out = reader->bailed_out || p->no_memory || p->needs_order ||
			     p->n_moments > MOMENTS_MAX || p->health->n_unknown;
}

/*
 * Goes through the moments of a partition, and those that waited for them; or lets them wait.
 * The moments become the team's. Returns false without memory.
 */
static bool follow_in_turn(struct health_team *team, const struct waiting_moments *moments)
{
	if (!pb_reserve(team->waiting, team->n_waiting, team->waiting_room))
		return false;
	team->waiting[team->n_waiting++] = *moments;
	for (size_t i = 0; i < team->n_waiting;) {
		struct waiting_moments *waiting = &team->waiting[i++];

		if (waiting->number != team->next)
			continue;
		pd_health_follow(team->pass, team->order, waiting->list, waiting->n);
		free(team->spare.list);
		team->spare = *waiting;
		*waiting = team->waiting[--team->n_waiting];
		team->next++;
		i = 0;
	}
	return true;
}

static bool read_partition_health(void *arg, const struct pd_partition *partition)
{
	struct health_team *team = arg;
	struct health_worker *worker = &team->workers[partition->worker];
	struct pd_health_pass *p = &worker->pass;
	struct waiting_moments moments = { .number = partition->number };

	if (!worker->made)
		worker->made = pd_health_pass_init(p, &worker->health, team->pass->session);
	if (!worker->made) {
		partition->reader->bailed_out = true;
		return true;
	}
	p->source = 0;
	add_partition(team, p, partition);
	moments.list = p->moments;
	moments.n = p->n_moments;
	moments.room = p->moments_room;
	pthread_mutex_lock(&team->lock);
	if (!follow_in_turn(team, &moments)) {
		free(moments.list);
		partition->reader->bailed_out = true;
	}
	p->moments = team->spare.list;
	p->moments_room = team->spare.room;
	p->n_moments = 0;
	team->spare = (struct waiting_moments){ .list = NULL };
	pthread_mutex_unlock(&team->lock);
	return true;
}

/* Remembers how far the pass was when it was told to stop. */
static bool continue_team(void *arg, uint64_t done, uint64_t size)
{
	struct health_team *team = arg;
	bool goes_on = pb_goes_on(team->progress, done, size);

	if (!goes_on)
		team->pass->health->part = size ? (double)done / (double)size : 0;
	return goes_on;
}

/*
 * Reads the session by several workers. Returns PB_RETRY_SERIAL if that turns out to be
 * impossible; what was counted then is of no use.
 */
static enum pb_outcome share_session(struct health_team *team, struct pd_session *session,
				     unsigned n)
{
	const struct pb_progress progress = { .goes_on = continue_team, .arg = team };
	struct pd_partition_work work = {
		.workers = n,
		.read = read_partition_health,
		.arg = team,
		.progress = &progress,
		.stage = PB_STAGE_COUNTS,
	};
	enum pb_outcome ran = PB_RETRY_SERIAL;

	team->workers = calloc(n, sizeof(*team->workers));
	if (team->workers)
		ran = pd_partitions_read(session, &work);
	/* in pipe mode the heads of the streams, which are read first, may add events */
	if (session->n_events > team->pass->health->n_events &&
	    !pd_health_reserve_events(team->pass))
		ran = PB_RETRY_SERIAL;
	for (unsigned i = 0; team->workers && i < n; i++) {
		struct health_worker *worker = &team->workers[i];

		if (worker->made && ran != PB_RETRY_SERIAL &&
		    !pd_health_merge(team->pass, &worker->pass))
			ran = PB_RETRY_SERIAL;
		pd_health_pass_deinit(&worker->pass);
		pd_health_deinit(&worker->health);
	}
	for (size_t i = 0; i < team->n_waiting; i++)
		free(team->waiting[i].list);
	free(team->waiting);
	free(team->spare.list);
	free(team->workers);
	return team->pass->no_memory ? PB_RETRY_SERIAL : ran;
}

/* Returns whether workers have counted the session, in *health. */
static bool collect_in_parts(struct pd_health_pass *p, struct pd_health_order *order,
			     struct pd_session *session, unsigned threads,
			     const struct pb_progress *progress)
{
	unsigned n = pd_partitions_workers(session, threads);
	struct health_team team = { .pass = p, .order = order, .progress = progress };
	enum pb_outcome ran;

	if ((n <= 1 && !session->watches) || pd_session_has_counters(session) ||
	    pthread_mutex_init(&team.lock, NULL) != 0)
		return false;
	ran = share_session(&team, session, n);
	pthread_mutex_destroy(&team.lock);
	return ran != PB_RETRY_SERIAL;
}

static bool collect_in_order(struct pd_health_pass *p, struct pd_health_order *order,
			     struct pd_session *session, const struct pb_progress *progress,
			     struct pd_error *err)
{
	bool ok;

	p->counters = pd_counters_create(session);
	ok = p->counters ? walk_session(p, order, session, progress, err) :
			   set_health_no_memory(session, err);
	pd_counters_destroy(p->counters);
	return ok;
}

bool pd_health_collect(struct pd_health *h, struct pd_session *session, unsigned threads,
		       const struct pb_progress *progress, struct pd_error *err)
{
	struct pd_health_order *order = calloc(1, sizeof(*order));
	struct pd_health_pass pass;
	bool ok = pd_health_pass_init(&pass, h, session) && order;
	bool done = ok && collect_in_parts(&pass, order, session, threads, progress);

	if (ok && !done) {
		pd_health_pass_deinit(&pass);
		pd_health_deinit(h);
		*order = (struct pd_health_order){ 0 };
		ok = pd_health_pass_init(&pass, h, session);
	}
	if (!ok)
		set_health_no_memory(session, err);
	else if (!done)
		ok = collect_in_order(&pass, order, session, progress, err);
	if (ok)
		pd_gaps_find(&pass.gaps, &h->gaps);
	else
		pd_health_deinit(h);
	pd_health_pass_deinit(&pass);
	free(order);
	return ok;
}
