#include "base/vector.h"
#include "rows_pairs_sides.h"

#define MOST_CPUS 65536 /* whose records are noted */

/* Makes room for a cpu. Returns where it is; NULL without memory. */
static struct pq_cpu *add_cpu(struct pq_last_times *times, uint64_t cpu)
{
	return pb_extend(times->by_cpu, times->n_cpus, (size_t)cpu + 1) ? &times->by_cpu[cpu] :
									  NULL;
}

bool pq_pairs_note_time(struct pq_pairs *pairs, uint64_t time)
{
	struct pq_last_times *times = &pairs->last_times[pairs->columns->fields->rec->source];
	struct pq_value cpu = { .type = PQ_NIL };

	if (pairs->how->cpu != PQ_NO_PLACE)
		pq_pairs_load(pairs, pairs->how->cpu, &cpu);
	pairs->previous = times->time;
	pairs->cpu = NULL;
	if (time > times->time)
		times->time = time;
	if (cpu.type != PQ_INT || cpu.u >= MOST_CPUS)
		return true;
	pairs->cpu = cpu.u < times->n_cpus ? &times->by_cpu[cpu.u] : add_cpu(times, cpu.u);
	if (!pairs->cpu)
		return false;
	pairs->previous = pairs->cpu->time;
	if (time > pairs->cpu->time)
		pairs->cpu->time = time;
	return true;
}

/* Returns when an open span began, or entered its state. */
static uint64_t find_since(const struct pq_pairs *pairs, uint32_t span)
{
	const struct pq_phases *phases = &pairs->phases[span];

	if (!pairs->how->n_states)
		return pq_pairs_start(pairs, span);
	return pq_phases_list(phases)[phases->n - 1].since;
}

bool pq_pairs_is_held(const struct pq_pairs *pairs, uint32_t span)
{
	return pairs->held.item == span + 1 &&
	       pairs->held.serial == pq_pairs_serial(pairs, span) &&
	       pairs->held.since == find_since(pairs, span);
}

void pq_pairs_note_begin(struct pq_pairs *pairs, uint32_t span)
{
	if (pairs->held.item == span + 1)
		pairs->held.item = 0;
	if (!pairs->next_sides || !pairs->cpu || !pq_phases_in(pairs, span, pairs->next_states))
		return;
	pairs->cpu->since = find_since(pairs, span);
	pairs->cpu->serial = pq_pairs_serial(pairs, span);
	pairs->cpu->item = span + 1;
}

void pq_pairs_drop_held(struct pq_pairs *pairs, uint64_t time)
{
	uint32_t span = pairs->held.item - 1;
	struct pb_slot *slot;

	if (span == PQ_NO_SPAN)
		return;
	slot = pq_spans_slot(&pairs->spans, span);
	if (slot->item && pq_pairs_is_held(pairs, span)) {
		pq_pairs_drop_open(pairs, span, time, &pairs->counts.restarted);
		pq_spans_close(&pairs->spans, slot);
	}
	pairs->held.item = 0;
}
