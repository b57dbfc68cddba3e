/* Samples: what they tell of the health of a recording. */
#include "health_internal.h"

#include "perfdata/format/sample.h"

/* values of a call chain from here on are markers */
#define CONTEXT_MAX	((uint64_t)-4095)
#define DEFERRED_MARKER ((uint64_t)-640)

static void update_longest(struct pd_longest *longest, uint64_t length)
{
	if (length > longest->length)
		*longest = (struct pd_longest){ .length = length };
	longest->samples += length == longest->length;
}

/* Returns the number of frames in the chain of `n` entries at `at`, without markers. */
static uint64_t count_frames(const struct pd_record *rec, uint32_t at, uint64_t n)
{
	uint64_t frames = n;

	for (uint64_t i = 0; i < n; i++)
		frames -= pd_rec64(rec, at + 8 + 8 * (uint32_t)i) >= CONTEXT_MAX;
	return frames;
}

static void count_chain(struct pd_health_event *event, const struct pd_record *rec)
{
	uint32_t at, size;
	uint64_t n, frames;

	if (!pd_part_find(rec, PD_PART_CALLCHAIN, &at, &size))
		return;
	n = pd_rec64(rec, at);
	if (!n)
		return;
	event->chains++;
	if (rec->layout->shape->defer && n >= 2 &&
	    pd_rec64(rec, at + 8 * (uint32_t)(n - 1)) == DEFERRED_MARKER) {
		event->deferred++;
		n -= 2; /* the marker and its cookie */
	}
	/* A chain has at most as many frames as entries, so most need not be walked. */
	if (n < event->chain.length && n < event->chain_limit)
		return;
	frames = count_frames(rec, at, n);
	update_longest(&event->chain, frames);
	event->chains_cut += frames == event->chain_limit;
}

static void count_branches(struct pd_health_event *event, const struct pd_record *rec)
{
	struct pd_branches branches;
	uint32_t at, size;

	if (!pd_part_find(rec, PD_PART_BRANCH_STACK, &at, &size) ||
	    !pd_branches_read(rec, at, &branches) || !branches.count)
		return;
	event->branches++;
	update_longest(&event->branch, branches.count);
}

/*
 * Counts a copy of the user stack: its size, the bytes, and the number of valid ones: see
 * perf_output_sample_ustack.
 */
static void count_stack(struct pd_health_event *event, const struct pd_record *rec)
{
	uint32_t at, size;
	uint64_t room;

	if (!pd_part_find(rec, PD_PART_STACK_USER, &at, &size) || size <= 16)
		return;
	room = pd_rec64(rec, at);
	event->stacks++;
	update_longest(&event->stack, room);
	event->stacks_full += pd_rec64(rec, at + size - 8) == room;
}

/*
 * Notes the time of a sample, with what tells its ring buffer. Samples of one id come from one
 * buffer, in order; those of a cpu may come from several.
 */
static void note_sample(struct pd_health_pass *p, const struct pd_record *rec, uint64_t time)
{
	const struct pd_layout *layout = rec->layout;
	struct pd_moment moment = { .time = time, .kind = PD_MOMENT_OF_ID };
	uint32_t at = layout->parts[PD_PART_IDENTIFIER];

	if (!at)
		at = layout->parts[PD_PART_ID];
	if (!at) {
		moment.kind = PD_MOMENT_OF_CPU;
		at = layout->parts[PD_PART_CPU];
	}
	if (!at || rec->size < at + 8 || p->health->backward)
		moment.kind = PD_MOMENT_RECORD;
	else
		moment.key = pd_rec64(rec, at);
	pd_health_note(p, &moment);
}

/* Counts the samples that a record is delivered as. */
static void count_delivered(struct pd_health_pass *p, const struct pd_record *rec)
{
	struct pd_record sample;
	int got;

	if (!pd_has_counters(rec)) {
		pd_health_event_of(p, rec)->delivered++;
		return;
	}
	/* values are differences to those of the sample before */
	p->needs_order |= !p->counters;
	if (!p->counters)
		return;
	p->health->split = true;
	pd_counters_split(p->counters, rec);
	while ((got = pd_counters_next(p->counters, &sample)) > 0)
		pd_health_event_of(p, &sample)->delivered++;
	p->no_memory |= got < 0;
}

/*
 * Returns whether a sample is of user code of "pid 0": the kernel writes 0 for processes that
 * the recorder's PID namespace does not show. See perf_event_pid_type, kernel/events/core.c.
 */
static bool is_of_pid_zero(const struct pd_record *rec)
{
	uint32_t at = rec->layout->parts[PD_PART_TID];

	return (rec->misc & PD_MISC_CPUMODE) == PD_CPUMODE_USER && at && rec->size >= at + 8 &&
	       pd_rec32(rec, at) == 0;
}

void pd_health_add_sample(struct pd_health_pass *p, const struct pd_record *rec)
{
	struct pd_health_event *event = pd_health_event_of(p, rec);
	uint64_t has = rec->layout->shape->sample_type, time;

	event->samples++;
	count_delivered(p, rec);
	event = pd_health_event_of(p, rec); /* the array may have moved */
	event->odd += rec->event && !rec->layout->shape->unknown && !pd_sample_whole(rec);
	event->of_pid_zero += is_of_pid_zero(rec);
	if (pd_health_time_of(rec, &time)) {
		note_sample(p, rec, time);
		pd_time_range_widen(&p->health->times, time, time);
		p->no_memory |= !pd_gaps_add(&p->gaps, time);
	} else {
		event->untimed++;
	}
	if (has & PD_SAMPLE_CALLCHAIN)
		count_chain(event, rec);
	if (has & PD_SAMPLE_BRANCH_STACK)
		count_branches(event, rec);
	if (has & PD_SAMPLE_STACK_USER)
		count_stack(event, rec);
}
