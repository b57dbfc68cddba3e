/* The values of rows of records. One worker at a time uses a row maker. */
#ifndef PERFLUA_QUERY_ROWS_MAKER_H
#define PERFLUA_QUERY_ROWS_MAKER_H

#include "base/arena.h"
#include "base/hash.h"
#include "base/map.h"
#include "query/chains/value.h"
#include "query/fields/fields.h"
#include "rows.h"

/* Rows whose values are all plain loads at known offsets of a layout, as in most queries. */

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

/*
 * Texts of rows. Short texts, which may come again, are interned for as long as the rows exist,
 * and have a number; others are copied into their batch.
 */

/* Texts of a batch. All zero at first. */
struct pq_row_texts {
	struct pb_arena arena;
	size_t bytes; /* size of the texts in it */
};

#define PQ_RECENT_TEXTS 64

/* Interned texts, numbered from 1 on. All zero at first. */
struct pq_known_texts {
	struct pd_text *list; /* [n] */
	size_t n, capacity;
	struct pb_map map; /* indices in `list` */
	struct pb_secret secret;
	struct pb_arena arena;
	/* The texts found last, by address, as equal names often lie at equal addresses. */
	struct {
		const char *p;
		uint16_t id;
	} recent[PQ_RECENT_TEXTS];
};

/* Makes the text of a value valid as long as its batch. Returns false without memory. */
bool pq_row_texts_add(struct pq_row_texts *texts, struct pq_known_texts *known,
		      struct pq_value *value);

/* Forgets all texts, but keeps some of their memory. */
void pq_row_texts_clear(struct pq_row_texts *texts);

void pq_row_texts_deinit(struct pq_row_texts *texts);

struct pq_row_maker {
	const struct pq_scope *scope;
	const struct pq_node *const *nodes;
	size_t n; /* values read of each record */
	struct pm_resolver *resolver;
	struct pq_fields fields;
	struct pq_expr *filter;
	struct pq_items *items; /* NULL: rows are records */
	struct pq_expr **exprs; /* [n] */
	uint32_t *numbers;	/* [n]: numbers of fields; UINT32_MAX: no field */
	size_t chain_at; /* value that is a number among fields.chains, if that is not NULL */
	struct pq_plain_rows plain;
	struct pq_known_texts known;
};

/*
 * Initializes *maker, which is zero, for rows of those nodes. Returns false without memory: it
 * is to be deinitialized in any case.
 */
bool pq_row_maker_init(struct pq_row_maker *maker, const struct pq_scope *scope,
		       const struct pq_node *const *nodes, size_t n);
void pq_row_maker_deinit(struct pq_row_maker *maker);

/* Does what pq_row_make() does, value by value. */
bool pq_row_make_values(struct pq_row_maker *maker, struct pq_row_texts *texts,
			struct pq_value *row);

/*
 * Sets the n values of `row` to those of the record or item that was entered. Returns false
 * without memory, also if a value or the filter read before had none.
 */
static inline bool pq_row_make(struct pq_row_maker *maker, struct pq_row_texts *texts,
			       struct pq_value *row)
{
	return pq_plain_row(&maker->plain, &maker->fields, maker->numbers, maker->n, row) ||
	       pq_row_make_values(maker, texts, row);
}

/* Creates what makes rows as `maker` does, of single records. Returns NULL without memory. */
struct pq_record_rows *pq_record_rows_create(const struct pq_row_maker *maker);

#endif
