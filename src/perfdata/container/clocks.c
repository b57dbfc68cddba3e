/*
 * Decides whether the times of several recordings can be compared: they can if they come from
 * the same clock since the same boot. No recording names its boot, so differences in these are
 * looked for: clock, host name, kernel release, offset between clock and wall time. Where they
 * differ, the wall time orders the recordings if all know it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "perfdata/format/format.h"
#include "session.h"

/* ns; setting the wall clock may have moved the offset that far */
#define SKEW UINT64_C(1000000000)

/* Returns the clock of a file; -1: perf's own, the scheduler's. */
static int64_t get_clock(const struct pd_file *file)
{
	if (!file->n_events || !(file->events[0].attr.flags & PD_ATTR_USE_CLOCKID))
		return -1;
	return file->events[0].attr.clockid;
}

/*
 * Finds how the clock relates to the wall clock: from CLOCK_DATA {u32 version, clockid; u64
 * wall, clock}, or because it is the wall clock.
 */
static void read_wall(struct pd_file *file)
{
	struct pd_clock *clock = &file->clock;
	struct pb_cursor c;
	uint8_t *bytes = pd_file_feature_bytes(file, PD_FEATURE_CLOCK_DATA, &c);
	uint64_t wall, time;

	clock->has_wall = get_clock(file) == CLOCK_REALTIME;
	if (!bytes)
		return;
	pb_take32(&c);
	pb_take32(&c);
	wall = pb_take64(&c);
	time = pb_take64(&c);
	if (!c.failed) {
		clock->wall = (int64_t)(wall - time);
		clock->has_wall = true;
	}
	free(bytes);
}

static bool feature_texts_agree(struct pd_session *s, struct pd_file *a, struct pd_file *b,
				unsigned bit, const char *what)
{
	char *x = pd_file_feature_text(a, bit), *y = pd_file_feature_text(b, bit);
	bool same = !x || !y || strcmp(x, y) == 0;

	if (!same)
		snprintf(s->clocks, sizeof(s->clocks),
			 "%s is \"%.60s\" in one, \"%.60s\" in another", what, x, y);
	free(x);
	free(y);
	return same;
}

static bool have_same_clock(struct pd_session *s, struct pd_file *a, struct pd_file *b)
{
	int64_t x = get_clock(a), y = get_clock(b);
	uint64_t apart;

	if (x != y) {
		snprintf(s->clocks, sizeof(s->clocks),
			 "clockid is %" PRId64 " in one, %" PRId64
			 " in another (-1: perf's own)",
			 x, y);
		return false;
	}
	if (!feature_texts_agree(s, a, b, PD_FEATURE_HOSTNAME, "hostname") ||
	    !feature_texts_agree(s, a, b, PD_FEATURE_OSRELEASE, "osrelease"))
		return false;
	if (!a->clock.has_wall || !b->clock.has_wall)
		return true;
	x = a->clock.wall;
	y = b->clock.wall;
	apart = x < y ? (uint64_t)y - (uint64_t)x : (uint64_t)x - (uint64_t)y;
	if (apart < SKEW)
		return true;
	snprintf(s->clocks, sizeof(s->clocks), "their clocks began %" PRIu64 " s apart",
		 apart / 1000000000);
	return false;
}

/*
 * Sets the files' shifts, to 0 unless `apart`. Only differences between clocks matter, so times
 * are counted on the clock that began first: none becomes negative.
 */
static void shift_to_wall(struct pd_session *s, bool apart)
{
	int64_t first = INT64_MAX;

	for (size_t i = 0; i < s->n_files; i++)
		if (s->files[i]->clock.wall < first)
			first = s->files[i]->clock.wall;
	for (size_t i = 0; i < s->n_files; i++)
		s->files[i]->shift = apart ? (uint64_t)s->files[i]->clock.wall -
						     (uint64_t)first :
					     0;
}

void pd_session_compare_clocks(struct pd_session *s)
{
	bool all_know = true;

	s->one_clock = true;
	for (size_t i = 0; i < s->n_files; i++) {
		read_wall(s->files[i]);
		all_know = all_know && s->files[i]->clock.has_wall;
		if (i && s->one_clock)
			s->one_clock = have_same_clock(s, s->files[0], s->files[i]);
	}
	shift_to_wall(s, !s->one_clock && all_know);
	s->merged = s->one_clock || all_know;
}
