/*
 * Follows the order of records: counts those that come too late for perf's rounds, clocks that
 * go back, and how long events were throttled.
 */
#include "health_internal.h"

#include <string.h>

#include "base/hash.h"

/* Adds a record with a time (ns). Returns whether it comes too late. */
static inline bool add_to_rounds(struct pd_rounds *r, uint64_t time)
{
	bool late = time < r->delivered;

	/* without a time a record does not wait in the queue */
	if (time == 0 || time == UINT64_MAX)
		return false;
	if (late) {
		r->first = r->late++ ? r->first : time;
		if (r->delivered - time > r->worst)
			r->worst = r->delivered - time;
	}
	if (time <= r->limit && time > r->due)
		r->due = time;
	if (time > r->latest)
		r->latest = time;
	return late;
}

/* Ends a round, at a FINISHED_ROUND record. */
static void finish_round(struct pd_rounds *r)
{
	uint64_t latest = r->latest;

	if (!latest)
		return;
	if (r->due)
		r->delivered = r->due;
	/* later records stay in the queue and are all due in the next round */
	r->due = r->latest = latest > r->limit ? latest : 0;
	r->limit = latest;
}

/* Returns the slot of a key. That of a new key is not `used`. */
static inline struct pd_bounded_slot *find_slot_of_key(struct pd_bounded_map *map, uint64_t key)
{
	struct pd_bounded_slot *first =
		&map->slots[pb_scatter(key) >> (64 - PD_BOUNDED_MAP_BITS)];
	struct pd_bounded_slot *slot = first;

	for (unsigned i = 0; i < PD_BOUNDED_MAP_NEAR; i++) {
		if (first[i].used && first[i].key == key)
			return &first[i];
		if (slot->used && !first[i].used)
			slot = &first[i];
	}
	*slot = (struct pd_bounded_slot){ .key = key };
	return slot;
}

#define LEAST_REGRESSION UINT64_C(1000000) /* ns; smaller differences do not count */
#define LEAST_BEHIND	 8		   /* samples in a row that must be earlier */

/* Adds a sample with time `time` (ns). `last` is the slot of the sample's buffer. */
static inline void add_to_regressions(struct pd_clock_regressions *regressions,
				      struct pd_bounded_slot *last, uint64_t time)
{
	if (!last->used || time >= last->time) {
		last->time = time;
		last->used = true;
	}
	if (last->time - time < LEAST_REGRESSION) {
		last->n_behind = 0;
		return;
	}
	if (!last->n_behind++)
		last->regressed = time;
	if (last->n_behind < LEAST_BEHIND)
		return;
	if (!regressions->n++)
		regressions->first = last->regressed;
	if (last->time - last->regressed > regressions->worst)
		regressions->worst = last->time - last->regressed;
	last->time = time;
	last->n_behind = 0;
}

/*
 * Looks for clocks that go back. Samples of one id come from one ring buffer, in order. Without
 * ids the samples of a cpu may come from several buffers, which rounds keep in order; then only
 * a sample that is late is evidence.
 */
static void check_clock(struct pd_health *h, struct pd_health_order *order,
			const struct pd_moment *moment, bool late)
{
	struct pd_bounded_slot *last = find_slot_of_key(&order->streams, moment->key);

	if (moment->kind == PD_MOMENT_OF_ID || late || !last->used ||
	    moment->time >= last->time)
		add_to_regressions(&h->clock_regressions, last, moment->time);
}

/* Returns the counts of a moment's cpu; NULL if the cpu is not known or without memory. */
static struct pd_throttled *get_throttled_cpu(struct pd_health_pass *p,
					      const struct pd_moment *moment)
{
	struct pd_health *h = p->health;

	if (moment->cpu == PD_HEALTH_CPUS)
		return NULL;
	if (moment->cpu >= h->n_cpus && !pb_extend(h->cpus, h->n_cpus, moment->cpu + 1u)) {
		p->no_memory = true;
		return NULL;
	}
	return &h->cpus[moment->cpu];
}

static void follow_throttle(struct pd_health_pass *p, struct pd_health_order *order,
			    const struct pd_moment *moment)
{
	struct pd_throttled *cpu = get_throttled_cpu(p, moment);

	if (moment->is_timed) {
		struct pd_bounded_slot *since = find_slot_of_key(&order->throttled,
								 moment->key);

		since->time = moment->time;
		since->used = true;
	}
	pd_health_event_at(p, moment->event)->throttled.count++;
	if (cpu)
		cpu->count++;
}

static void follow_unthrottle(struct pd_health_pass *p, struct pd_health_order *order,
			      const struct pd_moment *moment)
{
	struct pd_throttled *cpu = get_throttled_cpu(p, moment);
	struct pd_bounded_slot *since;

	p->health->unthrottled++;
	if (!moment->is_timed)
		return;
	since = find_slot_of_key(&order->throttled, moment->key);
	if (!since->used)
		return;
	since->used = false;
	if (moment->time < since->time)
		return;
	pd_health_event_at(p, moment->event)->throttled.time += moment->time - since->time;
	if (cpu)
		cpu->time += moment->time - since->time;
}

/* Starts anew for another recording, whose ring buffers and clock are others. */
static void follow_source(struct pd_health *h, struct pd_health_order *order, uint64_t source)
{
	if (source == order->source)
		return;
	order->source = (uint16_t)source;
	h->rounds.limit = h->rounds.delivered = h->rounds.due = h->rounds.latest = 0;
	memset(&order->streams, 0, sizeof(order->streams));
	memset(&order->throttled, 0, sizeof(order->throttled));
}

void pd_health_follow(struct pd_health_pass *p, struct pd_health_order *order,
		      const struct pd_moment *moments, size_t n)
{
	struct pd_health *h = p->health;

	for (size_t i = 0; i < n; i++) {
		const struct pd_moment *moment = &moments[i];

		switch ((enum pd_moment_kind)moment->kind) {
		case PD_MOMENT_OF_ID:
		case PD_MOMENT_OF_CPU:
			check_clock(h, order, moment, add_to_rounds(&h->rounds, moment->time));
			break;
		case PD_MOMENT_RECORD:
			add_to_rounds(&h->rounds, moment->time);
			break;
		case PD_MOMENT_ROUND:
			finish_round(&h->rounds);
			break;
		case PD_MOMENT_THROTTLE:
			follow_throttle(p, order, moment);
			break;
		case PD_MOMENT_UNTHROTTLE:
			follow_unthrottle(p, order, moment);
			break;
		case PD_MOMENT_SOURCE:
			follow_source(h, order, moment->key);
			break;
		}
	}
}
