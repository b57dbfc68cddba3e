/*
 * A record as the reader delivers it, and the values of its fields.
 *
 * A record only points to its bytes, its layout and its event. A copy of the struct and the
 * bytes is a record of its own, valid as long as the file's description.
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
	const uint8_t *bytes;		/* `size` of them, header first */
	const struct pd_layout *layout; /* never NULL */
	/* the event it is delivered as; NULL: no event has its id */
	const struct pd_event *event;
	/* of the header in the file; of the compressed record if it was inside one */
	uint64_t offset;
	/* offset in the decompressed payload; PD_NO_CHUNK outside of compressed records */
	uint64_t chunk_offset;
	uint32_t type;
	uint32_t size; /* in bytes; more than 64 KB only for simpleperf's own records */
	uint16_t misc;
	uint16_t source,
		stream; /* numbers of its file (see struct pd_file) and of its stream there */
	/*
	 * Set only if layout->split: the sample stands for one value of the record's `read`
	 * (counters.h), and `event` is the value's.
	 */
	const struct pd_event *recorded; /* the event of the record itself */
	uint64_t counter;		 /* id of the value */
	uint64_t counted;		 /* difference to the counter's previous value */
};

/* Returns the event that the record's bytes belong to; NULL if no event has its id. */
static inline const struct pd_event *pd_recorded_event(const struct pd_record *rec)
{
	return rec->layout->split ? rec->recorded : rec->event;
}

/* Bytes; a larger size is damage. simpleperf's largest records hold kallsyms. */
#define PD_RECORD_MOST (64u << 20)

/*
 * Sets type, misc and size of *rec from the header at `p`, and nothing else. `simpleperf` is
 * file->simpleperf: its own records have the upper half of their size in place of misc, see its
 * record.h.
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

/* Returns the offset where the record's body ends and the sample_id trailer begins. */
static inline uint32_t pd_body_end(const struct pd_record *rec)
{
	uint32_t trailer = rec->layout->trailer_size;

	return rec->size < trailer + 8 ? rec->size : rec->size - trailer;
}

/* Load an integer at an offset of the record without a bounds check. */
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

/* Reads any field, as pd_record_get(): the slow path for fields that are not plain loads. */
void pd_record_decode(const struct pd_record *rec, unsigned index, struct pd_value *out);

/*
 * Reads field `index` of the record's layout (layout->slot[name]) into *out if it is a plain
 * load of an integer: the shortest way to a value. Returns false if it is not; then
 * pd_record_get() reads it.
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

/* Reads the value of field `index` of the record's layout; PD_NIL if the record has none. */
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
 * Finds a part of a sample: bytes [*at, *at + *size) of the record. Returns false if it is
 * absent or cut off.
 */
bool pd_part_find(const struct pd_record *rec, enum pd_part part, uint32_t *at, uint32_t *size);

/* Return the traits of the record's type; an unknown type has none. */
static inline enum pd_sideband pd_record_sideband(const struct pd_record *rec)
{
	return rec->layout->desc ? rec->layout->desc->sideband : PD_SB_NONE;
}

static inline enum pd_loss pd_record_loss(const struct pd_record *rec)
{
	return rec->layout->desc ? rec->layout->desc->loss : PD_LOSS_NONE;
}

/*
 * Returns whether perf wrote the record itself, with an empty sample_id: its zero time, id and
 * cpu are not values.
 */
bool pd_record_synthesised(const struct pd_record *rec);

/*
 * Returns whether perf wrote the record itself, of a process (whose pid the body begins with),
 * and somebody gave it a time (merge.h): the rest of its sample_id is empty, which is never so
 * in the kernel's own. An IDENTIFIER may have come with the time.
 */
bool pd_record_restated(const struct pd_record *rec);

/* A set of record types. `unknown` stands for all types from PD_RECORD_TYPES on. */
struct pd_types {
	uint64_t bits[2]; /* bit n: type n */
	bool unknown;
};

#define PD_ALL_TYPES ((struct pd_types){ { UINT64_MAX, UINT64_MAX }, true })

/* Returns whether a set has a type. */
static inline bool pd_types_has(const struct pd_types *set, uint32_t type)
{
	if (type >= PD_RECORD_TYPES)
		return set->unknown;
	return set->bits[type / 64] >> type % 64 & 1;
}

/* Add a type to a set, or remove it. */
void pd_types_add(struct pd_types *set, uint32_t type);
void pd_types_remove(struct pd_types *set, uint32_t type);

/*
 * Returns the size that a record, all of whose rec->size bytes are there, has by its own parts,
 * without padding in front of its trailer. It is more than rec->size if they do not fit.
 * Returns 0 if they do not tell.
 */
uint32_t pd_record_extent(const struct pd_record *rec);

/* Returns whether records of a type hold compressed records. */
static inline bool pd_is_compressed(uint32_t type)
{
	return type == PD_RECORD_COMPRESSED || type == PD_RECORD_COMPRESSED2;
}

/* Returns whether records of this type can have a payload that header.size does not count. */
bool pd_has_payload(uint32_t type);

/*
 * Returns the size of the payload after a record; 0 if there is none. It is the record's own
 * word: the recording may end before.
 */
uint64_t pd_payload_size(const struct pd_record *rec);

#endif
