#include "group.h"

#include <stdlib.h>
#include <string.h>

#include "group_internal.h"

static bool prepare_read(struct pq_read *read, const struct pq_node *node,
			 struct pq_fields *fields)
{
	read->field = UINT32_MAX;
	if (!node)
		return true;
	read->expr = pq_expr_create(node, fields);
	if (!read->expr)
		return false;
	read->field = pq_expr_field(read->expr);
	return true;
}

static bool prepare_keys(struct pq_groups *groups)
{
	const struct pq_grouping *grouping = groups->grouping;

	for (size_t i = 0; i < grouping->n_keys; i++) {
		const struct pq_key *key = &grouping->keys[i];

		if (!prepare_read(&groups->keys[i].value, key->value, groups->fields) ||
		    !prepare_read(&groups->keys[i].fallback, key->fallback, groups->fields))
			return false;
	}
	return true;
}

size_t pq_groups_place(struct pq_groups *groups)
{
	const struct pq_grouping *grouping = groups->grouping;
	struct pq_measured *m = groups->measured;
	size_t states = 0;

	for (size_t i = 0; i < grouping->n_measures; i++, m++) {
		const struct pq_measure *measure = &grouping->measures[i];

		m->measure = measure;
		m->kind = measure->value ? measure->value->kind : PQ_K_NIL;
		m->is_unsigned = pq_is_unsigned(m->kind);
		m->ops = pq_measure_ops(measure, m->kind, groups->fields == NULL);
		m->at = states;
		m->texts = &groups->texts;
		m->fields = groups->fields;
		states += m->ops->size;
	}
	groups->measured_end = m;
	return states;
}

/* Returns true if a node has the value of the measure before `m`. */
static bool is_computed_before(const struct pq_groups *groups, const struct pq_measured *m,
			       const struct pq_node *node)
{
	return m > groups->measured && node && m[-1].measure->value &&
	       m[-1].ops->way != PQ_WAY_TIMES && pq_computes_same(node, m[-1].measure->value);
}

static bool prepare_measures(struct pq_groups *groups)
{
	const struct pq_grouping *grouping = groups->grouping;

	for (struct pq_measured *m = groups->measured; m < groups->measured_end; m++) {
		const struct pq_measure *measure = m->measure;

		if (!prepare_read(&m->value, measure->value, groups->fields) ||
		    !prepare_read(&m->weight, measure->weight, groups->fields))
			return false;
		m->is_same_value = is_computed_before(groups, m, measure->value);
		m->is_same_weight = is_computed_before(groups, m, measure->weight);
		m->way = (m->ops->way == PQ_WAY_SUM || m->ops->way == PQ_WAY_NATURAL) &&
					 m->value.field == UINT32_MAX ?
				 PQ_WAY_STEP :
				 m->ops->way;
		if (grouping->most && !groups->limited &&
		    (measure->kind == PQ_M_SUM || measure->kind == PQ_M_AVG))
			groups->limited = m;
	}
	return true;
}

/* Call chains are numbers only as keys that are a field alone, and in sets. */
static bool has_chains(const struct pq_groups *groups)
{
	const struct pq_grouping *grouping = groups->grouping;

	for (size_t i = 0; i < grouping->n_keys; i++) {
		enum pq_kind kind = grouping->keys[i].value->kind;

		if (groups->keys[i].value.field != UINT32_MAX &&
		    (kind == PQ_K_STRING || kind == PQ_K_STACK))
			return true;
	}
	for (size_t i = 0; i < grouping->n_measures; i++)
		if (groups->measured[i].kind == PQ_K_STACK)
			return true;
	return false;
}

static bool prepare_chains(struct pq_groups *groups)
{
	if (!has_chains(groups))
		return true;
	groups->chains = pq_chains_create();
	groups->fields->chains = groups->chains;
	if (groups->chains && groups->grouping->limit)
		pq_chains_limit(groups->chains, groups->grouping->limit);
	return groups->chains != NULL;
}

/* Sets the words of the group of others, but for its event. Returns false without memory. */
static bool prepare_others(struct pq_groups *groups)
{
	const struct pq_text *text;

	if (!groups->grouping->limit)
		return true;
	groups->others = calloc(groups->table.n_words + 1, sizeof(*groups->others));
	text = pq_texts_intern(&groups->texts, PQ_OTHERS, sizeof(PQ_OTHERS) - 1);
	if (!groups->others || !text)
		return false;
	for (size_t i = 0; i < groups->grouping->n_keys; i++) {
		enum pq_kind kind = groups->grouping->keys[i].value->kind;

		if (kind != PQ_K_STRING && kind != PQ_K_STACK)
			continue;
		groups->others[i] = (uintptr_t)text->bytes;
		pq_table_tags(&groups->table, groups->others)[i] = PQ_TEXT;
	}
	return true;
}

/* Initializes the table as it is before the first record. Returns false without memory. */
static bool begin_groups(struct pq_groups *groups)
{
	struct pq_table *table = &groups->table;

	for (struct pq_group_key *key = groups->keys; key < groups->keys_end; key++)
		key->last.type = PQ_NIL;
	memset(groups->words, 0, table->n_words * sizeof(*groups->words));
	groups->last = PQ_NO_GROUP;
	return table->n_keys ||
	       pq_table_search(table, groups->words, pq_table_hash(table, groups->words)) !=
		       PQ_NO_GROUP;
}

struct pq_groups *pq_groups_create(const struct pq_grouping *grouping, struct pq_fields *fields)
{
	struct pq_groups *groups = calloc(1, sizeof(*groups));
	size_t states = 0;

	if (!groups)
		return NULL;
	groups->grouping = grouping;
	groups->most = grouping->most;
	groups->fields = fields;
	pq_texts_init(&groups->texts);
	groups->keys = calloc(grouping->n_keys + 1, sizeof(*groups->keys));
	groups->measured = calloc(grouping->n_measures + 1, sizeof(*groups->measured));
	if (groups->keys && groups->measured) {
		groups->keys_end = groups->keys + grouping->n_keys;
		states = pq_groups_place(groups);
	}
	if (!groups->keys_end || !prepare_keys(groups) || !prepare_measures(groups) ||
	    !prepare_chains(groups) ||
	    !pq_table_init(&groups->table, grouping->n_keys, states) ||
	    !(groups->words = calloc(groups->table.n_words + 1, sizeof(*groups->words))) ||
	    !prepare_others(groups) ||
	    (grouping->whole && !(groups->whole = pq_groups_create(grouping->whole, fields))) ||
	    !begin_groups(groups)) {
		pq_groups_destroy(groups);
		return NULL;
	}
	return groups;
}

void pq_groups_deinit_states(struct pq_groups *groups, size_t first)
{
	for (size_t i = 0; i < groups->grouping->n_measures; i++) {
		const struct pq_measured *m = &groups->measured[i];

		for (size_t g = first; m->ops && m->ops->deinit && g < groups->table.n; g++)
			m->ops->deinit(pq_group_states(groups, g) + m->at);
	}
}

static void destroy_read(struct pq_read *read)
{
	if (read->expr)
		pq_expr_destroy(read->expr);
	read->expr = NULL;
}

void pq_groups_forget_reads(struct pq_groups *groups)
{
	for (struct pq_group_key *key = groups->keys; key < groups->keys_end; key++) {
		destroy_read(&key->value);
		destroy_read(&key->fallback);
	}
	for (struct pq_measured *m = groups->measured; m < groups->measured_end; m++) {
		destroy_read(&m->value);
		destroy_read(&m->weight);
	}
	free(groups->keys);
	free(groups->words);
	free(groups->pending);
	groups->pending = NULL;
	free(groups->others);
	groups->keys = groups->keys_end = NULL;
	groups->words = groups->others = NULL;
}

void pq_groups_destroy(struct pq_groups *groups)
{
	if (!groups)
		return;
	if (groups->measured)
		pq_groups_deinit_states(groups, 0);
	pq_groups_forget_reads(groups);
	if (groups->chains)
		pq_chains_destroy(groups->chains);
	pq_groups_destroy(groups->whole);
	pq_groups_drop_times(groups, 0);
	pq_table_deinit(&groups->table);
	pq_texts_deinit(&groups->texts);
	free(groups->measured);
	free(groups);
}

enum pq_wrong pq_groups_wrong(const struct pq_groups *groups)
{
	if (groups->bad_weight)
		return PQ_WRONG_WEIGHT;
	for (size_t i = 0; i < groups->grouping->n_measures; i++) {
		const struct pq_measured *m = &groups->measured[i];

		for (size_t g = 0; m->ops->wrong && g < groups->table.n; g++) {
			enum pq_wrong wrong = m->ops->wrong(pq_group_states(groups, g) + m->at);

			if (wrong != PQ_RIGHT)
				return wrong;
		}
	}
	return groups->whole ? pq_groups_wrong(groups->whole) : PQ_RIGHT;
}

void pq_groups_seal(struct pq_groups *groups)
{
	pb_map_deinit(&groups->table.map);
	pq_texts_seal(&groups->texts);
	if (groups->chains)
		pq_chains_seal(groups->chains);
}

struct pq_groups *pq_groups_whole(const struct pq_groups *groups)
{
	return groups->whole;
}

size_t pq_groups_size(const struct pq_groups *groups)
{
	return groups->table.n;
}

void pq_groups_decay(struct pq_groups *groups)
{
	for (struct pq_measured *m = groups->measured; m < groups->measured_end; m++)
		for (size_t g = 0; m->ops->way == PQ_WAY_NATURAL && g < groups->table.n; g++) {
			uint64_t *sum = (uint64_t *)(pq_group_states(groups, g) + m->at);

			*sum -= *sum / 8 + (*sum % 8 != 0);
		}
}

size_t pq_groups_n_keys(const struct pq_groups *groups)
{
	return groups->grouping->n_keys;
}

size_t pq_groups_n_measures(const struct pq_groups *groups)
{
	return groups->grouping->n_measures;
}

uint64_t pq_groups_set_aside(const struct pq_groups *groups)
{
	return groups->n_aside;
}

struct pq_chains *pq_groups_chains(const struct pq_groups *groups)
{
	return groups->chains && pq_chains_size(groups->chains) ? groups->chains : NULL;
}

void pq_groups_expect(const struct pq_groups *groups, size_t g)
{
	const char *group = (const char *)pq_table_group(&groups->table, g);

	__builtin_prefetch(group);
	__builtin_prefetch(group + groups->table.stride - 1); /* mostly in the next line */
}

void pq_groups_key(const struct pq_groups *groups, size_t g, size_t k, struct pq_value *out)
{
	uint64_t *words = pq_table_group(&groups->table, g);
	size_t at = k - groups->is_one_section;

	if (groups->is_one_section && !k) {
		*out = (struct pq_value){ .type = PQ_INT, .u = groups->section };
		return;
	}
	*out = (struct pq_value){
		.type = pq_table_tags(&groups->table, words)[at],
		.u = words[at],
	};
	if (out->type == PQ_EVENT) {
		out->event = (const struct pd_event *)(uintptr_t)words[at];
	} else if (out->type == PQ_TEXT) {
		out->p = (const char *)(uintptr_t)words[at];
		out->size = pq_text_of(out->p)->size;
	} else if (out->type == PQ_INT && groups->grouping->keys[k].value->kind == PQ_K_FLOAT) {
		out->type = PQ_FLOAT;
		out->f = (double)out->i;
	}
}

uint64_t pq_groups_key_bits(const struct pq_groups *groups, size_t g, size_t k, uint8_t *type)
{
	uint64_t *words = pq_table_group(&groups->table, g);
	size_t at = k - groups->is_one_section;

	if (groups->is_one_section && !k) {
		*type = PQ_INT;
		return groups->section;
	}
	*type = pq_table_tags(&groups->table, words)[at];
	return words[at];
}

void pq_groups_state(const struct pq_groups *groups, size_t g, size_t m, struct pq_state *out)
{
	const struct pq_measured *measured = &groups->measured[m];

	*out = (struct pq_state){ 0 };
	measured->ops->get(measured, pq_group_states(groups, g) + measured->at, out);
}

const struct pq_time *pq_groups_times(const struct pq_groups *groups, size_t *n)
{
	*n = groups->n_times;
	return groups->times;
}

void pq_groups_drop(struct pq_groups *groups, size_t n)
{
	pq_groups_deinit_states(groups, n);
	pq_table_drop(&groups->table, n);
}

void pq_groups_drop_times(struct pq_groups *groups, size_t n)
{
	struct pq_time *kept = NULL;

	if (n)
		kept = reallocarray(groups->times, n, sizeof(*kept));
	else
		free(groups->times);
	groups->times = n && !kept ? groups->times : kept;
	groups->n_times = groups->times_room = n;
}

static const struct pq_measure_row *const rows[] = {
#define ROW(NAME, name) [PQ_M_##NAME] = &pq_##name##_row,
	PQ_MEASURES(ROW)
#undef ROW
};

const struct pq_measure_row *pq_measure_row(enum pq_measure_kind kind)
{
	return rows[kind];
}

const struct pq_measure_ops *pq_measure_ops(const struct pq_measure *measure, enum pq_kind kind,
					    bool is_put)
{
	bool integers = pq_is_unsigned(kind) || kind == PQ_K_SIGNED || kind == PQ_K_NATURAL ||
			kind == PQ_K_BITS;
	const struct pq_measure_ops *ops;

	/* counts of many tables may add up to more than 2^63 - 1 */
	if (measure->kind == PQ_M_COUNT)
		integers = !measure->weight && !is_put;
	ops = rows[measure->kind]->ops[!integers];
	return ops->of_unsigned && pq_is_unsigned(kind) ? ops->of_unsigned : ops;
}

const char *pq_measure_serial(const struct pq_measure *measure)
{
	enum pq_kind kind = measure->value ? measure->value->kind : PQ_K_NIL;

	return pq_measure_ops(measure, kind, false)->serial;
}
