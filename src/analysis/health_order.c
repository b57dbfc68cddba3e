/*
 * Follows the order of records: counts those that come too late for perf's rounds, clocks that
 * go back, and how long events were throttled.
 */
#include "health_internal.h"

#include <string.h>

/*
 * Looks for clocks that go back. Samples of one id come from one ring buffer, in order. Without
 * ids the samples of a cpu may come from several buffers, which rounds keep in order; then only
 * a sample that is late is evidence.
 */
static void check_clock(struct pd_health *h, struct pd_health_order *order,
			const struct pd_moment *moment, bool late)
{
	struct pd_bounded_slot *last = pd_bounded_map_find(&order->streams, moment->key);

	if (moment->kind == PD_MOMENT_OF_ID || late || !last->used ||
	    moment->time >= last->time)
		pd_clock_regressions_add(&h->clock_regressions, last, moment->time);
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
		struct pd_bounded_slot *since = pd_bounded_map_find(&order->throttled,
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
	since = pd_bounded_map_find(&order->throttled, moment->key);
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
	pd_rounds_restart(&h->rounds);
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
			check_clock(h, order, moment, pd_rounds_add(&h->rounds, moment->time));
			break;
		case PD_MOMENT_RECORD:
			pd_rounds_add(&h->rounds, moment->time);
			break;
		case PD_MOMENT_ROUND:
			pd_rounds_finish(&h->rounds);
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
