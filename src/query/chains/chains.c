#include <stdlib.h>
#include <string.h>

#include "chains_internal.h"

struct pq_chains *pq_chains_create(void)
{
	struct pq_chains *c = calloc(1, sizeof(*c));

	if (c && !pq_hash_keys_init(&c->keys)) {
		free(c);
		return NULL;
	}
	if (c) {
		pb_secret_make(&c->secret);
		pb_set_init(&c->codes, sizeof(struct pq_code));
		c->limit = SIZE_MAX;
	}
	return c;
}

void pq_chains_limit(struct pq_chains *c, size_t limit)
{
	c->limit = limit;
}

void pq_chains_destroy(struct pq_chains *c)
{
	if (!c)
		return;
	for (int kind = 0; kind < PQ_KINDS; kind++) {
		pm_string_pool_deinit(&c->texts[kind]);
		free(c->by_text[kind]);
	}
	pq_chains_seal(c);
	pb_set_deinit(&c->exact);
	pb_set_deinit(&c->codes);
	free(c->code_hashes);
	free(c->frames);
	free(c->frame_values);
	free(c->list);
	free(c->numbers);
	pb_string_deinit(&c->text);
	free(c->names);
	free(c);
}

void pq_chains_forget(struct pq_chains *c)
{
	free(c->raw.lines);
	c->raw = (struct pq_raw){ 0 };
	free(c->aliases);
	pb_map_deinit(&c->by_place);
	c->aliases = NULL;
	c->n_aliases = c->aliases_room = 0;
}

void pq_chains_seal(struct pq_chains *c)
{
	pq_chains_forget(c);
	pb_map_deinit(&c->addresses);
	pb_map_deinit(&c->values);
	pb_map_deinit(&c->by_frames);
}

static bool reserve_chain(struct pq_chains *c, size_t n_frames)
{
	return pb_map_reserve(&c->by_frames) && pb_reserve(c->list, c->n, c->room) &&
	       pb_reserve_more(c->numbers, c->n_numbers, n_frames, c->numbers_room);
}

struct wanted {
	const struct pq_chains *chains;
	const uint32_t *frames;
	size_t n;
	unsigned kind;
};

static bool has_frames(const void *arg, uint32_t item)
{
	const struct wanted *wanted = arg;
	const struct pq_chain *chain = &wanted->chains->list[item];

	return chain->n == wanted->n && chain->kind == wanted->kind &&
	       memcmp(wanted->chains->numbers + chain->at, wanted->frames,
		      wanted->n * sizeof(*wanted->frames)) == 0;
}

uint32_t pq_chain_intern(struct pq_chains *c, unsigned kind, const uint32_t *frames, size_t n,
			 const struct pq_origin *first)
{
	const uint64_t head[PQ_HEAD_WORDS] = { kind, n, n % 2 ? frames[n - 1] : 0 };
	const struct wanted wanted = { c, frames, n, kind };
	uint32_t hash = (uint32_t)pq_hash_of(&c->keys, head, frames, n / 2).high, found;

	if (!reserve_chain(c, n + 1)) /* never NULL */
		return PQ_CHAIN_NO_MEMORY;
	found = pb_map_intern(&c->by_frames, hash, has_frames, &wanted, (uint32_t)c->n);
	if (found < c->n && pq_is_earlier(first, &c->list[found].first))
		c->list[found].first = *first;
	if (found != c->n)
		return found;
	memcpy(c->numbers + c->n_numbers, frames, n * sizeof(*frames));
	c->list[c->n] = (struct pq_chain){ c->n_numbers, *first, (uint16_t)n, (uint8_t)kind };
	c->n_numbers += n;
	return (uint32_t)c->n++;
}

uint32_t pq_chains_own(const struct pq_chains *c)
{
	return c->own;
}

enum pd_cpumode pq_chains_mode(const struct pq_chains *c, uint64_t address)
{
	const struct pq_looked *looked = &c->entered;

	return pm_implied_mode(pm_resolver_system(looked->resolver), &looked->context, address);
}

uint32_t pq_chains_at(struct pq_chains *c, const struct pd_frame *at)
{
	return pq_frame_at(c, &c->entered, at);
}

const struct ps_symbol *pq_chains_function(struct pq_chains *c, uint32_t number)
{
	const struct pq_frame frame = pq_chains_frame(c, number);
	struct pq_frame_value *value = &c->frame_values[number];
	const struct pq_looked *looked = &c->entered;

	if (!value->is_asked && frame.dso && !frame.dso->jitdump)
		value->function = pm_symbol_at(looked->resolver, frame.dso, frame.address,
					       looked->context.time);
	value->is_asked = true;
	return frame.symbol ? frame.symbol : value->function;
}
