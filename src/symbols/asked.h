/*
 * Collects for which addresses a binary was asked, and what its call frame information
 * answered, in a store with ps_options.collects. Any number of threads may note.
 */
#ifndef PERFLUA_SYMBOLS_ASKED_H
#define PERFLUA_SYMBOLS_ASKED_H

#include <pthread.h>

#include "base/map.h"
#include "cfi.h"
#include "code.h"
#include "memo.h"

/* Bytes that were read of a binary while stacks were unwound. Without padding: see pb_set. */
struct ps_asked_bytes {
	uint64_t address;
	uint64_t n;
	uint8_t bytes[8];
};

struct ps_asked_row {
	uint64_t address;
	uint64_t row; /* number in `rows` */
};

/* Code that was read: that of a range of addresses. */
struct ps_asked_code {
	uint64_t start, size; /* of the range, which may be longer than the code */
	struct ps_code code;
	char *path;
};

struct ps_asked {
	pthread_mutex_t mutex;
	struct pb_set addresses; /* uint64_t */
	uint32_t machine;    /* of the CFI: EM_…; 0: it was not asked for, or is not known */
	struct pb_set bytes; /* struct ps_asked_bytes */
	struct pb_set rows_at; /* struct ps_asked_row */
	struct ps_row **rows;  /* [n_rows]: distinct ones */
	size_t n_rows, rows_room;
	struct pb_map by_content;    /* numbers of `rows` */
	struct ps_asked_code *codes; /* [n_codes] */
	size_t n_codes, codes_room;
	bool failed; /* no memory: something is missing */
};

struct ps_asked *ps_asked_create(void); /* NULL: no memory */
void ps_asked_destroy(struct ps_asked *asked);

void ps_note_address(struct ps_asked *asked, uint64_t address);
void ps_note_machine(struct ps_asked *asked, uint16_t machine);
void ps_note_row(struct ps_asked *asked, uint64_t address, const struct ps_row *row);

/* Notes `n` bytes, at most 8. */
void ps_note_bytes(struct ps_asked *asked, uint64_t address, const void *bytes, size_t n);

void ps_note_code(struct ps_asked *asked, uint64_t start, uint64_t size,
		  const struct ps_code *code);

#endif
