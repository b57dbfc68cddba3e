/*
 * What every record type holds: one table per type, one row per field, the last column its
 * documentation. A new record type is a table and a row in records[].
 */
#ifndef PERFLUA_PERFDATA_FIELDS_H
#define PERFLUA_PERFDATA_FIELDS_H

#include "value.h"

enum pd_kind {
	PD_K_NONE,
	/* loads from a fixed place; U read unsigned decimal, S signed, X hex */
	PD_K_U8,
	PD_K_U16,
	PD_K_U32,
	PD_K_S32,
	PD_K_X32,
	PD_K_U64,
	PD_K_S64,
	PD_K_X64,
	PD_K_F64,
	PD_K_BOOL8,   /* a byte that is 0 or not */
	PD_K_FLAG,    /* is bit `arg` of misc set */
	PD_K_CSTR,    /* text from here to its NUL or the end of the body */
	PD_K_CHARS,   /* text in `arg` bytes */
	PD_K_HEX,     /* `arg` bytes, read as a string of hex digits */
	PD_K_VIEW,    /* a composite that starts here: .view */
	PD_K_COMPUTE, /* .compute */
	/* of the recorded system: `arg` is an enum pd_machine_field, .type its type */
	PD_K_MACHINE,
};

/* What the recorded system knows of a record. */
enum pd_machine_field {
	PD_M_COMM,
	PD_M_CGROUP_PATH,
	/* of an address: the record's ip, unless one is named */
	PD_M_SYMBOL,
	PD_M_SYMOFF,
	PD_M_DSO,
	PD_M_SRCLINE,
	PD_M_INLINED, /* composite */
	PD_M_MAP,     /* composite: pd_view_map */
	PD_M_MAP_START,
	PD_M_MAP_LEN,
	PD_M_MAP_PGOFF,
	PD_M_MAP_FILENAME,
	PD_M_MAP_BUILD_ID,
	PD_M_MAP_PROT,
	/* of a sample's addr */
	PD_M_SYMBOL_DADDR,
	PD_M_DSO_DADDR,
	/* of samples */
	PD_M_STACK,
	PD_M_ANNOTATED_STACK,
	PD_M_FRAMES,
	PD_M_UNRESOLVED,
	PD_M_MACHINE_PID,
	PD_M_VCPU,
	PD_M_MESSAGE,
};

/* Limits, which are checked when the tables are compiled. */
#define PD_MAX_NAME   46 /* bytes of a field's name */
#define PD_MAX_FIELDS 96 /* rows of a type's fields, the end included, … */
#define PD_MAX_COMMON 24 /* … of those that all types share, … */
#define PD_MAX_SPLIT  8	 /* … and of those of split samples */

struct pd_field {
	const char *name;
	uint8_t kind; /* enum pd_kind */
	uint8_t part; /* enum pd_part: of a sample or of the sample_id; 0: of the record */
	uint16_t arg;
	uint16_t at;	   /* offset in the record, or in the part */
	const char *doc;   /* one sentence, with units */
	enum pd_type type; /* of PD_K_COMPUTE and PD_K_MACHINE: of the value, for the manual */
	/* PD_K_COMPUTE: the same in all records of a known layout and an event */
	bool of_layout;
	bool stays;	     /* PD_K_COMPUTE of text: where one lies, another never will */
	bool header;	     /* part of every line's head, so it has no column of its own */
	bool is_time;	     /* nanoseconds: text shows seconds */
	bool zero_is_absent; /* perf writes 0 where it knows no value, in records of its own */
	const struct pd_view_desc *view;
	/*
	 * PD_K_COMPUTE: `at` as for the other kinds, but from the record's start; out is PD_NIL
	 * already. PD_K_VIEW: fills in count and extra, or makes out PD_NIL. Bounds what it
	 * reads itself.
	 */
	void (*compute)(const struct pd_record *rec, uint32_t at, struct pd_value *out);
};

/* Facts of the recorded system that a record states. */
enum pd_sideband {
	PD_SB_NONE,
	/* of a thread, from the record's time on */
	PD_SB_THREAD_NAME,
	PD_SB_THREAD_START,
	PD_SB_THREAD_END,
	PD_SB_MAPPING,
	PD_SB_KERNEL_CODE, /* made or removed at run time */
	PD_SB_CGROUP,
	PD_SB_BUILD_ID,
	PD_SB_EVENT_IDS, /* which guest's processor an id counts on */
	PD_SB_CALLCHAIN, /* the rest of earlier ones */
};

/* The things that the field `lost` of a record counts. */
enum pd_loss {
	PD_LOSS_NONE,
	PD_LOSS_RECORDS,
	PD_LOSS_SAMPLES,
};

struct pd_record_desc {
	uint32_t type;	  /* enum pd_record_type */
	const char *name; /* as scripts call it: "mmap2" */
	const char *doc;  /* one sentence */
	const struct pd_field
		*fields; /* ends with a NULL name; of one name the first a record has */
	bool container;	 /* the container's own: delivered only when named */
	bool trailer;	 /* ends with a sample_id when the event has sample_id_all */
	bool metadata;	 /* describes the recording, wherever in it: see container/prologue.c */
	bool payload;	 /* may have bytes behind it that header.size does not count */
	enum pd_sideband sideband;
	enum pd_loss loss;
};

/* The description of a type below PD_RECORD_TYPES; NULL for unknown ones. */
const struct pd_record_desc *pd_record_desc(uint32_t type);
const struct pd_record_desc *pd_record_desc_by_name(const char *name, size_t n);

/* Tells whether an MMAP2 record holds a build-id where others hold device and inode. */
bool pd_mmap2_has_build_id(const struct pd_record *rec);

/* Fields of every record: header and sample_id; ends with a NULL name. */
extern const struct pd_field pd_common_fields[];

/* Fields of samples, by part; ends with a NULL name. */
extern const struct pd_field pd_sample_fields[];

/*
 * Fields that samples split by counter value (counters.h) have instead of those of these names.
 */
extern const struct pd_field pd_split_fields[];

#endif
