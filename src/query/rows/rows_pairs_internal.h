/*
 * The state of pairs, for the files that produce their rows: rows_pairs.c opens and closes
 * spans, rows_changes.c changes them, rows_pairs_spans.c reads their values, rows_ended.c
 * produces the rows of a span that ends, rows_lost.c drops spans, rows_cpus.c knows the last
 * records of cpus, and the spans that began with these.
 */
#ifndef PERFLUA_QUERY_ROWS_PAIRS_INTERNAL_H
#define PERFLUA_QUERY_ROWS_PAIRS_INTERNAL_H

#include <stdlib.h>
#include <string.h>

#include "rows_pairs.h"
#include "spans.h"

#define PQ_KNOWN_ROLES 64 /* a power of two */

/* The role of all records of one layout and event. */
struct pq_pair_role {
	const struct pq_bound *bound; /* NULL: unused */
	/* bit sets of sides whose condition holds, by role; tests are run when needed */
	uint32_t sides[PQ_ROLES];
	bool inner;
};

/* Records that wait for the end of a span: n rows of n_inner values. Owns the values. */
struct pq_waiting {
	struct pq_value *values;
	size_t n, capacity;
};

/* A copy of a record that opened a span. */
struct pq_opening {
	struct pd_record rec;
	uint8_t *bytes; /* [room] */
	size_t room;
};

/* A state of a span, and the time at which it began. */
struct pq_phase {
	uint64_t since;
	uint32_t state;
};

/* The states of a span: n phases. Unless spans are cut, these are the last one alone. */
struct pq_phases {
	struct pq_phase only;
	uint32_t n, capacity;
	struct pq_phase *list; /* [capacity]; NULL: the phase is `only` */
	uint64_t *times;  /* [how->n_states]: ns in earlier phases; NULL: there were none */
	uint64_t changed; /* number of the record that changed the span, or left its state */
};

/* Returns the phases of a span. */
static inline const struct pq_phase *pq_phases_list(const struct pq_phases *phases)
{
	return phases->list ? phases->list : &phases->only;
}

/* A span, or a part of it. */
struct pq_part {
	uint64_t from, to;
	bool has_stop; /* false: `to` is the end of the recording */
	bool is_cut;
	bool is_last; /* the part with the end of the span */
};

/* A span that ended, and its rows that are not produced yet. */
struct pq_ended {
	struct pq_value *kept;	/* [n_kept] */
	struct pq_value *close; /* [n_values]: those of PQ_OF_CLOSE, and keys of PQ_OF_SPAN */
	struct pq_part whole, part; /* the span; the part whose row is next */
	struct pq_phases phases;
	size_t phase; /* the last phase that began before the part, or the first */
	struct pq_waiting waiting;
	size_t at; /* the waiting record whose row is next */
	enum {
		PQ_LEFT_NONE,
		PQ_LEFT_SPAN,	 /* the row of the span, then those of its items */
		PQ_LEFT_ITEMS,	 /* rows of items */
		PQ_LEFT_WAITING, /* rows of waiting records */
	} left;
	struct pq_opening opening; /* if rows are items of the opening record */
};

/* The last record of a cpu, and the span that only the next record there may close. */
struct pq_cpu {
	uint64_t time;	 /* of the record; 0: there was none */
	uint64_t since;	 /* when the span began, or entered its state */
	uint64_t serial; /* its serial number: numbers of closed spans are used again */
	uint32_t item;	 /* 1 + number of the span; 0: none */
};

/* The time of the last record of a recording (0: there was none), and its cpus. */
struct pq_last_times {
	uint64_t time;
	struct pq_cpu *by_cpu; /* [n_cpus] */
	size_t n_cpus;
};

struct pq_pairs {
	const struct pq_pairing *how;
	const struct pq_columns *columns;
	struct pq_spans spans; /* what is kept of the opening record: the time first */
	struct pq_calls *calls;
	size_t n_kept;		    /* number of values kept of a span */
	size_t n_opening;	    /* the first of them, which are of the opening record */
	struct pq_kept_value *kept; /* [n_kept] */
	size_t n_inner;		    /* number of values of a record that waits */
	uint32_t *inner;	    /* [n_inner]: places of their columns */
	uint32_t *from;		    /* [how->n_values]: index in `kept` or in `inner` */
	uint32_t *opened_from;	    /* [how->n_opened]: index in `kept` */
	struct pq_value *opened;    /* [how->n_opened]: values of the span that is tested */
	struct pq_value *key;	    /* [how->n_keys]: key of the current record */
	struct pq_value *args;	    /* arguments of how->ended */
	struct pq_value *states;    /* [how->n_states]: their names, short ones with numbers */
	bool has_names;		    /* these were numbered */
	struct pq_pairs *nested;    /* inner spans; NULL: rows are spans or inner records */
	struct pq_value *inner_row; /* [nested->how->n_values]: the nested span that ended */
	uint64_t ended_serial;	    /* serial number of the span that ended last */
	uint64_t *serial;	    /* that of the span opened last, here or in `nested` */
	uint64_t own_serial;
	struct pq_waiting *waiting; /* [n_waiting], by span */
	size_t n_waiting;
	struct pq_opening *openings; /* [n_openings], by span; used if rows are their items */
	size_t n_openings;
	size_t n_held; /* records that wait */
	enum {
		PQ_LIMIT_NONE,
		PQ_LIMIT_WAITING, /* too many records wait */
		PQ_LIMIT_CHANGES, /* too many changes of state */
		PQ_LIMIT_PARTS,	  /* spans were cut into too many parts */
	} limit;		  /* the limit that was reached */
	struct pq_phases *phases; /* [n_phases], by span; if there are states */
	size_t n_phases;
	size_t n_changes; /* phases in all lists */
	uint64_t n_parts; /* rows that spans were cut into */
	struct pq_ended ended;
	size_t n_lost;			  /* LOST records that named the spans to drop */
	struct pq_last_times *last_times; /* [n_sources], by recording */
	size_t n_sources;
	/* of pq_pairs_choose(); NULL: all samples matter */
	uint8_t *chosen;
	uint64_t *left_out; /* [n_sources] */
	/*
	 * time of the record before the current one, on the same cpu if that is known; 0: there
	 * was none
	 */
	uint64_t previous;
	struct pq_cpu *cpu;   /* that of the current record; NULL: it is not known */
	struct pq_cpu held;   /* the span that only the current record may close, as it was */
	uint32_t next_sides;  /* set of sides with next_on_cpu */
	uint32_t next_states; /* set of the states in which these close spans; 0: all */
	bool is_finished;     /* all records were handled */
	struct pq_pair_counts counts;
	bool has_serials; /* serial numbers are kept: see create_pairs() */
	bool by_event;	  /* conditions ask nothing but the type and the event */
	uint64_t n_met;	  /* number of the current record */
	uint64_t unkeyed; /* number of the last record without a key or time */
	uint32_t of_group[PQ_MOST_SIDES];	/* sets of sides */
	uint32_t from_group[PQ_MOST_SIDES + 1]; /* those of a group and the later ones */
	/*
	 * what was read of the current record: of each side its test, and one key;
	 * sides with the same test, or the same key, share that of the first of them
	 */
	struct pq_pair_known {
		uint8_t test, key; /* number of the first side with it */
		bool holds;
		uint64_t tested; /* number of the record */
	} known[PQ_MOST_SIDES];
	struct {
		uint64_t met; /* number of the record, and of the first side with that key */
		uint8_t side;
		bool is_whole;
		uint32_t hash;
	} read_key;
	/* the current record, while groups from `group` on are left */
	struct {
		struct pq_pair_role role; /* without a bound: none */
		struct pq_value time;
		uint32_t group;
	} left;
	/* the record that gave a span another key, and the first side with the key it had */
	struct {
		uint64_t met;
		uint8_t side;
	} moved;
	struct pq_pair_role roles[PQ_KNOWN_ROLES];
};

/* Reads a column of the current record. */
static inline void pq_pairs_read(const struct pq_pairs *pairs, uint32_t place,
				 struct pq_value *out)
{
	const struct pq_columns *columns = pairs->columns;

	if (columns->numbers[place] != UINT32_MAX)
		pq_fields_get(columns->fields, columns->numbers[place], out);
	else
		pq_expr_value(columns->exprs[place], columns->fields, out);
}

/*
 * Does what pq_pairs_read() does, without a call if the column is a plain load of an integer.
 */
static inline __attribute__((always_inline)) void pq_pairs_load(const struct pq_pairs *pairs,
								uint32_t place,
								struct pq_value *out)
{
	const struct pq_columns *columns = pairs->columns;

	out->type = PQ_INT;
	if (columns->numbers[place] == UINT32_MAX ||
	    !pq_fields_integer(columns->fields, columns->numbers[place], &out->i))
		pq_pairs_read(pairs, place, out);
}

/*
 * Makes a span the owner of a value: holds objects and copies texts. Returns false without
 * memory.
 */
static inline bool pq_pairs_own(struct pq_pairs *pairs, struct pq_value *value,
				struct pq_pair_row *row)
{
	char *copy;

	if (value->type == PQ_OBJECT && pairs->calls)
		pairs->calls->hold(pairs->calls, value);
	if (value->type != PQ_TEXT)
		return true;
	if (!pq_row_texts_add(row->texts, row->known, value))
		return false;
	if (value->id)
		return true;
	copy = malloc(value->size ? value->size : 1);
	if (!copy)
		return false;
	memcpy(copy, value->p, value->size);
	value->p = copy;
	return true;
}

/*
 * Prepares a value that a span owns for a row: a text with a number is valid in all rows.
 * Returns false without memory.
 */
static inline bool pq_pairs_lend(struct pq_pairs *pairs, struct pq_value *value,
				 struct pq_pair_row *row)
{
	if (value->type == PQ_OBJECT && pairs->calls)
		pairs->calls->lend(pairs->calls, value);
	return value->type != PQ_TEXT || value->id ||
	       pq_row_texts_add(row->texts, row->known, value);
}

/* Returns true if spans may be cut. */
static inline bool pq_is_cut(const struct pq_pairing *how)
{
	return how->slice || how->from || how->to != UINT64_MAX;
}

/* Returns true if a place of PQ_OF_SPAN belongs to the key. */
static inline bool pq_is_key(const struct pq_pairing *how, uint32_t place)
{
	return place - PQ_SPAN_KEY < how->n_keys;
}

/* Reads a value of the inner record or span. */
static inline void pq_pairs_read_inner(const struct pq_pairs *pairs, uint32_t place,
				       struct pq_value *out)
{
	if (pairs->nested)
		*out = pairs->inner_row[place];
	else
		pq_pairs_read(pairs, place, out);
}

/*
 * Reads the key of the record, or (NULL) of the record or span inside. Returns false if a part
 * of it is absent.
 */
bool pq_pairs_read_key(struct pq_pairs *pairs, const uint32_t *places, uint32_t *hash);

/*
 * Calls how->ended for a span that ends, with the current record (`is_closed`) or
 * without one.
 */
void pq_pairs_tell_ended(struct pq_pairs *pairs, uint32_t span, bool is_closed);

/*
 * Opens a span with the key that was read, whose slot is free; the values kept of its record
 * are not set yet.
 * Returns its number; PQ_NO_SPAN without memory.
 */
uint32_t pq_pairs_open_span(struct pq_pairs *pairs, uint32_t hash, struct pb_slot *slot,
			    struct pq_pair_row *row);

/*
 * Makes the current record the one that opened a span. Returns false without memory.
 */
bool pq_pairs_begin_span(struct pq_pairs *pairs, uint32_t span, const struct pq_pair_side *side,
			 const struct pq_value *time, struct pq_pair_row *row);

/*
 * Keeps the values of the current record, with which a span enters `state`. Returns false
 * without memory.
 */
bool pq_pairs_enter_state(struct pq_pairs *pairs, uint32_t span, uint32_t state,
			  struct pq_pair_row *row);

/* Makes a span one that was opened now, and forgets the values kept of its record. */
static inline void pq_pairs_reopen_span(struct pq_pairs *pairs, uint32_t span)
{
	pq_spans_reopen(&pairs->spans, span);
	pq_span_clear(&pairs->spans, span, pairs->how->n_keys, pairs->n_kept);
}

/* Returns the time at which a span was opened: see keep_columns. */
static inline uint64_t pq_pairs_start(const struct pq_pairs *pairs, uint32_t span)
{
	return pq_span_word(&pairs->spans, span, pairs->how->n_keys);
}

/* Returns the serial number of its opening; 0: serial numbers are not kept. */
static inline uint64_t pq_pairs_serial(const struct pq_pairs *pairs, uint32_t span)
{
	return pairs->has_serials ? pq_span_word(&pairs->spans, span, pairs->how->n_keys + 1) :
				    0;
}

/* Sets *out to the value at `i` of those kept of its record. */
static inline void pq_pairs_kept(const struct pq_pairs *pairs, uint32_t span, size_t i,
				 struct pq_value *out)
{
	pq_span_get(&pairs->spans, span, pairs->how->n_keys + i, out);
}

/* Returns the time of the last record of a span's recording. */
static inline uint64_t pq_pairs_last_time(const struct pq_pairs *pairs, uint32_t span)
{
	return pairs->last_times[pq_span_source(&pairs->spans, span)].time;
}

/*
 * Makes the row of a span that ends as `part`, or (NULL: only its key is read) of the record
 * inside a span that was entered; or (PQ_NO_SPAN) of a record beside spans. Returns false
 * without memory.
 */
bool pq_pairs_make_row(struct pq_pairs *pairs, uint32_t span, const struct pq_part *part,
		       struct pq_pair_row *row);

/* Drops a span without an end, and the records that wait for its end. */
void pq_pairs_drop_span(struct pq_pairs *pairs, uint32_t span);

/* Marks as lost the open spans whose closing record may be among lost records. */
void pq_pairs_lose(struct pq_pairs *pairs);

/*
 * Counts a lost span that is not kept. `time` is that of the next record with its key. The
 * caller closes the span or opens it again.
 */
void pq_pairs_drop_lost(struct pq_pairs *pairs, uint32_t span, uint64_t time);

/* Adds the spans that are still lost at the end to *counts. */
void pq_pairs_count_lost(const struct pq_pairs *pairs, struct pq_pair_counts *counts);

/* Notes the time and the cpu of the current record. Returns false without memory. */
bool pq_pairs_note_time(struct pq_pairs *pairs, uint64_t time);

/* Returns true if a span is the one that was taken, in the same state. */
bool pq_pairs_is_held(const struct pq_pairs *pairs, uint32_t span);

/* Notes on the current record's cpu that a span began there, or entered a state. */
void pq_pairs_note_begin(struct pq_pairs *pairs, uint32_t span);

/* Drops the span that was taken, if the current record, of that time, has not closed it. */
void pq_pairs_drop_held(struct pq_pairs *pairs, uint64_t time);

/* Frees the records that wait for the end of a span. */
void pq_waiting_forget(struct pq_pairs *pairs, struct pq_waiting *waiting);

/*
 * Keeps the current record until the end of the span that it is in. Returns false without
 * memory, or if too many records wait.
 */
bool pq_waiting_hold(struct pq_pairs *pairs, uint32_t span, struct pq_pair_row *row);

/* Copies the current record, which opens a span. Returns false without memory. */
bool pq_opening_keep(struct pq_pairs *pairs, uint32_t span);

/*
 * Queues the rows of a span that ends for pq_pairs_next_row(): those of the records that wait
 * for its end; or else its own from `part` on, and those of its items. The current record
 * closes it, unless pairs->is_finished. Returns false without memory.
 */
bool pq_ended_take(struct pq_pairs *pairs, uint32_t span, const struct pq_part *whole,
		   const struct pq_part *part, struct pq_pair_row *row);

/* Begins the states of a span that opens. Returns false without memory. */
bool pq_phases_begin(struct pq_pairs *pairs, uint32_t span, uint32_t state, uint64_t time);

/*
 * Changes the state of an open span (PQ_NO_STATE: leaves it); a change earlier than its last
 * one counts as stray. Returns false without memory, or if there are too many changes.
 */
bool pq_phases_change(struct pq_pairs *pairs, uint32_t span, uint32_t state, uint64_t time);

/* Returns true if an open span has one of a set of states; 0: all. */
static inline bool pq_phases_in(const struct pq_pairs *pairs, uint32_t span, uint32_t states)
{
	const struct pq_phases *phases = &pairs->phases[span];

	return !states || states >> pq_phases_list(phases)[phases->n - 1].state & 1;
}

void pq_phases_deinit(struct pq_phases *phases);

/*
 * Sets *out to the value at `place` (enum pq_span_value, but not its key) of a part of a span.
 * `first` is the first phase that may overlap the part.
 */
void pq_part_value(const struct pq_pairs *pairs, const struct pq_phases *phases, size_t first,
		   const struct pq_part *part, uint32_t place, struct pq_value *out);

/*
 * Sets *part to the first part of a span inside the window, or pairs->limit to PQ_LIMIT_PARTS
 * if there are too many parts. Returns false if no part is inside the window.
 */
bool pq_part_first(struct pq_pairs *pairs, const struct pq_part *whole, struct pq_part *part);

/* Moves *part to the next part. Returns false, with *part unchanged, if it was the last. */
bool pq_part_next(const struct pq_pairing *how, const struct pq_part *whole,
		  struct pq_part *part);

/* Returns the time in the window that is nearest to `time`. */
uint64_t pq_in_window(const struct pq_pairing *how, uint64_t time);

/* Does what is left to do for the current record. Returns as pq_pairs_meet() does. */
bool pq_pairs_go_on(struct pq_pairs *pairs, struct pq_pair_row *row);

/* Frees the values, phases and records of the span that ended last. */
void pq_ended_forget(struct pq_pairs *pairs);

#endif
