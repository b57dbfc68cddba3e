/*
 * Walks the records of a file in the order they lie in it.
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

struct pd_reader {
	struct pd_file *file;
	struct pd_blocks blocks;
	struct pd_binder binder;
	bool swap;		      /* as the file's */
	bool want_unknown;	      /* deliver the types from PD_RECORD_TYPES on */
	uint64_t want[2];	      /* bits of the types below */
	struct pd_decompress *inside; /* NULL until a compressed record is met */
	bool is_inside;		      /* the next record is one of a compressed record */
	bool lost;	/* the compressed stream is, up to the start of a new frame */
	uint64_t outer; /* offset of the compressed record */
	uint64_t carried, carried_at; /* of the one where a record that goes on in it begins,
				       * and where in that */
};

/* A new reader delivers every record. */
bool pd_reader_init(struct pd_reader *reader, struct pd_file *file, struct pd_error *err);
void pd_reader_deinit(struct pd_reader *reader);

/*
 * Which types are delivered: none from now on, this one too, this one not. The types from
 * PD_RECORD_TYPES on are one: asking for any of them asks for all.
 */
void pd_reader_want_none(struct pd_reader *reader);
void pd_reader_want(struct pd_reader *reader, uint32_t type);
void pd_reader_refuse(struct pd_reader *reader, uint32_t type);

/* 1: the next record; 0: there is none; -1: the file could not be read, err says why. */
int pd_reader_next(struct pd_reader *reader, struct pd_record *rec, struct pd_error *err);

/* Can records of this type have a payload that header.size does not count? */
bool pd_has_payload(uint32_t type);

/*
 * Payload that lies behind a record (AUXTRACE, TRACING_DATA): its section, size 0 if there is none.
 */
struct pd_section pd_record_payload(const struct pd_record *rec);

#endif
