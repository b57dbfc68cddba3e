/*
 * Rows of frames in reports with callers. There may be millions of frames, nearly all of which
 * have rows of one owner only: a first pass finds the frames that are shown alike, so that no
 * table of rows is needed to find them.
 */
#include <stdlib.h>

#include "base/vector.h"
#include "report_internal.h"

#define PLACE_NOT_MET 0
#define PLACE_ALIKE   1 /* another frame is shown alike */
#define PLACE_NO_ROW  2
#define PLACE_OWNER   3 /* the first owner; others follow */

/* The first row of a frame, or the frame that is shown alike. */
struct pq_report_place {
	uint32_t state; /* PLACE_…, or PLACE_OWNER + number of the owner of the first row */
	uint32_t at;	/* number of that row; PLACE_ALIKE: number of the other frame */
};

/* The key of a row that a frame has besides its first one: a frame, and another owner. */
struct owned {
	uint32_t owner, frame;
};

bool pq_report_begin_frames(struct pq_report_maker *m)
{
	m->n_frames = m->from->chains ? pq_chains_n_frames(m->from->chains) : 0;
	m->places = calloc(m->n_frames + (size_t)2, sizeof(*m->places));
	pb_set_init(&m->other_places, sizeof(struct owned));
	return m->places;
}

void pq_report_have_met_frames(struct pq_report_maker *m)
{
	pb_map_deinit(&m->parts);
}

void pq_report_end_frames(struct pq_report_maker *m)
{
	pq_report_have_met_frames(m);
	pb_set_deinit(&m->other_places);
	free(m->other_rows);
	free(m->places);
}

struct wanted {
	struct pq_report_maker *m;
	const struct pq_report_part *part;
};

/* Returns true if a frame that was met has the wanted part. */
static bool has_part(const void *arg, uint32_t frame)
{
	const struct wanted *wanted = arg;
	const struct pq_report_part *b = wanted->part;
	struct pq_report_part a;

	return pq_report_frame_part(wanted->m, frame, &a) && a.symbol == b->symbol &&
	       a.type == b->type && a.dso == b->dso && a.srcline == b->srcline &&
	       a.mode == b->mode;
}

static uint32_t hash_part(const struct pq_report_maker *m, const struct pq_report_part *part)
{
	const struct pb_secret *secret = &m->owners.secret;
	uint64_t h = pb_mix((uintptr_t)part->dso ^ secret->a,
			    (uintptr_t)part->srcline ^ secret->b);

	return (uint32_t)pb_mix(part->symbol ^ secret->a,
				h ^ (uint64_t)part->type << 8 ^ part->mode);
}

bool pq_report_meet_frame(struct pq_report_maker *m, uint32_t frame)
{
	struct pq_report_place *place = &m->places[frame];
	struct pq_report_part part;
	const struct wanted wanted = { m, &part };
	uint32_t found;

	if (place->state != PLACE_NOT_MET)
		return true;
	if (!pq_report_frame_part(m, frame, &part))
		return false;
	found = pb_map_intern(&m->parts, hash_part(m, &part), has_part, &wanted, frame);
	place->state = found == frame ? PLACE_NO_ROW : PLACE_ALIKE;
	place->at = found;
	return found != UINT32_MAX;
}

/* Adds the row of a frame and the owner. Returns its number; PQ_NO_GROUP without memory. */
static size_t add_row(struct pq_report_maker *m, uint32_t frame)
{
	struct pq_report_part part;

	if (!pq_report_frame_part(m, frame, &part) || !pq_report_set_words(m, &part))
		return PQ_NO_GROUP;
	return pq_table_append(&m->to->table, m->to->words);
}

/* Does what pq_report_find_row() does, for a frame whose first row is another owner's. */
static size_t find_other_row(struct pq_report_maker *m, const struct owned *owned)
{
	size_t n = m->other_places.n, row;
	uint32_t number;

	if (!pb_reserve(m->other_rows, n, m->other_room))
		return PQ_NO_GROUP;
	number = pb_set_add(&m->other_places, owned);
	if (number == UINT32_MAX || number < n)
		return number < n ? m->other_rows[number] : PQ_NO_GROUP;
	row = add_row(m, owned->frame);
	m->other_rows[n] = (uint32_t)row;
	return row;
}

size_t pq_report_find_row(struct pq_report_maker *m, uint32_t owner, uint32_t frame)
{
	struct pq_report_place *place = &m->places[frame];
	size_t row;

	if (place->state == PLACE_ALIKE) {
		frame = place->at;
		place = &m->places[frame];
	}
	if (place->state == owner + PLACE_OWNER)
		return place->at;
	if (place->state != PLACE_NO_ROW)
		return find_other_row(m, &(struct owned){ owner, frame });
	row = add_row(m, frame);
	if (row != PQ_NO_GROUP)
		*place = (struct pq_report_place){ owner + PLACE_OWNER, (uint32_t)row };
	return row;
}
