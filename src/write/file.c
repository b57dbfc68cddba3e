/*
 * The sections of a file: header, ids, attrs, records, table of features, features. See struct
 * perf_file_header, tools/perf/util/header.h.
 */
#include <stdlib.h>

#include "sections.h"
#include "turn.h"

#define HEADER_SIZE  104
#define EVENT_TYPE   72 /* bytes of a number and a name */
#define SIZE_OF_ATTR 4	/* offset of perf_event_attr.size */
#define IDS_ENTRY    16 /* bytes of the section that follows each attr */

const struct pd_event *pw_events(const struct pw_writer *w, size_t *n)
{
	const struct pw_description *d = w->how.description;

	if (d && !d->n_events)
		d = NULL; /* only features differ */
	*n = d ? d->n_events : w->like->n_events;
	return d ? d->events : w->like->events;
}

static void store32(uint8_t *p, uint32_t value, bool swap)
{
	value = swap ? __builtin_bswap32(value) : value;
	memcpy(p, &value, sizeof(value));
}

bool pw_put_attr(struct pw_writer *w, const struct pd_event *event, size_t size,
		 struct pd_error *err)
{
	uint8_t *bytes = malloc((size_t)event->attr_size + 1);
	size_t n = event->attr_size < size ? event->attr_size : size;
	bool ok = bytes ? pw_read_attr(w->like, event, bytes, err) :
			  pd_error_set(err, "ENOMEM", w->like->path, event->attr_at,
				       "no memory");

	if (ok) {
		pw_change_attr(w, bytes, n);
		if (w->attr_size)
			store32(bytes + SIZE_OF_ATTR, w->attr_size, w->like->swap);
		if (w->turns)
			pw_turn_attr(bytes, n, w->like->swap, w->like->big);
		pw_put(&w->out, bytes, n);
		pw_put_zeros(&w->out, size - n);
	}
	free(bytes);
	return ok;
}

/* Sets *end to the bytes of an attr without the zeros at its end. Returns false with *err. */
static bool find_attr_end(const struct pw_writer *w, const struct pd_event *event,
			  uint32_t *end, struct pd_error *err)
{
	uint8_t *bytes = malloc((size_t)event->attr_size + 1);
	bool ok = bytes ? pw_read_attr(w->like, event, bytes, err) :
			  pd_error_set(err, "ENOMEM", w->like->path, event->attr_at,
				       "no memory");

	for (*end = event->attr_size; ok && *end && !bytes[*end - 1];)
		--*end;
	free(bytes);
	return ok;
}

/*
 * Sets w->attr_size. perf takes the bytes after an attr's own size for the section of its ids,
 * whatever stride the header has, so attrs of one file need one size. It refuses an attr in a
 * file, though not in a pipe, that is larger than its own: perf 6.1 does those of perf 7. So
 * attrs of several recordings, and those of a pipe, get the least size of 128 and 136 bytes
 * after which all are zero, if one is larger. Returns false with *err.
 */
static bool choose_attr_size(struct pw_writer *w, const struct pd_event *events, size_t n,
			     struct pd_error *err)
{
	static const uint32_t smaller[] = { 128, PD_ATTR_SIZE }; /* of perf 6.1; of 6.3 */
	uint32_t most = PD_ATTR_MIN, least = UINT32_MAX, set = 0;

	for (size_t i = 0; i < n; i++) {
		uint32_t size = events[i].attr.size ? events[i].attr.size : PD_ATTR_MIN, end;

		if (!find_attr_end(w, &events[i], &end, err))
			return false;
		size = size < events[i].attr_size ? size : events[i].attr_size;
		most = size > most ? size : most;
		least = size < least ? size : least;
		set = end > set ? end : set;
	}
	if (!n || (least == most && !w->like->pipe))
		return true; /* as in the file that they come from */
	w->attr_size = most;
	for (size_t i = sizeof(smaller) / sizeof(smaller[0]); i--;)
		if (set <= smaller[i] && most > smaller[i])
			w->attr_size = smaller[i];
	return true;
}

/*
 * Puts the ids of all events, then their attrs, each with the section of its ids. Returns false
 * with *err.
 */
static bool put_attrs(struct pw_writer *w, struct pd_error *err)
{
	size_t n;
	const struct pd_event *events = pw_events(w, &n);
	uint64_t ids = w->out.at;

	if (!choose_attr_size(w, events, n, err))
		return false;
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < events[i].n_ids; j++)
			pw_put64(&w->out, events[i].ids[j]);
	w->stride = (w->attr_size ? w->attr_size : PD_ATTR_MIN) + IDS_ENTRY;
	for (size_t i = 0; i < n && !w->attr_size; i++)
		if (events[i].attr_size + IDS_ENTRY > w->stride)
			w->stride = events[i].attr_size + IDS_ENTRY;
	w->attrs.offset = w->out.at;
	for (size_t i = 0; i < n; i++) {
		if (!pw_put_attr(w, &events[i], (size_t)w->stride - IDS_ENTRY, err))
			return false;
		pw_put64(&w->out, events[i].n_ids ? ids : 0);
		pw_put64(&w->out, events[i].n_ids * 8);
		ids += events[i].n_ids * 8;
	}
	w->attrs.size = w->out.at - w->attrs.offset;
	w->n_events = n;
	return true;
}

/* Puts the names of events that recordings of version 1 have. */
static bool put_event_types(struct pw_writer *w, struct pd_error *err)
{
	struct pd_section at = w->like->event_types;
	uint8_t *bytes;

	if (w->how.description && w->how.description->drops_event_types)
		return true;
	if (!at.size || at.offset > w->like->input.size ||
	    at.size > w->like->input.size - at.offset)
		return true;
	bytes = pd_section_alloc(at);
	if (!bytes)
		return pd_error_set(err, "ENOMEM", w->like->path, at.offset, "no memory");
	if (!pd_file_read(w->like, at, bytes, err)) {
		free(bytes);
		return false;
	}
	for (uint64_t i = 0; w->turns && at.size - i >= EVENT_TYPE; i += EVENT_TYPE)
		pw_turn_number(&(struct pw_turn){ .bytes = bytes + i, .n = 8 }, 8);
	w->event_types = (struct pd_section){ w->out.at, at.size };
	pw_put(&w->out, bytes, (size_t)at.size);
	free(bytes);
	return true;
}

bool pw_begin_file(struct pw_writer *w, struct pd_error *err)
{
	pw_put_zeros(&w->out, HEADER_SIZE);
	return put_attrs(w, err) && put_event_types(w, err);
}

static void store64(uint8_t *p, uint64_t value, bool swap)
{
	value = swap ? __builtin_bswap64(value) : value;
	memcpy(p, &value, sizeof(value));
}

static bool put_section(struct pw_writer *w, unsigned bit, enum pw_feature how,
			struct pd_error *err)
{
	uint8_t *bytes;
	size_t n;

	if (how == PW_MADE)
		return pw_put_feature(w, bit, err);
	bytes = pw_feature_bytes(w, bit, &n, err);
	if (!bytes)
		return false;
	pw_put(&w->out, bytes, n);
	free(bytes);
	return true;
}

/* Puts the features after their table, and sets their bits in `bitmap`. */
static bool put_features(struct pw_writer *w, uint64_t bitmap[PD_FEATURES / 64],
			 struct pd_error *err)
{
	uint8_t table[PD_FEATURES * 16];
	enum pw_feature how[PD_FEATURES];
	uint64_t table_at = w->out.at;
	size_t n = 0;

	for (unsigned bit = 0; bit < PD_FEATURES; bit++) {
		how[bit] = pw_find_feature(w, bit);
		if (how[bit] == PW_ABSENT)
			continue;
		bitmap[bit / 64] |= UINT64_C(1) << bit % 64;
		n += 16;
	}
	pw_put_zeros(&w->out, n);
	n = 0;
	for (unsigned bit = 0; bit < PD_FEATURES; bit++) {
		uint64_t at = w->out.at;

		if (how[bit] == PW_ABSENT)
			continue;
		if (!put_section(w, bit, how[bit], err))
			return false;
		store64(table + n, at, w->out.swap);
		store64(table + n + 8, w->out.at - at, w->out.swap);
		n += 16;
	}
	pw_output_replace(&w->out, table_at, table, n);
	return true;
}

/* Writes the header, once all that it tells is known. */
static void replace_header(struct pw_writer *w, const uint64_t bitmap[PD_FEATURES / 64])
{
	const uint64_t words[] = {
		HEADER_SIZE,	w->stride,    w->attrs.offset,	     w->attrs.size,
		w->data.offset, w->data.size, w->event_types.offset, w->event_types.size,
	};
	uint8_t header[HEADER_SIZE];
	size_t at = 8;

	memcpy(header, w->big ? "2ELIFREP" : "PERFILE2", 8);
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++, at += 8)
		store64(header + at, words[i], w->out.swap);
	for (size_t i = 0; i < PD_FEATURES / 64; i++, at += 8)
		store64(header + at, bitmap[i], w->out.swap);
	pw_output_replace(&w->out, 0, header, sizeof(header));
}

bool pw_end_file(struct pw_writer *w, struct pd_error *err)
{
	uint64_t bitmap[PD_FEATURES / 64] = { 0 };
	size_t n;

	if (!put_features(w, bitmap, err))
		return false;
	/* if some came late, those at the beginning are not used */
	pw_events(w, &n);
	if (n > w->n_events && !put_attrs(w, err))
		return false;
	replace_header(w, bitmap);
	return true;
}
