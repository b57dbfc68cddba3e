/* Loads the symbols of a binary from a bundle: see bundle.h. */
#include <stdlib.h>

#include "base/vector.h"
#include "bundle.h"
#include "internal.h"
#include "symbols/jit/jitdump.h"

const struct ps_packed *ps_dso_packed(const struct ps_dso *dso)
{
	const struct ps_bundle *bundle = dso->store->bundle;

	return bundle ? ps_bundle_find(bundle, &dso->id) : NULL;
}

/*
 * Takes a symbol whose start is known: size, name, flags. Returns false if it is none, or
 * without memory.
 */
static bool take_symbol(const struct ps_packed *packed, struct pb_cursor *c, uint64_t start,
			uint64_t *size, struct ps_table *table)
{
	struct ps_symbol symbol = { .start = start };
	uint64_t flags;

	*size = ps_take_number(c);
	symbol.name = ps_take_string(c, packed->bundle);
	flags = ps_take_number(c);
	if (!symbol.name || !*size || *size > UINT64_MAX - start || (flags & 3) > PS_WEAK)
		return false;
	symbol.length = (uint32_t)strlen(symbol.name);
	symbol.binding = flags & 3;
	symbol.function = flags & PS_PACKED_FUNCTION;
	symbol.label = flags & PS_PACKED_LABEL;
	return !c->failed && ps_table_add(table, &symbol, *size);
}

/* The symbols: their number, then of each the distance of its start, size, name, flags. */
static bool read_symbols(const struct ps_packed *packed, struct ps_table *table)
{
	struct pb_cursor c;
	uint64_t at = 0, size;

	if (!ps_packed_read(packed, PS_PACKED_SYMBOLS, &c))
		return true;
	for (size_t n = ps_take_count(&c); n; n--)
		if (!ps_take_distance(&c, 0, &at) || !take_symbol(packed, &c, at, &size, table))
			return false;
	return !c.failed && ps_table_finish(table, PS_FILE);
}

/*
 * The ranges of a jitdump: machine of the code, 1 if it is big-endian, number of ranges; of
 * each the distance of its start, size, name, flags, the time from which it is valid, and its
 * position in the dump.
 */
static struct ps_jitdump *read_jit(const struct ps_packed *packed, struct pb_cursor *c)
{
	struct ps_jitdump *dump = calloc(1, sizeof(*dump));
	size_t n, room = 0;
	uint64_t at = 0, size;

	if (!dump)
		return NULL;
	dump->machine = (uint16_t)ps_take_number(c);
	dump->is_big = ps_take_number(c);
	for (n = ps_take_count(c); n; n--) {
		struct ps_jit_span *span;

		if (!ps_take_distance(c, 0, &at) || !pb_reserve(dump->spans, dump->n, room) ||
		    !take_symbol(packed, c, at, &size, &dump->table))
			break;
		span = &dump->spans[dump->n];
		*span = (struct ps_jit_span){ .start = at,
					      .end = at + size,
					      .symbol = (uint32_t)dump->n };
		span->from = ps_take_number(c);
		span->order = (uint32_t)ps_take_number(c);
		dump->n++;
	}
	if (!c->failed && !n && dump->n) {
		ps_jitdump_sort(dump);
		return dump;
	}
	ps_jitdump_destroy(dump);
	return NULL;
}

/* The segments: their number, then of each the distance of its offset, size, address. */
static bool read_segments(const struct ps_packed *packed, struct ps_segment **segments,
			  size_t *n_segments)
{
	uint64_t offset = 0;
	struct pb_cursor c;
	size_t n, room = 0;

	if (!ps_packed_read(packed, PS_PACKED_SEGMENTS, &c))
		return true;
	for (n = ps_take_count(&c); n; n--) {
		struct ps_segment segment;

		if (!ps_take_distance(&c, 0, &offset))
			return false;
		segment = (struct ps_segment){ .offset = offset, .size = ps_take_number(&c) };
		segment.address = ps_take_number(&c);
		if (!pb_reserve(*segments, *n_segments, room))
			return false;
		(*segments)[(*n_segments)++] = segment;
	}
	return !c.failed;
}

/* A bundle's part while it is read: it then replaces the contents of the dso. */
struct loading {
	struct ps_table table;
	struct ps_jitdump *jitdump;
	struct ps_segment *segments;
	size_t n_segments;
};

static bool read_packed_symbols(const struct ps_packed *packed, struct loading *loading)
{
	struct pb_cursor c;

	if (!read_symbols(packed, &loading->table) ||
	    !read_segments(packed, &loading->segments, &loading->n_segments))
		return false;
	if (!ps_packed_read(packed, PS_PACKED_JIT, &c))
		return true;
	loading->jitdump = read_jit(packed, &c);
	return loading->jitdump;
}

bool ps_load_packed(struct ps_dso *dso)
{
	const struct ps_packed *packed = ps_dso_packed(dso);
	struct loading loading = { .n_segments = 0 };

	if (!packed ||
	    !(packed->parts[PS_PACKED_SYMBOLS].bytes || packed->parts[PS_PACKED_JIT].bytes))
		return false;
	if (!read_packed_symbols(packed, &loading)) {
		ps_dso_tried(dso, packed->path ? packed->path : dso->name, "the bundle",
			     "its part of the bundle is damaged");
		ps_table_deinit(&loading.table);
		ps_jitdump_destroy(loading.jitdump);
		free(loading.segments);
		return false;
	}
	ps_dso_tried(dso, packed->path ? packed->path : dso->name, "the bundle",
		     PS_HAS_SYMBOLS);
	ps_table_deinit(&dso->table);
	ps_jitdump_destroy(dso->jitdump);
	free(dso->segments);
	dso->table = loading.table;
	dso->table.interrupt = dso->store->options.interrupt;
	dso->jitdump = loading.jitdump;
	dso->segments = loading.segments;
	dso->n_segments = loading.n_segments;
	dso->path = packed->path;
	dso->bias = packed->bias;
	dso->listed = packed->listed;
	dso->packed = packed;
	dso->reason = dso->table.n || dso->jitdump ? NULL :
						     "none was known where it was packed";
	return true;
}
