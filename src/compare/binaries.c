#include "binaries.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/id_map.h"
#include "base/vector.h"

struct function {
	int64_t start, size;
	struct pd_text name;
};

struct binary {
	struct pd_text build_id;
	uint64_t unnamed;	    /* samples without a function */
	struct function *functions; /* [n]: one that starts at each offset */
	size_t n, room;
	struct pb_id_map starts;
};

struct pc_binaries {
	struct binary *list; /* [n] */
	size_t n, room;
	struct pb_map map;
	struct pb_secret secret;
	struct pb_arena texts;
};

struct pc_binaries *pc_binaries_create(void)
{
	struct pc_binaries *binaries = calloc(1, sizeof(*binaries));

	if (binaries)
		pb_secret_make(&binaries->secret);
	return binaries;
}

void pc_binaries_destroy(struct pc_binaries *binaries)
{
	if (!binaries)
		return;
	for (size_t i = 0; i < binaries->n; i++) {
		free(binaries->list[i].functions);
		pb_id_map_deinit(&binaries->list[i].starts);
	}
	free(binaries->list);
	pb_map_deinit(&binaries->map);
	pb_arena_deinit(&binaries->texts);
	free(binaries);
}

struct wanted_binary {
	const struct pc_binaries *binaries;
	struct pd_text build_id;
};

static bool has_build_id(const void *arg, uint32_t item)
{
	const struct wanted_binary *wanted = arg;
	struct pd_text known = wanted->binaries->list[item].build_id;

	return known.n == wanted->build_id.n &&
	       memcmp(known.p, wanted->build_id.p, known.n) == 0;
}

/* Returns the binary of that build-id; NULL: there is none. */
static struct binary *find_binary(const struct pc_binaries *binaries, struct pd_text build_id)
{
	struct wanted_binary wanted = { binaries, build_id };
	uint32_t hash = pb_hash_bytes(&binaries->secret, build_id.p, build_id.n);
	struct pb_slot *slot = pb_map_find(&binaries->map, hash, has_build_id, &wanted);

	return slot && slot->item ? &binaries->list[slot->item - 1] : NULL;
}

/* Returns the binary of that build-id, which is added if it is new; NULL: no memory. */
static struct binary *get_binary(struct pc_binaries *binaries, struct pd_text build_id)
{
	struct binary *binary = find_binary(binaries, build_id);
	uint32_t hash = pb_hash_bytes(&binaries->secret, build_id.p, build_id.n);

	if (binary)
		return binary;
	build_id.p = pb_arena_text(&binaries->texts, build_id.p, build_id.n);
	if (!build_id.p || !pb_reserve(binaries->list, binaries->n, binaries->room) ||
	    !pb_map_add(&binaries->map, hash, (uint32_t)binaries->n))
		return NULL;
	binary = &binaries->list[binaries->n++];
	*binary = (struct binary){ .build_id = build_id };
	binary->starts.secret = binaries->secret;
	return binary;
}

static struct pd_text to_text(const struct pq_value *value)
{
	return (struct pd_text){ value->p, value->size };
}

bool pc_find_address(const struct pq_value *keys, struct pc_address *address)
{
	const struct pq_value *filename = &keys[PC_FILENAME];

	if (keys[PC_BUILD_ID].type != PQ_TEXT || filename->type != PQ_TEXT ||
	    keys[PC_PGOFF].type != PQ_INT || keys[PC_OFFSET].type != PQ_INT)
		return false;
	address->build_id = to_text(&keys[PC_BUILD_ID]);
	address->offset = keys[PC_OFFSET].i;
	if (!filename->size || filename->p[0] != '[')
		address->offset = (int64_t)(keys[PC_OFFSET].u + keys[PC_PGOFF].u);
	return true;
}

/* Adds a function, unless one begins there. Returns false without memory. */
static bool add_function(struct pc_binaries *binaries, struct binary *binary,
			 const struct function *function)
{
	struct pd_text name = function->name;

	if (pb_id_map_find(&binary->starts, (uint64_t)function->start) != UINT32_MAX)
		return true;
	name.p = pb_arena_text(&binaries->texts, name.p, name.n);
	if (!name.p || !pb_reserve(binary->functions, binary->n, binary->room) ||
	    !pb_id_map_add(&binary->starts, (uint64_t)function->start, (uint32_t)binary->n))
		return false;
	binary->functions[binary->n++] = (struct function){ function->start, function->size,
							    name };
	return true;
}

bool pc_binaries_add(struct pc_binaries *binaries, const struct pr_result *result, size_t first,
		     size_t symbol, size_t count)
{
	struct pq_value keys[PC_PLACE_KEYS], name;
	struct pc_address address;
	struct binary *binary;
	struct pq_state n;

	for (size_t g = 0; g < pr_size(result); g++) {
		for (size_t k = 0; k < PC_PLACE_KEYS; k++)
			pr_key_value(result, g, first + k, &keys[k]);
		if (keys[PC_BUILD_ID].type != PQ_TEXT)
			continue;
		binary = get_binary(binaries, to_text(&keys[PC_BUILD_ID]));
		if (!binary)
			return false;
		pr_key_value(result, g, symbol, &name);
		if (name.type != PQ_TEXT) {
			pq_groups_state(result->groups, g, count, &n);
			binary->unnamed += n.value.u;
		} else if (pc_find_address(keys, &address) &&
			   keys[PC_FUNCTION_SIZE].type == PQ_INT) {
			struct function function = { address.offset, keys[PC_FUNCTION_SIZE].i,
						     to_text(&name) };

			if (!add_function(binaries, binary, &function))
				return false;
		}
	}
	return true;
}

static int compare_functions(const void *a, const void *b)
{
	const struct function *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

static void sort_functions(struct pc_binaries *binaries)
{
	for (size_t i = 0; i < binaries->n; i++)
		if (binaries->list[i].n)
			qsort(binaries->list[i].functions, binaries->list[i].n,
			      sizeof(*binaries->list[i].functions), compare_functions);
}

uint64_t pc_binaries_unnamed(struct pc_binaries *a, struct pc_binaries *b)
{
	uint64_t n = 0;

	sort_functions(a);
	sort_functions(b);
	for (size_t i = 0; i < a->n; i++) {
		const struct binary *other = find_binary(b, a->list[i].build_id);

		if (other)
			n += a->list[i].unnamed + other->unnamed;
	}
	return n;
}

bool pc_has_binary(const struct pc_binaries *binaries, struct pd_text build_id)
{
	return find_binary(binaries, build_id) != NULL;
}

bool pc_find_function(const struct pc_binaries *binaries, const struct pc_address *address,
		      struct pd_text *name)
{
	const struct binary *binary = find_binary(binaries, address->build_id);
	const struct function *found;
	size_t low = 0, high = binary ? binary->n : 0;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (binary->functions[middle].start <= address->offset)
			low = middle + 1;
		else
			high = middle;
	}
	found = low ? &binary->functions[low - 1] : NULL;
	if (!found ||
	    (uint64_t)address->offset - (uint64_t)found->start >= (uint64_t)found->size)
		return false;
	*name = found->name;
	return true;
}
