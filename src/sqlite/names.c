#include "names.h"

#include <stdlib.h>

#include "base/vector.h"

void pt_names_deinit(struct pt_names *names)
{
	free(names->threads);
	free(names->binaries);
	pb_map_deinit(&names->by_thread);
	pb_map_deinit(&names->by_binary);
	pb_arena_deinit(&names->arena);
}

static bool is_equal_name(struct pd_text a, struct pd_text b)
{
	return a.n == b.n && pb_same_bytes(a.p, b.p, a.n);
}

/* Replaces a text by a copy. Returns false without memory. */
static bool copy_name(struct pt_names *names, struct pd_text *text)
{
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
	       is_equal_name(known->comm, key->thread->comm);
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

	return is_equal_name(key->names->binaries[item].name, key->name);
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
