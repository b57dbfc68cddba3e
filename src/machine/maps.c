#include "maps.h"

#include <stdlib.h>
#include <string.h>

#include "mapindex.h"

#define NO_SPACE UINT32_MAX

/* The space of an ancestor as it was at a time. */
struct origin {
	uint64_t time;
	uint32_t space; /* number in pm_spaces.list; NO_SPACE: none */
};

/* A process after a fork, until the next fork of its pid. */
struct incarnation {
	uint64_t time;
	int32_t parent;
	bool copy;
	struct origin origin;	   /* nearest ancestor with maps of its own */
	uint64_t ancestry_version; /* for which `origin` holds; 0: not known */
};

struct space {
	uint32_t machine;
	/*
	 * [n]: those in the index, ascending by time; behind them those added since, unsorted
	 */
	struct pm_map *maps;
	size_t n, capacity;
	/*
	 * [n_incarnations]: ascending by time; before the first one the process was there
	 * already
	 */
	struct incarnation *incarnations;
	size_t n_incarnations, incarnations_capacity;
	struct pm_mapindex index;
	size_t scanned;	 /* maps behind the index that were searched since it was built */
	uint64_t forked; /* an addition before this time may change what was inherited */
};

/* The maps of a space from one time to another, as a part of what a process has mapped. */
struct layer {
	uint32_t space;
	uint64_t from, to;
};

struct pm_spaces {
	struct pb_id_map by_pid;
	struct space *list; /* [n] */
	size_t n, capacity;
	bool has_synthesized; /* there are spaces with maps that perf synthesized at the end */
	uint64_t ancestry_version; /* from 1 on; grows when inherited maps may have changed */
	size_t credit;		   /* steps that long walks may take: see find_origin() */
	/* State of pm_spaces_each(). It is kept here, since the callback may not return. */
	struct pm_mapindex index;
	struct pm_map *layers;
	size_t n_layers, layers_capacity;
	struct layer *inherited; /* [n_inherited] */
	size_t n_inherited, inherited_capacity;
};

/*
 * Marks, in the number of a machine, the spaces of maps that perf synthesized when it ended. It
 * is not known when those maps were made.
 */
#define SYNTHESIZED (UINT32_C(1) << 31)

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

static inline struct space *find_space(const struct pm_spaces *s, uint32_t machine, int32_t pid)
{
	uint32_t i = pb_id_map_find(&s->by_pid, pm_key_of(machine, pid));

	return i == UINT32_MAX ? NULL : &s->list[i];
}

static struct space *find_or_add_space(struct pm_spaces *s, uint32_t machine, int32_t pid)
{
	struct space *space = find_space(s, machine, pid);

	if (space)
		return space;
	if (!pb_reserve(s->list, s->n, s->capacity) ||
	    !pb_id_map_add(&s->by_pid, pm_key_of(machine, pid), (uint32_t)s->n))
		return NULL;
	s->list[s->n] = (struct space){ .machine = machine };
	return &s->list[s->n++];
}

#define CREDIT 64 /* steps of long walks that each addition pays for */

/* Notes that something is added to `space` at `time`: what was inherited from it may change. */
static void note_space_change(struct pm_spaces *s, const struct space *space, uint64_t time)
{
	s->credit += CREDIT;
	s->ancestry_version += time < space->forked;
}

bool pm_spaces_add(struct pm_spaces *s, uint32_t machine, int32_t pid, const struct pm_map *map)
{
	bool synthesized = map->time == PM_NO_TIME;
	struct space *space;

	if (map->start >= map->end)
		return true;
	space = find_or_add_space(s, synthesized ? machine | SYNTHESIZED : machine, pid);
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

/* Builds the index anew, of all maps. Returns false without memory. */
static bool settle_space(struct space *space)
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
	struct space *space = NULL, *from;
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
	space->incarnations[at] = (struct incarnation){ .time = time,
							.parent = parent,
							.copy = copy };
	space->n_incarnations++;
	from = find_space(s, machine, parent);
	if (copy && time >= from->forked)
		from->forked = time + 1;
	return true;
}

/* Returns the last incarnation that began by `time`; NULL: the process was there already. */
static inline struct incarnation *find_incarnation(const struct space *space, uint64_t time)
{
	size_t low = 0, high = space->n_incarnations;

	if (!high || space->incarnations[high - 1].time <= time)
		return high ? &space->incarnations[high - 1] : NULL;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (space->incarnations[middle].time <= time)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? &space->incarnations[low - 1] : NULL;
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
static const struct pm_map *find_last_map(struct space *space, uint64_t address, uint64_t time)
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
static bool has_maps(const struct space *space, const struct incarnation *incarnation,
		     uint64_t time)
{
	uint64_t from = incarnation ? incarnation->time : 0;
	size_t low = 0, high = space->index.n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (space->maps[middle].time <= time)
			low = middle + 1;
		else
			high = middle;
	}
	if (low && space->maps[low - 1].time >= from)
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
static struct incarnation *find_parent(const struct pm_spaces *s, uint32_t machine,
				       const struct incarnation *incarnation,
				       struct space **space)
{
	*space = find_space(s, machine, incarnation->parent);
	return *space ? find_incarnation(*space, incarnation->time) : NULL;
}

#define SHORT 64 /* steps that every walk may take */

/*
 * Finds the nearest ancestor with maps of its own for incarnation `first`, and remembers it for
 * all incarnations on the way, so a chain of forks is walked once. Late additions may
 * invalidate what was remembered: each pays for a fixed number of further steps, so that
 * damaged input cannot make walks quadratic.
 */
static void find_origin(struct pm_spaces *s, uint32_t machine, struct incarnation *first)
{
	struct origin origin = { 0, NO_SPACE };
	size_t n = 0, limit = SHORT + s->credit;
	struct space *space;

	for (struct incarnation *incarnation = first, *parent;
	     incarnation && incarnation->copy && n < limit; incarnation = parent) {
		if (incarnation->ancestry_version == s->ancestry_version) {
			origin = incarnation->origin;
			break;
		}
		/* a circle of forks at one time ends where it began */
		incarnation->ancestry_version = s->ancestry_version;
		incarnation->origin.space = NO_SPACE;
		n++;
		parent = find_parent(s, machine, incarnation, &space);
		if (space && has_maps(space, parent, incarnation->time)) {
			origin = (struct origin){ incarnation->time,
						  (uint32_t)(space - s->list) };
			break;
		}
	}
	if (n > SHORT)
		s->credit -= n - SHORT;
	for (struct incarnation *incarnation = first; origin.space != NO_SPACE && n--;
	     incarnation = find_parent(s, machine, incarnation, &space))
		incarnation->origin = origin;
}

/*
 * Returns the space of the nearest ancestor with maps of its own, and sets *time to the time of
 * the fork from it. NULL: none.
 */
static inline struct space *get_origin(struct pm_spaces *s, uint32_t machine,
				       struct incarnation *incarnation, uint64_t *time)
{
	if (!incarnation || !incarnation->copy)
		return NULL;
	if (incarnation->ancestry_version != s->ancestry_version)
		find_origin(s, machine, incarnation);
	*time = incarnation->origin.time;
	return incarnation->origin.space == NO_SPACE ? NULL :
						       &s->list[incarnation->origin.space];
}

bool pm_spaces_settle(struct pm_spaces *s)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->list[i].index.n < s->list[i].n && !settle_space(&s->list[i]))
			return false;
	for (size_t i = 0; i < s->n; i++)
		for (size_t k = 0; k < s->list[i].n_incarnations; k++)
			find_origin(s, s->list[i].machine, &s->list[i].incarnations[k]);
	return true;
}

#define GENERATIONS 1024 /* ancestors with maps of their own: only damaged input has more */

/*
 * Finds the map that decides what is at an address at a time; its dso is NULL if it removes a
 * map.
 */
static const struct pm_map *find_map_entry(struct pm_spaces *s, uint32_t machine, int32_t pid,
					   uint64_t address, uint64_t time)
{
	const struct pm_map *map = NULL;
	struct space *first = find_space(s, machine, pid), *space = first;
	bool last = true; /* whether `time` is in the last incarnation */

	for (int i = 0; i < GENERATIONS && space; i++) {
		struct incarnation *incarnation = find_incarnation(space, time);

		map = find_last_map(space, address, time);
		if (map && (!incarnation || map->time >= incarnation->time))
			return map;
		if (i == 0)
			last = !space->n_incarnations ||
			       incarnation == &space->incarnations[space->n_incarnations - 1];
		space = get_origin(s, machine, incarnation, &time);
	}
	if (!s->has_synthesized || !last)
		return NULL;
	space = find_space(s, machine | SYNTHESIZED, pid);
	return space ? find_last_map(space, address, PM_NO_TIME) : NULL;
}

const struct pm_map *pm_spaces_find(struct pm_spaces *s, uint32_t machine, int32_t pid,
				    uint64_t address, uint64_t time)
{
	const struct pm_map *map = find_map_entry(s, machine, pid, address, time);

	return map && map->dso ? map : NULL;
}

static void add_version_word(struct pm_mapping_version *version, uint64_t word)
{
	version->words[version->n++] = word;
}

/* Limits *version, which is that of `time`, as something changes at time `at`. */
static inline void bound_version(struct pm_mapping_version *version, uint64_t at, uint64_t time)
{
	if (at <= time && at > version->from)
		version->from = at;
	else if (at > time && at - 1 < version->last)
		version->last = at - 1;
}

/*
 * Counts the indexed maps of a space that are not later than `time`, and limits *version to the
 * times of its neighbours.
 */
static size_t count_settled_maps(const struct space *space, uint64_t time,
				 struct pm_mapping_version *version)
{
	size_t low = 0, high = space->index.n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (space->maps[middle].time <= time)
			low = middle + 1;
		else
			high = middle;
	}
	if (low)
		bound_version(version, space->maps[low - 1].time, time);
	if (low < space->index.n)
		bound_version(version, space->maps[low].time, time);
	return low;
}

/*
 * A space is indexed anew if more maps than this, and an eighth of all, are not in the index.
 */
#define LOOSE 64

/*
 * Adds the state of a space at `time` to *version: how many maps and incarnations it has by
 * then, and the version of what it inherits.
 */
static void add_space_version(const struct pm_spaces *s, struct space *space, uint64_t time,
			      struct pm_mapping_version *version)
{
	const struct incarnation *incarnation = find_incarnation(space, time);
	size_t incarnations = incarnation ? (size_t)(incarnation - space->incarnations) + 1 : 0,
	       n;

	if (space->n - space->index.n > LOOSE + space->n / 8)
		settle_space(space);
	n = count_settled_maps(space, time, version);
	for (size_t i = space->index.n; i < space->n; i++) {
		bound_version(version, space->maps[i].time, time);
		n += space->maps[i].time <= time;
	}
	if (incarnation)
		bound_version(version, incarnation->time, time);
	if (incarnations < space->n_incarnations)
		bound_version(version, space->incarnations[incarnations].time, time);
	add_version_word(version, (uint64_t)n << 32 | incarnations);
	add_version_word(version, incarnation && incarnation->copy ? s->ancestry_version : 0);
}

void pm_spaces_version(struct pm_spaces *s, uint32_t machine, int32_t pid, uint64_t time,
		       struct pm_mapping_version *version)
{
	struct space *space = find_space(s, machine, pid);
	const struct space *synthesized = s->has_synthesized ?
						  find_space(s, machine | SYNTHESIZED, pid) :
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
static bool add_layers(struct pm_spaces *s, struct space *space, uint64_t from, uint64_t time)
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

/* Collects the maps that a process may have at a time as layers, from the bottom to the top. */
static bool find_layers(struct pm_spaces *s, uint32_t machine, int32_t pid, uint64_t time)
{
	struct space *space = find_space(s, machine, pid), *synthesized = NULL;

	s->n_layers = s->n_inherited = 0;
	if (s->has_synthesized && (!space || !space->n_incarnations ||
				   space->incarnations[space->n_incarnations - 1].time <= time))
		synthesized = find_space(s, machine | SYNTHESIZED, pid);
	while (space && s->n_inherited < GENERATIONS) {
		struct incarnation *incarnation = find_incarnation(space, time);

		if (!pb_reserve(s->inherited, s->n_inherited, s->inherited_capacity))
			return false;
		s->inherited[s->n_inherited++] = (struct layer){
			(uint32_t)(space - s->list), incarnation ? incarnation->time : 0, time
		};
		space = get_origin(s, machine, incarnation, &time);
	}
	if (synthesized && !add_layers(s, synthesized, 0, PM_NO_TIME))
		return false;
	for (size_t i = s->n_inherited; i--;) {
		const struct layer *layer = &s->inherited[i];

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
