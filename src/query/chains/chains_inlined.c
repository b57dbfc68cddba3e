/* Where call chains of reports begin, and the functions that were inlined in them. */
#include "chains_internal.h"

size_t pq_find_root(struct pq_chains *c, const struct pq_looked *looked,
		    const uint32_t *numbers, size_t n)
{
	if (pm_has_roots(looked->resolver))
		while (n-- > 1)
			if (pm_is_root(looked->resolver, pq_code_at(c, numbers[n])->symbol))
				return n;
	return 0;
}

size_t pq_add_inlined(struct pq_chains *c, struct pq_looked *looked, const struct pd_frame *at,
		      uint32_t *numbers, size_t room)
{
	const struct ps_symbol *symbols[PM_MAX_FRAMES];
	const struct pm_map *map;
	size_t n;

	looked->context.mode = (enum pd_cpumode)at->mode;
	map = pm_map_at(pm_resolver_system(looked->resolver), &looked->context, at->ip);
	n = pm_inlined_at(map, at->ip, symbols, room);
	for (size_t i = 0; i < n; i++) {
		struct pq_frame frame = {
			.dso = map->dso,
			.symbol = symbols[i],
			.mode = (uint8_t)at->mode,
			.kind = PQ_CHAIN_CALLERS,
			.text = PQ_NO_TEXT,
		};

		if (looked->kind == PQ_CHAIN_EXACT) {
			frame.address = pm_map_address(map, at->ip);
			numbers[i] = pq_frame_of_exact(c, looked, &frame, at);
		} else {
			numbers[i] = pq_frame_of_value(c, &frame, NULL);
		}
	}
	return n;
}
