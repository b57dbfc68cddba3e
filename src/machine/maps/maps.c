#include <stdlib.h>
#include <string.h>

#include "maps_internal.h"

struct pm_spaces *pm_spaces_create(void)
{
	struct pm_spaces *s = calloc(1, sizeof(*s));

	if (s)
		s->ancestry_version = 1;
	return s;
}

void pm_spaces_destroy(struct pm_spaces *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->n; i++) {
		pm_mapindex_deinit(&s->list[i].index);
		free(s->list[i].maps);
		free(s->list[i].incarnations);
	}
	pm_mapindex_deinit(&s->index);
	pb_id_map_deinit(&s->by_pid);
	free(s->list);
	free(s->layers);
	free(s->inherited);
	free(s);
}

static struct pm_space *find_or_add_space(struct pm_spaces *s, uint32_t machine, int32_t pid)
{
	struct pm_space *space = pm_space_find(s, machine, pid);

	if (space)
		return space;
	if (!pb_reserve(s->list, s->n, s->capacity) ||
	    !pb_id_map_add(&s->by_pid, pm_key_of(machine, pid), (uint32_t)s->n))
		return NULL;
	s->list[s->n] = (struct pm_space){ .machine = machine };
	return &s->list[s->n++];
}

#define CREDIT 64 /* steps of long walks that each addition pays for */

/* Notes that something is added to `space` at `time`: what was inherited from it may change. */
static void note_space_change(struct pm_spaces *s, const struct pm_space *space, uint64_t time)
{
	s->credit += CREDIT;
	s->ancestry_version += time < space->forked;
}

bool pm_spaces_add(struct pm_spaces *s, uint32_t machine, int32_t pid, const struct pm_map *map)
{
	bool synthesized = map->time == PM_NO_TIME;
	struct pm_space *space;

	if (map->start >= map->end)
		return true;
	space = find_or_add_space(s, synthesized ? machine | PM_SYNTHESIZED : machine, pid);
	if (!space || !pb_reserve(space->maps, space->n, space->capacity))
		return false;
	s->has_synthesized |= synthesized;
	note_space_change(s, space, map->time);
	space->maps[space->n] = *map;
	space->maps[space->n].sequence = space->n;
	space->n++;
	return true;
}

static int compare_map_times(const void *a, const void *b)
{
	const struct pm_map *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return (x->sequence > y->sequence) - (x->sequence < y->sequence);
}

/*
 * Builds the index of a space anew, of all its maps, which are sorted. Returns false without
 * memory.
 */
static bool settle_space(struct pm_space *space)
{
	size_t i = space->index.n;

	while (i < space->n && (!i || space->maps[i - 1].time <= space->maps[i].time))
		i++;
	if (i < space->n)
		qsort(space->maps, space->n, sizeof(*space->maps), compare_map_times);
	space->scanned = 0;
	return pm_mapindex_build(&space->index, space->maps, space->n);
}

#define MAX_BACK 1024 /* incarnations: only damaged input goes back further */

bool pm_spaces_fork(struct pm_spaces *s, uint32_t machine, int32_t pid, int32_t parent,
		    uint64_t time, bool copy)
{
	struct pm_space *space = NULL, *from;
	size_t at;

	if (pid == parent || time == PM_NO_TIME)
		return true;
	if (find_or_add_space(s, machine, parent))
		space = find_or_add_space(s, machine, pid);
	if (!space || !pb_reserve(space->incarnations, space->n_incarnations,
				  space->incarnations_capacity))
		return false;
	at = space->n_incarnations;
	while (at && space->incarnations[at - 1].time > time &&
	       space->n_incarnations - at < MAX_BACK)
		at--;
	if (at && space->incarnations[at - 1].time > time)
		time = space->incarnations[at - 1].time;
	note_space_change(s, space, time);
	memmove(&space->incarnations[at + 1], &space->incarnations[at],
		(space->n_incarnations - at) * sizeof(*space->incarnations));
	space->incarnations[at] = (struct pm_incarnation){ .time = time,
							   .parent = parent,
							   .copy = copy };
	space->n_incarnations++;
	from = pm_space_find(s, machine, parent);
	if (copy && time >= from->forked)
		from->forked = time + 1;
	return true;
}

/*
 * Returns true if `map` covers `address` at `time` and is not older than `than`, which may be
 * NULL.
 */
static inline bool is_later_map(const struct pm_map *map, const struct pm_map *than,
				uint64_t address, uint64_t time)
{
	return address - map->start < map->end - map->start && map->time <= time &&
	       (!than || map->time >= than->time);
}

/*
 * An index is built when unindexed maps were searched this many times as often as there are
 * maps.
 */
#define WORTH 32

/*
 * Returns the last map that covers `address` and is not later than `time`, of any incarnation.
 */
static const struct pm_map *find_last_map(struct pm_space *space, uint64_t address,
					  uint64_t time)
{
	const struct pm_map *last;

	if (space->n > space->index.n) {
		space->scanned += space->n - space->index.n;
		if (space->scanned > WORTH * space->n)
			settle_space(space);
	}
	last = pm_mapindex_find(&space->index, space->maps, address, time);
	for (size_t i = space->index.n; i < space->n; i++)
		if (is_later_map(&space->maps[i], last, address, time))
			last = &space->maps[i];
	return last;
}

/*
 * Returns true if a space has maps that were added from the start of an incarnation (NULL: the
 * first) to `time`.
 */
static bool has_maps(const struct pm_space *space, const struct pm_incarnation *incarnation,
		     uint64_t time)
{
	uint64_t from = incarnation ? incarnation->time : 0;
	size_t n = pm_space_count_until(space, time);

	if (n && space->maps[n - 1].time >= from)
		return true;
	for (size_t i = space->index.n; i < space->n; i++)
		if (space->maps[i].time >= from && space->maps[i].time <= time)
			return true;
	return false;
}

/*
 * Returns the incarnation that `incarnation` was forked from, and sets *space to its space.
 * NULL: the first one; *space is NULL if nothing is known of the parent.
 */
static struct pm_incarnation *find_parent(const struct pm_spaces *s, uint32_t machine,
					  const struct pm_incarnation *incarnation,
					  struct pm_space **space)
{
	*space = pm_space_find(s, machine, incarnation->parent);
	return *space ? pm_incarnation_at(*space, incarnation->time) : NULL;
}

#define SHORT 64 /* steps that every walk may take */

/*
 * Finds the nearest ancestor with maps of its own for incarnation `first`, and remembers it for
 * all incarnations on the way, so a chain of forks is walked once. Late additions may
 * invalidate what was remembered: each pays for a fixed number of further steps, so that
 * damaged input cannot make walks quadratic.
 */
void pm_origin_find(struct pm_spaces *s, uint32_t machine, struct pm_incarnation *first)
{
	struct pm_origin origin = { 0, PM_NO_SPACE };
	size_t n = 0, limit = SHORT + s->credit;
	struct pm_space *space;

	for (struct pm_incarnation *incarnation = first, *parent;
	     incarnation && incarnation->copy && n < limit; incarnation = parent) {
		if (incarnation->ancestry_version == s->ancestry_version) {
			origin = incarnation->origin;
			break;
		}
		/* a circle of forks at one time ends where it began */
		incarnation->ancestry_version = s->ancestry_version;
		incarnation->origin.space = PM_NO_SPACE;
		n++;
		parent = find_parent(s, machine, incarnation, &space);
		if (space && has_maps(space, parent, incarnation->time)) {
			origin = (struct pm_origin){ incarnation->time,
						     (uint32_t)(space - s->list) };
			break;
		}
	}
	if (n > SHORT)
		s->credit -= n - SHORT;
	for (struct pm_incarnation *incarnation = first; origin.space != PM_NO_SPACE && n--;
	     incarnation = find_parent(s, machine, incarnation, &space))
		incarnation->origin = origin;
}

bool pm_spaces_settle(struct pm_spaces *s)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->list[i].index.n < s->list[i].n && !settle_space(&s->list[i]))
			return false;
	for (size_t i = 0; i < s->n; i++)
		for (size_t k = 0; k < s->list[i].n_incarnations; k++)
			pm_origin_find(s, s->list[i].machine, &s->list[i].incarnations[k]);
	return true;
}

/*
 * Narrows a range of times or addresses that includes `at`: something changes at `edge`, which
 * is the first of another range.
 */
static inline void narrow_range(uint64_t *first, uint64_t *last, uint64_t at, uint64_t edge)
{
	if (edge <= at && edge > *first)
		*first = edge;
	else if (edge > at && edge - 1 < *last)
		*last = edge - 1;
}

/* Narrows *range, which covers `address`, to where no map of a space begins or ends. */
static void narrow_to_cell(const struct pm_space *space, uint64_t address,
			   struct ps_range *range)
{
	const struct pm_mapindex *index = &space->index;
	size_t next = pm_mapindex_cell(index, address) + 1; /* 0: it lies below all cells */

	if (next)
		narrow_range(&range->first, &range->last, address, index->edges[next - 1]);
	if (next < index->n_edges)
		narrow_range(&range->first, &range->last, address, index->edges[next]);
	for (size_t i = index->n; i < space->n; i++) {
		narrow_range(&range->first, &range->last, address, space->maps[i].start);
		narrow_range(&range->first, &range->last, address, space->maps[i].end);
	}
}

/*
 * Finds the map that decides what is at an address at a time; its dso is NULL if it removes a
 * map. Narrows *range, unless it is NULL, to the edges of all maps that were searched.
 */
static inline __attribute__((always_inline)) const struct pm_map *find_map_entry(
	struct pm_spaces *s, uint32_t machine, int32_t pid, uint64_t address, uint64_t time,
	struct ps_range *range)
{
	const struct pm_map *map = NULL;
	struct pm_space *first = pm_space_find(s, machine, pid), *space = first;
	bool last = true; /* whether `time` is in the last incarnation */

	for (int i = 0; i < PM_GENERATIONS && space; i++) {
		struct pm_incarnation *incarnation = pm_incarnation_at(space, time);

		map = find_last_map(space, address, time);
		if (range)
			narrow_to_cell(space, address, range);
		if (map && (!incarnation || map->time >= incarnation->time))
			return map;
		if (i == 0)
			last = !space->n_incarnations ||
			       incarnation == &space->incarnations[space->n_incarnations - 1];
		space = pm_origin_of(s, machine, incarnation, &time);
	}
	if (!s->has_synthesized || !last)
		return NULL;
	space = pm_space_find(s, machine | PM_SYNTHESIZED, pid);
	if (!space)
		return NULL;
	map = find_last_map(space, address, PM_NO_TIME);
	if (range)
		narrow_to_cell(space, address, range);
	return map;
}

const struct pm_map *pm_spaces_find(struct pm_spaces *s, uint32_t machine, int32_t pid,
				    uint64_t address, uint64_t time)
{
	const struct pm_map *map = find_map_entry(s, machine, pid, address, time, NULL);

	return map && map->dso ? map : NULL;
}

const struct pm_map *pm_spaces_find_range(struct pm_spaces *s, uint32_t machine, int32_t pid,
					  uint64_t address, uint64_t time,
					  struct ps_range *range)
{
	const struct pm_map *map;

	*range = (struct ps_range){ 0, UINT64_MAX };
	map = find_map_entry(s, machine, pid, address, time, range);
	return map && map->dso ? map : NULL;
}

static void add_version_word(struct pm_mapping_version *version, uint64_t word)
{
	version->words[version->n++] = word;
}

/* Limits *version, which is that of `time`, as something changes at time `edge`. */
static inline void bound_version(struct pm_mapping_version *version, uint64_t time,
				 uint64_t edge)
{
	narrow_range(&version->from, &version->last, time, edge);
}

/*
 * Counts the indexed maps of a space that are not later than `time`, and limits *version to the
 * times of its neighbours.
 */
static size_t count_settled_maps(const struct pm_space *space, uint64_t time,
				 struct pm_mapping_version *version)
{
	size_t n = pm_space_count_until(space, time);

	if (n)
		bound_version(version, time, space->maps[n - 1].time);
	if (n < space->index.n)
		bound_version(version, time, space->maps[n].time);
	return n;
}

/*
 * A space is indexed anew if more maps than this, and an eighth of all, are not in the index.
 */
#define LOOSE 64

/*
 * Adds the state of a space at `time` to *version: how many maps and incarnations it has by
 * then, and the version of what it inherits.
 */
static void add_space_version(const struct pm_spaces *s, struct pm_space *space, uint64_t time,
			      struct pm_mapping_version *version)
{
	const struct pm_incarnation *incarnation = pm_incarnation_at(space, time);
	size_t incarnations = incarnation ? (size_t)(incarnation - space->incarnations) + 1 : 0,
	       n;

	if (space->n - space->index.n > LOOSE + space->n / 8)
		settle_space(space);
	n = count_settled_maps(space, time, version);
	for (size_t i = space->index.n; i < space->n; i++) {
		bound_version(version, time, space->maps[i].time);
		n += space->maps[i].time <= time;
	}
	if (incarnation)
		bound_version(version, time, incarnation->time);
	if (incarnations < space->n_incarnations)
		bound_version(version, time, space->incarnations[incarnations].time);
	add_version_word(version, (uint64_t)n << 32 | incarnations);
	add_version_word(version, incarnation && incarnation->copy ? s->ancestry_version : 0);
}

void pm_spaces_version(struct pm_spaces *s, uint32_t machine, int32_t pid, uint64_t time,
		       struct pm_mapping_version *version)
{
	struct pm_space *space = pm_space_find(s, machine, pid);
	const struct pm_space *synthesized = s->has_synthesized ?
						     pm_space_find(s, machine | PM_SYNTHESIZED,
								   pid) :
						     NULL;

	*version = (struct pm_mapping_version){ .last = UINT64_MAX };
	add_version_word(version, pm_key_of(machine, pid));
	add_version_word(version, synthesized ? synthesized->n : 0);
	if (space)
		add_space_version(s, space, time, version);
}

/*
 * Appends the maps of a space that were added from `from` to `time` to the layers. Returns
 * false without memory.
 */
static bool add_layers(struct pm_spaces *s, struct pm_space *space, uint64_t from,
		       uint64_t time)
{
	if (space->index.n < space->n && !settle_space(space))
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

/*
 * Collects the maps that a process may have at a time as layers, of which the top one counts at
 * an address: from the bottom those that were synthesized, those of its ancestors, its own.
 */
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
