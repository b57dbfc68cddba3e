/*
 * Layouts: where the fields of a record lie. They are computed once per file, for each record
 * type and each shape of event, and never change.
 *
 * A sample is a sequence of parts (see perf_output_sample, kernel/events/core.c). Parts up to
 * the first of variable size have fixed offsets; the others are found by walking the sample
 * when a field asks for them.
 */
#ifndef PERFLUA_PERFDATA_LAYOUT_H
#define PERFLUA_PERFDATA_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "attr.h"
#include "fields.h"

/*
 * The clock of a recording: from when `elapsed` counts, and when its times were on the wall
 * clock. Each file has one, to which the shapes of its events point.
 */
struct pd_clock {
	unsigned time_id;	  /* number of the field name `time` */
	uint64_t start;		  /* ns: time of the first sample */
	int64_t wall;		  /* ns to add to a time for the time since 1970 UTC */
	bool has_start, has_wall; /* true: known */
	/*
	 * Finds `start` by a pass over the samples. Called when a record is asked for its
	 * `elapsed` before `start` is known. NULL: it was called, or it cannot be.
	 */
	void (*find_start)(struct pd_clock *clock);
};

/* Sets `start`, unless it is known. */
static inline void pd_clock_begin(struct pd_clock *clock, uint64_t time)
{
	if (!clock->has_start)
		clock->start = time;
	clock->has_start = true;
}

/* The parts of a sample, in their order on disk. */
enum pd_part {
	PD_PART_NONE, /* not in a part: a fixed offset in the record */
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

/* Register names of an architecture, by bit of the mask. */
struct pd_arch {
	const char *name; /* chosen by HEADER_ARCH or ELF e_machine: "x86", "arm64" */
	/* returns the name in lower case; NULL: it has none */
	const char *(*reg)(unsigned bit);
};

/*
 * Returns the architecture for an ELF e_machine (0: unknown), or else for a uname machine as
 * "x86_64" (NULL: unknown), or else NULL.
 */
const struct pd_arch *pd_arch_find(const char *arch_name, uint32_t e_machine);

/* The sockets of a machine's processors, by their numbers. */
struct pd_sockets {
	int32_t *list; /* [n] */
	uint32_t n;    /* 0: they are not known */
};

/* The properties of an event that decide the layouts of its records. */
struct pd_shape {
	uint64_t sample_type, read_format, branch_sample_type;
	uint64_t regs_user, regs_intr;
	bool sample_id_all;
	bool counters; /* an event of its group records branch counters */
	bool defer;    /* attr.defer_callchain */
	bool unknown;  /* samples may have parts that are not known */
	/* the file's byte order: differs from the host's; is big-endian */
	bool swap, big;
	const struct pd_arch *arch;	  /* NULL: unknown */
	struct pd_clock *clock;		  /* the file's */
	const struct pd_sockets *sockets; /* the file's */
};

/* Sets what the event's own attr says; `counters` as if it were in no group. */
void pd_shape_set(struct pd_shape *shape, const struct pd_attr *attr);

/* A field of a layout: the field and its offset. */
struct pd_bound {
	const struct pd_field *field;
	/*
	 * offset; negative: from the end of the record; of a field in a part: inside the part
	 */
	int16_t at;
	uint8_t kind, part;
	uint16_t width; /* bytes that a plain load needs */
	/* a plain load at a fixed offset from the record's start, with no condition */
	bool direct;
	bool trailer; /* it lies in the sample_id trailer */
	bool no_zero; /* a zero is not a value in records that perf wrote itself */
};

/* A field as a printed line shows it. */
struct pd_column {
	/* " name=", copied as a whole, which is faster than with its length */
	char label[PD_MAX_NAME + 2];
	uint8_t label_size;
	uint8_t index; /* index in `bound` */
	bool time;     /* in nanoseconds; printed as seconds */
};

struct pd_layout {
	const struct pd_record_desc *desc; /* NULL: an unknown record type */
	const struct pd_shape *shape;
	bool swap;  /* copied from the shape */
	bool split; /* for samples that stand for one counter value: see counters.h */
	uint32_t trailer_size;
	/* offset of each part if it is fixed; 0: absent, or after a part of variable size */
	uint16_t parts[PD_PARTS];
	uint16_t parts_from; /* offset where walking the parts starts */
	uint8_t first_var;   /* the first part of variable size, or else the last part */
	uint8_t last;	     /* the last part */
	uint16_t n_bound;
	const struct pd_bound *bound;	 /* [n_bound]; [0] is unused */
	const struct pd_column *columns; /* [n_columns]; without the fields of a line's head */
	uint16_t n_columns;
	/*
	 * by the number of a name: index in `bound`; 0: records of the layout have no such
	 * field
	 */
	const uint8_t *slot;
};

#define PD_MAX_FIELD_NAMES 384

/*
 * The field names of all record types, numbered. A layout finds a field by its name's number.
 * The numbers follow from the tables alone, so they are the same for every file and every Lua
 * state.
 */
struct pd_field_names {
	unsigned n; /* numbers are 1 … n; 0 stands for no name */
	const char *name[PD_MAX_FIELD_NAMES + 1]; /* sorted */
};

/* Fills *names with the field names of all tables. It needs no deinit. */
void pd_field_names_init(struct pd_field_names *names);

/* Returns the number of the name of `n` bytes; 0 if no record type has such a field. */
unsigned pd_field_name_id(const struct pd_field_names *names, const char *name, size_t n);

/*
 * Creates the layout for records of one type (`desc` NULL: of unknown types) of events of a
 * shape. `shape` must outlive it; the caller frees it with pd_layout_destroy(). Returns NULL
 * without memory.
 */
struct pd_layout *pd_layout_create(const struct pd_field_names *names,
				   const struct pd_shape *shape,
				   const struct pd_record_desc *desc);

/*
 * Creates the layout for samples that stand for one counter value each: `id` and `period` are
 * the value's, all other fields lie where samples of the shape have them. Returns NULL without
 * memory.
 */
struct pd_layout *pd_split_layout_create(const struct pd_field_names *names,
					 const struct pd_shape *shape);
void pd_layout_destroy(struct pd_layout *layout);

/*
 * Returns the bytes of the sample_id trailer: see perf_event__header_size,
 * kernel/events/core.c.
 */
uint32_t pd_trailer_size(const struct pd_shape *shape);

#endif
