/*
 * One record as the reader hands it out, and the values of its fields.
 *
 * A record points at its own bytes, its layout and its event and holds nothing else: whoever
 * copies the bytes and the struct has a record of his own, valid while the file's description
 * lives.
 */
#ifndef PERFLUA_PERFDATA_RECORD_H
#define PERFLUA_PERFDATA_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "text.h"
#include "format.h"
#include "layout.h"
#include "value.h"

#define PD_NO_CHUNK UINT64_MAX

struct pd_record {
	const uint8_t *bytes;		/* `size` of them, the header first */
	const struct pd_layout *layout; /* never NULL */
	/* it is delivered as; NULL: the file has none for its id */
	const struct pd_event *event;
	uint64_t offset; /* of the header in the file; of what is compressed: its record's */
	uint64_t chunk_offset; /* of what is compressed: in what that holds; else PD_NO_CHUNK */
	uint32_t type;
	uint32_t size; /* simpleperf's own records may be larger than 64 KB */
	uint16_t misc;
	uint16_t source,
		stream; /* numbers: of its file (see struct pd_file), of its stream there */
	/*
	 * Set only where layout->split: the sample stands for one value of the record's `read`
	 * (counters.h), and `event` is that of the value.
	 */
	const struct pd_event *recorded; /* the record's own event */
	uint64_t counter;		 /* id of the value */
	uint64_t counted;		 /* by how much the value moved */
};

/* Returns the event that the record's bytes belong to; NULL if the file has none for its id. */
static inline const struct pd_event *pd_recorded_event(const struct pd_record *rec)
{
	return rec->layout->split ? rec->recorded : rec->event;
}

/* Bytes: what claims to be larger is damage. simpleperf's largest records hold kallsyms. */
#define PD_RECORD_MOST (64u << 20)

/*
 * Reads the header at p. `simpleperf`: as file->simpleperf says; its own records have the upper
 * half of their size where others have misc: see its record.h.
 */
static inline void pd_record_header(struct pd_record *rec, const uint8_t *p, bool swap,
				    bool simpleperf)
{
	uint32_t type = pb_load32(p, swap), size = pb_load16(p + 6, swap);
	uint16_t misc = pb_load16(p + 4, swap);

	if (simpleperf && type - PD_RECORD_SIMPLEPERF < PD_SIMPLEPERF_TYPES)
		size |= (uint32_t)misc << 16;
	rec->type = type;
	rec->misc = misc;
	rec->size = size;
}

/* The body ends here: before the sample_id trailer. */
static inline uint32_t pd_body_end(const struct pd_record *rec)
{
	uint32_t trailer = rec->layout->trailer_size;

	return rec->size < trailer + 8 ? rec->size : rec->size - trailer;
}

/* Loads at an offset of the record, without a check of their own. */
static inline uint16_t pd_rec16(const struct pd_record *rec, uint32_t at)
{
	return pb_load16(rec->bytes + at, rec->layout->swap);
}

static inline uint32_t pd_rec32(const struct pd_record *rec, uint32_t at)
{
	return pb_load32(rec->bytes + at, rec->layout->swap);
}

static inline uint64_t pd_rec64(const struct pd_record *rec, uint32_t at)
{
	return pb_load64(rec->bytes + at, rec->layout->swap);
}

/* What pd_record_get does for fields that are not a plain load. */
void pd_record_decode(const struct pd_record *rec, unsigned index, struct pd_value *out);

/*
 * Field `index` of the record's layout (its slot of the field's name) if it is a plain load of
 * an integer: the shortest way to a value. False: pd_record_get says what it is.
 */
static inline bool pd_record_integer(const struct pd_record *rec, unsigned index, int64_t *out)
{
	const struct pd_bound *b = &rec->layout->bound[index];
	const uint8_t *p = rec->bytes + b->at;
	bool swap = rec->layout->swap;

	if (!b->direct || (uint32_t)b->at + b->width > rec->size)
		return false;
	if (b->width == 8)
		*out = (int64_t)pb_load64(p, swap);
	else if (b->kind == PD_K_S32)
		*out = (int32_t)pb_load32(p, swap);
	else
		*out = pb_load32(p, swap);
	return true;
}

/* Value of field `index`; PD_NIL if absent. */
static inline void pd_record_get(const struct pd_record *rec, unsigned index,
				 struct pd_value *out)
{
	uint8_t kind = rec->layout->bound[index].kind;

	if (!pd_record_integer(rec, index, &out->i))
		pd_record_decode(rec, index, out);
	else
		out->type = kind == PD_K_X64 ? PD_ADDR : kind == PD_K_S32 ? PD_INT : PD_UINT;
}

/*
 * Where a part of a sample lies: bytes [*at, *at + *size) of the record; false if absent or
 * cut.
 */
bool pd_part_find(const struct pd_record *rec, enum pd_part part, uint32_t *at, uint32_t *size);

/* Return the traits of the record's type; those of an unknown type are none. */
static inline enum pd_sideband pd_record_sideband(const struct pd_record *rec)
{
	return rec->layout->desc ? rec->layout->desc->sideband : PD_SB_NONE;
}

static inline enum pd_loss pd_record_loss(const struct pd_record *rec)
{
	return rec->layout->desc ? rec->layout->desc->loss : PD_LOSS_NONE;
}

/*
 * True for what perf wrote itself with an empty sample_id: its zero time, id and cpu mean
 * nothing.
 */
bool pd_record_synthesised(const struct pd_record *rec);

#endif
