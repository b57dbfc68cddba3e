/*
 * Macros for the rows of the field tables. Each expands to the inside of one initialiser, so
 * that a row can add members of its own: { FIELD(U64, "ip", 0, "…"), .part = PD_PART_IP }.
 */
#ifndef PERFLUA_PERFDATA_ROWS_H
#define PERFLUA_PERFDATA_ROWS_H

#include "fields.h"
#include "format.h"

/* Expands to 0; does not compile unless the condition holds. */
#define CHECKED(condition, what)                  \
	(sizeof(struct {                          \
		 _Static_assert(condition, what); \
		 char c;                          \
	 }) -                                     \
	 1)
#define NAME(n) &(n)[CHECKED(sizeof(n) <= PD_MAX_NAME + 1, "a field's name is too long")]
/* The table `fields`; does not compile if layouts have no room for it. */
#define TABLE(fields)                                                            \
	&(fields)[CHECKED(sizeof(fields) <= PD_MAX_FIELDS * sizeof((fields)[0]), \
			  "a table has too many fields")]

/* A plain load; `k` is the end of a PD_K_ name. */
#define FIELD(k, n, offset, text) \
	.name = NAME(n), .kind = PD_K_##k, .at = (offset), .doc = (text)
/* A boolean: bit `bit` of misc. */
#define FLAG(n, bit, text) .name = NAME(n), .kind = PD_K_FLAG, .arg = (bit), .doc = (text)
/* A field of `size` bytes: text, or bytes shown in hex. */
#define BYTES(k, n, offset, size, text) FIELD(k, n, offset, text), .arg = (size)
/* A value that the function `fn` computes; `t` is the end of a PD_ type's name. */
#define COMPUTED(t, n, offset, fn, text) \
	FIELD(COMPUTE, n, offset, text), .type = PD_##t, .compute = (fn)
/* A view that views.h declares as `v`. */
#define VIEWED(v, n, offset, text)                                           \
	FIELD(VIEW, n, offset, text), .type = PD_VIEW, .view = &pd_view_##v, \
				      .compute = pd_open_##v
#define OF_SYSTEM(t, n, which, text)                                                 \
	.name = NAME(n), .kind = PD_K_SYSTEM, .arg = PD_SYS_##which, .type = PD_##t, \
	.doc = (text)
/* Where records of a type end: after a fixed part, after a text, after a counted list. */
#define ENDS_AT(n)   .extent = { .varies = PD_VARIES_NOT, .fixed = (n) }
#define TEXT_FROM(n) .extent = { .varies = PD_VARIES_TEXT, .fixed = (n) }
#define COUNTED_FROM(n, size) \
	.extent = { .varies = PD_VARIES_COUNTED, .fixed = (n), .each = (size) }
#define VARIES_FROM(n, fn) .extent = { .varies = PD_VARIES_SO, .fixed = (n), .rest = (fn) }
#define END_OF_FIELDS        \
	{                    \
		.name = NULL \
	}

/* Fields of samples of system calls: syscalls.c. */
void pd_field_syscall(const struct pd_record *rec, uint32_t at, struct pd_value *out);
void pd_field_errno(const struct pd_record *rec, uint32_t at, struct pd_value *out);

/* The record types from PD_RECORD_USER on: fields_user.c. */
extern const struct pd_record_desc pd_user_records[PD_RECORD_TYPES - PD_RECORD_USER];

/* Fields of such types in files of their own: fields_schedstat.c, fields_update.c. */
extern const struct pd_field pd_schedstat_cpu_fields[PD_MAX_FIELDS],
	pd_schedstat_domain_fields[PD_MAX_FIELDS], pd_event_update_fields[PD_MAX_FIELDS];
uint32_t pd_measure_update(const struct pd_record *rec);

#endif
