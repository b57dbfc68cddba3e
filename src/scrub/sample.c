/* Samples: their raw data, registers, copies of stacks, and pieces of AUX areas. */
#include "internal.h"
#include "perfdata/format/sample.h"

/* The sample in the making. */
struct made {
	uint32_t from; /* bytes of the sample that were taken */
	uint32_t n;    /* bytes that were put to s->room */
};

static void copy_up_to(struct pv_scrubber *s, const struct pd_record *rec, struct made *made,
		       uint32_t end)
{
	memcpy(s->room + made->n, rec->bytes + made->from, end - made->from);
	made->n += end - made->from;
	made->from = end;
}

/* Puts raw data: a u32 size, the data, which with the size are a multiple of 8. */
static void put_raw(struct pv_scrubber *s, const struct pd_record *rec, struct made *made,
		    uint32_t at, uint32_t size)
{
	uint32_t room = PV_RECORD_MOST - (rec->size - (at + size)) - made->n - 4, n;

	n = pv_raw(s, rec, rec->bytes + at + 4, size - 4, s->room + made->n + 4, room);
	pv_store32(s->room + made->n, n, rec->layout->swap);
	made->n += 4 + n;
}

/* Puts a part that holds nothing: registers without an ABI, a copy of no bytes. */
static void put_empty(struct pv_scrubber *s, struct made *made)
{
	memset(s->room + made->n, 0, 8);
	made->n += 8;
}

/* The parts that are more than numbers, in their order. */
static const struct {
	enum pd_part part;
	uint64_t bit;
	enum pv_kind kind;
} parts[] = {
	{ PD_PART_RAW, PD_SAMPLE_RAW, PV_RAW },
	{ PD_PART_REGS_USER, PD_SAMPLE_REGS_USER, PV_REGISTERS },
	{ PD_PART_STACK_USER, PD_SAMPLE_STACK_USER, PV_STACKS },
	{ PD_PART_REGS_INTR, PD_SAMPLE_REGS_INTR, PV_REGISTERS },
	{ PD_PART_AUX, PD_SAMPLE_AUX, PV_AUX },
};

#define PARTS                                                                               \
	(PD_SAMPLE_RAW | PD_SAMPLE_REGS_USER | PD_SAMPLE_STACK_USER | PD_SAMPLE_REGS_INTR | \
	 PD_SAMPLE_AUX)

/* Scrubs the parts of a sample. Returns false if one cannot be read. */
static bool scrub_parts(struct pv_scrubber *s, struct pd_record *rec, uint32_t extent)
{
	struct made made = { 0, 0 };

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		uint32_t at, size;

		if (!(rec->layout->shape->sample_type & parts[i].bit))
			continue;
		if (!pd_part_find(rec, parts[i].part, &at, &size) || at < made.from)
			return false;
		copy_up_to(s, rec, &made, at);
		if (parts[i].part == PD_PART_RAW)
			put_raw(s, rec, &made, at, size);
		else if (size > 8 && !pv_meet(s, parts[i].kind, size))
			put_empty(s, &made);
		else
			continue;
		made.from = at + size;
	}
	copy_up_to(s, rec, &made, extent);
	memset(s->room + made.n, 0, rec->size - extent);
	return pv_finish(s, rec, made.n + rec->size - extent);
}

/*
 * Scrubs a sample in place, or leaves it as it is, if plain raw data are the only part that
 * could change. Returns false if they are not.
 */
static bool scrub_plain_raw(struct pv_scrubber *s, struct pd_record *rec)
{
	const struct pv_plan *plan;
	const uint8_t *raw;
	uint32_t n;

	if ((rec->layout->shape->sample_type & PARTS) != PD_SAMPLE_RAW ||
	    !pd_args_raw(rec, &raw, &n))
		return false;
	plan = pv_plain_plan(s, rec, n);
	if (!plan)
		return false;
	if (!pv_plain_stays(plan, raw, n)) {
		memcpy(s->room, rec->bytes, rec->size);
		pv_put_plain(s, plan, raw, n, s->room + (raw - rec->bytes));
		rec->bytes = s->room;
	}
	return true;
}

/* Scrubs all but addresses. */
static bool scrub_sample(struct pv_scrubber *s, struct pd_record *rec)
{
	uint32_t extent = pd_sample_extent(rec);

	if (!extent || extent > rec->size || !pd_recorded_event(rec))
		return false;
	if (extent == rec->size &&
	    (!(rec->layout->shape->sample_type & PARTS) || scrub_plain_raw(s, rec)))
		return true;
	return scrub_parts(s, rec, extent);
}

bool pv_sample(struct pv_scrubber *s, struct pd_record *rec)
{
	uint32_t at, size;

	if (!scrub_sample(s, rec)) {
		s->unreadable++;
		return false;
	}
	s->found[PV_ADDRESSES].n++;
	if (rec->layout->shape->sample_type & PD_SAMPLE_CALLCHAIN &&
	    pd_part_find(rec, PD_PART_CALLCHAIN, &at, &size))
		pv_clean_chain(s, rec, at + 8, size / 8 - 1);
	if (s->places)
		pv_move_sample(s, rec);
	return true;
}
