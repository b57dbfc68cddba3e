#include "timing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#define SECOND	    1000000000u
#define SHARE_EVERY 1000000 /* ns */
#define PENDING	    12	    /* stages among which time is shared out together */

const char *const pb_stage_names[PB_STAGES] = {
	[PB_STAGE_OPEN] = "open",
	[PB_STAGE_READ] = "read",
	[PB_STAGE_DECOMPRESS] = "decompress",
	[PB_STAGE_ORDER] = "order",
	[PB_STAGE_NAMES] = "names",
	[PB_STAGE_SYMBOLS] = "symbols",
	[PB_STAGE_COUNTS] = "counts",
	[PB_STAGE_GROUPS] = "groups",
	[PB_STAGE_ROWS] = "rows",
	[PB_STAGE_TEXT] = "text",
	[PB_STAGE_OTHER] = "other",
};

/* Time of a thread in a stage since its processor time was shared out. */
struct pending {
	struct pb_pass *pass;
	enum pb_stage stage;
	uint64_t wall;
};

struct pb_slot_of_thread {
	pthread_t thread;
	bool is_used;
	struct pb_pass *pass;
	enum pb_stage stage;
	uint64_t at;	    /* monotonic ns when it entered that */
	uint64_t processor; /* ns of its processor time that were shared out */
	uint64_t waiting;   /* ns of all that is pending */
	struct pending pending[PENDING];
	size_t n_pending;
};

struct pb_timing {
	pthread_mutex_t lock;			  /* protects all that follows */
	struct pb_slot_of_thread slots[PB_SLOTS]; /* the first is the caller's */
	struct pb_pass passes[PB_PASSES];
	size_t n_passes;
	struct pb_timed_part parts[PB_TIMED_PARTS];
	size_t n_parts;
	uint64_t begun, start; /* ns: monotonic; processor time of the process */
};

static uint64_t read_clock(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * SECOND + (uint64_t)t.tv_nsec;
}

/* Shares the processor time of the calling thread out among its pending stages. */
static void share_out(struct pb_slot_of_thread *slot)
{
	uint64_t now = read_clock(CLOCK_THREAD_CPUTIME_ID), left = now - slot->processor;
	double rate = slot->waiting ? (double)left / (double)slot->waiting : 0;

	for (size_t i = 0; i < slot->n_pending; i++) {
		struct pending *p = &slot->pending[i];
		uint64_t share = (uint64_t)(rate * (double)p->wall);

		if (share > left || i + 1 == slot->n_pending)
			share = left; /* the last one takes what rounding left */
		p->pass->stages[p->stage].processor += share;
		left -= share;
	}
	slot->processor = now - left;
	slot->n_pending = 0;
	slot->waiting = 0;
}

/* Adds the time since the thread's last change of stage to its stage. */
static void charge_stage(struct pb_timing *t, struct pb_slot_of_thread *slot)
{
	uint64_t now = read_clock(CLOCK_MONOTONIC), wall = now - slot->at;
	size_t i = 0;

	slot->at = now;
	if (slot == t->slots)
		slot->pass->stages[slot->stage].wall += wall;
	while (i < slot->n_pending &&
	       (slot->pending[i].pass != slot->pass || slot->pending[i].stage != slot->stage))
		i++;
	if (i == slot->n_pending)
		slot->pending[slot->n_pending++] = (struct pending){ slot->pass, slot->stage,
								     0 };
	slot->pending[i].wall += wall;
	slot->waiting += wall;
	if (slot->n_pending == PENDING || slot->waiting >= SHARE_EVERY)
		share_out(slot);
}

struct pb_timing *pb_timing_create(void)
{
	struct pb_timing *t = calloc(1, sizeof(*t));
	struct pb_slot_of_thread *slot;

	if (!t)
		return NULL;
	pthread_mutex_init(&t->lock, NULL);
	t->begun = read_clock(CLOCK_MONOTONIC);
	t->start = read_clock(CLOCK_PROCESS_CPUTIME_ID);
	t->passes[t->n_passes++] = (struct pb_pass){ .times = 1, .timing = t, .n_open = 1 };
	slot = &t->slots[0];
	*slot = (struct pb_slot_of_thread){
		.thread = pthread_self(),
		.is_used = true,
		.pass = &t->passes[0],
		.stage = PB_STAGE_OTHER,
		.at = t->begun,
		.processor = read_clock(CLOCK_THREAD_CPUTIME_ID),
	};
	return t;
}

void pb_timing_destroy(struct pb_timing *t)
{
	if (!t)
		return;
	pthread_mutex_destroy(&t->lock);
	free(t);
}

/* Returns the slot of the calling thread; NULL: it has none. */
static struct pb_slot_of_thread *find_slot(struct pb_timing *t)
{
	pthread_t self = pthread_self();

	for (size_t i = 0; i < PB_SLOTS; i++)
		if (t->slots[i].is_used && pthread_equal(t->slots[i].thread, self))
			return &t->slots[i];
	return NULL;
}

/* Gives the calling thread a slot. Returns NULL if none is free. */
static struct pb_slot_of_thread *claim_slot(struct pb_timing *t)
{
	for (size_t i = 0; i < PB_SLOTS; i++) {
		struct pb_slot_of_thread *slot = &t->slots[i];

		if (slot->is_used)
			continue;
		*slot = (struct pb_slot_of_thread){
			.thread = pthread_self(),
			.is_used = true,
			.at = read_clock(CLOCK_MONOTONIC),
			.processor = read_clock(CLOCK_THREAD_CPUTIME_ID),
		};
		return slot;
	}
	return NULL;
}

static struct pb_pass *find_current(struct pb_timing *t)
{
	size_t i = t->n_passes - 1;

	while (!t->passes[i].n_open)
		i--;
	return &t->passes[i];
}

/* Returns the pass that a stage of NULL belongs to, in a thread with that slot. */
static struct pb_pass *find_pass(struct pb_timing *t, const struct pb_slot_of_thread *slot)
{
	return slot && slot->pass && slot->stage != PB_STAGE_OTHER ? slot->pass :
								     find_current(t);
}

/* Enters a stage, with the lock held. */
static struct pb_lap enter_stage(struct pb_timing *t, struct pb_pass *pass, enum pb_stage stage)
{
	struct pb_slot_of_thread *slot = find_slot(t);
	struct pb_lap lap = { .timing = t, .is_first = !slot };

	if (!slot)
		slot = claim_slot(t);
	if (!slot)
		return (struct pb_lap){ .timing = NULL };
	if (!lap.is_first)
		charge_stage(t, slot);
	lap.slot = slot;
	lap.pass = slot->pass;
	lap.stage = slot->stage;
	slot->pass = pass ? pass : find_pass(t, slot);
	slot->stage = stage;
	lap.begun = slot->at;
	return lap;
}

static void leave_stage(const struct pb_lap *lap)
{
	struct pb_slot_of_thread *slot = lap->slot;

	charge_stage(lap->timing, slot);
	if (lap->is_first) {
		share_out(slot);
		slot->is_used = false;
	} else {
		slot->pass = lap->pass;
		slot->stage = lap->stage;
	}
}

struct pb_lap pb_timing_enter(struct pb_timing *t, struct pb_pass *pass, enum pb_stage stage)
{
	struct pb_lap lap;

	pthread_mutex_lock(&t->lock);
	lap = enter_stage(t, pass, stage);
	pthread_mutex_unlock(&t->lock);
	return lap;
}

void pb_timing_leave(const struct pb_lap *lap)
{
	pthread_mutex_lock(&lap->timing->lock);
	leave_stage(lap);
	pthread_mutex_unlock(&lap->timing->lock);
}

/* Returns the part of that name, or the one to be replaced by it. */
static struct pb_timed_part *find_part(struct pb_timing *t, const char *name, unsigned session)
{
	struct pb_timed_part *least = &t->parts[0];

	for (size_t i = 0; i < t->n_parts; i++) {
		struct pb_timed_part *part = &t->parts[i];

		if (part->session == session && strcmp(part->name, name) == 0)
			return part;
		least = part->wall < least->wall ? part : least;
	}
	return t->n_parts < PB_TIMED_PARTS ? &t->parts[t->n_parts++] : least;
}

void pb_timing_leave_part(const struct pb_lap *lap, const char *name)
{
	struct pb_timing *t = lap->timing;
	char kept[sizeof(t->parts[0].name)];
	struct pb_timed_part *part;
	unsigned session;
	uint64_t taken;

	snprintf(kept, sizeof(kept), "%s", name);
	pthread_mutex_lock(&t->lock);
	session = lap->slot->pass->session;
	leave_stage(lap);
	taken = lap->slot->at - lap->begun;
	part = find_part(t, kept, session);
	if (part->session == session && strcmp(part->name, kept) == 0) {
		part->wall += taken;
	} else if (taken > part->wall) {
		part->session = session;
		part->wall = taken;
		memcpy(part->name, kept, sizeof(kept));
	}
	pthread_mutex_unlock(&t->lock);
}

void pb_timing_count(struct pb_timing *t, struct pb_pass *pass, enum pb_stage stage,
		     uint64_t records, uint64_t bytes)
{
	struct pb_stage_time *time;

	pthread_mutex_lock(&t->lock);
	pass = pass ? pass : find_pass(t, find_slot(t));
	time = &pass->stages[stage];
	time->records += records;
	time->bytes += bytes;
	pthread_mutex_unlock(&t->lock);
}

struct pb_pass *pb_pass_begin(struct pb_timing *t, const char *what, unsigned session)
{
	struct pb_pass *pass;

	if (!t)
		return NULL;
	pthread_mutex_lock(&t->lock);
	if (t->n_passes < PB_PASSES) {
		pass = &t->passes[t->n_passes++];
		*pass = (struct pb_pass){ .what = what, .session = session, .timing = t };
	} else {
		pass = &t->passes[PB_PASSES - 1];
		pass->what = "further passes";
	}
	pass->times++;
	if (!pass->n_open++)
		pass->begun = read_clock(CLOCK_MONOTONIC);
	pass->outer = t->slots[0].pass;
	pass->outer_stage = t->slots[0].stage;
	pthread_mutex_unlock(&t->lock);
	return pass;
}

void pb_pass_end(struct pb_pass *pass)
{
	struct pb_timing *t = pass ? pass->timing : NULL;

	if (!t)
		return;
	pthread_mutex_lock(&t->lock);
	if (t->slots[0].pass == pass && pass->outer != pass &&
	    pthread_equal(t->slots[0].thread, pthread_self())) {
		charge_stage(t, &t->slots[0]);
		t->slots[0].pass = pass->outer;
		t->slots[0].stage = pass->outer_stage;
	}
	if (pass->n_open && !--pass->n_open)
		pass->wall += read_clock(CLOCK_MONOTONIC) - pass->begun;
	pthread_mutex_unlock(&t->lock);
}

struct pb_pass *pb_pass_current(struct pb_timing *t)
{
	struct pb_pass *pass;

	if (!t)
		return NULL;
	pthread_mutex_lock(&t->lock);
	pass = find_current(t);
	pthread_mutex_unlock(&t->lock);
	return pass;
}

struct pb_pass *pb_pass_none(struct pb_timing *t)
{
	return t ? &t->passes[0] : NULL;
}

static uint64_t to_ns(struct timeval t)
{
	return (uint64_t)t.tv_sec * SECOND + (uint64_t)t.tv_usec * 1000;
}

void pb_timing_report(struct pb_timing *t, struct pb_timing_report *report)
{
	struct rusage use;

	pthread_mutex_lock(&t->lock);
	if (pthread_equal(t->slots[0].thread, pthread_self())) {
		charge_stage(t, &t->slots[0]);
		share_out(&t->slots[0]);
	}
	getrusage(RUSAGE_SELF, &use);
	memcpy(report->passes, t->passes, t->n_passes * sizeof(*t->passes));
	report->n = t->n_passes;
	memcpy(report->parts, t->parts, t->n_parts * sizeof(*t->parts));
	report->n_parts = t->n_parts;
	pthread_mutex_unlock(&t->lock);
	report->wall = read_clock(CLOCK_MONOTONIC) - t->begun;
	report->start = t->start;
	report->user = to_ns(use.ru_utime);
	report->system = to_ns(use.ru_stime);
	report->peak = (uint64_t)use.ru_maxrss * 1024;
}
