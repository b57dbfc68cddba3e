/* Versions, which tell whether a process has the same maps at two times. */
#include "maps_internal.h"

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
static size_t count_settled_maps(const struct pm_space *space, uint64_t time,
				 struct pm_mapping_version *version)
{
	size_t n = pm_space_count_until(space, time);

	if (n)
		bound_version(version, space->maps[n - 1].time, time);
	if (n < space->index.n)
		bound_version(version, space->maps[n].time, time);
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
		pm_space_settle(space);
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
