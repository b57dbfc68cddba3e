#include "result.h"

#include <stdlib.h>
#include <string.h>

#include "base/vector.h"

const struct pq_node *pr_kind_node(enum pr_kind kind)
{
	static const struct pq_node nodes[] = {
		[PR_ANY] = { .kind = PQ_K_ANY },
		[PR_SIGNED] = { .kind = PQ_K_SIGNED },
		[PR_UNSIGNED] = { .kind = PQ_K_UNSIGNED },
		[PR_ADDRESS] = { .kind = PQ_K_ADDRESS },
		[PR_FLOAT] = { .kind = PQ_K_FLOAT },
		[PR_PERCENT] = { .kind = PQ_K_ANY },
		[PR_STRING] = { .kind = PQ_K_STRING },
		[PR_BOOLEAN] = { .kind = PQ_K_BOOLEAN },
		[PR_STACK] = { .kind = PQ_K_STACK },
		[PR_HISTOGRAM] = { .kind = PQ_K_ANY },
	};

	return &nodes[kind];
}

/* Copies the shape, and describes groups of it. Returns false without memory. */
static bool init_result(struct pr_result *result, const struct pr_shape *shape)
{
	struct pr_key *shown = calloc(shape->n_keys + 1, sizeof(*shown));
	struct pr_measure *measured = calloc(shape->n_measures + 1, sizeof(*measured));
	struct pq_key *keys = calloc(shape->n_keys + 1, sizeof(*keys));
	struct pq_measure *measures = calloc(shape->n_measures + 1, sizeof(*measures));

	result->shape = (struct pr_shape){ shape->n_keys, shape->n_measures, shown, measured };
	result->grouping = (struct pq_grouping){
		.keys = keys,
		.n_keys = shape->n_keys + 1,
		.measures = measures,
		.n_measures = shape->n_measures,
	};
	if (!shown || !measured || !keys || !measures)
		return false;
	if (shape->n_keys)
		memcpy(shown, shape->keys, shape->n_keys * sizeof(*shown));
	if (shape->n_measures)
		memcpy(measured, shape->measures, shape->n_measures * sizeof(*measured));
	keys[0].value = pr_kind_node(PR_UNSIGNED);
	for (size_t i = 0; i < shape->n_keys; i++)
		keys[i + 1].value = pr_kind_node(shape->keys[i].kind);
	for (size_t i = 0; i < shape->n_measures; i++) {
		measures[i].kind = shape->measures[i].measure;
		measures[i].value = pr_kind_node(shape->measures[i].kind);
	}
	return true;
}

struct pr_result *pr_create(const struct pr_shape *shape, const struct pq_stacks *stacks)
{
	struct pr_result *result = calloc(1, sizeof(*result));

	if (!result)
		return NULL;
	result->stacks = stacks;
	result->is_open = true;
	if (init_result(result, shape))
		result->groups = pq_groups_create_bare(&result->grouping);
	if (!result->groups) {
		pr_destroy(result);
		return NULL;
	}
	return result;
}

void pr_destroy(struct pr_result *result)
{
	if (!result)
		return;
	pq_groups_destroy(result->groups);
	free((void *)result->shape.keys);
	free((void *)result->shape.measures);
	free((void *)result->grouping.keys);
	free((void *)result->grouping.measures);
	free(result);
}

struct pr_result *pr_take(const struct pr_shape *shape, struct pq_groups *groups,
			  bool has_events, const uint32_t *stack_of,
			  const struct pq_stacks *stacks)
{
	struct pr_result *result = calloc(1, sizeof(*result));

	if (!result) {
		pq_groups_destroy(groups);
		return NULL;
	}
	result->groups = groups;
	result->stacks = stacks;
	if (!init_result(result, shape) ||
	    !pq_groups_own(groups, &result->grouping, has_events, stack_of)) {
		pr_destroy(result);
		return NULL;
	}
	return result;
}

/* The numbers that stacks of one result have in another one. */
struct moved_stacks {
	struct pq_stacks *to;
	const struct pq_stacks *from;
	uint32_t *numbers; /* [n]: from 1 on; 0: not known yet */
	size_t n;
};

/* Replaces the number of a stack. Returns false without memory. */
static bool move_stack(struct moved_stacks *moved, struct pq_value *value)
{
	uint32_t *number, found;

	if (value->type != PQ_CHAIN)
		return true;
	if (value->u >= moved->n &&
	    !pb_extend(moved->numbers, moved->n, 2 * (size_t)value->u + 8))
		return false;
	number = &moved->numbers[value->u];
	if (!*number) {
		found = pq_stacks_add_from(moved->to, moved->from, (uint32_t)value->u);
		if (found == UINT32_MAX)
			return false;
		*number = found + 1;
	}
	value->u = *number - 1;
	return true;
}

/* Replaces the stacks of a set by those in `room`. Returns false without memory. */
static bool move_set(struct moved_stacks *moved, struct pq_state *state, struct pq_value **room)
{
	if (!state->n_set || state->set->type != PQ_CHAIN)
		return true;
	free(*room);
	*room = malloc(state->n_set * sizeof(**room));
	if (!*room)
		return false;
	memcpy(*room, state->set, state->n_set * sizeof(**room));
	state->set = *room;
	for (size_t i = 0; i < state->n_set; i++)
		if (!move_stack(moved, &(*room)[i]))
			return false;
	return true;
}

static bool add_group(struct pr_result *to, const struct pr_result *from, size_t g,
		      struct moved_stacks *moved, struct pq_value *keys,
		      struct pq_state *states, struct pq_value **sets)
{
	for (size_t k = 1; k <= from->shape.n_keys; k++) {
		pq_groups_key(from->groups, g, k, &keys[k]);
		if (!move_stack(moved, &keys[k]))
			return false;
	}
	for (size_t m = 0; m < from->shape.n_measures; m++) {
		pq_groups_state(from->groups, g, m, &states[m]);
		if (!move_set(moved, &states[m], &sets[m]))
			return false;
	}
	return pr_put(to, keys, states, NULL);
}

bool pr_add(struct pr_result *to, const struct pr_result *from, const uint32_t *sections,
	    size_t n_sections, struct pq_stacks *stacks)
{
	size_t n_keys = from->shape.n_keys, n_measures = from->shape.n_measures;
	struct pq_value *keys = calloc(n_keys + 1, sizeof(*keys));
	struct pq_state *states = calloc(n_measures + 1, sizeof(*states));
	struct pq_value **sets = calloc(n_measures + 1, sizeof(struct pq_value *));
	struct moved_stacks moved = { .to = stacks, .from = from->stacks };
	bool ok = keys && states && sets;

	for (size_t g = 0; ok && g < pr_size(from); g++) {
		uint32_t section = pr_section(from, g);

		keys[0] = (struct pq_value){ .type = PQ_INT,
					     .u = section < n_sections ? sections[section] :
									 section };
		ok = add_group(to, from, g, &moved, keys, states, sets);
	}
	for (size_t m = 0; sets && m < n_measures; m++)
		free(sets[m]);
	free(sets);
	free(moved.numbers);
	free(states);
	free(keys);
	return ok;
}
