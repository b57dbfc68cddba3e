/* Sets of call chains: made, freed; raw chains that were met; chains by frames; names alone. */
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/vector.h"
#include "chains_internal.h"

/* Makes random keys. Returns false if there are no random numbers. */
static bool make_hash_keys(struct pq_hash_keys *keys)
{
	uint8_t *at = (uint8_t *)keys, *end = at + sizeof(*keys);

	while (at < end) {
		ssize_t got = getrandom(at, (size_t)(end - at), 0);

		if (got <= 0)
			return false;
		at += got;
	}
	keys->factors[0] |= 1;
	keys->factors[1] |= 1;
	return true;
}

/* Numbers of lines of raw chains, as powers of two: at most 16 MB. */
#define RAW_BITS_MIN 8
#define RAW_BITS_MAX 18
/* Chains per two lines, which have room for six, from which on their number is doubled. */
#define RAW_FILL 5

static struct pq_raw_line *line_of(const struct pq_raw *raw, const struct pq_hash *hash)
{
	return &raw->lines[hash->low >> (64 - raw->bits)];
}

uint32_t pq_raw_find(const struct pq_raw *raw, const struct pq_hash *hash)
{
	const struct pq_raw_line *line;

	if (!raw->lines)
		return 0;
	line = line_of(raw, hash);
	for (int i = 0; i < 3; i++)
		if (line->hash[i].low == hash->low && line->hash[i].high == hash->high)
			return line->chain[i];
	return 0;
}

static void store_raw(struct pq_raw *raw, const struct pq_hash *hash, uint32_t chain)
{
	struct pq_raw_line *line = line_of(raw, hash);
	uint32_t i = line->next % 3;

	raw->n += !line->chain[i];
	line->hash[i] = *hash;
	line->chain[i] = chain;
	line->next = i + 1;
}

/* Returns `n` empty lines, each in a cache line of its own; NULL without memory. */
static struct pq_raw_line *make_lines(size_t n)
{
	size_t size = n * sizeof(struct pq_raw_line);
	void *lines;

	if (size >= PB_HUGE_PAGE)
		return pb_zeros(n, sizeof(struct pq_raw_line));
	lines = aligned_alloc(64, size);
	return lines ? memset(lines, 0, size) : NULL;
}

/* Doubles the number of lines. Without memory the number stays as it is. */
static void widen_raw(struct pq_raw *raw)
{
	struct pq_raw wide = { .bits = raw->lines ? raw->bits + 1 : RAW_BITS_MIN };
	size_t n = (size_t)1 << wide.bits;

	wide.lines = make_lines(n);
	if (!wide.lines) {
		raw->full = true;
		return;
	}
	for (size_t l = 0; raw->lines && l < n / 2; l++)
		for (int i = 0; i < 3; i++)
			if (raw->lines[l].chain[i])
				store_raw(&wide, &raw->lines[l].hash[i],
					  raw->lines[l].chain[i]);
	free(raw->lines);
	wide.full = wide.bits == RAW_BITS_MAX;
	*raw = wide;
}

void pq_raw_keep(struct pq_raw *raw, const struct pq_hash *hash, uint32_t chain)
{
	if (!raw->full && (!raw->lines || 2 * raw->n >> raw->bits >= RAW_FILL))
		widen_raw(raw);
	if (raw->lines)
		store_raw(raw, hash, chain);
}

struct pq_chains *pq_chains_create(void)
{
	struct pq_chains *c = calloc(1, sizeof(*c));

	if (c && !make_hash_keys(&c->keys)) {
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
	if (found < c->n)
		pq_chain_meet(c, found, first);
	if (found != c->n)
		return found;
	memcpy(c->numbers + c->n_numbers, frames, n * sizeof(*frames));
	c->list[c->n] = (struct pq_chain){ (uint32_t)c->n_numbers, *first, (uint16_t)n,
					   (uint8_t)kind };
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

#define NAME_SETS 8192 /* a power of two */

static bool make_names(struct pq_chains *c)
{
	size_t size = NAME_SETS * sizeof(*c->names);

	c->names = aligned_alloc(64, size);
	if (c->names)
		memset(c->names, 0, size);
	return c->names;
}

static bool is_seen(const struct pq_seen_name *seen, uint64_t ip, uint64_t tag)
{
	return seen->ip == ip && seen->tag == tag && seen->is_filled;
}

bool pq_chains_name(struct pq_chains *c, const struct pd_frame *at, struct pd_text *name)
{
	const struct pq_looked *looked = &c->entered;
	uint64_t tag = looked->tags[at->mode == PD_CPUMODE_KERNEL] +
		       at->mode * c->keys.factors[1];
	uint64_t hash = pb_scatter(at->ip ^ tag);
	const struct ps_symbol *symbol;
	struct pq_seen_name *seen, first;
	uint32_t number;

	if (!c->names && !make_names(c))
		return false;
	seen = c->names[hash >> 40 & (NAME_SETS - 1)];
	if (looked->known && is_seen(&seen[0], at->ip, tag)) {
		*name = (struct pd_text){ seen[0].name, seen[0].size };
		return true;
	}
	if (looked->known && is_seen(&seen[1], at->ip, tag)) {
		first = seen[0];
		seen[0] = seen[1];
		seen[1] = first;
		*name = (struct pd_text){ seen[0].name, seen[0].size };
		return true;
	}
	number = pq_chains_at(c, at);
	if (number == UINT32_MAX)
		return false;
	symbol = pq_chains_function(c, number);
	*name = (struct pd_text){ 0 };
	if (symbol)
		*name = (struct pd_text){ symbol->name, symbol->length };
	if (looked->known &&
	    !(pq_code_at(c, number)->dso && pq_code_at(c, number)->dso->jitdump)) {
		seen[1] = seen[0];
		seen[0] = (struct pq_seen_name){ at->ip, tag, name->p, (uint32_t)name->n,
						 true };
	}
	return true;
}
