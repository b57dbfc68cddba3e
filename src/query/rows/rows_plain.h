/*
 * Rows whose values are plain loads, as most are: what is known of a layout's fields, as short
 * as can be.
 */
#ifndef PERFLUA_QUERY_ROWS_PLAIN_H
#define PERFLUA_QUERY_ROWS_PLAIN_H

#include "query/expr/fields.h"

/* Of the records of one layout and event. */
struct pq_plain_row {
	const struct pq_bound *bound; /* NULL: of none */
	/* the bytes that a record needs for all of them; UINT32_MAX: some are no plain loads */
	uint32_t end;
	uint16_t raw_at;    /* some are arguments, in raw data whose size is there; else 0 */
	uint32_t raw_least; /* the size needed for all of them */
	struct pq_plain_load {
		int64_t constant;
		/* PQ_INT; PQ_NIL: the records do not have it, which is a constant, too */
		uint8_t type;
		uint16_t at;
		uint8_t narrow;
		bool wide, is_constant, is_signed; /* as of pq_load */
	} * loads;				   /* [n] */
};

#define PQ_PLAIN_ROWS 8 /* a power of two */

/* Of the layouts that were met last. All zero at first. */
struct pq_plain_rows {
	struct pq_plain_row rows[PQ_PLAIN_ROWS];
};

/* False: no memory. */
bool pq_plain_rows_init(struct pq_plain_rows *plain, size_t n);
void pq_plain_rows_deinit(struct pq_plain_rows *plain);

/*
 * Finds out what is known of the records of a layout: fields by their numbers, UINT32_MAX for
 * what is no field.
 */
void pq_plain_row_bind(struct pq_plain_row *row, const struct pq_bound *bound,
		       const uint32_t *numbers, size_t n);

/*
 * The values of the record that was entered; false: they are not all plain loads, and none was
 * made.
 */
static inline bool pq_plain_row(struct pq_plain_rows *plain, const struct pq_fields *fields,
				const uint32_t *numbers, size_t n, struct pq_value *values)
{
	const struct pq_bound *bound = fields->bound;
	struct pq_plain_row *row =
		&plain->rows[(uintptr_t)bound / sizeof(*bound->loads) % PQ_PLAIN_ROWS];
	const uint8_t *bytes = fields->rec->bytes;

	if (row->bound != bound)
		pq_plain_row_bind(row, bound, numbers, n);
	if (row->end > fields->rec->size)
		return false;
	if (row->raw_at && !pq_raw_holds(fields->rec, row->raw_at, row->raw_least, false))
		return false;
	for (size_t i = 0; i < n; i++) {
		const struct pq_plain_load *load = &row->loads[i];
		const uint8_t *p = bytes + load->at;

		values[i].type = load->type;
		if (load->wide)
			values[i].i = (int64_t)pb_load64(p, false);
		else if (load->is_constant)
			values[i].i = load->constant;
		else if (load->narrow)
			values[i].i = pq_load_narrow(p, load->narrow, load->is_signed, false);
		else if (load->is_signed)
			values[i].i = (int32_t)pb_load32(p, false);
		else
			values[i].i = pb_load32(p, false);
	}
	return true;
}

#endif
