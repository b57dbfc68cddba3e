#include "maps.h"

#include <stdlib.h>
#include <string.h>

#include "mapindex.h"

/* A process begins anew: by a fork, with its parent's maps if there is one. */
struct life {
	uint64_t time;
	int32_t parent;
	bool copy;
};

struct space {
	struct pm_map *
		maps; /* [n]: what is indexed, ascending by time; then what came since, as it came */
	size_t n, capacity;
	struct life *
		lives; /* [n_lives], ascending by time; before the first one it was there already */
	size_t n_lives, lives_capacity;
	struct pm_mapindex index;
	size_t scanned; /* so many of the others were looked at since the index was made */
};

struct pm_spaces {
	struct pd_id_table by_pid;
	struct space *list; /* [n] */
	size_t n, capacity;
	bool found; /* there are spaces of maps that perf found at the end */
	/* of pm_spaces_each: kept here, as its callback may not return */
	struct pm_mapindex index;
	struct pm_map *layers;
	size_t n_layers, layers_capacity;
};

/* In place of the system: maps that perf wrote when it ended. When they were made is not known. */
#define FOUND (UINT32_C(1) << 31)

struct pm_spaces *pm_spaces_create(void)
{
	return calloc(1, sizeof(struct pm_spaces));
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
	pd_id_table_deinit(&s->by_pid);
	free(s->list);
	free(s->layers);
	free(s);
}

static inline struct space *find_space(const struct pm_spaces *s, uint32_t system, int32_t pid)
{
	uint32_t i = pd_id_table_find(&s->by_pid, pm_key_of(system, pid));

	return i == UINT32_MAX ? NULL : &s->list[i];
}

static struct space *find_or_add(struct pm_spaces *s, uint32_t system, int32_t pid)
{
	struct space *space = find_space(s, system, pid);

	if (space)
		return space;
	if (!pb_reserve(s->list, s->n, s->capacity) ||
	    !pd_id_table_add(&s->by_pid, pm_key_of(system, pid), (uint32_t)s->n))
		return NULL;
	s->list[s->n] = (struct space){ .n = 0 };
	return &s->list[s->n++];
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

bool pm_spaces_settle(struct pm_spaces *s)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->list[i].index.n < s->list[i].n && !settle(&s->list[i]))
			return false;
	return true;
}

#define MAX_BACK 1024 /* lives: so far back as to take long is nothing but damage */

bool pm_spaces_fork(struct pm_spaces *s, uint32_t system, int32_t pid, int32_t parent,
		    uint64_t time, bool copy)
{
	struct space *space;
	size_t at;

	if (pid == parent || time == PM_NO_TIME)
		return true;
	space = find_or_add(s, system, pid);
	if (!space || !pb_reserve(space->lives, space->n_lives, space->lives_capacity))
		return false;
	at = space->n_lives;
	while (at && space->lives[at - 1].time > time && space->n_lives - at < MAX_BACK)
		at--;
	if (at && space->lives[at - 1].time > time)
		time = space->lives[at - 1].time;
	memmove(&space->lives[at + 1], &space->lives[at],
		(space->n_lives - at) * sizeof(*space->lives));
	space->lives[at] = (struct life){ time, parent, copy };
	space->n_lives++;
	return true;
}

/* The last life that began by then; NULL: the one it had before. */
static inline const struct life *life_at(const struct space *space, uint64_t time)
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

#define GENERATIONS PM_GENERATIONS

/* Finds the map, or the removal of one (its dso is NULL), that says what is at an address then. */
static const struct pm_map *find_entry(struct pm_spaces *s, uint32_t system, int32_t pid,
				       uint64_t address, uint64_t time)
{
	const struct pm_map *map = NULL;
	struct space *first = find_space(s, system, pid), *space = first;
	bool last = true; /* in its last life */

	for (int i = 0; i < GENERATIONS && space; i++) {
		const struct life *life = life_at(space, time);

		map = last_at(space, address, time);
		if (map && (!life || map->time >= life->time))
			return map;
		if (i == 0)
			last = !space->n_lives || life == &space->lives[space->n_lives - 1];
		if (!life || !life->copy)
			break;
		time = life->time;
		space = find_space(s, system, life->parent);
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

/* How many maps of a space are not later than a time, of those that are in order; those around it bound the epoch. */
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

/* Says of a space what of it holds at a time. */
static void say_space(struct space *space, uint64_t time, struct pm_epoch *epoch)
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
		say_space(space, time, epoch);
	/* of those that it was forked from all is of a fixed time; but more may be said of them */
	for (int i = 0; i < GENERATIONS && space; i++) {
		const struct life *life = life_at(space, time);

		add_word(epoch, (uint64_t)space->n << 32 | space->n_lives);
		if (!life || !life->copy)
			break;
		time = life->time;
		space = find_space(s, system, life->parent);
	}
}

/* Maps of a space, of a life that began at `from`, up to a time: on top of what is there. False: no memory. */
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
	struct space *spaces[GENERATIONS], *found = NULL;
	uint64_t from[GENERATIONS], to[GENERATIONS];
	int n = 0;

	s->n_layers = 0;
	spaces[0] = find_space(s, system, pid);
	if (s->found && (!spaces[0] || !spaces[0]->n_lives ||
			 spaces[0]->lives[spaces[0]->n_lives - 1].time <= time))
		found = find_space(s, system | FOUND, pid);
	while (n < GENERATIONS && spaces[n]) {
		const struct life *life = life_at(spaces[n], time);

		to[n] = time;
		from[n++] = life ? life->time : 0;
		if (!life || !life->copy)
			break;
		time = life->time;
		if (n < GENERATIONS)
			spaces[n] = find_space(s, system, life->parent);
	}
	if (found && !add_layers(s, found, 0, PM_NO_TIME))
		return false;
	while (n--)
		if (!add_layers(s, spaces[n], from[n], to[n]))
			return false;
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
