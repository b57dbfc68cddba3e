/*
 * A tracepoint: what the raw data of its samples holds, as its format file says. See
 * Documentation/trace/events.rst of the kernel, "Event formats".
 */
#ifndef PERFLUA_PERFDATA_TRACEPOINT_H
#define PERFLUA_PERFDATA_TRACEPOINT_H

#include "perfdata/format/record.h"
#include "tracing.h"

enum pd_arg_kind {
	PD_ARG_INT,	 /* an integer of 1, 2, 4 or 8 bytes */
	PD_ARG_POINTER,	 /* an address of 4 or 8 bytes */
	PD_ARG_TEXT,	 /* characters, up to the first NUL */
	PD_ARG_LIST,	 /* integers of `element` bytes */
	PD_ARG_BITS,	 /* a bitmask, of longs: the numbers of the bits that are set */
	PD_ARG_SOCKADDR, /* a socket's address, as text */
	PD_ARG_BYTES,	 /* anything else */
};

/* Where it lies in the raw data. */
enum pd_arg_place {
	PD_ARG_FIXED, /* `size` bytes at `offset` */
	/*
	 * there lies a u32: offset in the raw data, and the size in the high half (__data_loc)
	 */
	PD_ARG_DATA,
	PD_ARG_REL, /* the same, but from the end of that u32 (__rel_loc) */
	/* there lies a u16: offset of a text that ends with a NUL (kernels before 2.6.33) */
	PD_ARG_SHORT,
	PD_ARG_REST, /* from `offset` to the end */
};

struct pd_tracepoint_field {
	const char *name;
	const char
		*type; /* as it is declared: "char[16]", "__data_loc char[]", "struct file *" */
	uint32_t offset, size;
	uint32_t element; /* bytes of an item, of what has several; else 0 */
	uint32_t count;	  /* items of an array of fixed size; else 0 */
	uint8_t kind;	  /* enum pd_arg_kind */
	uint8_t place;	  /* enum pd_arg_place */
	bool is_signed;	  /* integers */
	bool common;	  /* of all tracepoints: "common_pid" */
};

#define PD_MAX_ARGS   1024
#define PD_NO_ARG     UINT32_MAX
#define PD_MAX_FORMAT (1u << 20) /* bytes of a format file; the kernel's are a page or some */

struct pd_tracepoint {
	const struct pd_tracing *tracing;
	uint64_t id;
	const char *system, *name;
	const char *print_fmt;			  /* "": it has none */
	const struct pd_tracepoint_field *fields; /* [n_fields], the common ones first */
	uint32_t n_fields, n_common;
	bool swap; /* raw data is of the other byte order */
	/*
	 * of raw_syscalls:* and syscalls:*: places of the call's number and of what it returns;
	 * else PD_NO_ARG
	 */
	uint32_t arg_syscall, arg_ret;
	const char *syscall; /* of syscalls:sys_enter_openat: "openat"; else NULL */
};

/* Parses the format, once. NULL: it cannot be; format->wrong says why, in a few words. */
const struct pd_tracepoint *pd_tracepoint_of(const struct pd_tracing *tracing,
					     struct pd_format *format);
void pd_tracepoint_destroy(struct pd_tracepoint *tracepoint);

/* The place of a field among the tracepoint's; PD_NO_ARG: it has none of that name. */
uint32_t pd_tracepoint_find(const struct pd_tracepoint *tracepoint, const char *name, size_t n);

/* Finds what its samples' fields `syscall` and `errno` need (syscall_fields.c). */
void pd_tracepoint_call(struct pd_tracepoint *tracepoint);

/* The tracepoint that a record is a sample of; NULL: of none, or its format is not known. */
const struct pd_tracepoint *pd_tracepoint_of_record(const struct pd_record *rec);

/* What is known of a field's values before there is a record. */
enum pd_type pd_arg_type(const struct pd_tracepoint_field *field);

/* The raw data of a sample; false: it has none, or is cut short. */
bool pd_args_raw(const struct pd_record *rec, const uint8_t **p, uint32_t *n);

/*
 * A field that is an integer at a fixed place, as most are: the shortest way to it. False:
 * pd_args_get says what it is.
 */
static inline bool pd_args_integer(const struct pd_tracepoint *tracepoint,
				   const struct pd_tracepoint_field *field, const uint8_t *raw,
				   uint32_t size, int64_t *out)
{
	bool swap = tracepoint->swap, is_signed = field->is_signed;
	const uint8_t *p;

	if (field->kind != PD_ARG_INT || field->place != PD_ARG_FIXED || field->size > size ||
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
 * A field's value in raw data; PD_NIL: it is not (wholly) there. Of several items it is a view
 * (pd_view_array) of the record that the data is of, of an address text.
 */
void pd_args_get(const struct pd_record *rec, const struct pd_tracepoint_field *field,
		 const uint8_t *raw, uint32_t size, struct pd_value *out);

/*
 * Where the bytes of a field lie in `size` bytes of raw data; false: not there.
 */
bool pd_args_place(const struct pd_tracepoint *tracepoint,
		   const struct pd_tracepoint_field *field, const uint8_t *raw, uint32_t size,
		   uint32_t *at, uint32_t *n);

#endif
