/*
 * Walks the records of a stream in the order they lie in it.
 *
 * It reads blocks that stay in the processor's cache and hands out records that point into
 * them: a record is valid until the next call. The records inside compressed ones come in their
 * place. What cannot be a record is noted as damage of the file.
 */
#ifndef PERFLUA_PERFDATA_READER_H
#define PERFLUA_PERFDATA_READER_H

#include "bind.h"
#include "perfdata/input/blocks.h"
#include "perfdata/input/decompress.h"
#include "perfdata/container/file.h"
#include "perfdata/format/record.h"
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
	/* size of the last record's payload, if not all of it is there; else 0 */
	uint64_t missing;
	bool lost; /* the compressed stream is, up to the start of a new frame */
	/*
	 * What was seen ahead: from the offset lead_at on, PD_CHAIN_LENGTH plain records have
	 * lead_size bytes; up to no_lead there are fewer
	 */
	uint64_t lead_at, no_lead;
	size_t lead_size;
	uint64_t outer;		      /* offset of the compressed record */
	uint64_t carried, carried_at; /* of the one where a record that goes on in it begins,
				       * and where in that */
	/*
	 * Set by the caller: where it would note damage, learn something of the recording or
	 * fail, it ends instead, as if there were no more records, and says so
	 */
	bool speculative;
	bool accepts_metadata;	/* but this it does learn */
	bool uncompressed_only; /* and it ends so at compressed records */
	bool bailed_out;	/* it ended so */
};

bool pd_reader_init(struct pd_reader *reader, struct pd_stream *stream, struct pd_error *err);
void pd_reader_deinit(struct pd_reader *reader);

/* 1: the next record; 0: there is none; -1: the file could not be read, err says why. */
int pd_reader_next(struct pd_reader *reader, struct pd_record *rec, struct pd_error *err);

/*
 * The same for all types; without event and layout, which pd_bind(&reader->binder, rec) finds.
 */
int pd_reader_advance(struct pd_reader *reader, struct pd_record *rec, struct pd_error *err);

static inline bool pd_is_compressed(uint32_t type)
{
	return type == PD_RECORD_COMPRESSED || type == PD_RECORD_COMPRESSED2;
}

/*
 * Is it of the kernel's types, or the end of a round: a record that is its bytes, from which
 * nothing is learnt?
 */
static inline bool pd_is_plain(uint32_t type)
{
	return type < PD_RECORD_USER || type == PD_RECORD_FINISHED_ROUND;
}

/*
 * Plain records of the reader's block that are beyond doubt, as PD_CHAIN_LENGTH others follow
 * each of them. For loops over them, which are nearly all of a recording:
 *
 *	struct pd_run run;
 *
 *	pd_run_begin(&run, reader);
 *	for (; pd_run_has(&run, swap); pd_run_skip(&run, size))
 *		… the record at run.at …
 *	pd_run_end(&run, reader);
 *
 * It looks ahead while the loop works: the two do not wait for each other's memory.
 */
struct pd_run {
	const uint8_t *at;
	const uint8_t *front; /* that many records ahead */
	const uint8_t *last;  /* position of the block where a header can be */
	uint32_t ahead;	      /* size of the record at the front */
};

/*
 * Begins where the reader is. The run is empty if it is not at plain records, or too few of
 * them.
 */
void pd_run_begin(struct pd_run *run, struct pd_reader *reader);

/* Returns whether there is a record at run->at. */
static inline bool pd_run_has(struct pd_run *run, bool swap)
{
	run->ahead = pd_plain_size(run->front, run->last, swap);
	return run->ahead != 0;
}

/* Steps over the record at run->at. */
static inline void pd_run_skip(struct pd_run *run, uint32_t size)
{
	run->at += size;
	run->front += run->ahead;
}

/* Sets the reader to run->at. */
void pd_run_end(const struct pd_run *run, struct pd_reader *reader);

/* Can records of this type have a payload that header.size does not count? */
bool pd_has_payload(uint32_t type);

/*
 * Payload that lies behind a record (AUXTRACE, TRACING_DATA): its section, size 0 if there is
 * none. The size is what the record says: not all of it may be there.
 */
struct pd_section pd_record_payload(const struct pd_record *rec);

#endif
