#include "maps.h"

#include <stdlib.h>
#include <string.h>

#include "mapindex.h"

#define NO_SPACE UINT32_MAX

/* An ancestor's space as it was at a time. */
struct origin {
	uint64_t time;
	uint32_t space; /* its number; NO_SPACE: there is none */
};

/* A process begins anew: by a fork, with its parent's maps if there is one. */
struct life {
	uint64_t time;
	int32_t parent;
	bool copy;
	struct origin origin; /* the nearest ancestor with maps of its own, as of `version` */
	uint64_t version;     /* of the spaces; 0: the origin is not known */
};

struct space {
	uint32_t system;
	struct pm_map *
		/* [n]: what is indexed, ascending by time; then what came since, as it came */
		maps;
	size_t n, capacity;
	struct life *
		/* [n_lives], ascending by time; before the first one it was there already */
		lives;
	size_t n_lives, lives_capacity;
	struct pm_mapindex index;
	size_t scanned;	 /* so many of the others were looked at since the index was made */
	uint64_t forked; /* an addition before this time may change what was inherited */
};

/* A part of what a process has mapped: the maps of a space from a time to another. */
struct layer {
	uint32_t space;
	uint64_t from, to;
};

struct pm_spaces {
	struct pb_id_map by_pid;
	struct space *list; /* [n] */
	size_t n, capacity;
	bool found;	  /* there are spaces of maps that perf found at the end */
	uint64_t version; /* from 1 on: grows when what was inherited may have changed */
	size_t credit;	  /* steps of long walks to an origin: see find_origin */
	/* of pm_spaces_each: kept here, as its callback may not return */
	struct pm_mapindex index;
	struct pm_map *layers;
	size_t n_layers, layers_capacity;
	struct layer *inherited; /* [n_inherited] */
	size_t n_inherited, inherited_capacity;
};

/*
 * In place of the system: maps that perf wrote when it ended. When they were made is not known.
 */
#define FOUND (UINT32_C(1) << 31)

struct pm_spaces *pm_spaces_create(void)
{
	struct pm_spaces *s = calloc(1, sizeof(*s));

	if (s)
		s->version = 1;
	return s;
}

void pm_spaces_destroy(struct pm_spaces *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->n; i++) {
		pm_mapindex_deinit(&s->list[i].index);
		free(s->list[i].maps);
		free(s->list[i].lives);
	}
	pm_mapindex_deinit(&s->index);
	pb_id_map_deinit(&s->by_pid);
	free(s->list);
	free(s->layers);
	free(s->inherited);
	free(s);
}

static inline struct space *find_space(const struct pm_spaces *s, uint32_t system, int32_t pid)
{
	uint32_t i = pb_id_map_find(&s->by_pid, pm_key_of(system, pid));

	return i == UINT32_MAX ? NULL : &s->list[i];
}

static struct space *find_or_add(struct pm_spaces *s, uint32_t system, int32_t pid)
{
	struct space *space = find_space(s, system, pid);

	if (space)
		return space;
	if (!pb_reserve(s->list, s->n, s->capacity) ||
	    !pb_id_map_add(&s->by_pid, pm_key_of(system, pid), (uint32_t)s->n))
		return NULL;
	s->list[s->n] = (struct space){ .system = system };
	return &s->list[s->n++];
}

#define CREDIT 64 /* steps, for each thing that is added */

/* Something of a time is added to a space: what was inherited from it may change. */
static void note_change(struct pm_spaces *s, const struct space *space, uint64_t time)
{
	s->credit += CREDIT;
	s->version += time < space->forked;
}

bool pm_spaces_add(struct pm_spaces *s, uint32_t system, int32_t pid, const struct pm_map *map)
{
	bool found = map->time == PM_NO_TIME;
	struct space *space;

	if (map->start >= map->end)
		return true;
	space = find_or_add(s, found ? system | FOUND : system, pid);
	if (!space || !pb_reserve(space->maps, space->n, space->capacity))
		return false;
	s->found |= found;
	note_change(s, space, map->time);
	space->maps[space->n] = *map;
	space->maps[space->n].order = space->n;
	space->n++;
	return true;
}

static int by_time(const void *a, const void *b)
{
	const struct pm_map *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return (x->order > y->order) - (x->order < y->order);
}

/* Makes the index anew, of all maps; false: no memory. */
static bool settle(struct space *space)
{
	size_t i = space->index.n;

	while (i < space->n && (!i || space->maps[i - 1].time <= space->maps[i].time))
		i++;
	if (i < space->n)
		qsort(space->maps, space->n, sizeof(*space->maps), by_time);
	space->scanned = 0;
	return pm_mapindex_build(&space->index, space->maps, space->n);
}

#define MAX_BACK 1024 /* lives: so far back as to take long is nothing but damage */

bool pm_spaces_fork(struct pm_spaces *s, uint32_t system, int32_t pid, int32_t parent,
		    uint64_t time, bool copy)
{
	struct space *space = NULL, *from;
	size_t at;

	if (pid == parent || time == PM_NO_TIME)
		return true;
	if (find_or_add(s, system, parent))
		space = find_or_add(s, system, pid);
	if (!space || !pb_reserve(space->lives, space->n_lives, space->lives_capacity))
		return false;
	at = space->n_lives;
	while (at && space->lives[at - 1].time > time && space->n_lives - at < MAX_BACK)
		at--;
	if (at && space->lives[at - 1].time > time)
		time = space->lives[at - 1].time;
	note_change(s, space, time);
	memmove(&space->lives[at + 1], &space->lives[at],
		(space->n_lives - at) * sizeof(*space->lives));
	space->lives[at] = (struct life){ .time = time, .parent = parent, .copy = copy };
	space->n_lives++;
	from = find_space(s, system, parent);
	if (copy && time >= from->forked)
		from->forked = time + 1;
	return true;
}

/* The last life that began by then; NULL: the one it had before. */
static inline struct life *life_at(const struct space *space, uint64_t time)
{
	size_t low = 0, high = space->n_lives;

	if (!high || space->lives[high - 1].time <= time)
		return high ? &space->lives[high - 1] : NULL;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (space->lives[middle].time <= time)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? &space->lives[low - 1] : NULL;
}

/* Of several maps that an address has then the last one; `than` may be NULL. */
static inline bool is_later(const struct pm_map *map, const struct pm_map *than,
			    uint64_t address, uint64_t time)
{
	return address - map->start < map->end - map->start && map->time <= time &&
	       (!than || map->time >= than->time);
}

#define WORTH \
	32 /* times as many maps are looked at one by one as there are, before an index is made */

/* The last map that covers an address and is not later than time, of whichever life. */
static const struct pm_map *last_at(struct space *space, uint64_t address, uint64_t time)
{
	const struct pm_map *last;

	if (space->n > space->index.n) {
		space->scanned += space->n - space->index.n;
		if (space->scanned > WORTH * space->n)
			settle(space);
	}
	last = pm_mapindex_find(&space->index, space->maps, address, time);
	for (size_t i = space->index.n; i < space->n; i++)
		if (is_later(&space->maps[i], last, address, time))
			last = &space->maps[i];
	return last;
}

/* Returns true if a space has maps of a life (NULL: its first) that are not later than time. */
static bool has_maps(const struct space *space, const struct life *life, uint64_t time)
{
	uint64_t from = life ? life->time : 0;
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
 * Returns the life that `life` was forked from, in *space; NULL: the first one, or none is
 * known.
 */
static struct life *parent_of(const struct pm_spaces *s, uint32_t system,
			      const struct life *life, struct space **space)
{
	*space = find_space(s, system, life->parent);
	return *space ? life_at(*space, life->time) : NULL;
}

#define SHORT 64 /* steps of a walk that are always allowed */

/*
 * Finds the nearest ancestor of a forked life that had maps of its own, and remembers it for
 * all lives on the way, so that a chain of forks is walked once. Late records may make it be
 * walked again: then only so far as their number allows.
 */
static void find_origin(struct pm_spaces *s, uint32_t system, struct life *first)
{
	struct origin origin = { 0, NO_SPACE };
	size_t n = 0, limit = SHORT + s->credit;
	struct space *space;

	for (struct life *life = first, *parent; life && life->copy && n < limit;
	     life = parent) {
		if (life->version == s->version) {
			origin = life->origin;
			break;
		}
		/* a circle of forks at one time ends where it began */
		life->version = s->version;
		life->origin.space = NO_SPACE;
		n++;
		parent = parent_of(s, system, life, &space);
		if (space && has_maps(space, parent, life->time)) {
			origin = (struct origin){ life->time, (uint32_t)(space - s->list) };
			break;
		}
	}
	if (n > SHORT)
		s->credit -= n - SHORT;
	for (struct life *life = first; origin.space != NO_SPACE && n--;
	     life = parent_of(s, system, life, &space))
		life->origin = origin;
}

/*
 * Returns the nearest ancestor with maps of its own, and sets *time to that of the fork from
 * it.
 */
static inline struct space *origin_of(struct pm_spaces *s, uint32_t system, struct life *life,
				      uint64_t *time)
{
	if (!life || !life->copy)
		return NULL;
	if (life->version != s->version)
		find_origin(s, system, life);
	*time = life->origin.time;
	return life->origin.space == NO_SPACE ? NULL : &s->list[life->origin.space];
}

bool pm_spaces_settle(struct pm_spaces *s)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->list[i].index.n < s->list[i].n && !settle(&s->list[i]))
			return false;
	for (size_t i = 0; i < s->n; i++)
		for (size_t k = 0; k < s->list[i].n_lives; k++)
			find_origin(s, s->list[i].system, &s->list[i].lives[k]);
	return true;
}

#define GENERATIONS 1024 /* ancestors with maps of their own: more are damage */

/*
 * Finds the map, or the removal of one (its dso is NULL), that says what is at an address then.
 */
static const struct pm_map *find_entry(struct pm_spaces *s, uint32_t system, int32_t pid,
				       uint64_t address, uint64_t time)
{
	const struct pm_map *map = NULL;
	struct space *first = find_space(s, system, pid), *space = first;
	bool last = true; /* in its last life */

	for (int i = 0; i < GENERATIONS && space; i++) {
		struct life *life = life_at(space, time);

		map = last_at(space, address, time);
		if (map && (!life || map->time >= life->time))
			return map;
		if (i == 0)
			last = !space->n_lives || life == &space->lives[space->n_lives - 1];
		space = origin_of(s, system, life, &time);
	}
	if (!s->found || !last)
		return NULL;
	space = find_space(s, system | FOUND, pid);
	return space ? last_at(space, address, PM_NO_TIME) : NULL;
}

const struct pm_map *pm_spaces_find(struct pm_spaces *s, uint32_t system, int32_t pid,
				    uint64_t address, uint64_t time)
{
	const struct pm_map *map = find_entry(s, system, pid, address, time);

	return map && map->dso ? map : NULL;
}

static void add_word(struct pm_epoch *epoch, uint64_t word)
{
	epoch->words[epoch->n++] = word;
}

/* Something happens at a time: the epoch does not go beyond. */
static inline void bound(struct pm_epoch *epoch, uint64_t at, uint64_t time)
{
	if (at <= time && at > epoch->from)
		epoch->from = at;
	else if (at > time && at - 1 < epoch->last)
		epoch->last = at - 1;
}

/*
 * How many maps of a space are not later than a time, of those that are in order; those around
 * it bound the epoch.
 */
static size_t settled_until(const struct space *space, uint64_t time, struct pm_epoch *epoch)
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
		bound(epoch, space->maps[low - 1].time, time);
	if (low < space->index.n)
		bound(epoch, space->maps[low].time, time);
	return low;
}

#define LOOSE 64 /* maps that came since are looked at one by one, up to an eighth of all */

/*
 * Adds what of a space holds at a time: its own maps, and those that its life then inherited.
 */
static void say_space(const struct pm_spaces *s, struct space *space, uint64_t time,
		      struct pm_epoch *epoch)
{
	const struct life *life = life_at(space, time);
	size_t lives = life ? (size_t)(life - space->lives) + 1 : 0, n;

	if (space->n - space->index.n > LOOSE + space->n / 8)
		settle(space);
	n = settled_until(space, time, epoch);
	for (size_t i = space->index.n; i < space->n; i++) {
		bound(epoch, space->maps[i].time, time);
		n += space->maps[i].time <= time;
	}
	if (life)
		bound(epoch, life->time, time);
	if (lives < space->n_lives)
		bound(epoch, space->lives[lives].time, time);
	add_word(epoch, (uint64_t)n << 32 | lives);
	add_word(epoch, life && life->copy ? s->version : 0);
}

void pm_spaces_epoch(struct pm_spaces *s, uint32_t system, int32_t pid, uint64_t time,
		     struct pm_epoch *epoch)
{
	struct space *space = find_space(s, system, pid);
	const struct space *found = s->found ? find_space(s, system | FOUND, pid) : NULL;

	*epoch = (struct pm_epoch){ .last = UINT64_MAX };
	add_word(epoch, pm_key_of(system, pid));
	add_word(epoch, found ? found->n : 0);
	if (space)
		say_space(s, space, time, epoch);
}

/*
 * Maps of a space, of a life that began at `from`, up to a time: on top of what is there.
 * False: no memory.
 */
static bool add_layers(struct pm_spaces *s, struct space *space, uint64_t from, uint64_t time)
{
	if (space->index.n < space->n && !settle(space))
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

/* All maps that a process may have at a time, the ones that count most last. */
static bool find_layers(struct pm_spaces *s, uint32_t system, int32_t pid, uint64_t time)
{
	struct space *space = find_space(s, system, pid), *found = NULL;

	s->n_layers = s->n_inherited = 0;
	if (s->found &&
	    (!space || !space->n_lives || space->lives[space->n_lives - 1].time <= time))
		found = find_space(s, system | FOUND, pid);
	while (space && s->n_inherited < GENERATIONS) {
		struct life *life = life_at(space, time);

		if (!pb_reserve(s->inherited, s->n_inherited, s->inherited_capacity))
			return false;
		s->inherited[s->n_inherited++] = (struct layer){ (uint32_t)(space - s->list),
								 life ? life->time : 0, time };
		space = origin_of(s, system, life, &time);
	}
	if (found && !add_layers(s, found, 0, PM_NO_TIME))
		return false;
	for (size_t i = s->n_inherited; i--;) {
		const struct layer *layer = &s->inherited[i];

		if (!add_layers(s, &s->list[layer->space], layer->from, layer->to))
			return false;
	}
	return true;
}

void pm_spaces_each(struct pm_spaces *s, uint32_t system, int32_t pid, uint64_t time,
		    pm_map_fn *fn, void *arg)
{
	if (!find_layers(s, system, pid, time) ||
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
