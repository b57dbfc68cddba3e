/* Rows whose values are all plain loads at known offsets of a layout, as in most queries. */
#ifndef PERFLUA_QUERY_ROWS_PLAIN_H
#define PERFLUA_QUERY_ROWS_PLAIN_H

#include "query/fields/fields.h"

/* The loads for the records of one layout and event. */
struct pq_plain_row {
	const struct pq_bound *bound; /* NULL: unused */
	/* size that a record needs to have all values; UINT32_MAX: not all are plain loads */
	uint32_t end;
	/* offset of the size of raw data, if values lie in these; 0: none does */
	uint16_t raw_at;
	uint32_t raw_least; /* size that the raw data need */
	struct pq_plain_load {
		int64_t constant;
		/* PQ_INT; PQ_NIL: absent, and constant */
		uint8_t type;
		uint16_t at;
		uint8_t narrow;
		bool wide, is_constant, is_signed; /* as in pq_load */
	} * loads;				   /* [n] */
};

#define PQ_PLAIN_ROWS 8 /* a power of two */

/* Rows of the layouts seen last. All zero at first. */
struct pq_plain_rows {
	struct pq_plain_row rows[PQ_PLAIN_ROWS];
};

/* Returns false without memory. */
bool pq_plain_rows_init(struct pq_plain_rows *plain, size_t n);
void pq_plain_rows_deinit(struct pq_plain_rows *plain);

/* Sets *row for the records of a layout. `numbers` are numbers of fields, or UINT32_MAX. */
void pq_plain_row_bind(struct pq_plain_row *row, const struct pq_bound *bound,
		       const uint32_t *numbers, size_t n);

/*
 * Loads the values of the current record. Returns false, with `values` untouched, if they are
 * not all plain loads.
 */
static inline bool pq_plain_row(struct pq_plain_rows *plain, const struct pq_fields *fields,
				const uint32_t *numbers, size_t n, struct pq_value *values)
{
	const struct pq_bound *bound = fields->bound;
	struct pq_plain_row *row = &plain->rows[bound->number % PQ_PLAIN_ROWS];
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
