#include "rows_pairs_internal.h"

/* Returns the index of a place in a list, and adds it if it is not there. */
static uint32_t add_place(uint32_t *list, size_t *n, uint32_t place)
{
	size_t i = 0;

	while (i < *n && list[i] != place)
		i++;
	if (i == *n)
		list[(*n)++] = place;
	return (uint32_t)i;
}

/* Returns the index in pairs->kept of a value, which is added if it is not there. */
static uint32_t keep_value(struct pq_pairs *pairs, uint32_t place, uint32_t state)
{
	size_t i = 0;

	while (i < pairs->n_kept &&
	       (pairs->kept[i].place != place || pairs->kept[i].state != state))
		i++;
	if (i == pairs->n_kept)
		pairs->kept[pairs->n_kept++] = (struct pq_kept_value){ place, state };
	return (uint32_t)i;
}

/* Keeps the values of opening records, or (`changed`) those of records that change spans. */
static void keep_values(struct pq_pairs *pairs, bool changed)
{
	const struct pq_pairing *how = pairs->how;

	for (size_t i = 0; i < how->n_opened; i++)
		if ((how->opened[i].state != PQ_NO_STATE) == changed)
			pairs->opened_from[i] = keep_value(pairs, how->opened[i].place,
							   how->opened[i].state);
	for (size_t i = 0; i < how->n_values; i++)
		if (how->values[i].of == PQ_OF_OPEN &&
		    (how->values[i].state != PQ_NO_STATE) == changed)
			pairs->from[i] = keep_value(pairs, how->values[i].place,
						    how->values[i].state);
}

/*
 * Lists the columns that are kept of a span, and of a record that waits, each once.
 */
static void keep_columns(struct pq_pairs *pairs)
{
	const struct pq_pairing *how = pairs->how;

	keep_value(pairs, how->time, PQ_NO_STATE);
	if (how->ended || pairs->has_serials)
		keep_value(pairs, PQ_SERIAL, PQ_NO_STATE);
	keep_values(pairs, false);
	pairs->n_opening = pairs->n_kept;
	keep_values(pairs, true);
	for (size_t i = 0; i < how->n_values; i++)
		if (how->values[i].of == PQ_OF_INNER)
			pairs->from[i] = add_place(pairs->inner, &pairs->n_inner,
						   how->values[i].place);
}

static bool is_field(const struct pq_columns *columns, const struct pq_node *node,
		     const char *name)
{
	const struct pd_session *session = columns->fields->session;

	return node->op == PQ_FIELD && !node->field->n_steps &&
	       node->field->name ==
		       pd_field_name_id(&session->files[0]->field_names, name, strlen(name));
}

/* Returns true if a condition reads nothing but the type and the event. */
static bool asks_event(const struct pq_columns *columns, const struct pq_node *node)
{
	switch (node->op) {
	case PQ_AND:
		return asks_event(columns, node->left) && asks_event(columns, node->right);
	case PQ_EVENT_IN:
		return is_field(columns, node->left, "event");
	case PQ_IN:
		return is_field(columns, node->left, "type_id");
	case PQ_CONST:
		return true;
	default:
		return false;
	}
}

static bool is_by_event(const struct pq_pairing *how, const struct pq_columns *columns)
{
	for (size_t i = 0; i < how->n_sides; i++)
		if (!asks_event(columns, columns->nodes[how->sides[i].condition]))
			return false;
	return how->inner == PQ_NO_PLACE || asks_event(columns, columns->nodes[how->inner]);
}

/* Sets the sets of sides, and which sides share tests and keys. */
static void number_sides(struct pq_pairs *pairs)
{
	const struct pq_pairing *how = pairs->how;
	size_t size = how->n_keys * sizeof(*how->sides[0].keys);
	bool is_any_state = false;

	for (size_t i = 0; i < how->n_sides; i++) {
		const struct pq_pair_side *side = &how->sides[i];
		size_t test = 0, key = 0;

		pairs->of_group[side->group] |= UINT32_C(1) << i;
		if (side->next_on_cpu) {
			is_any_state = is_any_state || !side->from;
			pairs->next_sides |= UINT32_C(1) << i;
			pairs->next_states |= side->from;
		}
		while (how->sides[test].test != side->test)
			test++;
		while (memcmp(how->sides[key].keys, side->keys, size) != 0)
			key++;
		pairs->known[i].test = (uint8_t)test;
		pairs->known[i].key = (uint8_t)key;
	}
	if (is_any_state)
		pairs->next_states = 0;
	for (size_t group = how->n_groups; group-- > 0;)
		pairs->from_group[group] = pairs->from_group[group + 1] |
					   pairs->of_group[group];
}

static struct pq_pairs *create_pairs(const struct pq_pairing *how,
				     const struct pq_columns *columns, struct pq_calls *calls,
				     bool is_nested);

/* Creates pairs->nested, if spans have spans inside. Returns false without memory. */
static bool create_nested(struct pq_pairs *pairs)
{
	const struct pq_pairing *how = pairs->how->nested;

	if (!how)
		return true;
	pairs->nested = create_pairs(how, pairs->columns, pairs->calls, true);
	pairs->inner_row = calloc(how->n_values, sizeof(*pairs->inner_row));
	if (!pairs->nested || !pairs->inner_row)
		return false;
	pairs->nested->serial = pairs->serial;
	return true;
}

static struct pq_pairs *create_pairs(const struct pq_pairing *how,
				     const struct pq_columns *columns, struct pq_calls *calls,
				     bool is_nested)
{
	struct pq_pairs *pairs = calloc(1, sizeof(*pairs));
	size_t n = how->n_values + how->n_opened + 2;

	if (!pairs)
		return NULL;
	pairs->how = how;
	pairs->columns = columns;
	pairs->calls = calls;
	pairs->serial = &pairs->own_serial;
	pairs->by_event = is_by_event(how, columns);
	number_sides(pairs);
	pairs->has_serials = is_nested || how->nested || pairs->next_sides ||
			     (how->keeps_lost && how->unfinished);
	pairs->kept = calloc(n, sizeof(*pairs->kept));
	pairs->inner = calloc(n, sizeof(*pairs->inner));
	pairs->from = calloc(n, sizeof(*pairs->from));
	pairs->opened_from = calloc(n, sizeof(*pairs->opened_from));
	pairs->opened = calloc(n, sizeof(*pairs->opened));
	pairs->key = calloc(how->n_keys + 1, sizeof(*pairs->key));
	pairs->args = calloc(how->ended ? how->ended->n_args : 1, sizeof(*pairs->args));
	pairs->states = calloc(how->n_states + 1, sizeof(*pairs->states));
	pairs->ended.kept = calloc(n, sizeof(*pairs->ended.kept));
	pairs->ended.close = calloc(n, sizeof(*pairs->ended.close));
	pairs->n_sources = columns->fields->session->n_files + 1; /* rec->source may be 0 */
	pairs->last_times = calloc(pairs->n_sources, sizeof(*pairs->last_times));
	if (pairs->kept && pairs->inner && pairs->from && pairs->opened_from && pairs->opened &&
	    pairs->key && pairs->args && pairs->states && pairs->ended.kept &&
	    pairs->ended.close && pairs->last_times) {
		keep_columns(pairs);
		for (size_t i = 0; i < how->n_states; i++)
			pairs->states[i] = how->states[i];
		if (pq_spans_init(&pairs->spans, how->n_keys, pairs->n_kept, calls) &&
		    create_nested(pairs))
			return pairs;
	}
	pq_pairs_destroy(pairs);
	return NULL;
}

struct pq_pairs *pq_pairs_create(const struct pq_pairing *how, const struct pq_columns *columns,
				 struct pq_calls *calls)
{
	return create_pairs(how, columns, calls, false);
}

void pq_pairs_destroy(struct pq_pairs *pairs)
{
	if (!pairs)
		return;
	pq_pairs_destroy(pairs->nested);
	free(pairs->inner_row);
	pairs->spans.calls = NULL; /* objects end with the calls that know them */
	pq_ended_forget(pairs);
	for (size_t i = 0; i < pairs->n_waiting; i++)
		pq_waiting_forget(pairs, &pairs->waiting[i]);
	for (size_t i = 0; i < pairs->n_openings; i++)
		free(pairs->openings[i].bytes);
	pq_spans_deinit(&pairs->spans);
	for (size_t i = 0; i < pairs->n_phases; i++)
		pq_phases_deinit(&pairs->phases[i]);
	pq_phases_deinit(&pairs->ended.phases);
	free(pairs->phases);
	free(pairs->openings);
	free(pairs->ended.opening.bytes);
	free(pairs->waiting);
	free(pairs->ended.kept);
	free(pairs->ended.close);
	free(pairs->kept);
	free(pairs->inner);
	free(pairs->from);
	free(pairs->opened_from);
	free(pairs->opened);
	free(pairs->key);
	free(pairs->args);
	free(pairs->states);
	for (size_t i = 0; pairs->last_times && i < pairs->n_sources; i++)
		free(pairs->last_times[i].by_cpu);
	free(pairs->last_times);
	free(pairs->chosen);
	free(pairs->left_out);
	free(pairs);
}

struct pq_pair_counts pq_pairs_counts(const struct pq_pairs *pairs)
{
	struct pq_pair_counts counts = pairs->counts;

	counts.unclosed = pq_spans_n_open(&pairs->spans);
	pq_pairs_count_lost(pairs, &counts);
	return counts;
}
