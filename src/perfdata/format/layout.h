/*
 * Where the fields of a record lie: computed once per file for each shape of event and record
 * type, immutable afterwards.
 *
 * A sample is a sequence of parts (format: see perf_output_sample, kernel/events/core.c). Those
 * up to the first of variable size are at fixed offsets; the others are found by walking when
 * asked for.
 */
#ifndef PERFLUA_PERFDATA_LAYOUT_H
#define PERFLUA_PERFDATA_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "attr.h"
#include "fields.h"

/* The parts of a sample in their order on disk. */
enum pd_part {
	PD_PART_NONE, /* a fixed offset of the record */
	PD_PART_IDENTIFIER,
	PD_PART_IP,
	PD_PART_TID,
	PD_PART_TIME,
	PD_PART_ADDR,
	PD_PART_ID,
	PD_PART_STREAM_ID,
	PD_PART_CPU,
	PD_PART_PERIOD,
	PD_PART_READ,
	PD_PART_CALLCHAIN,
	PD_PART_RAW,
	PD_PART_BRANCH_STACK,
	PD_PART_REGS_USER,
	PD_PART_STACK_USER,
	PD_PART_WEIGHT,
	PD_PART_DATA_SRC,
	PD_PART_TRANSACTION,
	PD_PART_REGS_INTR,
	PD_PART_PHYS_ADDR,
	PD_PART_CGROUP,
	PD_PART_DATA_PAGE_SIZE,
	PD_PART_CODE_PAGE_SIZE,
	PD_PART_AUX,
	PD_PARTS,
};

/* Names of registers by bit of the mask, for one architecture. */
struct pd_arch {
	const char *name; /* as HEADER_ARCH or ELF e_machine selects it: "x86", "arm64" */
	const char *(*reg)(unsigned bit); /* lower case; NULL: unnamed */
};

/* What of an event decides the layout of its records. */
struct pd_shape {
	uint64_t sample_type, read_format, branch_sample_type;
	uint64_t regs_user, regs_intr;
	bool sample_id_all;
	bool counters;		    /* some member of its group records branch counters */
	bool defer;		    /* attr.defer_callchain */
	bool unknown;		    /* samples may have parts that nobody here knows */
	bool swap, big;		    /* the file's byte order: not this host's; big-endian */
	const struct pd_arch *arch; /* NULL: unknown */
};

/* A field in its place. */
struct pd_bound {
	const struct pd_field *field;
	int16_t at; /* offset; negative: from the end of the record; in a part: inside that */
	uint8_t kind, part;
	uint16_t width; /* bytes a plain load needs */
	bool direct;	/* a load from a fixed place of a sample: no condition, no trailer */
	bool trailer;	/* lies in the sample_id trailer */
	bool no_zero;	/* the zero of a synthesised record means nothing */
};

/* A field as a line of a dump shows it. */
struct pd_column {
	/* " name=": copied whole, which is shorter than counting */
	char label[PD_MAX_NAME + 2];
	uint8_t label_size;
	uint8_t index; /* in bound */
	bool time;     /* nanoseconds: a line has seconds */
};

#define PD_MAX_BOUND (PD_MAX_FIELDS + PD_MAX_COMMON + PD_MAX_SPLIT)

struct pd_layout {
	const struct pd_record_desc *desc; /* NULL: a type nobody here knows */
	const struct pd_shape *shape;
	bool swap;  /* as the shape's */
	bool split; /* of samples that stand for one counter value: see counters.h */
	uint32_t trailer_size;
	/* fixed offset of each part; 0: absent or after a variable one */
	uint16_t parts[PD_PARTS];
	uint16_t parts_from; /* offset where walking starts */
	uint8_t first_var;   /* the first part of variable size, else the last */
	uint8_t last;	     /* the last part of all */
	uint16_t n_bound;
	const struct pd_bound *bound;	 /* [n_bound]; [0] is unused */
	const struct pd_column *columns; /* [n_columns]; not the header's fields */
	uint16_t n_columns;
	const uint8_t *slot; /* name id → index in bound, 0: this record does not have it */
};

struct pd_field_names;

/*
 * The layout of the records of one type (desc NULL: of unknown types) of events of that shape,
 * which must outlive it; NULL without memory. pd_layout_destroy frees it.
 */
struct pd_layout *pd_layout_create(const struct pd_field_names *names,
				   const struct pd_shape *shape,
				   const struct pd_record_desc *desc);

/*
 * Creates the layout of samples that stand for one counter value each: `id` and `period` are
 * those of the value, all else lies where a sample of the shape has it. Returns NULL without
 * memory.
 */
struct pd_layout *pd_split_layout_create(const struct pd_field_names *names,
					 const struct pd_shape *shape);
void pd_layout_destroy(struct pd_layout *layout);

/* Bytes of the sample_id trailer: see perf_event__header_size, kernel/events/core.c. */
uint32_t pd_trailer_size(const struct pd_shape *shape);

#endif
