#include "binaries.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/vector.h"
#include "symbols/symbols.h"

/* A binary as a run mapped it. */
struct mapped {
	struct ps_dso *dso;
	size_t run;
};

struct binary {
	struct pd_text build_id;
	uint64_t unnamed;      /* samples without a function */
	struct mapped *mapped; /* [n] */
	size_t n, room;
};

struct pc_binaries {
	struct binary *list; /* [n] */
	size_t n, room, n_runs;
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
	for (size_t i = 0; i < binaries->n; i++)
		free(binaries->list[i].mapped);
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
	return binary;
}

/* Adds the binaries that samples lie in, and counts those without a function. */
static bool add_sampled(struct pc_binaries *binaries, const struct pc_sampled *run)
{
	const char *last = NULL; /* of a group */
	size_t number = 0;

	for (size_t g = 0; g < pr_size(run->result); g++) {
		struct pq_value build_id, name;
		struct binary *binary;
		struct pq_state n;

		pr_key_value(run->result, g, run->build_id, &build_id);
		if (build_id.type != PQ_TEXT)
			continue;
		if (build_id.p != last) {
			last = build_id.p;
			binary = get_binary(binaries, (struct pd_text){ last, build_id.size });
			if (!binary)
				return false;
			number = (size_t)(binary - binaries->list);
		}
		pr_key_value(run->result, g, run->symbol, &name);
		if (name.type == PQ_TEXT)
			continue;
		pq_groups_state(run->result->groups, g, run->count, &n);
		binaries->list[number].unnamed += n.value.u;
	}
	return true;
}

/* Notes where binaries with samples come from. */
static bool add_mapped(struct pc_binaries *binaries, struct ps_store *store)
{
	for (size_t i = 0; i < ps_store_count(store); i++) {
		struct ps_dso *dso = ps_store_at(store, i);
		char text[PS_BUILD_ID_TEXT];
		struct binary *binary;

		ps_build_id_text(&dso->id.build_id, text);
		binary = find_binary(binaries, (struct pd_text){ text, strlen(text) });
		if (!binary)
			continue;
		if (!pb_reserve(binary->mapped, binary->n, binary->room))
			return false;
		binary->mapped[binary->n++] = (struct mapped){ dso, binaries->n_runs };
	}
	return true;
}

bool pc_binaries_add(struct pc_binaries *binaries, const struct pc_sampled *run)
{
	if (!add_sampled(binaries, run))
		return false;
	for (size_t i = 0; i < run->n_stores; i++)
		if (run->stores[i] && !add_mapped(binaries, run->stores[i]))
			return false;
	binaries->n_runs++;
	return true;
}

uint64_t pc_binaries_unnamed(const struct pc_binaries *a, const struct pc_binaries *b)
{
	uint64_t n = 0;

	for (size_t i = 0; i < a->n; i++) {
		const struct binary *match = find_binary(b, a->list[i].build_id);

		if (match)
			n += a->list[i].unnamed + match->unnamed;
	}
	return n;
}

/* Returns the address of a dso that has offset 0. */
static uint64_t start_of(const struct ps_dso *dso)
{
	return ps_dso_is_absolute(dso) ? dso->id.start : 0;
}

bool pc_find_address(const struct pc_binaries *binaries, size_t run, struct pd_text build_id,
		     uint64_t ip, struct pc_address *address)
{
	const struct binary *binary = find_binary(binaries, build_id);
	const struct ps_dso *found = NULL;

	for (size_t i = 0; binary && i < binary->n; i++) {
		const struct ps_dso *dso = binary->mapped[i].dso;

		if (binary->mapped[i].run != run)
			continue;
		/* several kernels may be one build */
		if (!found || (ps_dso_is_absolute(dso) && ip - dso->id.start < dso->id.len))
			found = dso;
	}
	if (!found)
		return false;
	*address = (struct pc_address){ binary->build_id, ip - start_of(found) };
	return true;
}

bool pc_has_binary(const struct pc_binaries *binaries, struct pd_text build_id)
{
	return find_binary(binaries, build_id) != NULL;
}

bool pc_find_function(const struct pc_binaries *binaries, const struct pc_address *address,
		      struct pd_text *name)
{
	const struct binary *binary = find_binary(binaries, address->build_id);

	for (size_t i = 0; binary && i < binary->n; i++) {
		struct ps_dso *dso = binary->mapped[i].dso;
		const struct ps_symbol *symbol = ps_dso_symbol(dso,
							       start_of(dso) + address->offset);

		if (!symbol)
			continue;
		*name = (struct pd_text){ symbol->name, symbol->length };
		return true;
	}
	return false;
}
