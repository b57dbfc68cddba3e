/*
 * Walks the records of a stream in the order they lie in it.
 *
 * It reads blocks that stay in the processor's cache and hands out records that point into them: a
 * record is valid until the next call. The records inside compressed ones come in their place. What
 * cannot be a record is noted as damage of the file.
 */
#ifndef PERFLUA_PERFDATA_READER_H
#define PERFLUA_PERFDATA_READER_H

#include "bind.h"
#include "blocks.h"
#include "decompress.h"
#include "file.h"
#include "record.h"
#include "resync.h"

/* A set of record types. Those from PD_RECORD_TYPES on are one: any of them stands for all. */
struct pd_types {
	uint64_t bits[2]; /* of the types below */
	bool unknown;
};

#define PD_ALL_TYPES ((struct pd_types){ { UINT64_MAX, UINT64_MAX }, true })

static inline bool pd_types_has(const struct pd_types *set, uint32_t type)
{
	if (type >= PD_RECORD_TYPES)
		return set->unknown;
	return set->bits[type / 64] >> type % 64 & 1;
}

void pd_types_add(struct pd_types *set, uint32_t type);
void pd_types_remove(struct pd_types *set, uint32_t type);

struct pd_reader {
	struct pd_stream *stream;
	struct pd_file *file; /* the stream's */
	struct pd_blocks blocks;
	struct pd_binder binder;
	struct pd_types want;	      /* what is delivered: all, unless the caller changes it */
	bool swap;		      /* as the file's */
	struct pd_decompress *inside; /* NULL until a compressed record is met */
	bool is_inside;		      /* the next record is one of a compressed record */
	bool cut;		      /* the recording ended within a compressed record: said */
	uint64_t missing; /* size of the last record's payload, if not all of it is there; else 0 */
	bool lost;	  /* the compressed stream is, up to the start of a new frame */
	uint64_t outer;		      /* offset of the compressed record */
	uint64_t carried, carried_at; /* of the one where a record that goes on in it begins,
				       * and where in that */
	/*
	 * Set by the caller: where it would note damage, learn something of the recording or fail, it ends instead,
	 * as if there were no more records, and says so
	 */
	bool careful;
	bool learns;  /* but this it does learn */
	bool plain;   /* and it ends so at compressed records */
	bool unusual; /* it ended so */
};

bool pd_reader_init(struct pd_reader *reader, struct pd_stream *stream, struct pd_error *err);
void pd_reader_deinit(struct pd_reader *reader);

/* 1: the next record; 0: there is none; -1: the file could not be read, err says why. */
int pd_reader_next(struct pd_reader *reader, struct pd_record *rec, struct pd_error *err);

/* The same for all types; without event and layout, which pd_bind(&reader->binder, rec) finds. */
int pd_reader_advance(struct pd_reader *reader, struct pd_record *rec, struct pd_error *err);

static inline bool pd_is_compressed(uint32_t type)
{
	return type == PD_RECORD_COMPRESSED || type == PD_RECORD_COMPRESSED2;
}

/*
 * Finds the next record if it is in the block and beyond doubt: its type, size and bytes. It is not taken:
 * that is pd_blocks_skip(&reader->blocks, rec->size), if nothing lies behind it (pd_has_payload).
 */
static inline bool pd_reader_peek(const struct pd_reader *reader, struct pd_record *rec)
{
	const struct pd_blocks *b = &reader->blocks;
	size_t left = (size_t)(b->end - b->pos);

	if (left < 8 || reader->is_inside || reader->missing)
		return false;
	pd_record_header(rec, b->pos, reader->swap);
	rec->bytes = b->pos;
	return rec->size >= 8 && left >= (size_t)rec->size + 8 && rec->size % 8 == 0 &&
	       rec->size <= PD_LARGE && pd_header_fits(b->pos + rec->size, reader->swap);
}

/* Is it of the kernel's types, or the end of a round: a record that is its bytes, from which nothing is learnt? */
static inline bool pd_is_plain(uint32_t type)
{
	return type < PD_RECORD_USER || type == PD_RECORD_FINISHED_ROUND;
}

/*
 * The same of a plain record at p, in a block up to `end`: its size; 0 if it is in doubt, or of another kind. For
 * loops over the records of a block, from reader->blocks.pos on if the reader is at plain ones, up to where there is none;
 * then pd_blocks_skip.
 */
static inline uint32_t pd_plain_size(const uint8_t *p, const uint8_t *end, bool swap)
{
	size_t left = (size_t)(end - p);
	uint32_t size;

	if (left < 16 || !pd_is_plain(pd_load32(p, swap)))
		return 0;
	size = pd_load16(p + 6, swap);
	if (size < 8 || size % 8 || size > PD_LARGE || left < (size_t)size + 8 ||
	    !pd_header_fits(p + size, swap))
		return 0;
	return size;
}

static inline bool pd_reader_at_plain(const struct pd_reader *reader)
{
	return !reader->is_inside && !reader->missing;
}

/* Can records of this type have a payload that header.size does not count? */
bool pd_has_payload(uint32_t type);

/*
 * Payload that lies behind a record (AUXTRACE, TRACING_DATA): its section, size 0 if there is none. The
 * size is what the record says: not all of it may be there.
 */
struct pd_section pd_record_payload(const struct pd_record *rec);

#endif
