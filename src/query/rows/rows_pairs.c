#include "rows_pairs_sides.h"

/*
 * Opens a span for the current record, which belongs to `side`, unless one with its
 * key is to go on. Returns false without memory.
 */
static INLINE bool meet_open(struct pq_pairs *pairs, const struct pq_pair_side *side,
			     const struct pq_value *time, struct pq_pair_row *row)
{
	struct pb_slot *slot;
	uint32_t hash, span;

	if (time->type != PQ_INT || !pq_side_key(pairs, side, &hash)) {
		pq_pairs_count_unkeyed(pairs, time);
		return true;
	}
	slot = pq_spans_find(&pairs->spans, pairs->key, hash);
	if (pq_pairs_changed(pairs, side, slot->item - 1))
		return true;
	if (slot->item && side->leaves_open && pq_may_close(pairs, slot->item - 1)) {
		pq_pairs_count(pairs, time, &pairs->counts.repeated);
		return true;
	}
	if (slot->item)
		pq_pairs_drop_open(pairs, slot->item - 1, time->u, &pairs->counts.restarted);
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

/* A record that could close a span, but does not. */
struct unanswered {
	bool is_any;   /* there is such a record */
	bool has_key;  /* it has a key */
	uint32_t span; /* the span to which it does not answer; PQ_NO_SPAN: there is none */
};

/*
 * Returns the slot of the span that the current record closes, as one of `sides`; NULL if there
 * is none, and sets *missed.
 */
static INLINE struct pb_slot *find_answered(struct pq_pairs *pairs, uint32_t sides,
					    const struct pq_value *time,
					    struct unanswered *missed)
{
	for (; sides; sides &= sides - 1) {
		const struct pq_pair_side *side = &pairs->how->sides[__builtin_ctz(sides)];
		struct pb_slot *slot;
		uint32_t hash;

		if (!pq_side_has(pairs, side))
			continue;
		missed->is_any = true;
		if (time->type != PQ_INT || !pq_side_key(pairs, side, &hash))
			continue;
		missed->has_key = true;
		slot = pq_spans_find(&pairs->spans, pairs->key, hash);
		if (!slot->item)
			continue;
		/* a record that comes too late for its place may be earlier than its open */
		if ((int64_t)(time->u - pq_pairs_start(pairs, slot->item - 1)) < 0)
			continue;
		if (pq_may_close(pairs, slot->item - 1) &&
		    pq_phases_in(pairs, slot->item - 1, side->from) &&
		    (!side->next_on_cpu || pq_pairs_is_held(pairs, slot->item - 1)) &&
		    pq_side_answers(pairs, side, slot->item - 1)) {
			missed->is_any = false;
			return slot;
		}
		missed->span = slot->item - 1;
	}
	return NULL;
}

/*
 * Counts a record that closed no span, unless it changed the one to which it does not answer,
 * and drops that span.
 */
static INLINE void settle_unanswered(struct pq_pairs *pairs, const struct unanswered *missed,
				     const struct pq_value *time)
{
	struct pb_slot *slot;

	if (!missed->is_any)
		return;
	if (missed->span != PQ_NO_SPAN && pairs->how->n_states &&
	    pairs->phases[missed->span].changed == pairs->n_met)
		return;
	if (missed->has_key)
		pq_pairs_count(pairs, time, &pairs->counts.unopened);
	else
		pq_pairs_count_unkeyed(pairs, time);
	if (missed->span == PQ_NO_SPAN)
		return;
	slot = pq_spans_slot(&pairs->spans, missed->span);
	if (!slot->item) /* it was lost, and is dropped already */
		return;
	pq_pairs_drop_open(pairs, missed->span, time->u, &pairs->counts.mismatched);
	pq_spans_close(&pairs->spans, slot);
}

/*
 * Ends a span for the current record; the caller closes it, or opens it again. Returns
 * false without memory.
 */
static INLINE bool end_span(struct pq_pairs *pairs, uint32_t span, const struct pq_value *time,
			    struct pq_pair_row *row)
{
	const struct pq_pairing *how = pairs->how;
	struct pq_part whole, part;
	bool in_window, is_row;

	whole = (struct pq_part){
		.from = pq_pairs_start(pairs, span),
		.to = time->u,
		.has_stop = true,
		.is_last = true,
	};
	in_window = pq_part_first(pairs, &whole, &part);
	if (pairs->limit != PQ_LIMIT_NONE)
		return false;
	is_row = (how->inner == PQ_NO_PLACE || how->beside) && !pairs->nested &&
		 !pairs->columns->items && !part.is_cut;
	if (is_row && in_window && !pq_pairs_make_row(pairs, span, &part, row))
		return false;
	pairs->ended_serial = pq_pairs_serial(pairs, span);
	pq_pairs_tell_ended(pairs, span, true);
	if ((how->waits || pairs->columns->items || part.is_cut) && in_window &&
	    !pq_ended_take(pairs, span, &whole, &part, row))
		return false;
	pairs->counts.kept += in_window && pq_span_is_lost(&pairs->spans, span);
	pairs->counts.pairs += in_window;
	return true;
}

/*
 * Closes a span for the current record, and changes others: it closes one as one of the sides
 * `closes`, and changes them as `changes`. Without changes a span that ended is not closed: its
 * slot is set in *ended. Returns false without memory, or if there are too many changes.
 */
static INLINE bool meet_ends(struct pq_pairs *pairs, uint32_t closes, uint32_t changes,
			     const struct pq_value *time, struct pq_pair_row *row,
			     struct pb_slot **ended)
{
	struct unanswered missed = { .span = PQ_NO_SPAN };
	struct pb_slot *slot = NULL;

	if (closes)
		slot = find_answered(pairs, closes, time, &missed);
	if (slot && !end_span(pairs, slot->item - 1, time, row))
		return false;
	if (changes) {
		if (slot)
			pq_spans_close(&pairs->spans, slot);
		slot = NULL;
		if (!pq_pairs_meet_change(pairs, changes, closes, time, row))
			return false;
	}
	settle_unanswered(pairs, &missed, time);
	*ended = slot;
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
	const struct pq_pair_side *side;
	struct pb_slot *slot;

	if (!meet_ends(pairs, closes, changes, time, row, &slot))
		return false;
	side = pq_first_side(pairs, role->sides[PQ_OPENS] & group);
	if (!slot)
		return !side || meet_open(pairs, side, time, row);
	if (!side || time->u >= pairs->how->to || !pq_is_key_read(pairs, side)) {
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
	struct pb_slot *slot;
	uint32_t hash;

	pairs->read_key.met = 0;
	if (!pq_pairs_read_key(pairs, NULL, &hash))
		return true;
	slot = pq_spans_find(&pairs->spans, pairs->key, hash);
	if (!slot->item)
		return true;
	/* it is known at its end whether it is inside a lost one */
	if (pq_span_is_lost(&pairs->spans, slot->item - 1) &&
	    !(pairs->how->keeps_lost && pairs->how->waits))
		return true;
	if (pairs->nested &&
	    pq_pairs_serial(pairs, slot->item - 1) > pairs->nested->ended_serial)
		return true; /* it was opened later */
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
	pairs->cpu = NULL;
	pq_pairs_load(pairs, pairs->how->time, time);
	return time->type != PQ_INT || pq_pairs_note_time(pairs, time->u);
}

/* Sets *role to what the conditions say of the current record. */
static void find_role(const struct pq_pairs *pairs, struct pq_pair_role *role)
{
	const struct pq_pairing *how = pairs->how;

	*role = (struct pq_pair_role){ .bound = pairs->columns->fields->bound };
	for (size_t i = 0; i < how->n_sides; i++)
		if (pq_pairs_test(pairs, how->sides[i].condition))
			role->sides[how->sides[i].role] |= UINT32_C(1) << i;
	role->inner = how->inner != PQ_NO_PLACE && pq_pairs_test(pairs, how->inner);
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

/* Returns true if samples of an event may matter. Returns true without memory, too. */
static bool event_matters(const struct pq_pairs *pairs, const struct pd_event *event)
{
	static const uint8_t header[8];
	const struct pd_record rec = {
		.bytes = header,
		.size = sizeof(header),
		.type = PD_RECORD_SAMPLE,
		.layout = event->sample,
		.event = event,
	};
	struct pq_pair_role role;

	if (!pq_fields_enter(pairs->columns->fields, &rec))
		return true;
	find_role(pairs, &role);
	return role.inner ||
	       (role.sides[PQ_CLOSES] | role.sides[PQ_CHANGES] | role.sides[PQ_OPENS]) != 0;
}

bool pq_pairs_choose(struct pq_pairs *pairs, struct pd_sample_choice *choice)
{
	const struct pd_session *session = pairs->columns->fields->session;
	bool leaves_out = false;

	if (!pairs->by_event || pairs->nested)
		return true;
	pairs->chosen = malloc(session->n_events + 1);
	pairs->left_out = calloc(pairs->n_sources, sizeof(*pairs->left_out));
	if (!pairs->chosen || !pairs->left_out)
		return false;
	for (size_t i = 0; i < session->n_events; i++) {
		pairs->chosen[i] = event_matters(pairs, session->events[i]);
		leaves_out = leaves_out || !pairs->chosen[i];
	}
	pairs->chosen[session->n_events] = true;
	pairs->columns->fields->rec = NULL;
	if (!leaves_out)
		return true;
	*choice = (struct pd_sample_choice){ pairs->chosen, session->n_events,
					     pairs->left_out };
	return true;
}

/* Returns true if a record opens, changes or closes spans. */
static bool is_end(struct pq_pairs *pairs, const struct pq_pair_role *role)
{
	return pq_first_side(pairs, role->sides[PQ_CLOSES] | role->sides[PQ_CHANGES] |
					    role->sides[PQ_OPENS]) != NULL;
}

/*
 * Closes and changes the spans that a record of a role does, where spans have spans inside.
 * Returns false as meet_ends() does.
 */
static bool meet_ends_alone(struct pq_pairs *pairs, const struct pq_pair_role *role,
			    const struct pq_value *time, struct pq_pair_row *row)
{
	struct pb_slot *slot;

	if (!meet_ends(pairs, role->sides[PQ_CLOSES], role->sides[PQ_CHANGES], time, row,
		       &slot))
		return false;
	if (slot)
		pq_spans_close(&pairs->spans, slot);
	return true;
}

/*
 * Closes and changes nested spans, whose rows may have to wait for the span around them.
 * Returns false as meet_ends() and pq_waiting_hold() do.
 */
static bool meet_nested_ends(struct pq_pairs *pairs, const struct pq_pair_role *role,
			     const struct pq_value *time, struct pq_pair_row *row)
{
	struct pq_pair_row inner = { pairs->inner_row, row->texts, row->known, false };

	return meet_ends_alone(pairs->nested, role, time, &inner) &&
	       (!inner.made || meet_inner(pairs, row));
}

/* Opens a span as the first of the sides. Returns false without memory. */
static bool open_first(struct pq_pairs *pairs, uint32_t sides, const struct pq_value *time,
		       struct pq_pair_row *row)
{
	const struct pq_pair_side *side = pq_first_side(pairs, sides);

	return !side || meet_open(pairs, side, time, row);
}

/*
 * Takes the span that only the current record may close from its cpu, if one of the sides
 * `closes` has next_on_cpu.
 */
static void hold_span(struct pq_pairs *pairs, uint32_t closes)
{
	if (!(closes & pairs->next_sides) || !pairs->cpu)
		return;
	pairs->held = *pairs->cpu;
	pairs->cpu->item = 0;
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
	nested->cpu = NULL;
	if (nested->next_sides && time.type == PQ_INT && !pq_pairs_note_time(nested, time.u))
		return false;
	hold_span(pairs, role.sides[PQ_CLOSES]);
	hold_span(nested, inner.sides[PQ_CLOSES]);
	lost = lost && !is_end(pairs, &role) && !is_end(nested, &inner);
	if (!meet_nested_ends(pairs, &inner, &time, row) ||
	    !meet_ends_alone(pairs, &role, &time, row))
		return false;
	if (!open_first(pairs, role.sides[PQ_OPENS], &time, row) ||
	    !open_first(nested, inner.sides[PQ_OPENS], &time, row))
		return false;
	pq_pairs_drop_held(pairs, time.u);
	pq_pairs_drop_held(nested, time.u);
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
	pq_pairs_drop_held(pairs, time->u);
	if (role->inner && pairs->how->beside)
		return pq_pairs_make_row(pairs, PQ_NO_SPAN, NULL, row);
	if (role->inner)
		return meet_inner(pairs, row);
	/*
	 * records that perf adds at the end have no time: it is not known when others were lost
	 */
	if (is_lost(pairs) && !is_end(pairs, role) && time->type == PQ_INT)
		pq_pairs_lose(pairs);
	return true;
}

/*
 * Does what is left of the current record, as the sides of the groups from `group` on. Where it
 * made a row, the rest is left to pq_pairs_go_on(). Returns false as pq_waiting_hold() does.
 */
static INLINE bool meet_groups(struct pq_pairs *pairs, const struct pq_pair_role *role,
			       const struct pq_value *time, uint32_t group,
			       struct pq_pair_row *row)
{
	uint32_t sides = (role->sides[PQ_CLOSES] | role->sides[PQ_CHANGES] |
			  role->sides[PQ_OPENS]) &
			 pairs->from_group[group];

	for (; sides && group < pairs->how->n_groups; group++) {
		uint32_t own = pairs->of_group[group];

		if (!(sides & own))
			continue;
		sides &= ~own;
		if (!meet_group(pairs, role, own, time, row))
			return false;
		if (row->made || pairs->ended.left != PQ_LEFT_NONE) {
			if (!sides && !role->inner)
				break;
			pairs->left.role = *role;
			pairs->left.time = *time;
			pairs->left.group = group + 1;
			return true;
		}
	}
	return end_record(pairs, role, time, row);
}

bool pq_pairs_go_on(struct pq_pairs *pairs, struct pq_pair_row *row)
{
	const struct pq_pair_role role = pairs->left.role;
	const struct pq_value time = pairs->left.time;

	pairs->left.role.bound = NULL;
	return meet_groups(pairs, &role, &time, pairs->left.group, row);
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
	hold_span(pairs, role.sides[PQ_CLOSES]);
	if (role.bound && (how->n_groups > 1 || how->beside))
		return meet_groups(pairs, &role, &time, 0, row);
	if (role.bound && !meet_group(pairs, &role, UINT32_MAX, &time, row))
		return false;
	return end_record(pairs, &role, &time, row);
}
