#include "rows_pairs_internal.h"

/* Most spans have no spans inside, and shall not pay for calls that two callers need. */
#define INLINE inline __attribute__((always_inline))

static bool test_column(const struct pq_pairs *pairs, uint32_t place)
{
	return pq_expr_test(pairs->columns->exprs[place], pairs->columns->fields);
}

/*
 * Returns true if the current record, for which the condition of a side holds, belongs
 * to it.
 */
static INLINE bool belongs(struct pq_pairs *pairs, const struct pq_pair_side *side)
{
	struct pq_pair_known *known = pairs->known;

	if (side->test == PQ_NO_PLACE)
		return true;
	known = &pairs->known[known[side - pairs->how->sides].test];
	if (known->tested != pairs->n_met) {
		known->holds = test_column(pairs, side->test);
		known->tested = pairs->n_met;
	}
	return known->holds;
}

/* Reads the key of the current record, as pq_pairs_read_key() does. */
static INLINE bool read_side_key(struct pq_pairs *pairs, const struct pq_pair_side *side,
				 uint32_t *hash)
{
	uint8_t first = pairs->known[side - pairs->how->sides].key;

	if (pairs->read_key.met != pairs->n_met || pairs->read_key.side != first) {
		pairs->read_key.is_whole = pq_pairs_read_key(pairs, side->keys,
							     &pairs->read_key.hash);
		pairs->read_key.met = pairs->n_met;
		pairs->read_key.side = first;
	}
	*hash = pairs->read_key.hash;
	return pairs->read_key.is_whole;
}

/* Returns true if the key that was read last is that of a side. */
static INLINE bool is_key_read(const struct pq_pairs *pairs, const struct pq_pair_side *side)
{
	return pairs->read_key.met == pairs->n_met && pairs->read_key.is_whole &&
	       pairs->read_key.side == pairs->known[side - pairs->how->sides].key;
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

/* Returns the first of the sides that the record belongs to; NULL: none. */
static INLINE const struct pq_pair_side *first_side(struct pq_pairs *pairs, uint32_t sides)
{
	for (; sides; sides &= sides - 1) {
		const struct pq_pair_side *side = &pairs->how->sides[__builtin_ctz(sides)];

		if (belongs(pairs, side))
			return side;
	}
	return NULL;
}

/*
 * Opens a span for the current record, which belongs to `side`, unless one with its
 * key is to go on. Returns false without memory.
 */
static INLINE bool meet_open(struct pq_pairs *pairs, const struct pq_pair_side *side,
			     const struct pq_value *time, struct pq_pair_row *row)
{
	struct pb_slot *slot;
	uint32_t hash, span;

	if (time->type != PQ_INT || !read_side_key(pairs, side, &hash)) {
		count_record(pairs, time, &pairs->counts.unkeyed);
		return true;
	}
	slot = pq_spans_find(&pairs->spans, pairs->key, hash);
	if (slot->item && pq_phases_changed(pairs, slot->item - 1))
		return true;
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
		pq_pairs_reopen_span(pairs, span);
	} else {
		span = pq_pairs_open_span(pairs, hash, slot, row);
		if (span == PQ_NO_SPAN)
			return false;
	}
	return pq_pairs_begin_span(pairs, span, side, time, row);
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
	bool has_key = false, is_any = false;

	for (; sides; sides &= sides - 1) {
		const struct pq_pair_side *side = &pairs->how->sides[__builtin_ctz(sides)];
		const struct pq_value *kept;
		struct pb_slot *slot;
		uint32_t hash;

		if (!belongs(pairs, side))
			continue;
		is_any = true;
		if (time->type != PQ_INT || !read_side_key(pairs, side, &hash))
			continue;
		has_key = true;
		slot = pq_spans_find(&pairs->spans, pairs->key, hash);
		if (!slot->item)
			continue;
		kept = pq_spans_at(&pairs->spans, slot->item - 1) + pairs->how->n_keys;
		/* a record that comes too late for its place may be earlier than its open */
		if ((int64_t)(time->u - kept[0].u) < 0)
			continue;
		if (may_close(pairs, slot->item - 1) &&
		    pq_phases_in(pairs, slot->item - 1, side->from) &&
		    answers(pairs, side, kept))
			return slot;
		missed = slot;
	}
	if (!is_any)
		return NULL;
	count_record(pairs, time, has_key ? &pairs->counts.unopened : &pairs->counts.unkeyed);
	if (missed) {
		drop_open(pairs, missed->item - 1, time->u, &pairs->counts.mismatched);
		pq_spans_close(&pairs->spans, missed);
	}
	return NULL;
}

/*
 * Ends a span for the current record; the caller closes it, or opens it again. Returns
 * false without memory.
 */
static INLINE bool end_span(struct pq_pairs *pairs, uint32_t span, const struct pq_value *time,
			    struct pq_pair_row *row)
{
	const struct pq_pairing *how = pairs->how;
	const struct pq_value *kept = pq_spans_at(&pairs->spans, span) + how->n_keys;
	struct pq_part whole, part;
	bool in_window, is_row;

	whole = (struct pq_part){
		.from = kept[0].u, .to = time->u, .has_stop = true, .is_last = true
	};
	in_window = pq_part_first(pairs, &whole, &part);
	if (pairs->limit != PQ_LIMIT_NONE)
		return false;
	is_row = how->inner == PQ_NO_PLACE && !pairs->nested && !pairs->columns->items &&
		 !part.is_cut;
	if (is_row && in_window && !pq_pairs_make_row(pairs, span, &part, row))
		return false;
	pairs->ended_serial = pairs->has_serials ? kept[1].u : 0; /* see keep_columns */
	pq_pairs_tell_ended(pairs, kept, true);
	if ((how->waits || pairs->columns->items || part.is_cut) && in_window &&
	    !pq_ended_take(pairs, span, &whole, &part, row))
		return false;
	pairs->counts.kept += in_window && pairs->spans.states[span].is_lost;
	pairs->counts.pairs += in_window;
	return true;
}

/*
 * Closes a span for the current record, for which the conditions of `sides` hold.
 * Returns false without memory.
 */
static INLINE bool meet_close(struct pq_pairs *pairs, uint32_t sides,
			      const struct pq_value *time, struct pq_pair_row *row)
{
	struct pb_slot *slot = sides ? find_answered(pairs, sides, time) : NULL;

	if (!slot)
		return true;
	if (!end_span(pairs, slot->item - 1, time, row))
		return false;
	pq_spans_close(&pairs->spans, slot);
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

		if (!belongs(pairs, side))
			continue;
		if (time->type != PQ_INT || !read_side_key(pairs, side, &hash)) {
			count_record(pairs, time, &pairs->counts.unkeyed);
			continue;
		}
		slot = pq_spans_find(&pairs->spans, pairs->key, hash);
		if (slot->item && !may_close(pairs, slot->item - 1)) {
			pq_pairs_drop_lost(pairs, slot->item - 1, time->u);
			pq_spans_close(&pairs->spans, slot);
		} else if (!slot->item || !pq_phases_in(pairs, slot->item - 1, side->from) ||
			   !answers(pairs, side,
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
 * Does what a record of some sides does that have the same fields as keys: a span that it
 * closes is often followed by one with the same key. Returns false as pq_waiting_hold() does.
 */
static INLINE bool meet_group(struct pq_pairs *pairs, const struct pq_pair_role *role,
			      uint32_t group, const struct pq_value *time,
			      struct pq_pair_row *row)
{
	uint32_t closes = role->sides[PQ_CLOSES] & group;
	uint32_t changes = role->sides[PQ_CHANGES] & group;
	struct pb_slot *slot = closes ? find_answered(pairs, closes, time) : NULL;
	const struct pq_pair_side *side;

	if (slot && !end_span(pairs, slot->item - 1, time, row))
		return false;
	if (slot && changes) {
		pq_spans_close(&pairs->spans, slot);
		slot = NULL;
	}
	if (changes && !meet_change(pairs, changes, time))
		return false;
	side = first_side(pairs, role->sides[PQ_OPENS] & group);
	if (!slot)
		return !side || meet_open(pairs, side, time, row);
	if (!side || time->u >= pairs->how->to || !is_key_read(pairs, side)) {
		pq_spans_close(&pairs->spans, slot);
		return !side || meet_open(pairs, side, time, row);
	}
	pq_pairs_reopen_span(pairs, slot->item - 1);
	return pq_pairs_begin_span(pairs, slot->item - 1, side, time, row);
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

	pairs->read_key.met = 0;
	if (!pq_pairs_read_key(pairs, NULL, &hash))
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
	return pq_pairs_make_row(pairs, slot->item - 1, NULL, row);
}

/*
 * Returns true if the record says that records were lost: spans that are open then may have
 * ended.
 */
static bool is_lost(const struct pq_pairs *pairs)
{
	return pd_record_loss(pairs->columns->fields->rec) != PD_LOSS_NONE;
}

/* Reads the time of the current record, and notes it. Returns false without memory. */
static INLINE bool read_time(struct pq_pairs *pairs, struct pq_value *time)
{
	pairs->n_met++;
	pq_pairs_read(pairs, pairs->how->time, time);
	return time->type != PQ_INT || pq_pairs_note_time(pairs, time->u);
}

/* Sets *role to what the conditions say of the current record. */
static void find_role(const struct pq_pairs *pairs, struct pq_pair_role *role)
{
	const struct pq_pairing *how = pairs->how;

	*role = (struct pq_pair_role){ .bound = pairs->columns->fields->bound };
	for (size_t i = 0; i < how->n_sides; i++)
		if (test_column(pairs, how->sides[i].condition))
			role->sides[how->sides[i].role] |= UINT32_C(1) << i;
	role->inner = how->inner != PQ_NO_PLACE && test_column(pairs, how->inner);
}

/* Returns the role of the current record. */
static INLINE struct pq_pair_role role_of(struct pq_pairs *pairs)
{
	const struct pq_bound *bound = pairs->columns->fields->bound;
	struct pq_pair_role *role = &pairs->roles[bound->number % PQ_KNOWN_ROLES];

	if (!pairs->by_event || role->bound != bound)
		find_role(pairs, role);
	return *role;
}

/* Returns true if a record opens, changes or closes spans. */
static bool is_end(struct pq_pairs *pairs, const struct pq_pair_role *role)
{
	return first_side(pairs, role->sides[PQ_CLOSES] | role->sides[PQ_CHANGES] |
					 role->sides[PQ_OPENS]) != NULL;
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

/* Opens a span as the first of the sides. Returns false without memory. */
static bool open_first(struct pq_pairs *pairs, uint32_t sides, const struct pq_value *time,
		       struct pq_pair_row *row)
{
	const struct pq_pair_side *side = first_side(pairs, sides);

	return !side || meet_open(pairs, side, time, row);
}

/*
 * Does what pq_pairs_meet() does, for spans that have spans inside: these open last, and close
 * first.
 */
static __attribute__((noinline)) bool meet_both(struct pq_pairs *pairs, struct pq_pair_row *row)
{
	struct pq_pairs *nested = pairs->nested;
	struct pq_pair_role role = { .bound = NULL }, inner = { .bound = NULL };
	bool lost = is_lost(pairs);
	struct pq_value time;

	if (!read_time(pairs, &time))
		return false;
	if (!lost || pairs->how->pairs_lost)
		role = role_of(pairs);
	if (!lost || nested->how->pairs_lost)
		inner = role_of(nested);
	nested->n_met = pairs->n_met;
	lost = lost && !is_end(pairs, &role) && !is_end(nested, &inner);
	if (inner.sides[PQ_CLOSES] &&
	    !meet_nested_close(pairs, inner.sides[PQ_CLOSES], &time, row))
		return false;
	if (role.sides[PQ_CLOSES] && !meet_close(pairs, role.sides[PQ_CLOSES], &time, row))
		return false;
	if (!meet_change(nested, inner.sides[PQ_CHANGES], &time) ||
	    !meet_change(pairs, role.sides[PQ_CHANGES], &time))
		return false;
	if (!open_first(pairs, role.sides[PQ_OPENS], &time, row) ||
	    !open_first(nested, inner.sides[PQ_OPENS], &time, row))
		return false;
	if (lost && time.type == PQ_INT) {
		pq_pairs_lose(pairs);
		pq_pairs_lose(nested);
	}
	return true;
}

/*
 * Does what the current record does after its groups. Returns false as
 * pq_waiting_hold() does.
 */
static INLINE bool end_record(struct pq_pairs *pairs, const struct pq_pair_role *role,
			      const struct pq_value *time, struct pq_pair_row *row)
{
	if (role->inner)
		return meet_inner(pairs, row);
	/*
	 * records that perf adds at the end have no time: it is not known when others were lost
	 */
	if (is_lost(pairs) && !is_end(pairs, role) && time->type == PQ_INT)
		pq_pairs_lose(pairs);
	return true;
}

bool pq_pairs_go_on(struct pq_pairs *pairs, struct pq_pair_row *row)
{
	const struct pq_pair_role role = pairs->left.role;
	const struct pq_value time = pairs->left.time;

	while (pairs->left.group < pairs->how->n_groups) {
		uint32_t group = pairs->of_group[pairs->left.group++];

		if (!meet_group(pairs, &role, group, &time, row))
			return false;
		if (row->made || pairs->ended.left != PQ_LEFT_NONE)
			return true;
	}
	pairs->left.role.bound = NULL;
	return end_record(pairs, &role, &time, row);
}

bool pq_pairs_meet(struct pq_pairs *pairs, struct pq_pair_row *row)
{
	const struct pq_pairing *how = pairs->how;
	struct pq_pair_role role = { .bound = NULL };
	struct pq_value time;

	if (pairs->nested)
		return meet_both(pairs, row);
	if (!read_time(pairs, &time))
		return false;
	if (!is_lost(pairs) || how->pairs_lost || how->inner != PQ_NO_PLACE)
		role = role_of(pairs);
	if (role.bound && how->n_groups > 1) {
		pairs->left.role = role;
		pairs->left.time = time;
		pairs->left.group = 0;
		return pq_pairs_go_on(pairs, row);
	}
	if (role.bound && !meet_group(pairs, &role, UINT32_MAX, &time, row))
		return false;
	return end_record(pairs, &role, &time, row);
}
