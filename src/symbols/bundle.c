#include "bundle.h"

#include <stdlib.h>
#include <zstd.h>

#include "base/hash.h"
#include "base/map.h"
#include "base/vector.h"

/* A frame that says it holds more is refused: what perflua packs is about a fifth as large. */
#define MOST_TIMES 1000u
#define MOST	   (UINT64_C(1) << 30)

struct ps_bundle {
	char *bytes;	   /* the parts; a NUL follows */
	uint32_t *strings; /* [n_strings]: where each begins in `texts` */
	const char *texts;
	size_t n_strings, strings_room;
	struct ps_packed *packed; /* [n] */
	size_t n, room;
	struct ps_part {
		const uint8_t *bytes;
		size_t n;
	} * sources; /* [n_sources]: lines of source files, each after its path */
	size_t n_sources, sources_room;
	struct pb_map by_name; /* of those with one name the first; `next` leads on */
	uint32_t *next;	       /* [n]: number + 1 of the next one with that name; 0: none */
	struct pb_secret secret;
};

uint64_t ps_take_number(struct pb_cursor *c)
{
	uint64_t value = 0;

	for (unsigned shift = 0; shift < 64; shift += 7) {
		uint8_t byte = pb_take8(c);

		if (shift == 63 && byte > 1)
			break;
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return value;
	}
	pb_cursor_fail(c, "a number of more than 64 bits");
	return 0;
}

size_t ps_take_count(struct pb_cursor *c)
{
	uint64_t n = ps_take_number(c);

	if (n <= pb_cursor_left(c))
		return (size_t)n;
	pb_cursor_fail(c, "more items than bytes");
	return 0;
}

bool ps_take_distance(struct pb_cursor *c, uint64_t least, uint64_t *at)
{
	uint64_t distance = ps_take_number(c);

	if (distance < least || distance > UINT64_MAX - *at)
		pb_cursor_fail(c, "addresses that do not ascend");
	else
		*at += distance;
	return !c->failed;
}

const char *ps_take_string(struct pb_cursor *c, const struct ps_bundle *bundle)
{
	uint64_t number = ps_take_number(c);

	if (!number)
		return NULL;
	if (number <= bundle->n_strings)
		return bundle->texts + bundle->strings[number - 1];
	pb_cursor_fail(c, "the number of no string");
	return NULL;
}

bool ps_packed_read(const struct ps_packed *packed, enum ps_packed_part part,
		    struct pb_cursor *c)
{
	if (!packed->parts[part].bytes)
		return false;
	pb_cursor_init(c, packed->parts[part].bytes, packed->parts[part].n, false);
	return true;
}

/* Takes the next part. Returns false at the end, or where there is none. */
static bool take_part(struct pb_cursor *c, uint64_t *number, const uint8_t **bytes, size_t *n)
{
	if (!pb_cursor_left(c))
		return false;
	*number = ps_take_number(c);
	*n = ps_take_count(c);
	*bytes = pb_take(c, *n);
	return *bytes;
}

static bool read_strings(struct ps_bundle *bundle, const uint8_t *bytes, size_t n)
{
	if (bundle->texts || !n || bytes[n - 1] || n > UINT32_MAX)
		return false;
	bundle->texts = (const char *)bytes;
	for (size_t at = 0; at < n; at += strlen(bundle->texts + at) + 1) {
		if (!pb_reserve(bundle->strings, bundle->n_strings, bundle->strings_room))
			return false;
		bundle->strings[bundle->n_strings++] = (uint32_t)at;
	}
	return true;
}

/*
 * The identity: kind, 1 for a guest, name, shown name, build-id with its length before it,
 * device, inode, generation, 1 for an ambiguous file, start, length, reference symbol and its
 * address, pid as 32 bits; then bias, listed, proof, path, where, runtime, debug.
 */
static bool read_id(const struct ps_bundle *bundle, struct pb_cursor *c,
		    struct ps_packed *packed)
{
	struct ps_dso_id *id = &packed->id;
	uint64_t kind = ps_take_number(c), size;
	const uint8_t *bytes;

	id->kind = (enum ps_kind)kind;
	id->guest = ps_take_number(c);
	id->name = ps_take_string(c, bundle);
	id->shown = ps_take_string(c, bundle);
	size = ps_take_number(c);
	bytes = pb_take(c, size);
	if (kind > PS_DATA || !id->name || !bytes || size > PS_MAX_BUILD_ID)
		return false;
	id->build_id.size = (uint8_t)size;
	memcpy(id->build_id.bytes, bytes, size);
	id->file.major = (uint32_t)ps_take_number(c);
	id->file.minor = (uint32_t)ps_take_number(c);
	id->file.inode = ps_take_number(c);
	id->file.generation = (uint32_t)ps_take_number(c);
	id->file.is_ambiguous = ps_take_number(c);
	id->start = ps_take_number(c);
	id->len = ps_take_number(c);
	id->reference = ps_take_string(c, bundle);
	id->reference_address = ps_take_number(c);
	id->pid = (int32_t)ps_take_number(c);
	packed->bias = ps_take_number(c);
	packed->listed = ps_take_number(c);
	packed->proof = ps_take_string(c, bundle);
	packed->path = ps_take_string(c, bundle);
	packed->where = ps_take_string(c, bundle);
	packed->runtime = ps_take_string(c, bundle);
	packed->debug = ps_take_string(c, bundle);
	return !c->failed;
}

struct wanted {
	const struct ps_bundle *bundle;
	const char *name;
};

static bool has_packed_name(const void *arg, uint32_t item)
{
	const struct wanted *wanted = arg;

	return strcmp(wanted->bundle->packed[item].id.name, wanted->name) == 0;
}

static struct pb_slot *find_packed_name(const struct ps_bundle *bundle, const char *name,
					uint32_t *hash)
{
	const struct wanted wanted = { bundle, name };

	*hash = pb_hash_bytes(&bundle->secret, name, strlen(name));
	return pb_map_find(&bundle->by_name, *hash, has_packed_name, &wanted);
}

static bool add_packed(struct ps_bundle *bundle, const struct ps_packed *packed)
{
	size_t n = bundle->n, next_room = bundle->room;
	struct pb_slot *slot;
	uint32_t hash;

	if (!pb_reserve(bundle->next, n, next_room) ||
	    !pb_reserve(bundle->packed, n, bundle->room) || !pb_map_reserve(&bundle->by_name))
		return false;
	bundle->packed[n] = *packed;
	bundle->next[n] = 0;
	slot = find_packed_name(bundle, packed->id.name, &hash);
	if (slot->item) {
		bundle->next[n] = bundle->next[slot->item - 1];
		bundle->next[slot->item - 1] = (uint32_t)n + 1;
	} else {
		pb_map_fill(&bundle->by_name, slot, hash, (uint32_t)n);
	}
	bundle->n++;
	return true;
}

static bool read_packed(struct ps_bundle *bundle, const uint8_t *bytes, size_t n)
{
	struct ps_packed packed = { .bundle = bundle };
	struct pb_cursor c, id;
	uint64_t number;

	pb_cursor_init(&c, bytes, n, false);
	while (take_part(&c, &number, &bytes, &n)) {
		if (number >= PS_PACKED_PARTS || packed.parts[number].bytes)
			continue;
		packed.parts[number].bytes = bytes;
		packed.parts[number].n = n;
	}
	return !c.failed && ps_packed_read(&packed, PS_PACKED_ID, &id) &&
	       read_id(bundle, &id, &packed) && add_packed(bundle, &packed);
}

static bool read_parts(struct ps_bundle *bundle, size_t n)
{
	const uint8_t *bytes;
	struct pb_cursor c;
	uint64_t number;

	pb_cursor_init(&c, bundle->bytes, n, false);
	while (take_part(&c, &number, &bytes, &n)) {
		if (number == PS_BUNDLE_STRINGS && !read_strings(bundle, bytes, n))
			return false;
		if (number == PS_BUNDLE_DSO && !read_packed(bundle, bytes, n))
			return false;
		if (number == PS_BUNDLE_SOURCE) {
			if (!pb_reserve(bundle->sources, bundle->n_sources,
					bundle->sources_room))
				return false;
			bundle->sources[bundle->n_sources++] = (struct ps_part){ bytes, n };
		}
	}
	return !c.failed;
}

/* Returns the bytes of the frame, and a NUL, and sets *size; NULL with *reason. */
static char *decompress(const uint8_t *bytes, size_t n, size_t *size, const char **reason)
{
	unsigned long long claimed = ZSTD_getFrameContentSize(bytes, n);
	size_t got;
	char *plain;

	*reason = "its size is not believable";
	if (claimed == ZSTD_CONTENTSIZE_UNKNOWN || claimed == ZSTD_CONTENTSIZE_ERROR ||
	    claimed > MOST || claimed / MOST_TIMES > n)
		return NULL;
	*reason = "no memory";
	plain = malloc((size_t)claimed + 1);
	if (!plain)
		return NULL;
	got = ZSTD_decompress(plain, (size_t)claimed, bytes, n);
	if (ZSTD_isError(got) || got != claimed) {
		*reason = "it cannot be decompressed, or its checksum is wrong";
		free(plain);
		return NULL;
	}
	plain[got] = '\0';
	*size = got;
	return plain;
}

struct ps_bundle *ps_bundle_open(const uint8_t *bytes, size_t n, const char **reason)
{
	struct ps_bundle *bundle;
	size_t size;

	*reason = "it is not a bundle of perflua";
	if (n < PS_BUNDLE_HEADER || memcmp(bytes, PS_BUNDLE_MAGIC, 8) != 0)
		return NULL;
	*reason = "it is a bundle of another version of perflua";
	if (bytes[8] != PS_BUNDLE_VERSION || bytes[9] || bytes[10] || bytes[11])
		return NULL;
	bundle = calloc(1, sizeof(*bundle));
	*reason = "no memory";
	if (!bundle)
		return NULL;
	pb_secret_make(&bundle->secret);
	bundle->bytes = decompress(bytes + PS_BUNDLE_HEADER, n - PS_BUNDLE_HEADER, &size,
				   reason);
	if (bundle->bytes) {
		*reason = "it is damaged";
		if (read_parts(bundle, size))
			return bundle;
	}
	ps_bundle_destroy(bundle);
	return NULL;
}

void ps_bundle_destroy(struct ps_bundle *bundle)
{
	if (!bundle)
		return;
	pb_map_deinit(&bundle->by_name);
	free(bundle->next);
	free(bundle->packed);
	free(bundle->sources);
	free(bundle->strings);
	free(bundle->bytes);
	free(bundle);
}

/*
 * Returns how sure it is that two identities of one name are of one binary; 0: they are not. A
 * recording that was packed may have got its build-ids later, as by perf inject -b.
 */
static unsigned compare_ids(const struct ps_dso_id *a, const struct ps_dso_id *b)
{
	if (a->kind != b->kind || a->guest != b->guest || a->pid != b->pid ||
	    a->start != b->start || a->len != b->len ||
	    a->reference_address != b->reference_address)
		return 0;
	if (a->build_id.size && b->build_id.size)
		return ps_build_id_equal(&a->build_id, &b->build_id) ? 3 : 0;
	if (a->file.inode && b->file.inode)
		return a->file.inode == b->file.inode && a->file.major == b->file.major &&
				       a->file.minor == b->file.minor ?
			       2 :
			       0;
	return 1;
}

const struct ps_packed *ps_bundle_find(const struct ps_bundle *bundle,
				       const struct ps_dso_id *id)
{
	const struct ps_packed *found = NULL;
	uint32_t hash;
	const struct pb_slot *slot = find_packed_name(bundle, id->name, &hash);
	unsigned best = 0;

	for (uint32_t at = slot ? slot->item : 0; at; at = bundle->next[at - 1]) {
		unsigned sure = compare_ids(&bundle->packed[at - 1].id, id);

		if (sure > best)
			found = &bundle->packed[at - 1];
		best = sure > best ? sure : best;
	}
	return found;
}

const struct ps_packed *ps_bundle_at(const struct ps_bundle *bundle, size_t i)
{
	return i < bundle->n ? &bundle->packed[i] : NULL;
}

bool ps_bundle_has_source(const struct ps_bundle *bundle)
{
	for (size_t i = 0; i < bundle->n; i++)
		if (bundle->packed[i].parts[PS_PACKED_CODE].bytes)
			return true;
	return bundle->n_sources;
}

bool ps_bundle_source_at(const struct ps_bundle *bundle, size_t i, struct pb_cursor *c)
{
	if (i >= bundle->n_sources)
		return false;
	pb_cursor_init(c, bundle->sources[i].bytes, bundle->sources[i].n, false);
	return true;
}

bool ps_bundle_source(const struct ps_bundle *bundle, const char *path, struct pb_cursor *c)
{
	for (size_t i = 0; ps_bundle_source_at(bundle, i, c); i++) {
		const char *name = ps_take_string(c, bundle);

		if (name && strcmp(name, path) == 0)
			return true;
	}
	return false;
}
