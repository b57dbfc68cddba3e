/*
 * A tracepoint: the fields in the raw data of its samples, from its format file, and their
 * values (args.c). See Documentation/trace/events.rst of the kernel, "Event formats".
 */
#ifndef PERFLUA_PERFDATA_TRACEPOINT_H
#define PERFLUA_PERFDATA_TRACEPOINT_H

#include "perfdata/format/record.h"
#include "tracing.h"

enum pd_arg_kind {
	PD_ARG_INT,	/* an integer of 1, 2, 4 or 8 bytes */
	PD_ARG_POINTER, /* an address of 4 or 8 bytes */
	PD_ARG_TEXT,	/* characters up to the first NUL */
	PD_ARG_LIST,	/* integers of `element` bytes */
	/* a bitmask of longs; its value is the numbers of the bits that are set */
	PD_ARG_BITS,
	PD_ARG_SOCKADDR, /* a socket's address, shown as text */
	PD_ARG_BYTES,	 /* anything else */
};

/* Ways to store the bytes of a field. */
enum pd_arg_storage {
	PD_ARG_FIXED, /* `size` bytes at `offset` */
	/*
	 * a u32 at `offset` holds the offset in the raw data, and the size in its upper half
	 * (__data_loc)
	 */
	PD_ARG_DATA,
	PD_ARG_REL, /* the same, with the offset counted from the end of that u32 (__rel_loc) */
	/*
	 * a u16 at `offset` holds the offset of a text that ends with a NUL (kernels before
	 * 2.6.33)
	 */
	PD_ARG_SHORT,
	PD_ARG_REST, /* from `offset` to the end of the raw data */
};

struct pd_tracepoint_field {
	const char *name;
	const char *type; /* as declared: "char[16]", "__data_loc char[]", "struct file *" */
	uint32_t offset, size;
	uint32_t element; /* bytes of an item of an array or list; else 0 */
	uint32_t count;	  /* items of an array of fixed size; else 0 */
	uint8_t kind;	  /* enum pd_arg_kind */
	uint8_t storage;  /* enum pd_arg_storage */
	bool is_signed;	  /* signed integers */
	bool common;	  /* a field of all tracepoints, as "common_pid" */
};

#define PD_MAX_ARGS   1024
#define PD_NO_ARG     UINT32_MAX
#define PD_MAX_FORMAT (1u << 20) /* bytes of a format file; the kernel's have a page or a few */

struct pd_tracepoint {
	const struct pd_tracing *tracing;
	uint64_t id;
	const char *system, *name;
	const char *print_fmt;			  /* "" if the format has none */
	const struct pd_tracepoint_field *fields; /* [n_fields]; the common ones come first */
	uint32_t n_fields, n_common;
	bool swap; /* raw data has the other byte order than the host */
	/*
	 * of raw_syscalls:* and syscalls:*: indices of the fields with the call's number and
	 * its result; else PD_NO_ARG
	 */
	uint32_t arg_syscall, arg_ret;
	const char *syscall; /* of syscalls:sys_enter_openat "openat"; else NULL */
};

/*
 * Returns the parsed format, which belongs to it; parses it once. Returns NULL if it cannot be
 * parsed; format->wrong says why in a few words.
 */
const struct pd_tracepoint *pd_tracepoint_of(const struct pd_tracing *tracing,
					     struct pd_format *format);
void pd_tracepoint_destroy(struct pd_tracepoint *tracepoint);

/* Returns the index of a field by its name of `n` bytes; PD_NO_ARG if there is none. */
uint32_t pd_tracepoint_find(const struct pd_tracepoint *tracepoint, const char *name, size_t n);

/* Sets what the fields `syscall` and `errno` of its samples need (syscalls.c). */
void pd_tracepoint_call(struct pd_tracepoint *tracepoint);

/*
 * Returns the tracepoint that a record is a sample of; NULL if it is none's, or the format is
 * not known.
 */
const struct pd_tracepoint *pd_tracepoint_of_record(const struct pd_record *rec);

/* Returns the type of a field's values, as far as it is known without a record. */
enum pd_type pd_arg_type(const struct pd_tracepoint_field *field);

/* Sets *p and *n to the raw data of a sample. Returns false if it has none or is cut short. */
bool pd_args_raw(const struct pd_record *rec, const uint8_t **p, uint32_t *n);

/*
 * Loads a field that is an integer at a fixed offset, as most are: the shortest way. Returns
 * false for others, which pd_args_get() reads.
 */
static inline bool pd_args_integer(const struct pd_tracepoint *tracepoint,
				   const struct pd_tracepoint_field *field, const uint8_t *raw,
				   uint32_t size, int64_t *out)
{
	bool swap = tracepoint->swap, is_signed = field->is_signed;
	const uint8_t *p;

	if (field->kind != PD_ARG_INT || field->storage != PD_ARG_FIXED || field->size > size ||
	    field->offset > size - field->size)
		return false;
	p = raw + field->offset;
	if (field->size == 8)
		*out = (int64_t)pb_load64(p, swap);
	else if (field->size == 4)
		*out = is_signed ? (int64_t)(int32_t)pb_load32(p, swap) : pb_load32(p, swap);
	else if (field->size == 2)
		*out = is_signed ? (int16_t)pb_load16(p, swap) : pb_load16(p, swap);
	else
		*out = is_signed ? (int8_t)*p : *p;
	return true;
}

/*
 * Reads the value of a field from `size` bytes of raw data of `rec`; PD_NIL if it is not there
 * as a whole. Several items are a view (pd_view_array) of the record; a socket's address is
 * text.
 */
void pd_args_get(const struct pd_record *rec, const struct pd_tracepoint_field *field,
		 const uint8_t *raw, uint32_t size, struct pd_value *out);

/*
 * Finds the bytes of a field in `size` bytes of raw data: *n of them at offset *at. Returns
 * false if they are not there.
 */
bool pd_args_find(const struct pd_tracepoint *tracepoint,
		  const struct pd_tracepoint_field *field, const uint8_t *raw, uint32_t size,
		  uint32_t *at, uint32_t *n);

/*
 * Interprets the declared types of tracepoint fields. Offset and size come from the format
 * file, not from the type: the kernel writes an `int` of a system call as 8 bytes.
 */

/* Returns whether a character can be part of a C name. */
static inline bool pd_is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

/*
 * Sets kind, storage, element, count and is_signed of a field from its declared type.
 * `long_size` is the recorded kernel's; `sign` is the format's, UINT64_MAX if it has none.
 */
void pd_tracepoint_type(struct pd_tracepoint_field *field, unsigned long_size, uint64_t sign);

/* Sets the kinds of arrays that the print format shows to be bitmasks or sockets' addresses. */
void pd_tracepoint_printed(struct pd_tracepoint_field *fields, uint32_t n,
			   const char *print_fmt, unsigned long_size);

#endif
