#include "internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/vector.h"

#define CONTEXT_MAX ((uint64_t)-4095) /* addresses from here on are context markers */
#define LENGTH	    sizeof(uint32_t)  /* bytes of the size in front of a chain */
#define MAX_VARINT  10

void pm_deferred_deinit(struct pm_deferred *d)
{
	free(d->bytes);
	free(d->kept);
	free(d->chains);
	pb_map_deinit(&d->by_bytes);
	pb_map_deinit(&d->by_key);
	*d = (struct pm_deferred){ .n = 0 };
}

struct lookup {
	const struct pm_deferred *deferred;
	const uint8_t *bytes; /* [n]: a chain with its size in front */
	size_t n;
	const struct pm_deferred_chain *key;
};

/* Compares the sizes first, as the last chain may be shorter than n bytes. */
static bool has_same_bytes(const void *arg, uint32_t item)
{
	const struct lookup *lookup = arg;
	const struct pm_deferred *d = lookup->deferred;

	return memcmp(d->bytes + d->kept[item], lookup->bytes, LENGTH) == 0 &&
	       memcmp(d->bytes + d->kept[item], lookup->bytes, lookup->n) == 0;
}

static bool has_same_key(const void *arg, uint32_t item)
{
	const struct lookup *lookup = arg;
	const struct pm_deferred_chain *chain = &lookup->deferred->chains[item];

	return chain->cookie == lookup->key->cookie && chain->tid == lookup->key->tid &&
	       chain->machine == lookup->key->machine;
}

static uint32_t hash_chain_key(const struct pm_deferred *d, const struct pm_deferred_chain *key)
{
	return pb_hash_pair(&d->secret, key->cookie,
			    (uint64_t)key->machine << 32 | (uint32_t)key->tid);
}

/*
 * Writes 7 bits a byte, the lowest first. Numbers near 0 are short, whatever their sign.
 * Returns the bytes written.
 */
static size_t put_varint(uint8_t *bytes, uint64_t difference)
{
	uint64_t v = difference << 1 ^ (difference >> 63 ? UINT64_MAX : 0);
	size_t n = 0;

	for (; v >= 0x80; v >>= 7)
		bytes[n++] = (uint8_t)(v | 0x80);
	bytes[n++] = (uint8_t)v;
	return n;
}

/*
 * Stores the chain of a record once, and sets *at to its offset. Returns false without memory.
 */
static bool keep_chain(struct pm_deferred *d, const struct pd_record *rec, uint32_t n,
		       uint64_t *at)
{
	struct lookup lookup = { .deferred = d };
	uint64_t before = 0;
	size_t size = LENGTH;
	uint8_t *bytes;
	uint32_t length, found;

	if (!pb_reserve_more(d->bytes, d->n_bytes, LENGTH + n * (size_t)MAX_VARINT, d->room) ||
	    !pb_reserve(d->kept, d->n_kept, d->kept_room))
		return false;
	bytes = d->bytes + d->n_bytes;
	for (uint32_t i = 0; i < n; i++) {
		uint64_t ip = pd_rec64(rec, 24 + 8 * i);

		if (ip >= CONTEXT_MAX)
			continue;
		size += put_varint(bytes + size, ip - before);
		before = ip;
	}
	length = (uint32_t)(size - LENGTH);
	memcpy(bytes, &length, LENGTH);
	lookup.bytes = bytes;
	lookup.n = size;
	found = pb_map_intern(&d->by_bytes, pb_hash_bytes(&d->secret, bytes, size),
			      has_same_bytes, &lookup, (uint32_t)d->n_kept);
	if (found == UINT32_MAX)
		return false;
	if (found == d->n_kept) {
		d->kept[d->n_kept++] = d->n_bytes;
		d->n_bytes += size;
	}
	*at = d->kept[found];
	return true;
}

bool pm_deferred_add(struct pm_deferred *d, uint32_t machine, unsigned tid_id,
		     const struct pd_record *rec)
{
	struct pm_deferred_chain chain = { .machine = machine };
	const struct lookup lookup = { .deferred = d, .key = &chain };
	uint32_t end = pd_body_end(rec);
	struct pb_slot *slot;
	int64_t tid;
	uint64_t n;

	if (end < 24 || !pm_integer(rec, tid_id, &tid))
		return true;
	chain.tid = (int32_t)tid;
	chain.cookie = pd_rec64(rec, 8);
	n = pd_rec64(rec, 16);
	if (n > (end - 24) / 8)
		return true;
	if (!d->n)
		pb_secret_make(&d->secret);
	if (!pb_map_reserve(&d->by_key) || !pb_reserve(d->chains, d->n, d->chain_room))
		return false;
	slot = pb_map_find(&d->by_key, hash_chain_key(d, &chain), has_same_key, &lookup);
	if (slot->item)
		/* each event of a thread gets such a record, and they say the same */
		return true;
	if (!keep_chain(d, rec, (uint32_t)n, &chain.at))
		return false;
	pb_map_fill(&d->by_key, slot, hash_chain_key(d, &chain), (uint32_t)d->n);
	d->chains[d->n++] = chain;
	return true;
}

bool pm_deferred_find(const struct pm_deferred *d, uint32_t machine, int32_t tid,
		      uint64_t cookie, uint64_t *ips, size_t n, size_t *got)
{
	struct pm_deferred_chain key = { .cookie = cookie, .machine = machine, .tid = tid };
	const struct lookup lookup = { .deferred = d, .key = &key };
	const struct pb_slot *slot = pb_map_find(&d->by_key, hash_chain_key(d, &key),
						 has_same_key, &lookup);
	const uint8_t *p, *end;
	uint32_t length;
	uint64_t ip = 0;

	if (!slot || !slot->item)
		return false;
	p = d->bytes + d->chains[slot->item - 1].at;
	memcpy(&length, p, LENGTH);
	p += LENGTH;
	for (end = p + length, *got = 0; p < end && *got < n;) {
		uint64_t v = 0;
		unsigned shift = 0;

		while (*p & 0x80) {
			v |= (uint64_t)(*p++ & 0x7f) << shift;
			shift += 7;
		}
		v |= (uint64_t)*p++ << shift;
		ip += v >> 1 ^ (v & 1 ? UINT64_MAX : 0);
		ips[(*got)++] = ip;
	}
	return true;
}
