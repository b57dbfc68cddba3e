#include "names.h"

#include <stdlib.h>

#include "base/vector.h"

void pt_names_deinit(struct pt_names *names)
{
	free(names->threads);
	free(names->binaries);
	free(names->symbols);
	pb_map_deinit(&names->by_thread);
	pb_map_deinit(&names->by_binary);
	pb_map_deinit(&names->by_symbol);
	pb_arena_deinit(&names->arena);
}

static bool is_same_text(struct pd_text a, struct pd_text b)
{
	return a.n == b.n && pb_same_bytes(a.p, b.p, a.n);
}

/* Copies a text, unless it has none. Returns false without memory. */
static bool copy_name(struct pt_names *names, struct pd_text *text)
{
	if (text->p)
		text->p = pb_arena_text(&names->arena, text->p, text->n);
	return text->p;
}

struct named_thread {
	const struct pt_names *names;
	const struct pt_thread *thread;
};

static bool has_thread(const void *arg, uint32_t item)
{
	const struct named_thread *key = arg;
	const struct pt_thread *known = &key->names->threads[item];

	return known->tid == key->thread->tid && known->pid == key->thread->pid &&
	       is_same_text(known->comm, key->thread->comm);
}

uint32_t pt_names_thread(struct pt_names *names, const struct pt_thread *thread)
{
	const struct named_thread key = { names, thread };
	uint32_t number = (uint32_t)names->n_threads, found;
	uint32_t hash = pb_hash_pair(&names->secret, (uint64_t)thread->tid,
				     pb_hash_bytes(&names->secret, thread->comm.p,
						   thread->comm.n));

	if (!pb_reserve(names->threads, names->n_threads, names->threads_room))
		return 0;
	found = pb_map_intern(&names->by_thread, hash, has_thread, &key, number);
	if (found != number)
		return found + 1;
	names->threads[number] = *thread;
	if (thread->comm.p && !copy_name(names, &names->threads[number].comm))
		return 0;
	return (uint32_t)++names->n_threads;
}

struct named_binary {
	const struct pt_names *names;
	struct pd_text name;
};

static bool has_binary(const void *arg, uint32_t item)
{
	const struct named_binary *key = arg;

	return is_same_text(key->names->binaries[item].name, key->name);
}

uint32_t pt_names_binary(struct pt_names *names, struct pd_text name)
{
	const struct named_binary key = { names, name };
	uint32_t number = (uint32_t)names->n_binaries, found;
	uint32_t hash = pb_hash_bytes(&names->secret, name.p, name.n);

	if (!pb_reserve(names->binaries, names->n_binaries, names->binaries_room))
		return 0;
	found = pb_map_intern(&names->by_binary, hash, has_binary, &key, number);
	if (found != number)
		return found + 1;
	names->binaries[number] = (struct pt_binary){ name, NULL };
	if (!copy_name(names, &names->binaries[number].name))
		return 0;
	return (uint32_t)++names->n_binaries;
}

struct named_symbol {
	const struct pt_names *names;
	const struct pt_symbol *symbol;
};

static bool has_symbol(const void *arg, uint32_t item)
{
	const struct named_symbol *key = arg;
	const struct pt_symbol *known = &key->names->symbols[item], *is = key->symbol;

	return known->address == is->address && known->binary == is->binary &&
	       known->mode == is->mode && !known->name.p == !is->name.p &&
	       (!is->name.p || is_same_text(known->name, is->name));
}

uint32_t pt_names_symbol(struct pt_names *names, const struct pt_symbol *symbol)
{
	const struct named_symbol key = { names, symbol };
	uint32_t number = (uint32_t)names->n_symbols, found;
	uint64_t place = symbol->address ^ (uint64_t)symbol->mode << 56;
	uint32_t text = pb_hash_bytes(&names->secret, symbol->name.p, symbol->name.n);
	uint32_t hash = pb_hash_pair(&names->secret, place,
				     (uint64_t)symbol->binary << 32 | text);

	if (!pb_reserve(names->symbols, names->n_symbols, names->symbols_room))
		return 0;
	found = pb_map_intern(&names->by_symbol, hash, has_symbol, &key, number);
	if (found != number)
		return found + 1;
	names->symbols[number] = *symbol;
	if (symbol->name.p && !copy_name(names, &names->symbols[number].name))
		return 0;
	return (uint32_t)++names->n_symbols;
}
