/*
 * All maps that a process has at a time: those of its ancestors, its own and synthesized ones,
 * as layers of which the top one counts at an address.
 */
#include "maps_internal.h"

/*
 * Appends the maps of a space that were added from `from` to `time` to the layers. Returns
 * false without memory.
 */
static bool add_layers(struct pm_spaces *s, struct pm_space *space, uint64_t from,
		       uint64_t time)
{
	if (space->index.n < space->n && !pm_space_settle(space))
		return false;
	for (size_t i = 0; i < space->n && space->maps[i].time <= time; i++) {
		if (space->maps[i].time < from)
			continue;
		if (!pb_reserve(s->layers, s->n_layers, s->layers_capacity))
			return false;
		s->layers[s->n_layers++] = space->maps[i];
	}
	return true;
}

/* Collects the maps that a process may have at a time as layers, from the bottom to the top. */
static bool find_layers(struct pm_spaces *s, uint32_t machine, int32_t pid, uint64_t time)
{
	struct pm_space *space = pm_space_find(s, machine, pid), *synthesized = NULL;

	s->n_layers = s->n_inherited = 0;
	if (s->has_synthesized && (!space || !space->n_incarnations ||
				   space->incarnations[space->n_incarnations - 1].time <= time))
		synthesized = pm_space_find(s, machine | PM_SYNTHESIZED, pid);
	while (space && s->n_inherited < PM_GENERATIONS) {
		struct pm_incarnation *incarnation = pm_incarnation_at(space, time);

		if (!pb_reserve(s->inherited, s->n_inherited, s->inherited_capacity))
			return false;
		s->inherited[s->n_inherited++] = (struct pm_layer){
			(uint32_t)(space - s->list), incarnation ? incarnation->time : 0, time
		};
		space = pm_origin_of(s, machine, incarnation, &time);
	}
	if (synthesized && !add_layers(s, synthesized, 0, PM_NO_TIME))
		return false;
	for (size_t i = s->n_inherited; i--;) {
		const struct pm_layer *layer = &s->inherited[i];

		if (!add_layers(s, &s->list[layer->space], layer->from, layer->to))
			return false;
	}
	return true;
}

void pm_spaces_each(struct pm_spaces *s, uint32_t machine, int32_t pid, uint64_t time,
		    pm_map_fn *fn, void *arg)
{
	if (!find_layers(s, machine, pid, time) ||
	    !pm_mapindex_build(&s->index, s->layers, s->n_layers))
		return;
	for (size_t i = 0, end; i + 1 < s->index.n_edges; i = end) {
		uint32_t top = s->index.top[i];
		struct pm_map map;

		for (end = i + 1; end + 1 < s->index.n_edges && s->index.top[end] == top;)
			end++;
		if (top == PM_NO_MAP || !s->layers[top].dso)
			continue;
		map = s->layers[top];
		if (!ps_dso_is_absolute(map.dso))
			map.pgoff += s->index.edges[i] - map.start;
		map.start = s->index.edges[i];
		map.end = s->index.edges[end];
		fn(arg, &map);
	}
}
