#include "deferred.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/vector.h"

#define CONTEXT_MAX ((uint64_t)-4095) /* what is not below is a marker */
#define LENGTH	    sizeof(uint32_t)  /* of what is before a chain's bytes */
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

static uint64_t mix(const struct pm_deferred *d, uint64_t h, uint64_t v)
{
	h = (h + v) * d->factor;
	return h ^ h >> 32;
}

static uint64_t hash_bytes(const struct pm_deferred *d, const uint8_t *bytes, size_t n)
{
	uint64_t h = n, v;

	for (; n >= 8; n -= 8, bytes += 8) {
		memcpy(&v, bytes, 8);
		h = mix(d, h, v);
	}
	v = 0;
	memcpy(&v, bytes, n);
	return mix(d, h, v);
}

struct wanted {
	const struct pm_deferred *deferred;
	const uint8_t *bytes; /* of a chain, its length first */
	size_t n;
	const struct pm_deferred_chain *key;
};

/*
 * Reading n bytes where a shorter chain lies last is no error: reserve() leaves room for them.
 */
static bool has_bytes(const void *arg, uint32_t item)
{
	const struct wanted *wanted = arg;
	const struct pm_deferred *d = wanted->deferred;

	return memcmp(d->bytes + d->kept[item], wanted->bytes, wanted->n) == 0;
}

static bool has_key(const void *arg, uint32_t item)
{
	const struct wanted *wanted = arg;
	const struct pm_deferred_chain *chain = &wanted->deferred->chains[item];

	return chain->cookie == wanted->key->cookie && chain->tid == wanted->key->tid &&
	       chain->system == wanted->key->system;
}

static uint32_t hash_key(const struct pm_deferred *d, const struct pm_deferred_chain *key)
{
	uint64_t h = mix(d, key->cookie, (uint64_t)key->system << 32 | (uint32_t)key->tid);

	return (uint32_t)mix(d, h, key->cookie);
}

/* Room for n more bytes, and as many that are read where there is no chain. */
static bool reserve(struct pm_deferred *d, size_t n)
{
	size_t room = d->room ? d->room : 4096;
	uint8_t *bytes;

	while (room < d->n_bytes + 2 * n)
		room += room / 2;
	if (room == d->room)
		return true;
	bytes = realloc(d->bytes, room);
	if (!bytes)
		return false;
	memset(bytes + d->room, 0, room - d->room);
	d->bytes = bytes;
	d->room = room;
	return true;
}

/* Bytes of 7 bits, the lowest first; numbers near 0, of either sign, are short. */
static size_t put(uint8_t *bytes, uint64_t difference)
{
	uint64_t v = difference << 1 ^ (difference >> 63 ? UINT64_MAX : 0);
	size_t n = 0;

	for (; v >= 0x80; v >>= 7)
		bytes[n++] = (uint8_t)(v | 0x80);
	bytes[n++] = (uint8_t)v;
	return n;
}

/* Keeps the addresses of a record: *at is where. False: no memory. */
static bool keep(struct pm_deferred *d, const struct pd_record *rec, uint32_t n, uint64_t *at)
{
	struct wanted wanted = { .deferred = d };
	uint64_t before = 0;
	size_t size = LENGTH;
	uint8_t *bytes;
	uint32_t length, found;

	if (!reserve(d, LENGTH + n * (size_t)MAX_VARINT) ||
	    !pb_reserve(d->kept, d->n_kept, d->kept_room))
		return false;
	bytes = d->bytes + d->n_bytes;
	for (uint32_t i = 0; i < n; i++) {
		uint64_t ip = pd_rec64(rec, 24 + 8 * i);

		if (ip >= CONTEXT_MAX)
			continue;
		size += put(bytes + size, ip - before);
		before = ip;
	}
	length = (uint32_t)(size - LENGTH);
	memcpy(bytes, &length, LENGTH);
	wanted.bytes = bytes;
	wanted.n = size;
	found = pb_map_intern(&d->by_bytes, (uint32_t)hash_bytes(d, bytes, size), has_bytes,
			      &wanted, (uint32_t)d->n_kept);
	if (found == UINT32_MAX)
		return false;
	if (found == d->n_kept) {
		d->kept[d->n_kept++] = d->n_bytes;
		d->n_bytes += size;
	}
	*at = d->kept[found];
	return true;
}

bool pm_deferred_add(struct pm_deferred *d, uint32_t system, unsigned tid_id,
		     const struct pd_record *rec)
{
	struct pm_deferred_chain chain = { .system = system };
	const struct wanted wanted = { .deferred = d, .key = &chain };
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
	if (!d->factor) {
		d->factor = UINT64_C(0x9e3779b97f4a7c15); /* without random bytes */
		if (getrandom(&d->factor, sizeof(d->factor), GRND_NONBLOCK) > 0)
			d->factor |= 1;
	}
	if (!pb_map_reserve(&d->by_key) || !pb_reserve(d->chains, d->n, d->chain_room))
		return false;
	slot = pb_map_find(&d->by_key, hash_key(d, &chain), has_key, &wanted);
	if (slot->item)
		return true; /* each event of a thread gets one: they say the same */
	if (!keep(d, rec, (uint32_t)n, &chain.at))
		return false;
	pb_map_fill(&d->by_key, slot, hash_key(d, &chain), (uint32_t)d->n);
	d->chains[d->n++] = chain;
	return true;
}

bool pm_deferred_find(const struct pm_deferred *d, uint32_t system, int32_t tid,
		      uint64_t cookie, uint64_t *ips, size_t n, size_t *got)
{
	struct pm_deferred_chain key = { .cookie = cookie, .system = system, .tid = tid };
	const struct wanted wanted = { .deferred = d, .key = &key };
	const struct pb_slot *slot = pb_map_find(&d->by_key, hash_key(d, &key), has_key,
						 &wanted);
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
