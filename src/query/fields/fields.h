/*
 * Fields of records for queries. Each field of a query is bound once to each layout and event
 * that occurs: fields at a fixed offset are then plain loads, and fields that are equal in all
 * records are constants.
 *
 * A pq_fields belongs to one worker. Fields are numbered as they are added, before the first
 * record.
 */
#ifndef PERFLUA_QUERY_FIELDS_H
#define PERFLUA_QUERY_FIELDS_H

#include "query/chains/chains.h"
#include "perfdata/format/views.h"
#include "perfdata/tracepoint/tracepoint.h"

/* A step into a composite field, to a member or an item. */
struct pq_step {
	const char *name; /* NULL: the item with number `item`, from 1 on */
	uint32_t index;
};

#define PQ_MAX_STEPS 8

/*
 * A field as named in a query, "callchain[1].symbol": the number of its name, and steps into
 * it. "event" has no steps: its parts are in `by_event`.
 */
struct pq_field {
	unsigned name; /* see layout.h of perfdata */
	/*
	 * number of the member of items that rows are, if the field is only that;
	 * else 0
	 */
	uint16_t item;
	/*
	 * enum pq_chain_kind, from PQ_CHAIN_VALUES on, if the field is the call chain that
	 * `name` is made of; 0: it is its text
	 */
	uint8_t chain_kind;
	/*
	 * position in a row of values (pq_fields_enter_row), from 1 on, if the field is only
	 * that; 0: the field is one of records
	 */
	uint32_t row;
	unsigned n_steps;
	struct pq_step steps[PQ_MAX_STEPS];
	/*
	 * "event.config": values by number of the event; PQ_NIL for further ones. NULL: not
	 * such a field
	 */
	const struct pq_value *by_event;
	size_t n_by_event;
	/*
	 * The kind of its values when the query was made. An event that came later, or another
	 * recording, may disagree: its values are then absent. PQ_K_ANY: no expectation.
	 */
	enum pq_kind kind;
	/*
	 * records of these types have the part that the steps name; NULL: all that have the
	 * field
	 */
	const struct pd_types *types;
};

struct pq_fields;

/* Reads a field that is not a plain load. */
typedef void pq_read_fn(struct pq_fields *fields, uint32_t field, struct pq_value *out);

/* A way to read a field in the records of one layout and event. */
struct pq_load {
	pq_read_fn *read;
	struct pq_value constant; /* the value, if it is constant; for a plain load PQ_NIL */
	const struct pd_bound *bound; /* NULL: absent, or a property of the event */
	/* for "args.x" the field x of the event's tracepoint; NULL: look it up by name */
	const struct pd_tracepoint_field *arg;
	uint16_t index; /* index of `bound` in the layout; for items pq_field.item */
	uint16_t at;
	uint16_t asked; /* enum pd_system_field of a member of the mapping */
	/* position of the size of an argument's raw data; 0: it is not an argument */
	uint16_t raw_at;
	uint32_t raw_least; /* bytes that the raw data must have */
	/* bytes that a record needs for a plain load; UINT32_MAX: use `read` */
	uint32_t end;
	bool wide;	/* 8 bytes */
	uint8_t narrow; /* 1 or 2 bytes; 0: 8 or 4 */
	bool is_signed; /* less than 8 bytes, signed */
	bool swap;	/* the layout's byte order is not this host's */
	bool is_constant;
	uint16_t row;	   /* from 1 on: place in fields->row; 0: not a field of rows */
	bool is_item_word; /* 8 bytes at `at` of fields->item; `end` is UINT32_MAX */
	bool is_chain;	   /* `stack`, `frames`, or `callchain` as a value */
	bool stays; /* the text at an address never changes, so the address identifies it */
	/*
	 * bytes that a record needs for thread and time, if the field is `comm` and both are
	 * plain loads; else UINT32_MAX
	 */
	uint32_t called_end;
	uint16_t tid_at, time_at;
};

/* All fields in the records of one layout and event. */
struct pq_bound {
	const struct pd_layout *layout;
	const struct pd_event *event;
	uint32_t number;	/* from 0 on, in the order in which layouts were met */
	struct pq_load loads[]; /* by number of the field */
};

/*
 * The name of the thread asked for last, and when it has it: successive records are mostly of
 * the same few threads.
 */
struct pq_called {
	const char *text; /* does not move */
	uint32_t size;
	int32_t tid;
	uint16_t source;
	uint64_t from, span; /* ns: the time range is from … from + span */
	uint64_t taken;	     /* revision of the system; UINT64_MAX: unused */
};

struct pq_fields {
	const struct pd_session *session;
	struct pm_resolver *resolver; /* NULL: no field asks the recorded system */
	struct pq_chains *chains;     /* borrowed; NULL: chains are only read as text */
	const struct pq_bound *bound; /* loads for the current record */
	const struct pd_record *rec;  /* the current record */
	/* [n_row], for fields of rows; all rows share one record without bytes or layout */
	const struct pq_value *row;
	size_t n_row;
	struct pq_items *items; /* NULL: rows are records */
	/* sets how a member of the items is read, see pq_field.item; NULL: rows are records */
	void (*load_item)(const struct pq_items *items, uint16_t item, struct pq_load *load);
	const uint8_t *item; /* bytes of the item that the row is; NULL: it has none */
	struct pq_called called;
	const uint64_t *taken; /* revision of the system now; NULL without a resolver */
	/* memory for a value ran out; the value was absent, so the result is useless */
	bool failed;
	/* the fields added, what was bound so far, buffers for texts */
	struct pq_fields_internal *internal;
};

/*
 * Initializes *fields; the session and the resolver must outlive it. Without a session (NULL)
 * only rows of values can be entered; without a resolver no field asks the recorded system.
 * Returns false without memory.
 */
bool pq_fields_init(struct pq_fields *fields, const struct pd_session *session,
		    struct pm_resolver *resolver);
void pq_fields_deinit(struct pq_fields *fields);

/*
 * Returns the number of a field, the same one for the same pointer; UINT32_MAX: no memory.
 * *field must outlive `fields`.
 */
uint32_t pq_fields_add(struct pq_fields *fields, const struct pq_field *field);

/*
 * Does what pq_fields_enter() does, for a record whose layout or event differs from the last
 * one's. Returns false without memory.
 */
bool pq_fields_bind(struct pq_fields *fields, const struct pd_record *rec);

/* Makes `rec` the record whose fields are read from now on. Returns false without memory. */
static inline bool pq_fields_enter(struct pq_fields *fields, const struct pd_record *rec)
{
	const struct pq_bound *bound = fields->bound;

	fields->rec = rec;
	return (bound && bound->layout == rec->layout && bound->event == rec->event) ||
	       pq_fields_bind(fields, rec);
}

/*
 * Does what pq_fields_enter() does, for a record whose layout and event are those of `bound`,
 * an earlier fields->bound.
 */
static inline void pq_fields_enter_again(struct pq_fields *fields, const struct pd_record *rec,
					 const struct pq_bound *bound)
{
	fields->rec = rec;
	fields->bound = bound;
}

/*
 * Enters a row of n values, which the fields read from then on. All fields that were added must
 * be fields of rows. `event` is the event of the row for measures that tell events apart; NULL:
 * the row has none. Returns false without memory.
 */
bool pq_fields_enter_row(struct pq_fields *fields, const struct pq_value *row, size_t n,
			 const struct pd_event *event);

/* Returns an integer of one or two bytes. */
static inline int64_t pq_load_narrow(const uint8_t *p, unsigned n, bool is_signed, bool swap)
{
	uint16_t v = n == 1 ? *p : pb_load16(p, swap);

	if (!is_signed)
		return v;
	return n == 1 ? (int8_t)v : (int16_t)v;
}

/*
 * Returns true if the raw data, whose size is at `at`, has that many bytes, all within the
 * record.
 */
static inline bool pq_raw_holds(const struct pd_record *rec, uint32_t at, uint32_t least,
				bool swap)
{
	uint32_t n = pb_load32(rec->bytes + at, swap);

	return n >= least && n <= rec->size - at - 4;
}

/* Reads a word of an item. Returns false if the field is none, or the row is not an item. */
static inline __attribute__((always_inline)) bool pq_item_word(const struct pq_fields *fields,
							       const struct pq_load *load,
							       int64_t *out)
{
	if (!load->is_item_word || !fields->item)
		return false;
	*out = (int64_t)pb_load64(fields->item + load->at, load->swap);
	return true;
}

/* Reads an integer that does not lie in the record: that of a row, or a word of an item. */
static inline __attribute__((always_inline)) bool pq_integer_beside(
	const struct pq_fields *fields, const struct pq_load *load, int64_t *out)
{
	const struct pq_value *value;

	if (!load->row)
		return pq_item_word(fields, load, out);
	if (load->row > fields->n_row)
		return false;
	value = &fields->row[load->row - 1];
	*out = value->i;
	return value->type == PQ_INT;
}

/*
 * Reads an integer field that is a plain load, the fastest way. Returns false if it is not: use
 * pq_fields_get().
 */
static inline __attribute__((always_inline)) bool pq_fields_integer(
	const struct pq_fields *fields, uint32_t field, int64_t *out)
{
	const struct pq_load *load = &fields->bound->loads[field];
	const struct pd_record *rec = fields->rec;

	if (load->end > rec->size)
		return pq_integer_beside(fields, load, out);
	if (load->raw_at && !pq_raw_holds(rec, load->raw_at, load->raw_least, load->swap))
		return false;
	if (load->wide)
		*out = (int64_t)pb_load64(rec->bytes + load->at, load->swap);
	else if (load->is_constant)
		*out = load->constant.i;
	else if (load->narrow)
		*out = pq_load_narrow(rec->bytes + load->at, load->narrow, load->is_signed,
				      load->swap);
	else if (load->is_signed)
		*out = (int32_t)pb_load32(rec->bytes + load->at, load->swap);
	else
		*out = pb_load32(rec->bytes + load->at, load->swap);
	return true;
}

/* Returns the memo of the record's `comm` if it certainly holds; else NULL. */
static inline const struct pq_called *pq_fields_called(const struct pq_fields *fields,
						       const struct pq_load *load)
{
	const struct pq_called *called = &fields->called;
	const struct pd_record *rec = fields->rec;
	bool holds = (int32_t)pb_load32(rec->bytes + load->tid_at, load->swap) == called->tid;

	holds = holds && pb_load64(rec->bytes + load->time_at, load->swap) - called->from <=
				 called->span;
	holds = holds && rec->source == called->source && *fields->taken == called->taken;
	return holds ? called : NULL;
}

/*
 * Sets *out to a field of the record that was entered, as a script would get it; PQ_NIL:
 * absent. A text is valid until the field is read again, or another record is entered. A
 * composite, or an item that has members, is PQ_BOOL 1. What would be an error in a script,
 * such as an item that does not exist, is PQ_NIL.
 */
static inline void pq_fields_get(struct pq_fields *fields, uint32_t field, struct pq_value *out)
{
	int64_t i;

	if (!pq_fields_integer(fields, field, &i)) {
		fields->bound->loads[field].read(fields, field, out);
		return;
	}
	out->type = PQ_INT;
	out->i = i;
}

/*
 * Does what pq_fields_get() does, for a key: a call chain becomes a PQ_CHAIN, a number in
 * fields->chains. Returns false without memory.
 */
bool pq_fields_key(struct pq_fields *fields, uint32_t field, struct pq_value *out);

/*
 * Sets *out to the number of items of a composite field, or of bytes of a text; PQ_NIL: the
 * record does not have the field, or it is neither.
 */
void pq_fields_count(struct pq_fields *fields, uint32_t field, struct pq_value *out);

/*
 * Returns true if a function of the record's call chain, or of its ip if it has none, has that
 * name.
 */
bool pq_fields_under(struct pq_fields *fields, struct pq_under *under);

/* Converts a decoded value. A composite becomes true, to tell it from an absent one. */
void pq_from_decoded(struct pq_fields *fields, uint32_t field, const struct pd_value *value,
		     struct pq_value *out);

/* Reads a field that records of this layout and event do not have: sets *out to PQ_NIL. */
void pq_read_nothing(struct pq_fields *fields, uint32_t field, struct pq_value *out);

#endif
