/*
 * The records that a recording in pipe mode begins with. See perf_event__synthesize_attr and
 * perf_event__synthesize_features, tools/perf/util/synthetic-events.c.
 */
#include <stdlib.h>

#include "perfdata/format/format.h"
#include "sections.h"

#define HEADER	    8
#define RECORD_MOST (UINT16_MAX - 7u) /* a multiple of 8 */
#define UPDATE_NAME 2		      /* PERF_EVENT_UPDATE__NAME */

/* Features that no record carries, because they say how the sections of a file are used. */
static bool is_unfit(unsigned bit)
{
	static const uint8_t bits[] = { 15, 18, 19, 20, 24, 30 };

	for (size_t i = 0; i < sizeof(bits); i++)
		if (bits[i] == bit)
			return true;
	return bit > PD_FEATURE_KNOWN;
}

/* Puts the attr of an event and its ids. */
static bool put_attr(struct pw_writer *w, const struct pd_event *event, struct pd_error *err)
{
	uint32_t size = event->attr.size ? event->attr.size : PD_ATTR_MIN;
	uint64_t whole = HEADER + (uint64_t)size + event->n_ids * UINT64_C(8);

	if (whole > RECORD_MOST)
		return pd_error_set(err, "FORMAT", w->like->path, PD_NO_OFFSET,
				    "event %u: found an attr of %u bytes and %zu ids, expected "
				    "%u bytes in all at most, which a pipe has room for; write "
				    "a file",
				    event->index + 1, size, event->n_ids, RECORD_MOST - HEADER);
	pw_put_header(&w->out, PD_RECORD_HEADER_ATTR, 0, (uint16_t)whole);
	if (!pw_put_attr(w, event, size, err))
		return false;
	for (size_t i = 0; i < event->n_ids; i++)
		pw_put64(&w->out, event->ids[i]);
	return true;
}

/* Puts the tracing data, which follow their record. */
static bool put_tracing_data(struct pw_writer *w, const uint8_t *bytes, size_t n)
{
	size_t padded = (n + 7) & ~(size_t)7;

	pw_put_header(&w->out, PD_RECORD_TRACING_DATA, 0, HEADER + 4);
	pw_put32(&w->out, (uint32_t)padded);
	pw_put(&w->out, bytes, n);
	pw_put_zeros(&w->out, padded - n);
	return true;
}

/* Puts the build-ids: the feature has records without a type, of any size. */
static bool put_build_ids(struct pw_writer *w, const uint8_t *bytes, size_t n)
{
	bool swap = w->out.swap;

	while (n >= HEADER) {
		uint16_t misc = pb_load16(bytes + 4, swap), size = pb_load16(bytes + 6, swap);
		size_t padded = ((size_t)size + 7) & ~(size_t)7;

		if (size < HEADER || size > n || padded > RECORD_MOST)
			break;
		pw_put_header(&w->out, PD_RECORD_BUILD_ID, misc, (uint16_t)padded);
		pw_put(&w->out, bytes + HEADER, size - HEADER);
		pw_put_zeros(&w->out, padded - size);
		bytes += size;
		n -= size;
	}
	return true;
}

/* Puts a feature as a record. Returns false if it is too large for one. */
static bool put_header_feature(struct pw_writer *w, unsigned bit, const uint8_t *bytes,
			       size_t n)
{
	if (HEADER + 8 + n > UINT16_MAX)
		return false;
	pw_put_header(&w->out, PD_RECORD_HEADER_FEATURE, 0, (uint16_t)(HEADER + 8 + n));
	pw_put64(&w->out, bit);
	pw_put(&w->out, bytes, n);
	return true;
}

/* Puts a feature of the recording by `put`; notes one that does not fit. */
static bool put_feature(struct pw_writer *w, unsigned bit, struct pd_error *err)
{
	uint8_t *bytes;
	size_t n;
	bool fits;

	if (is_unfit(bit)) {
		w->summary.unfit[bit] = true;
		return true;
	}
	bytes = pw_feature_bytes(w, bit, &n, err);
	if (!bytes)
		return false;
	if (bit == PD_FEATURE_TRACING_DATA)
		fits = put_tracing_data(w, bytes, n);
	else if (bit == PD_FEATURE_BUILD_ID)
		fits = put_build_ids(w, bytes, n);
	else /* an empty one would be the mark that ends the features */
		fits = n && put_header_feature(w, bit, bytes, n);
	free(bytes);
	w->summary.unfit[bit] = !fits;
	w->described[bit] = fits;
	return true;
}

static bool put_compressed_feature(struct pw_writer *w)
{
	pw_put_header(&w->out, PD_RECORD_HEADER_FEATURE, 0, HEADER + 8 + 20);
	pw_put64(&w->out, PD_FEATURE_COMPRESSED);
	return pw_put_feature(w, PD_FEATURE_COMPRESSED, NULL);
}

/* Puts the names of events: the feature does not tell perf those of a pipe. */
static bool put_names(struct pw_writer *w, struct pd_error *err)
{
	size_t n_events;
	const struct pd_event *events = pw_events(w, &n_events);

	for (size_t i = 0; i < n_events; i++) {
		const struct pd_event *event = &events[i];
		size_t n = event->name ? strlen(event->name) + 1 : 0;
		size_t padded = (n + 7) & ~(size_t)7;

		if (!n || event->made_up || !event->n_ids)
			continue;
		if (padded > RECORD_MOST - 24)
			return pd_error_set(
				err, "FORMAT", w->like->path, PD_NO_OFFSET,
				"event %zu: found a name of %zu bytes, expected %u at "
				"most, which a pipe has room for; write a file",
				i + 1, n - 1, RECORD_MOST - 24);
		pw_put_header(&w->out, PD_RECORD_EVENT_UPDATE, 0, (uint16_t)(24 + padded));
		pw_put64(&w->out, UPDATE_NAME);
		pw_put64(&w->out, event->ids[0]);
		pw_put(&w->out, event->name, n);
		pw_put_zeros(&w->out, padded - n);
	}
	return true;
}

bool pw_begin_pipe(struct pw_writer *w, struct pd_error *err)
{
	static const unsigned later[] = { PD_FEATURE_TRACING_DATA, PD_FEATURE_BUILD_ID };
	const struct pd_event *events;
	size_t n;

	if (w->like->simpleperf)
		return pd_error_set(err, "FORMAT", w->like->path, PD_NO_OFFSET,
				    "found a recording of simpleperf, which has no pipe mode; "
				    "write a file");
	pw_put(&w->out, w->big ? "2ELIFREP" : "PERFILE2", 8);
	pw_put64(&w->out, 16);
	events = pw_events(w, &n);
	for (size_t i = 0; i < n; i++)
		if (!put_attr(w, &events[i], err))
			return false;
	for (unsigned bit = PD_FEATURE_HOSTNAME; bit < PD_FEATURES; bit++) {
		enum pw_feature how = pw_find_feature(w, bit);

		if (how == PW_COPIED && !put_feature(w, bit, err))
			return false;
		if (how == PW_MADE && bit == PD_FEATURE_COMPRESSED)
			put_compressed_feature(w);
	}
	/*
	 * No mark ends the features: its number differs between versions of perf, which do not
	 * need it, and refuse one that they take for another feature.
	 */
	for (size_t i = 0; i < sizeof(later) / sizeof(later[0]); i++)
		if (pw_find_feature(w, later[i]) == PW_COPIED && !put_feature(w, later[i], err))
			return false;
	if (w->like->pipe && !w->how.description)
		return true; /* its records name them */
	return put_names(w, err);
}

bool pw_is_late(const struct pw_writer *w, const struct pd_record *rec)
{
	uint64_t bit;

	switch (rec->type) {
	case PD_RECORD_HEADER_ATTR:
		for (size_t i = w->n_events; i < w->like->n_events; i++)
			if (w->like->events[i].offset == rec->offset)
				return true;
		return false;
	case PD_RECORD_BUILD_ID:
		return !w->described[PD_FEATURE_BUILD_ID];
	case PD_RECORD_HEADER_FEATURE:
		if (rec->size <= HEADER + 8)
			return false;
		bit = pd_rec64(rec, HEADER);
		return bit < PD_FEATURES && !w->described[bit] && !is_unfit((unsigned)bit) &&
		       bit != PD_FEATURE_COMPRESSED && bit != PD_FEATURE_SAMPLE_TIME;
	default:
		return false;
	}
}
