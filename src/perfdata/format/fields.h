/*
 * The fields of all record types: one table per type, one row per field, whose last column is
 * its documentation. A new record type is a table and a row in records[].
 */
#ifndef PERFLUA_PERFDATA_FIELDS_H
#define PERFLUA_PERFDATA_FIELDS_H

#include "value.h"

struct pd_coder;

enum pd_kind {
	PD_K_NONE,
	/*
	 * loads at a fixed offset: U is shown as unsigned decimal, S as signed decimal, X as
	 * hex
	 */
	PD_K_U8,
	PD_K_U16,
	PD_K_U32,
	PD_K_S32,
	PD_K_X32,
	PD_K_U64,
	PD_K_S64,
	PD_K_X64,
	PD_K_F64,
	PD_K_BOOL8,   /* a byte; true unless it is 0 */
	PD_K_FLAG,    /* bit `arg` of misc */
	PD_K_CSTR,    /* text up to its NUL or the end of the body */
	PD_K_CHARS,   /* text in `arg` bytes */
	PD_K_HEX,     /* `arg` bytes, shown as a string of hex digits */
	PD_K_VIEW,    /* a composite that starts here, of the view `view` */
	PD_K_COMPUTE, /* a value that `compute` returns */
	/*
	 * from the recorded system; `arg` is an enum pd_system_field, `type` the value's type
	 */
	PD_K_SYSTEM,
};

/* Values of a record that the recorded system knows. */
enum pd_system_field {
	PD_SYS_COMM,
	PD_SYS_CGROUP_PATH,
	/* for an address: the record's ip unless another is given */
	PD_SYS_SYMBOL,
	PD_SYS_SYMOFF,
	PD_SYS_DSO,
	PD_SYS_SRCLINE,
	PD_SYS_SRCFILE,
	PD_SYS_SYMBOL_SIZE,
	PD_SYS_DSO_SIZE,
	PD_SYS_PARENT,
	PD_SYS_COMM_NODIGIT,
	PD_SYS_INLINED, /* composite */
	PD_SYS_MAP,	/* composite: pd_view_map */
	PD_SYS_MAP_START,
	PD_SYS_MAP_LEN,
	PD_SYS_MAP_PGOFF,
	PD_SYS_MAP_FILENAME,
	PD_SYS_MAP_BUILD_ID,
	PD_SYS_MAP_PROT,
	/* for a sample's addr */
	PD_SYS_SYMBOL_DADDR,
	PD_SYS_SYMOFF_DADDR,
	PD_SYS_DSO_DADDR,
	/* for samples */
	PD_SYS_STACK,
	PD_SYS_ANNOTATED_STACK,
	PD_SYS_FRAMES,
	PD_SYS_UNRESOLVED,
	PD_SYS_INSN,
	PD_SYS_INSNLEN,
	PD_SYS_DISASM,
	PD_SYS_SRCCODE,
	PD_SYS_MACHINE_PID,
	PD_SYS_VCPU,
	PD_SYS_MESSAGE,
	PD_SYS_RAW_MESSAGE,
};

/* Limits; the compiler checks the tables against them. */
#define PD_MAX_NAME   46 /* bytes of a field's name */
#define PD_MAX_FIELDS 96 /* rows of a type's table, the end included */
#define PD_MAX_COMMON 24 /* the same for the fields that all types share */
#define PD_MAX_SPLIT  8	 /* the same for the fields of split samples */

struct pd_field {
	const char *name;
	uint8_t kind; /* enum pd_kind */
	/*
	 * enum pd_part, of a sample or of the sample_id; 0: none, `at` counts from the record's
	 * start
	 */
	uint8_t part;
	uint16_t arg;
	uint16_t at;	   /* offset in the record or in its part */
	const char *doc;   /* one sentence with units */
	enum pd_type type; /* type of the value, for PD_K_COMPUTE and PD_K_SYSTEM */
	/* PD_K_COMPUTE: the value is the same in all records of one layout and event */
	bool of_layout;
	/* PD_K_COMPUTE of text: equal addresses of the text mean equal texts */
	bool is_interned;
	bool header;	     /* part of the head of every printed line, so it has no column */
	bool of_time;	     /* computed from `time`: records without one lack it; no column */
	bool is_time;	     /* in nanoseconds; printed as seconds */
	bool zero_is_absent; /* perf writes 0 for an unknown value in records of its own */
	const struct pd_view_desc *view;
	/*
	 * PD_K_COMPUTE: sets *out, which is PD_NIL before; `at` counts from the record's start.
	 * PD_K_VIEW: sets count and extra, or makes *out PD_NIL. The function checks the bounds
	 * of what it reads.
	 */
	void (*compute)(const struct pd_record *rec, uint32_t at, struct pd_value *out);
	/*
	 * Codes the bytes of the field, which is PD_K_COMPUTE, and of those that share them;
	 * see coder.h. NULL: other fields do, or nothing is stored.
	 */
	void (*code)(struct pd_coder *c, const struct pd_field *field);
	bool derived; /* its bytes are coded with those of another field */
};

/* Facts of the recorded system that a record states. */
enum pd_sideband {
	PD_SB_NONE,
	/* about a thread, from the record's time on */
	PD_SB_THREAD_NAME,
	PD_SB_THREAD_START,
	PD_SB_THREAD_END,
	PD_SB_MAPPING,
	PD_SB_KERNEL_CODE, /* added or removed at run time */
	PD_SB_CGROUP,
	PD_SB_BUILD_ID,
	PD_SB_EVENT_IDS, /* the guest and virtual processor that an id counts on */
	PD_SB_CALLCHAIN, /* the user part of earlier call chains */
};

/* Losses that the field `lost` of a record counts. */
enum pd_loss {
	PD_LOSS_NONE,
	PD_LOSS_RECORDS,
	PD_LOSS_SAMPLES,
};

/* The part of a record that has no fixed size: see pd_record_extent(). */
enum pd_varying {
	PD_VARIES_UNKNOWN, /* the record does not tell where it ends */
	PD_VARIES_NOT,
	PD_VARIES_TEXT,	   /* a text, up to its NUL */
	PD_VARIES_COUNTED, /* entries of `each` bytes, as many as the u64 before them says */
	PD_VARIES_SO,	   /* as many bytes as `rest` returns */
};

/* How the end of a record's body follows from its bytes. */
struct pd_extent {
	uint8_t varies; /* enum pd_varying */
	uint16_t fixed; /* offset where the part begins that varies, or the body ends */
	uint16_t each;
	/*
	 * PD_VARIES_SO: returns the bytes from `fixed` on, which lies in the record; UINT32_MAX
	 * if the record does not tell. The function checks the bounds of what it reads.
	 */
	uint32_t (*rest)(const struct pd_record *rec);
};

struct pd_record_desc {
	uint32_t type;	  /* enum pd_record_type */
	const char *name; /* as scripts spell it: "mmap2" */
	const char *doc;  /* one sentence */
	/* ends with a NULL name; of fields of one name, the first that a record has counts */
	const struct pd_field *fields;
	bool container; /* part of the container format: delivered only if requested by name */
	bool trailer;	/* ends with a sample_id if the event has sample_id_all */
	/* describes the recording wherever it comes: see container/prologue.c */
	bool metadata;
	/*
	 * Returns how many bytes follow the record that its size does not count. The function
	 * checks the bounds of what it reads; the recording may end before. NULL: none follow.
	 */
	uint64_t (*payload)(const struct pd_record *rec);
	struct pd_extent extent;
	enum pd_sideband sideband;
	enum pd_loss loss;
};

/* Returns the description of a type below PD_RECORD_TYPES; NULL if it is unknown. */
const struct pd_record_desc *pd_record_desc(uint32_t type);

/* Returns whether an MMAP2 record holds a build-id in place of device and inode. */
bool pd_mmap2_has_build_id(const struct pd_record *rec);

/* The fields of every record: header and sample_id. Ends with a NULL name. */
extern const struct pd_field pd_common_fields[];

/* The fields of samples, by part. Ends with a NULL name. */
extern const struct pd_field pd_sample_fields[];

/*
 * Fields of samples that are split by counter value (counters.h); they replace those of the
 * same names.
 */
extern const struct pd_field pd_split_fields[];

#endif
