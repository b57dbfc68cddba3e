#include "rows_pairs_internal.h"

/* Most spans have no spans inside, and shall not pay for calls that two callers need. */
#define INLINE inline __attribute__((always_inline))

static bool test_column(const struct pq_pairs *pairs, uint32_t place)
{
	return pq_expr_test(pairs->columns->exprs[place], pairs->columns->fields);
}

/*
 * Reads the key of the record, or (NULL) of the record or span inside. Returns false if a part
 * of it is absent.
 */
static bool read_pair_key(struct pq_pairs *pairs, const uint32_t *places, uint32_t *hash)
{
	const struct pq_pairing *how = pairs->how;

	for (size_t i = 0; i < how->n_keys; i++) {
		struct pq_value *value = &pairs->key[i];

		if (places)
			pq_pairs_read(pairs, places[i], value);
		else
			pq_pairs_read_inner(pairs, how->keys[i].inner, value);
		if (value->type != PQ_INT)
			pq_normalise(value);
		if (value->type == PQ_NIL || (value->type == PQ_BOOL && !value->u))
			return false;
	}
	*hash = pq_spans_hash(&pairs->spans, pairs->key);
	return true;
}

/*
 * Calls how->ended for a span that ends, with the current record (`is_closed`) or
 * without one.
 */
static void tell_ended(struct pq_pairs *pairs, const struct pq_value *kept, bool is_closed)
{
	const struct pq_call *call = pairs->how->ended;
	struct pq_value nothing;

	if (!call)
		return;
	pairs->args[0] = kept[1]; /* the serial number: see keep_columns */
	for (size_t i = 1; i < call->n_args; i++) {
		if (is_closed)
			pq_pairs_read(pairs, pairs->how->ended_places[i - 1], &pairs->args[i]);
		else
			pairs->args[i].type = PQ_NIL;
	}
	call->run(call, pairs->columns->fields, pairs->args, &nothing);
}

void pq_pairs_drop_span(struct pq_pairs *pairs, uint32_t span)
{
	tell_ended(pairs, pq_spans_at(&pairs->spans, span) + pairs->how->n_keys, false);
	if (span < pairs->n_waiting)
		pq_waiting_forget(pairs, &pairs->waiting[span]);
}

/*
 * Opens a span with the key that was read, whose slot is free; the values kept of its record
 * are not set yet. Returns its number; PQ_NO_SPAN without memory.
 */
static uint32_t open_span(struct pq_pairs *pairs, uint32_t hash, struct pb_slot *slot,
			  struct pq_pair_row *row)
{
	struct pq_value *values;
	uint32_t span;

	span = pq_spans_open(&pairs->spans, pairs->key, hash, slot);
	if (span == PQ_NO_SPAN)
		return span;
	values = pq_spans_at(&pairs->spans, span);
	for (size_t i = 0; i < pairs->how->n_keys; i++) {
		struct pq_value key = pairs->key[i];

		if (!pq_pairs_own(pairs, &key, row))
			return PQ_NO_SPAN;
		values[i] = key;
	}
	return span;
}

/*
 * Drops a span because of a record of its key at `time`, and counts it in *count unless it is
 * lost. The caller closes it or opens it again.
 */
static void drop_open(struct pq_pairs *pairs, uint32_t span, uint64_t time, uint64_t *count)
{
	if (pairs->spans.states[span].is_lost) {
		pq_pairs_drop_lost(pairs, span, time);
		return;
	}
	*count += time >= pairs->how->from;
	pq_pairs_drop_span(pairs, span);
}

/* Counts a record in *count if it is in the window, or has no time. */
static void count_record(const struct pq_pairs *pairs, const struct pq_value *time,
			 uint64_t *count)
{
	*count += time->type != PQ_INT ||
		  (time->u >= pairs->how->from && time->u < pairs->how->to);
}

/* Returns false if a span may have ended before, among records that were lost. */
static bool may_close(const struct pq_pairs *pairs, uint32_t span)
{
	return !pairs->spans.states[span].is_lost || pairs->how->keeps_lost;
}

/* Opens a span for the current record. Returns false without memory. */
static INLINE bool meet_open(struct pq_pairs *pairs, uint32_t sides,
			     const struct pq_value *time, struct pq_pair_row *row)
{
	const struct pq_pair_side *side = &pairs->how->sides[__builtin_ctz(sides)];
	struct pq_value *values;
	struct pb_slot *slot;
	uint32_t hash, span;

	if (time->type != PQ_INT || !read_pair_key(pairs, side->keys, &hash)) {
		count_record(pairs, time, &pairs->counts.unkeyed);
		return true;
	}
	slot = pq_spans_find(&pairs->spans, pairs->key, hash);
	if (slot->item && side->leaves_open && may_close(pairs, slot->item - 1)) {
		count_record(pairs, time, &pairs->counts.restarted);
		return true;
	}
	if (slot->item)
		drop_open(pairs, slot->item - 1, time->u, &pairs->counts.restarted);
	if (time->u >= pairs->how->to) {
		if (slot->item)
			pq_spans_close(&pairs->spans, slot);
		return true;
	}
	if (slot->item) {
		span = slot->item - 1;
		pq_spans_reopen(&pairs->spans, span);
		pq_span_forget(&pairs->spans,
			       pq_spans_at(&pairs->spans, span) + pairs->how->n_keys,
			       pairs->n_kept);
	} else {
		span = open_span(pairs, hash, slot, row);
		if (span == PQ_NO_SPAN)
			return false;
	}
	pairs->spans.states[span].source = pairs->columns->fields->rec->source;
	values = pq_spans_at(&pairs->spans, span) + pairs->how->n_keys;
	values[0] = *time;
	++*pairs->serial;
	for (size_t i = 1; i < pairs->n_kept; i++) {
		struct pq_value value = { .type = PQ_INT, .u = *pairs->serial };

		if (pairs->kept[i] != PQ_SERIAL)
			pq_pairs_read(pairs, pairs->kept[i], &value);
		if (!pq_pairs_own(pairs, &value, row))
			return false;
		values[i] = value;
	}
	return pq_phases_begin(pairs, span, side->state, time->u) &&
	       pq_opening_keep(pairs, span);
}

/* Sets *out to a value of a span itself, which ends as `part`. */
static void read_own(const struct pq_pairs *pairs, uint32_t span, const struct pq_part *part,
		     uint32_t place, struct pq_value *out)
{
	if (pq_is_key(pairs->how, place))
		*out = pq_spans_at(&pairs->spans, span)[place - PQ_SPAN_KEY];
	else
		pq_part_value(pairs, span < pairs->n_phases ? &pairs->phases[span] : NULL, 0,
			      part, place, out);
}

/*
 * Makes the row of a span that ends as `part`, or (NULL: only its key is read) of the record
 * inside the current span. Returns false without memory.
 */
static bool make_row(struct pq_pairs *pairs, uint32_t span, const struct pq_part *part,
		     struct pq_pair_row *row)
{
	const struct pq_value *kept = pq_spans_at(&pairs->spans, span) + pairs->how->n_keys;

	for (size_t i = 0; i < pairs->how->n_values; i++) {
		const struct pq_pair_value *value = &pairs->how->values[i];

		if (value->of == PQ_OF_OPEN)
			row->values[i] = kept[pairs->from[i]];
		else if (value->of == PQ_OF_INNER)
			pq_pairs_read_inner(pairs, value->place, &row->values[i]);
		else if (value->of == PQ_OF_SPAN)
			read_own(pairs, span, part, value->place, &row->values[i]);
		else
			pq_pairs_read(pairs, value->place, &row->values[i]);
		if (value->of == PQ_OF_OPEN ?
			    !pq_pairs_lend(pairs, &row->values[i], row) :
			    row->values[i].type == PQ_TEXT &&
				    !pq_row_texts_add(row->texts, row->known, &row->values[i]))
			return false;
	}
	row->made = true;
	return true;
}

/* Returns true if the current record answers to the one that opened a span. */
static INLINE bool answers(struct pq_pairs *pairs, const struct pq_pair_side *side,
			   const struct pq_value *kept)
{
	struct pq_fields *fields = pairs->columns->fields;

	if (side->answers == PQ_NO_PLACE)
		return true;
	for (size_t i = 0; i < pairs->how->n_opened; i++)
		pairs->opened[i] = kept[pairs->opened_from[i]];
	fields->row = pairs->opened;
	fields->n_row = pairs->how->n_opened;
	return test_column(pairs, side->answers);
}

/*
 * Returns the slot of the span that the current record closes, as one of `sides`.
 * Counts the record, and drops a span that it does not answer to, if there is none: NULL.
 */
static INLINE struct pb_slot *find_answered(struct pq_pairs *pairs, uint32_t sides,
					    const struct pq_value *time)
{
	struct pb_slot *missed = NULL;
	bool has_key = false;

	for (; sides && time->type == PQ_INT; sides &= sides - 1) {
		const struct pq_pair_side *side = &pairs->how->sides[__builtin_ctz(sides)];
		const struct pq_value *kept;
		struct pb_slot *slot;
		uint32_t hash;

		if (!read_pair_key(pairs, side->keys, &hash))
			continue;
		has_key = true;
		slot = pq_spans_find(&pairs->spans, pairs->key, hash);
		if (!slot->item)
			continue;
		kept = pq_spans_at(&pairs->spans, slot->item - 1) + pairs->how->n_keys;
		/* a record that comes too late for its place may be earlier than its open */
		if ((int64_t)(time->u - kept[0].u) < 0)
			continue;
		if (may_close(pairs, slot->item - 1) && answers(pairs, side, kept))
			return slot;
		missed = slot;
	}
	count_record(pairs, time, has_key ? &pairs->counts.unopened : &pairs->counts.unkeyed);
	if (missed) {
		drop_open(pairs, missed->item - 1, time->u, &pairs->counts.mismatched);
		pq_spans_close(&pairs->spans, missed);
	}
	return NULL;
}

/*
 * Closes a span for the current record, which belongs to `sides`. Returns false
 * without memory.
 */
static INLINE bool meet_close(struct pq_pairs *pairs, uint32_t sides,
			      const struct pq_value *time, struct pq_pair_row *row)
{
	const struct pq_pairing *how = pairs->how;
	struct pb_slot *slot = find_answered(pairs, sides, time);
	const struct pq_value *kept;
	struct pq_part whole, part;
	bool in_window, is_row;

	if (!slot)
		return true;
	kept = pq_spans_at(&pairs->spans, slot->item - 1) + how->n_keys;
	whole = (struct pq_part){ .from = kept[0].u, .to = time->u, .has_stop = true };
	in_window = pq_part_first(pairs, &whole, &part);
	if (pairs->limit != PQ_LIMIT_NONE)
		return false;
	is_row = how->inner == PQ_NO_PLACE && !pairs->nested && !pairs->columns->items &&
		 !part.is_cut;
	if (is_row && in_window && !make_row(pairs, slot->item - 1, &part, row))
		return false;
	pairs->ended_serial = pairs->has_serials ? kept[1].u : 0; /* see keep_columns */
	tell_ended(pairs, kept, true);
	if ((how->waits || pairs->columns->items || part.is_cut) && in_window &&
	    !pq_ended_take(pairs, slot->item - 1, &whole, &part, row))
		return false;
	pairs->counts.kept += in_window && pairs->spans.states[slot->item - 1].is_lost;
	pq_spans_close(&pairs->spans, slot);
	pairs->counts.pairs += in_window;
	return true;
}

/*
 * Changes the states of spans for the current record, which belongs to `sides`.
 * Returns false without memory, or if there are too many changes.
 */
static bool meet_change(struct pq_pairs *pairs, uint32_t sides, const struct pq_value *time)
{
	for (; sides; sides &= sides - 1) {
		const struct pq_pair_side *side = &pairs->how->sides[__builtin_ctz(sides)];
		struct pb_slot *slot;
		uint32_t hash;

		if (time->type != PQ_INT || !read_pair_key(pairs, side->keys, &hash)) {
			count_record(pairs, time, &pairs->counts.unkeyed);
			continue;
		}
		slot = pq_spans_find(&pairs->spans, pairs->key, hash);
		if (slot->item && !may_close(pairs, slot->item - 1)) {
			pq_pairs_drop_lost(pairs, slot->item - 1, time->u);
			pq_spans_close(&pairs->spans, slot);
		} else if (!slot->item || !answers(pairs, side,
						   pq_spans_at(&pairs->spans, slot->item - 1) +
							   pairs->how->n_keys)) {
			count_record(pairs, time, &pairs->counts.stray);
		} else if (!pq_phases_change(pairs, slot->item - 1, side->state, time->u)) {
			return false;
		}
	}
	return true;
}

/*
 * Handles a record, or a nested span that ended, which may be inside a span. Returns false as
 * pq_waiting_hold() does.
 */
static bool meet_inner(struct pq_pairs *pairs, struct pq_pair_row *row)
{
	const struct pq_value *kept;
	struct pb_slot *slot;
	uint32_t hash;

	if (!read_pair_key(pairs, NULL, &hash))
		return true;
	slot = pq_spans_find(&pairs->spans, pairs->key, hash);
	if (!slot->item)
		return true;
	/* it is known at its end whether it is inside a lost one */
	if (pairs->spans.states[slot->item - 1].is_lost &&
	    !(pairs->how->keeps_lost && pairs->how->waits))
		return true;
	kept = pq_spans_at(&pairs->spans, slot->item - 1) + pairs->how->n_keys;
	if (pairs->nested && kept[1].u > pairs->nested->ended_serial) /* it was opened later */
		return true;
	if (pairs->how->waits)
		return pq_waiting_hold(pairs, slot->item - 1, row);
	return make_row(pairs, slot->item - 1, NULL, row);
}

/*
 * Returns true if the record says that records were lost: spans that are open then may have
 * ended.
 */
static bool is_lost(const struct pq_pairs *pairs)
{
	return pd_record_loss(pairs->columns->fields->rec) != PD_LOSS_NONE;
}

/* The role of records that neither open, change nor close spans, nor are inside. */
static const struct pq_pair_role no_role;

/* Reads the time of the current record, and notes it. Returns false without memory. */
static INLINE bool read_time(struct pq_pairs *pairs, struct pq_value *time)
{
	pq_pairs_read(pairs, pairs->how->time, time);
	return time->type != PQ_INT || pq_pairs_note_time(pairs, time->u);
}

/* Returns the role of the current record; it is valid until the next call. */
static INLINE const struct pq_pair_role *role_of(struct pq_pairs *pairs)
{
	const struct pq_bound *bound = pairs->columns->fields->bound;
	struct pq_pair_role *role = &pairs->roles[bound->number % PQ_KNOWN_ROLES];
	const struct pq_pairing *how = pairs->how;

	if (pairs->by_event && role->bound == bound)
		return role;
	*role = (struct pq_pair_role){ .bound = bound };
	for (size_t i = 0; i < how->n_sides; i++)
		if (test_column(pairs, how->sides[i].condition))
			role->sides[how->sides[i].role] |= UINT32_C(1) << i;
	role->inner = how->inner != PQ_NO_PLACE && test_column(pairs, how->inner);
	return role;
}

/* Returns true if a record opens, changes or closes spans. */
static bool is_end(const struct pq_pair_role *role)
{
	return role->sides[PQ_CLOSES] || role->sides[PQ_CHANGES] || role->sides[PQ_OPENS];
}

/*
 * Closes a nested span for the current record. Returns false as pq_waiting_hold()
 * does.
 */
static bool meet_nested_close(struct pq_pairs *pairs, uint32_t sides,
			      const struct pq_value *time, struct pq_pair_row *row)
{
	struct pq_pair_row inner = { pairs->inner_row, row->texts, row->known, false };

	return meet_close(pairs->nested, sides, time, &inner) &&
	       (!inner.made || meet_inner(pairs, row));
}

/*
 * Does what pq_pairs_meet() does, for spans that have spans inside: these open last, and close
 * first.
 */
static __attribute__((noinline)) bool meet_both(struct pq_pairs *pairs, struct pq_pair_row *row)
{
	struct pq_pairs *nested = pairs->nested;
	const struct pq_pair_role *role = &no_role, *inner = &no_role;
	bool lost = is_lost(pairs);
	struct pq_value time;

	if (!read_time(pairs, &time))
		return false;
	if (!lost || pairs->how->pairs_lost)
		role = role_of(pairs);
	if (!lost || nested->how->pairs_lost)
		inner = role_of(nested);
	lost = lost && !is_end(role) && !is_end(inner);
	if (inner->sides[PQ_CLOSES] &&
	    !meet_nested_close(pairs, inner->sides[PQ_CLOSES], &time, row))
		return false;
	if (role->sides[PQ_CLOSES] && !meet_close(pairs, role->sides[PQ_CLOSES], &time, row))
		return false;
	if (!meet_change(nested, inner->sides[PQ_CHANGES], &time) ||
	    !meet_change(pairs, role->sides[PQ_CHANGES], &time))
		return false;
	if (role->sides[PQ_OPENS] && !meet_open(pairs, role->sides[PQ_OPENS], &time, row))
		return false;
	if (inner->sides[PQ_OPENS] && !meet_open(nested, inner->sides[PQ_OPENS], &time, row))
		return false;
	if (lost && time.type == PQ_INT) {
		pq_pairs_lose(pairs);
		pq_pairs_lose(nested);
	}
	return true;
}

bool pq_pairs_meet(struct pq_pairs *pairs, struct pq_pair_row *row)
{
	const struct pq_pairing *how = pairs->how;
	bool lost = is_lost(pairs);
	const struct pq_pair_role *role = &no_role;
	struct pq_value time;

	if (pairs->nested)
		return meet_both(pairs, row);
	if (!read_time(pairs, &time))
		return false;
	if (!lost || how->pairs_lost || how->inner != PQ_NO_PLACE)
		role = role_of(pairs);
	if (role->sides[PQ_CLOSES] && !meet_close(pairs, role->sides[PQ_CLOSES], &time, row))
		return false;
	if (role->sides[PQ_CHANGES] && !meet_change(pairs, role->sides[PQ_CHANGES], &time))
		return false;
	if (role->sides[PQ_OPENS] && !meet_open(pairs, role->sides[PQ_OPENS], &time, row))
		return false;
	if (role->inner)
		return meet_inner(pairs, row);
	/*
	 * records that perf adds at the end have no time: it is not known when others were lost
	 */
	if (lost && !is_end(role) && time.type == PQ_INT)
		pq_pairs_lose(pairs);
	return true;
}
