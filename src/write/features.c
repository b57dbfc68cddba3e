#include <stdlib.h>

#include "perfdata/format/format.h"
#include "sections.h"
#include "turn.h"

/*
 * The attrs of a recording, changed to tell of the records as they are written. See struct
 * perf_event_attr, include/uapi/linux/perf_event.h, for the offsets.
 */

#define SAMPLE_TYPE 24
#define FLAGS	    40
#define REGS_USER   80 /* sample_regs_user, then sample_stack_user */

#define EXCLUDE_CALLCHAIN_USER 22 /* numbers of flags */
#define DEFER_CALLCHAIN	       38
#define DEFER_OUTPUT	       39

bool pw_unwinds(const struct pw_how *how, uint64_t sample_type)
{
	const uint64_t both = PD_SAMPLE_REGS_USER | PD_SAMPLE_STACK_USER;

	return how->unwinds && (sample_type & both) == both;
}

static void store64(uint8_t *p, uint64_t value, bool swap)
{
	value = swap ? __builtin_bswap64(value) : value;
	memcpy(p, &value, sizeof(value));
}

/* Clears a flag. Big-endian compilers number bit fields from the other end. */
static void clear_flag(const struct pd_file *like, uint8_t *attr, unsigned flag)
{
	uint64_t bit = UINT64_C(1) << (like->big ? 63 - flag : flag);

	store64(attr + FLAGS, pb_load64(attr + FLAGS, like->swap) & ~bit, like->swap);
}

void pw_change_attr(const struct pw_writer *w, uint8_t *attr, size_t n)
{
	bool swap = w->like->swap;
	uint64_t type;

	if (n < PD_ATTR_MIN)
		return;
	type = pb_load64(attr + SAMPLE_TYPE, swap);
	if (w->how.joins) {
		clear_flag(w->like, attr, DEFER_CALLCHAIN);
		clear_flag(w->like, attr, DEFER_OUTPUT);
	}
	if (!pw_unwinds(&w->how, type))
		return;
	clear_flag(w->like, attr, EXCLUDE_CALLCHAIN_USER);
	type |= PD_SAMPLE_CALLCHAIN;
	if (!w->how.keeps_stacks) {
		type &= ~(uint64_t)(PD_SAMPLE_REGS_USER | PD_SAMPLE_STACK_USER);
		if (n >= REGS_USER + 12)
			memset(attr + REGS_USER, 0, 12);
	}
	store64(attr + SAMPLE_TYPE, type, swap);
}

void pw_change_event_desc(const struct pw_writer *w, uint8_t *bytes, size_t n)
{
	struct pb_cursor c;
	uint32_t count, attr_size;

	pb_cursor_init(&c, bytes, n, w->like->swap);
	count = pb_take32(&c);
	attr_size = pb_take32(&c);
	for (uint32_t i = 0; i < count && !c.failed; i++) {
		const uint8_t *attr = pb_take(&c, attr_size);
		uint32_t n_ids = pb_take32(&c);

		if (attr)
			pw_change_attr(w, bytes + (attr - bytes), attr_size);
		pb_take(&c, pb_take32(&c)); /* the name */
		pb_take(&c, n_ids * UINT64_C(8));
	}
}

#define ZSTD	      1	 /* enum perf_compress_type */
#define AUXTRACE_SIZE 48 /* bytes of a record AUXTRACE */

/* Returns whether the bytes of a feature are there. A writer that failed leaves zeros. */
static bool is_readable(const struct pw_writer *w, const struct pd_feature_section *s)
{
	uint64_t size = w->like->input.size;

	if (s->bytes)
		return true;
	return s->at.offset && s->at.size <= PD_SECTION_MOST && s->at.offset <= size &&
	       s->at.size <= size - s->at.offset;
}

/* Returns whether the feature's times are those of the samples that are written. */
static bool has_times(struct pw_writer *w, const struct pd_feature_section *s)
{
	uint8_t times[16];

	return !w->how.selects && s->at.size == sizeof(times) &&
	       pd_file_read_feature(w->like, s, times, NULL) &&
	       pb_load64(times + 8, w->like->swap);
}

static enum pw_feature make_times(const struct pw_writer *w)
{
	return w->summary.times.known ? PW_MADE : PW_ABSENT;
}

/* Returns the feature of the writer's own description; NULL: that of the recording counts. */
static const struct pw_described_feature *find_described(const struct pw_writer *w,
							 unsigned bit)
{
	const struct pw_description *d = w->how.description;

	return d && d->features[bit].origin != PW_ORIGINAL ? &d->features[bit] : NULL;
}

/* Returns whether names that records of a pipe told are to be kept in a file. */
static bool needs_names(const struct pw_writer *w)
{
	for (size_t i = 0; w->like->pipe && !w->how.pipe && i < w->like->n_events; i++)
		if (w->like->events[i].name && !w->like->events[i].made_up)
			return true;
	return false;
}

/* Returns how a feature is written that the recording does not have. */
static enum pw_feature find_absent(const struct pw_writer *w, unsigned bit)
{
	/* a recorder that was killed would have written the times */
	if (bit == PD_FEATURE_SAMPLE_TIME && (w->like->unfinished || w->how.description))
		return make_times(w);
	if (bit == PD_FEATURE_AUXTRACE) /* a pipe has none */
		return w->like->pipe && !w->how.pipe && w->n_moved ? PW_MADE : PW_ABSENT;
	return bit == PD_FEATURE_EVENT_DESC && needs_names(w) ? PW_MADE : PW_ABSENT;
}

uint8_t *pw_feature_bytes(struct pw_writer *w, unsigned bit, size_t *n, struct pd_error *err)
{
	const struct pd_feature_section *s = pd_file_feature(w->like, bit);
	const struct pw_described_feature *described = find_described(w, bit);
	uint8_t *bytes;

	*n = described ? described->n : (size_t)s->at.size;
	bytes = malloc(*n + 1);
	if (!bytes) {
		pd_error_set(err, "ENOMEM", w->like->path, PD_NO_OFFSET, "no memory");
	} else if (described) {
		memcpy(bytes, described->bytes, *n);
	} else if (*n && !pd_file_read_feature(w->like, s, bytes, err)) {
		free(bytes);
		bytes = NULL;
	}
	if (bytes && bit == PD_FEATURE_EVENT_DESC)
		pw_change_event_desc(w, bytes, *n);
	if (bytes && w->turns && !pw_turn_feature(w->like, bit, bytes, *n)) {
		pd_error_set(err, "FORMAT", w->like->path, PD_NO_OFFSET,
			     "a header feature cannot be turned to the other byte order");
		free(bytes);
		bytes = NULL;
	}
	return bytes;
}

/* Returns how a feature is written that is copied: notes one that cannot be turned. */
static enum pw_feature find_copied(struct pw_writer *w, unsigned bit)
{
	struct pd_error err;
	uint8_t *bytes;
	size_t n;

	if (!w->turns)
		return PW_COPIED;
	bytes = pw_feature_bytes(w, bit, &n, &err);
	w->summary.unturned[bit] = !bytes;
	free(bytes);
	return bytes ? PW_COPIED : PW_ABSENT;
}

enum pw_feature pw_find_feature(struct pw_writer *w, unsigned bit)
{
	const struct pd_feature_section *s = pd_file_feature(w->like, bit);
	const struct pw_described_feature *described = find_described(w, bit);

	if (described)
		return described->origin == PW_REPLACED ? find_copied(w, bit) : PW_ABSENT;
	if (bit == PD_FEATURE_COMPRESSED)
		return w->compressor ? PW_MADE : PW_ABSENT;
	if (bit == PD_FEATURE_DIR_FORMAT)
		return w->how.directory ? PW_MADE : PW_ABSENT;
	if (bit == PD_FEATURE_BUNDLE && w->how.bundle)
		return PW_MADE;
	if (!s)
		return find_absent(w, bit);
	if (!is_readable(w, s)) {
		w->summary.unreadable[bit] = true;
		return PW_ABSENT;
	}
	if (bit == PD_FEATURE_AUXTRACE)
		return w->n_moved ? PW_MADE : PW_ABSENT;
	if (bit != PD_FEATURE_SAMPLE_TIME || has_times(w, s))
		return find_copied(w, bit);
	return make_times(w);
}

static int compare_moved(const void *a, const void *b)
{
	const struct pw_moved *x = a, *y = b;

	return (x->from > y->from) - (x->from < y->from);
}

/* Makes the index of AUX areas for those of a pipe. */
static void make_aux_index(struct pw_writer *w)
{
	pw_put64(&w->out, w->n_moved);
	for (size_t i = 0; i < w->n_moved; i++) {
		pw_put64(&w->out, w->moved[i].to);
		pw_put64(&w->out, AUXTRACE_SIZE);
	}
}

/*
 * Puts the index of AUX areas: of each of its records the new offset. See
 * auxtrace_index__process, tools/perf/util/auxtrace.c.
 */
static bool put_aux_index(struct pw_writer *w, struct pd_error *err)
{
	size_t size;
	uint8_t *bytes = pw_feature_bytes(w, PD_FEATURE_AUXTRACE, &size, err);
	struct pb_cursor c;
	uint64_t n, found = 0;

	if (!bytes)
		return false;
	qsort(w->moved, w->n_moved, sizeof(*w->moved), compare_moved);
	for (int pass = 0; pass < 2; pass++) {
		pb_cursor_init(&c, bytes, size, w->like->swap);
		n = pb_take64(&c);
		for (uint64_t i = 0; i < n && pb_cursor_left(&c) >= 16; i++) {
			struct pw_moved key = { pb_take64(&c), 0 }, *to;
			uint64_t bytes_there = pb_take64(&c);

			to = bsearch(&key, w->moved, w->n_moved, sizeof(key), compare_moved);
			if (to && pass) {
				pw_put64(&w->out, to->to);
				pw_put64(&w->out, bytes_there);
			}
			found += to && !pass;
		}
		if (!pass)
			pw_put64(&w->out, found);
	}
	free(bytes);
	return true;
}

/* See write_compressed, tools/perf/util/header.c. */
static void put_compression(struct pw_writer *w)
{
	uint64_t bytes = w->data.size ? w->data.size : 1;

	pw_put32(&w->out, 0); /* version */
	pw_put32(&w->out, ZSTD);
	pw_put32(&w->out, (uint32_t)w->how.level);
	pw_put32(&w->out, (uint32_t)((w->summary.plain_bytes + bytes / 2) / bytes));
	pw_put32(&w->out, PW_BLOCK);
}

static bool put_event_desc(struct pw_writer *w, struct pd_error *err)
{
	struct pw_description d;
	uint8_t *bytes = NULL;
	size_t n;

	pw_description_init(&d);
	if (pw_add_events(&d, w->like, err))
		bytes = pw_make_event_desc(d.events, d.n_events, w->like->swap, &n, err);
	pw_description_deinit(&d);
	if (!bytes)
		return false;
	pw_change_event_desc(w, bytes, n);
	if (w->turns)
		pw_turn_feature(w->like, PD_FEATURE_EVENT_DESC, bytes, n);
	pw_put(&w->out, bytes, n);
	free(bytes);
	return true;
}

bool pw_put_feature(struct pw_writer *w, unsigned bit, struct pd_error *err)
{
	switch (bit) {
	case PD_FEATURE_COMPRESSED:
		put_compression(w);
		return true;
	case PD_FEATURE_SAMPLE_TIME:
		pw_put64(&w->out, w->summary.times.first);
		pw_put64(&w->out, w->summary.times.last);
		return true;
	case PD_FEATURE_DIR_FORMAT:
		pw_put64(&w->out, 1); /* PERF_DIR_VERSION */
		return true;
	case PD_FEATURE_EVENT_DESC:
		return put_event_desc(w, err);
	case PD_FEATURE_BUNDLE:
		pw_put(&w->out, w->how.bundle, w->how.bundle_size);
		return true;
	default:
		if (pd_file_feature(w->like, PD_FEATURE_AUXTRACE))
			return put_aux_index(w, err);
		make_aux_index(w);
		return true;
	}
}
