/* The way of a record into its group. */

#include "group.h"

#include "group_inside.h"

/* What recordings of a session recorded alike is one event. */
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

static inline bool read_key(struct pq_fields *fields, const struct pq_read *read,
			    struct pq_value *out)
{
	if (read->field != UINT32_MAX && fields->bound->loads[read->field].is_chain)
		return pq_fields_key(fields, read->field, out);
	read_value(fields, read, out);
	return true;
}

/* Is a key what it was in the record before, of which `word` is the word? */
static inline bool is_last(const struct pq_group_key *key, const struct pq_value *value,
			   uint64_t word)
{
	if (value->type != key->last.type)
		return false;
	if (value->type == PQ_NIL)
		return true;
	if (value->u != key->last.u)
		return false;
	/* there may be another text by now */
	return value->type != PQ_TEXT ||
	       (value->size == key->last.size &&
		pq_same_bytes((const char *)(uintptr_t)word, value->p, value->size));
}

/* The word of a key and its tag; sets *changed if it is another one. False: no memory. */
static __attribute__((noinline)) bool set_word(struct pq_groups *groups, size_t i,
					       struct pq_value *value, bool *changed)
{
	uint64_t *word = &groups->words[i];
	uint8_t *tag = &pq_table_tags(&groups->table, groups->words)[i];
	struct pq_value *last = &groups->keys[i].last;

	last->type = value->type;
	last->size = value->size;
	last->u = value->u;
	if (value->type == PQ_FLOAT)
		pq_normalise(value);
	if (value->type == PQ_NIL) {
		value->u = 0;
	} else if (value->type == PQ_EVENT) {
		same_event(groups->fields, value);
	} else if (value->type == PQ_TEXT) {
		struct pq_text *text = pq_texts_add(&groups->texts, value->p, value->size);

		if (!text)
			return false;
		value->p = text->bytes;
	}
	if (*word == value->u && *tag == value->type)
		return true;
	*word = value->u;
	/* a byte that is stored makes the word that it is of slow to load, and most keys are of one type */
	if (*tag != value->type)
		*tag = value->type;
	return *changed = true;
}

/* The group of the record that was entered; PQ_NO_GROUP: no memory. */
static inline size_t find_group(struct pq_groups *groups)
{
	struct pq_fields *fields = groups->fields;
	const struct pq_group_key *key = groups->keys, *end = groups->keys_end;
	const uint64_t *word = groups->words;
	bool changed = false;

	for (; key < end; key++, word++) {
		struct pq_value value;

		if (!read_key(fields, &key->value, &value))
			return PQ_NO_GROUP;
		if (value.type == PQ_NIL && key->other.expr &&
		    !read_key(fields, &key->other, &value))
			return PQ_NO_GROUP;
		if (!is_last(key, &value, *word) &&
		    !set_word(groups, (size_t)(key - groups->keys), &value, &changed))
			return PQ_NO_GROUP;
	}
	if (changed || groups->last == PQ_NO_GROUP)
		groups->last = pq_table_search(&groups->table, groups->words,
					       pq_table_hash(&groups->table, groups->words));
	return groups->last;
}

/* How often a record counts: not at all if its weight is no number, or 0, or wrong. */
static uint64_t read_weight(struct pq_groups *groups, const struct pq_measured *m)
{
	struct pq_value weight;

	read_value(groups->fields, &m->weight, &weight);
	if (weight.type == PQ_INT && weight.i >= 0)
		return weight.u;
	if (weight.type == PQ_INT || (weight.type == PQ_FLOAT && weight.f != 0))
		groups->bad_weight = true;
	return 0;
}

static bool step(struct pq_groups *groups, const struct pq_measured *m, void *state)
{
	struct pq_value value = { .type = PQ_INT };
	uint64_t weight = 1;

	if (m->value.expr)
		read_value(groups->fields, &m->value, &value);
	if (value.type == PQ_EVENT)
		same_event(groups->fields, &value);
	/* what is not measured may have any weight */
	if (m->weight.expr && (value.type == PQ_INT || value.type == PQ_FLOAT))
		weight = read_weight(groups, m);
	return !weight || m->ops->step(m, state, &value, weight);
}

bool pq_groups_add(struct pq_groups *groups)
{
	struct pq_fields *fields = groups->fields;
	const struct pq_measured *m = groups->measured;
	const struct pq_measured *end = groups->measured_end;
	size_t g = find_group(groups);
	struct pq_value value;
	char *states;

	if (g == PQ_NO_GROUP)
		return false;
	/* the commonest need no call */
	for (states = pq_group_states(groups, g); m < end; m++) {
		void *state = states + m->at;

		switch (m->way) {
		case PQ_WAY_COUNT:
			++*(uint64_t *)state;
			break;
		case PQ_WAY_SUM:
			pq_fields_get(fields, m->value.field, &value);
			if (value.type == PQ_INT)
				*(pq_wide *)state += pq_widened(&value, m->kind);
			break;
		case PQ_WAY_STEP:
			if (!step(groups, m, state))
				return false;
		}
	}
	return !fields->failed;
}
