#include "deferred.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define CONTEXT_MAX ((uint64_t)-4095) /* what is not below is a marker */
#define FIRST_BITS  6
#define LENGTH	    sizeof(uint32_t) /* of what is before a chain's bytes */
#define MAX_VARINT  10

void pm_deferred_deinit(struct pm_deferred *d)
{
	free(d->bytes);
	free(d->kept);
	free(d->chains);
	free(d->places);
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

static uint64_t kept_start(const struct pm_deferred *d, unsigned bits, const uint8_t *bytes,
			   size_t n)
{
	return hash_bytes(d, bytes, n) * d->factor >> (64 - bits);
}

/* Where a chain of those bytes, which begin with their length, is kept or would be. */
static uint64_t *kept_place(const struct pm_deferred *d, const uint8_t *bytes, size_t n)
{
	uint64_t mask = (UINT64_C(1) << d->kept_bits) - 1;
	uint64_t at = kept_start(d, d->kept_bits, bytes, n);

	while (d->kept[at] && memcmp(d->bytes + d->kept[at] - 1, bytes, n) != 0)
		at = (at + 1) & mask;
	return &d->kept[at];
}

static uint32_t *chain_place(const struct pm_deferred *d, uint32_t *places, unsigned bits,
			     const struct pm_deferred_chain *key)
{
	uint64_t mask = (UINT64_C(1) << bits) - 1;
	uint64_t h = mix(d, key->cookie, (uint64_t)key->system << 32 | (uint32_t)key->tid);
	uint64_t at = mix(d, h, key->cookie) * d->factor >> (64 - bits);

	for (; places[at]; at = (at + 1) & mask) {
		const struct pm_deferred_chain *chain = &d->chains[places[at] - 1];

		if (chain->cookie == key->cookie && chain->tid == key->tid &&
		    chain->system == key->system)
			break;
	}
	return &places[at];
}

static bool grow_kept(struct pm_deferred *d)
{
	unsigned bits = d->kept_bits ? d->kept_bits + 1 : FIRST_BITS;
	uint64_t *kept = calloc((size_t)1 << bits, sizeof(*kept));
	size_t places = d->kept_bits ? (size_t)1 << d->kept_bits : 0;
	uint32_t n;

	if (!kept)
		return false;
	for (size_t i = 0; i < places; i++) {
		const uint8_t *bytes;
		uint64_t at;

		if (!d->kept[i])
			continue;
		bytes = d->bytes + d->kept[i] - 1;
		memcpy(&n, bytes, LENGTH);
		at = kept_start(d, bits, bytes, LENGTH + n);
		while (kept[at])
			at = (at + 1) & ((UINT64_C(1) << bits) - 1);
		kept[at] = d->kept[i];
	}
	free(d->kept);
	d->kept = kept;
	d->kept_bits = bits;
	return true;
}

static bool grow_chains(struct pm_deferred *d)
{
	unsigned bits = d->bits ? d->bits + 1 : FIRST_BITS;
	size_t room = (size_t)1 << (bits - 1); /* half of the places */
	struct pm_deferred_chain *chains = realloc(d->chains, room * sizeof(*chains));
	uint32_t *places;

	if (!chains)
		return false;
	d->chains = chains;
	places = bits < 32 ? calloc((size_t)1 << bits, sizeof(*places)) : NULL;
	if (!places)
		return false;
	for (uint32_t i = 0; i < d->n; i++)
		*chain_place(d, places, bits, &chains[i]) = i + 1;
	free(d->places);
	d->places = places;
	d->bits = bits;
	d->chain_room = room;
	return true;
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

/* Where the addresses of a record are kept; false: no memory. */
static bool keep(struct pm_deferred *d, const struct pd_record *rec, uint32_t n, uint64_t *at)
{
	uint64_t before = 0, *place;
	size_t size = LENGTH;
	uint8_t *bytes;
	uint32_t length;

	if (!reserve(d, LENGTH + n * (size_t)MAX_VARINT) ||
	    (2 * d->n_kept >> d->kept_bits && !grow_kept(d)))
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
	place = kept_place(d, bytes, size);
	if (!*place) {
		*place = d->n_bytes + 1;
		d->n_kept++;
		d->n_bytes += size;
	}
	*at = *place - 1;
	return true;
}

bool pm_deferred_add(struct pm_deferred *d, uint32_t system, unsigned tid_id,
		     const struct pd_record *rec)
{
	struct pm_deferred_chain chain = { .system = system };
	uint32_t end = pd_body_end(rec), *place;
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
		if (!grow_kept(d))
			return false;
	}
	if (d->n >= d->chain_room && !grow_chains(d))
		return false;
	place = chain_place(d, d->places, d->bits, &chain);
	if (*place)
		return true; /* each event of a thread gets one: they say the same */
	if (!keep(d, rec, (uint32_t)n, &chain.at))
		return false;
	d->chains[d->n++] = chain;
	*place = (uint32_t)d->n;
	return true;
}

bool pm_deferred_find(const struct pm_deferred *d, uint32_t system, int32_t tid,
		      uint64_t cookie, uint64_t *ips, size_t n, size_t *got)
{
	struct pm_deferred_chain key = { .cookie = cookie, .system = system, .tid = tid };
	uint32_t place = d->n ? *chain_place(d, d->places, d->bits, &key) : 0, length;
	const uint8_t *p, *end;
	uint64_t ip = 0;

	if (!place)
		return false;
	p = d->bytes + d->chains[place - 1].at;
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
