/* Adds a record to its group. */

#include "group.h"

#include "base/vector.h"
#include "group_internal.h"

/* Equal events of several recordings count as one. */
static void same_event(const struct pq_fields *fields, struct pq_value *value)
{
	const struct pd_session *session = fields->session;

	if (value->event->number < session->n_events)
		value->event = session->events[value->event->number];
}

static inline void read_value(struct pq_fields *fields, const struct pq_read *read,
			      struct pq_value *out)
{
	if (read->field != UINT32_MAX)
		pq_fields_get(fields, read->field, out);
	else
		pq_expr_value(read->expr, fields, out);
}

/* Sets *stays if the text of the key is at an address that always has the same text. */
static inline bool read_group_key(struct pq_fields *fields, const struct pq_read *read,
				  struct pq_value *out, bool *stays)
{
	const struct pq_load *load;

	*stays = false;
	if (read->field == UINT32_MAX) {
		pq_expr_value(read->expr, fields, out);
		return true;
	}
	load = &fields->bound->loads[read->field];
	if (load->is_chain)
		return pq_fields_key(fields, read->field, out);
	*stays = load->stays;
	pq_fields_get(fields, read->field, out);
	return true;
}

/* Returns true if a key equals that of the last record, whose word is `word`. */
static inline bool is_last(const struct pq_group_key *key, const struct pq_value *value,
			   bool stays, uint64_t word)
{
	if (value->type != key->last.type)
		return false;
	if (value->type == PQ_NIL)
		return true;
	if (pq_bits(value) != pq_bits(&key->last))
		return false;
	if (value->type != PQ_TEXT || (stays && key->stays))
		return true;
	return value->size == key->last.size &&
	       pb_same_bytes((const char *)(uintptr_t)word, value->p, value->size);
}

/*
 * Sets the word of a key and its tag; sets *changed if they differ from the last ones. Returns
 * false without memory.
 */
static __attribute__((noinline)) bool set_word(struct pq_groups *groups, size_t i,
					       struct pq_value *value, bool stays,
					       bool *changed)
{
	uint64_t *word = &groups->words[i];
	uint8_t *tag = &pq_table_tags(&groups->table, groups->words)[i];
	struct pq_value *last = &groups->keys[i].last;
	uint64_t bits;

	last->type = value->type;
	last->size = value->size;
	last->u = value->u;
	groups->keys[i].stays = stays;
	if (value->type == PQ_FLOAT)
		pq_normalise(value);
	if (value->type == PQ_NIL) {
		value->u = 0;
	} else if (value->type == PQ_EVENT) {
		same_event(groups->fields, value);
	} else if (value->type == PQ_TEXT) {
		struct pq_text *text = stays ? pq_texts_add_fixed(&groups->texts, value->p,
								  value->size) :
					       pq_texts_add(&groups->texts, value->p,
							    value->size);

		if (!text)
			return false;
		value->p = text->bytes;
	}
	bits = pq_bits(value);
	if (*word == bits && *tag == value->type)
		return true;
	*word = bits;
	/* A stored byte makes its word slow to load, and most keys keep their type. */
	if (*tag != value->type)
		*tag = value->type;
	return *changed = true;
}

/*
 * Returns true if a key has one value in all records of this layout and event, which is also
 * that of the last record.
 */
static inline bool is_same_constant(const struct pq_load *load, const struct pq_group_key *key)
{
	return load->is_constant && key->stays && load->constant.type != PQ_NIL &&
	       load->constant.type == key->last.type &&
	       pq_bits(&load->constant) == pq_bits(&key->last);
}

/*
 * Reads a key that is a word of an item, as the last one was. Returns false if it is something
 * else.
 */
static inline __attribute__((always_inline)) bool look_at_word(struct pq_groups *groups,
							       size_t at, bool *changed)
{
	const struct pq_fields *fields = groups->fields;
	struct pq_group_key *key = &groups->keys[at];
	int64_t i;

	if (key->last.type != PQ_INT || key->value.field == UINT32_MAX ||
	    !pq_item_word(fields, &fields->bound->loads[key->value.field], &i))
		return false;
	if (key->last.i != i) {
		key->last.i = i;
		groups->words[at] = (uint64_t)i;
		*changed = true;
	}
	return true;
}

/* Returns whether the group of the record that was added last is known. */
static inline bool has_last(const struct pq_groups *groups)
{
	return groups->states || groups->last != PQ_NO_GROUP;
}

/* Returns the states of that group. */
static inline char *last_states(const struct pq_groups *groups)
{
	return groups->states ? groups->states : pq_group_states(groups, groups->last);
}

/* Returns NULL. */
static inline char *forget_last(struct pq_groups *groups)
{
	groups->last = PQ_NO_GROUP;
	return groups->states = NULL;
}

/* Reads a key. Returns false without memory. */
static bool look_at_key(struct pq_groups *groups, size_t i, bool *changed)
{
	struct pq_fields *fields = groups->fields;
	struct pq_group_key *key = &groups->keys[i];
	struct pq_value value;
	bool stays;

	if (key->value.field != UINT32_MAX &&
	    is_same_constant(&fields->bound->loads[key->value.field], key))
		return true;
	if (!read_group_key(fields, &key->value, &value, &stays))
		return false;
	if (value.type == PQ_NIL && key->fallback.expr &&
	    !read_group_key(fields, &key->fallback, &value, &stays))
		return false;
	return is_last(key, &value, stays, groups->words[i]) ||
	       set_word(groups, i, &value, stays, changed);
}

/*
 * Returns the group of the record's words, or that of others of its event if it would be one
 * more than there may be; PQ_NO_GROUP: no memory.
 */
static size_t search_limited(struct pq_groups *groups)
{
	struct pq_table *table = &groups->table;
	uint64_t *others = groups->others;
	const uint8_t *tags = pq_table_tags(table, groups->words);
	uint32_t hash = pq_table_hash(table, groups->words);

	if (table->n / 2 < groups->grouping->limit || pq_table_has(table, groups->words, hash))
		return pq_table_search(table, groups->words, hash);
	for (size_t i = 0; i < table->n_keys; i++) {
		if (groups->grouping->keys[i].value->kind != PQ_K_EVENT)
			continue;
		others[i] = groups->words[i];
		pq_table_tags(table, others)[i] = tags[i];
	}
	return pq_table_search(table, others, pq_table_hash(table, others));
}

/*
 * Returns the states of the group that the record which was entered belongs to; NULL: no
 * memory.
 */
static __attribute__((noinline)) char *find_states(struct pq_groups *groups)
{
	bool changed = !has_last(groups);

	for (size_t i = 0; i < groups->table.n_keys; i++)
		if (!look_at_word(groups, i, &changed) && !look_at_key(groups, i, &changed))
			return forget_last(groups);
	if (!changed)
		return last_states(groups);
	forget_last(groups);
	if (pq_pending_fits(groups))
		return groups->states = pq_pending_add(groups);
	groups->last = groups->others ?
			       search_limited(groups) :
			       pq_table_search(&groups->table, groups->words,
					       pq_table_hash(&groups->table, groups->words));
	return groups->last == PQ_NO_GROUP ? NULL : last_states(groups);
}

/*
 * Returns true if a key certainly equals that of the last record. Most keys do, and this needs
 * no value to be made.
 */
static inline bool is_same(const struct pq_fields *fields, const struct pq_group_key *key)
{
	const struct pq_load *load;
	int64_t i;

	if (key->value.field == UINT32_MAX)
		return false;
	load = &fields->bound->loads[key->value.field];
	if (load->called_end <= fields->rec->size) {
		const struct pq_called *called = pq_fields_called(fields, load);

		return called && key->stays && key->last.type == PQ_TEXT &&
		       called->text == key->last.p;
	}
	if (load->is_constant)
		return is_same_constant(load, key);
	return pq_fields_integer(fields, key->value.field, &i) && key->last.type == PQ_INT &&
	       key->last.i == i;
}

static inline bool is_same_group(const struct pq_groups *groups)
{
	for (const struct pq_group_key *key = groups->keys; key < groups->keys_end; key++)
		if (!is_same(groups->fields, key))
			return false;
	return has_last(groups);
}

/*
 * Returns true if the first key is a word of an item. The next item most often has another one,
 * so comparing all keys first would be in vain.
 */
static inline bool is_keyed_by_item(const struct pq_groups *groups)
{
	const struct pq_fields *fields = groups->fields;
	const struct pq_group_key *key = groups->keys;

	return fields->item && key < groups->keys_end && key->value.field != UINT32_MAX &&
	       fields->bound->loads[key->value.field].is_item_word;
}

/*
 * Returns how often a record counts: 0 if its weight is not a number, 0, or wrong. `before` is
 * the value of the measure before.
 */
static uint64_t read_weight(struct pq_groups *groups, const struct pq_measured *m,
			    const struct pq_value *before)
{
	struct pq_value weight = *before;

	if (!m->is_same_weight || before->type == PQ_NIL)
		read_value(groups->fields, &m->weight, &weight);
	if (weight.type == PQ_INT && weight.i >= 0)
		return weight.u;
	if (weight.type == PQ_INT || (weight.type == PQ_FLOAT && weight.f != 0))
		groups->bad_weight = true;
	return 0;
}

static uint64_t read_integer(struct pq_groups *groups, const struct pq_read *read)
{
	struct pq_value value;

	if (!read->expr)
		return 0;
	read_value(groups->fields, read, &value);
	return value.type == PQ_INT ? value.u : 0;
}

/* Keeps the record, which is of the last group. Returns false without memory. */
static bool keep_time(struct pq_groups *groups, const struct pq_measured *m)
{
	if (!pb_reserve(groups->times, groups->n_times, groups->times_room))
		return false;
	groups->times[groups->n_times++] = (struct pq_time){
		.time = read_integer(groups, &m->value),
		.weight = read_integer(groups, &m->weight),
		.group = (uint32_t)groups->last,
	};
	return true;
}

/*
 * `value` is that of the measure before, PQ_NIL if it was not read. It becomes that of this
 * one.
 */
static bool step_measure(struct pq_groups *groups, const struct pq_measured *m, void *state,
			 struct pq_value *value)
{
	const struct pq_value before = *value;
	uint64_t weight = 1;

	if (m->way == PQ_WAY_TIMES)
		return keep_time(groups, m);
	if (m->kind == PQ_K_STACK) {
		if (!pq_fields_key(groups->fields, m->value.field, value))
			return false;
	} else if (!m->value.expr) {
		*value = (struct pq_value){ .type = PQ_INT };
	} else if (!m->is_same_value || value->type == PQ_NIL) {
		read_value(groups->fields, &m->value, value);
	}
	if (value->type == PQ_EVENT)
		same_event(groups->fields, value);
	/* a record without a value may have any weight */
	if (m->weight.expr && (value->type == PQ_INT || value->type == PQ_FLOAT))
		weight = read_weight(groups, m, &before);
	return !weight || m->ops->step(m, state, value, weight);
}

/* Adds the record to the measures from `m` on, in the states of its group. */
static __attribute__((noinline)) bool step_from(struct pq_groups *groups,
						const struct pq_measured *m, char *states)
{
	struct pq_value value = { .type = PQ_NIL };

	for (; m < groups->measured_end; m++)
		if (!step_measure(groups, m, states + m->at, &value))
			return false;
	return !groups->fields->failed;
}

static __attribute__((noinline)) bool is_value_too_large(const struct pq_groups *groups)
{
	struct pq_value value;

	read_value(groups->fields, &groups->limited->value, &value);
	return value.type == PQ_INT && value.u > groups->most;
}

/* Returns true if a value of the record is too large to be true. */
static inline bool is_too_large(const struct pq_groups *groups)
{
	int64_t i;

	if ((groups->limited->way == PQ_WAY_SUM || groups->limited->way == PQ_WAY_NATURAL) &&
	    pq_fields_integer(groups->fields, groups->limited->value.field, &i))
		return (uint64_t)i > groups->most;
	return is_value_too_large(groups);
}

bool pq_groups_add_whole(struct pq_groups *groups)
{
	return !groups->whole || pq_groups_add(groups->whole);
}

/*
 * Most records are of the same group as the one before, and most measures need no call: then no
 * function is called.
 */
bool pq_groups_add(struct pq_groups *groups)
{
	const struct pq_fields *fields = groups->fields;
	char *states;
	int64_t i;

	if (groups->limited && is_too_large(groups)) {
		groups->n_aside++;
		return true;
	}
	states = is_keyed_by_item(groups) || !is_same_group(groups) ? find_states(groups) :
								      last_states(groups);
	if (!states)
		return false;
	for (const struct pq_measured *m = groups->measured; m < groups->measured_end; m++) {
		void *state = states + m->at;

		if (m->way == PQ_WAY_COUNT)
			++*(uint64_t *)state;
		else if (m->way == PQ_WAY_NATURAL &&
			 pq_fields_integer(fields, m->value.field, &i))
			pq_add_natural(state, (uint64_t)i);
		else if (m->way == PQ_WAY_SUM && pq_fields_integer(fields, m->value.field, &i))
			pb_wide_add(state, pb_wide_from(i, false));
		else
			return step_from(groups, m, states);
	}
	return !fields->failed;
}
